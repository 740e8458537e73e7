//! Descriptions of plugin libraries: output of `gpbench-worker describe`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::SolverInfo;

/// Description of a plugin library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LibraryInfo {
    /// The library's own name.
    pub name: String,
    /// The library's own version.
    pub version: String,
    /// The file.
    #[serde(with = "crate::path")]
    pub file: PathBuf,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Interface version, `major.minor`.
    pub abi: String,
    /// The solvers and learners of the library.
    pub solvers: Vec<SolverInfo>,
}
