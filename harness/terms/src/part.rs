//! Parts of a plugin library.

use std::path::PathBuf;

crate::words! {
    /// The kind of a part of a library.
    pub enum PartKind: "kind of part" {
        /// A file that is read or executed.
        File = "file",
        /// An installed package.
        Package = "package",
        /// The program that runs a script.
        Runtime = "runtime",
    }
}

/// One of the things that a library consists of, such as the source files and the installed packages of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Part {
    /// File, package or runtime.
    pub kind: PartKind,
    /// Name, which does not depend on the folder that a script lies in.
    pub name: String,
    /// Version; empty for files.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "String::is_empty"))]
    pub version: String,
    /// The file with the hash: the file itself, a package's list of files, or the program. Its name is UTF-8.
    pub path: PathBuf,
    /// SHA-256 of that file's content.
    pub sha256: String,
}

impl Part {
    /// The name in messages, such as `` package `numpy` 2.1.0 ``.
    pub fn called(&self) -> String {
        let version = if self.version.is_empty() { "" } else { " " };
        format!("{} `{}`{version}{}", self.kind, self.name, self.version)
    }
}
