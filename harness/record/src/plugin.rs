//! What a plugin library says of itself: output of `gpbench-worker describe`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Param;

/// A plugin library.
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
    /// What it offers.
    pub solvers: Vec<SolverInfo>,
}

/// What an entry of the solver axis does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SolverKind {
    /// Solves linear systems with H.
    Solver,
    /// Fits and predicts by itself.
    Learner,
}

impl SolverKind {
    /// What messages call one.
    pub fn as_str(self) -> &'static str {
        match self {
            SolverKind::Solver => "solver",
            SolverKind::Learner => "learner",
        }
    }
}

/// A solver or learner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SolverInfo {
    /// Id that a spec's `plugin` key names.
    pub id: String,
    /// Solver or learner.
    pub kind: SolverKind,
    /// One line of documentation.
    pub doc: String,
    /// The paper or book that it comes from, as a full bibliographic entry; absent where the plugin names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// Parameter schema.
    pub params: Vec<ParamInfo>,
    /// Whether it has no functions and cannot run: a learner of a library that was built for an interface without
    /// functions of learners.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed_only: bool,
}

/// What a solver can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Solves to working precision whatever the tolerance.
    Exact,
    /// Draws random numbers: the answer depends on the seed.
    Randomized,
    /// Uses a warm start.
    WarmStart,
    /// Calls BLAS or LAPACK for work worth several threads.
    BlasThreads,
    /// Stores an n x n matrix.
    Dense,
    /// Solves for weights of inducing points; of a learner: needs them.
    Inducing,
    /// Of a learner: takes a network between inputs and kernel.
    Network,
    /// Of a learner: takes kernels of finite dimension.
    Finite,
    /// Of a learner: takes the stationary families as they are.
    Kernel,
    /// Of a learner: trains a constant prior mean.
    Mean,
}

impl Capability {
    /// The name in `describe` and `list solvers`.
    pub fn as_str(self) -> &'static str {
        match self {
            Capability::Exact => "exact",
            Capability::Randomized => "randomized",
            Capability::WarmStart => "warm_start",
            Capability::BlasThreads => "blas_threads",
            Capability::Dense => "dense",
            Capability::Inducing => "inducing",
            Capability::Network => "network",
            Capability::Finite => "finite",
            Capability::Kernel => "kernel",
            Capability::Mean => "mean",
        }
    }
}

impl SolverInfo {
    /// What messages call it: `` learner `scgd` ``.
    pub fn called(&self) -> String {
        format!("{} `{}`", self.kind.as_str(), self.id)
    }

    /// Whether the solver has a capability.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
}

/// Type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamKind {
    /// A truth value.
    Bool,
    /// A whole number.
    Int,
    /// A real number.
    Float,
    /// A text.
    Text,
}

/// One parameter of a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParamInfo {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: ParamKind,
    /// One line of documentation.
    pub doc: String,
    /// Value used where a spec gives none.
    pub default: Param,
    /// Smallest permitted value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest permitted value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Permitted texts; empty if any will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}
