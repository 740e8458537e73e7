//! Checks the files of a set against their digests.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::hash::Sha256Hex;
use crate::locate::Found;
use crate::registry::RegistryEntry;

/// The expected digest of a file, by its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// The registry: the same for everyone.
    Registered(Sha256Hex),
    /// The first download on this machine, which recorded it beside the file.
    Recorded(Sha256Hex),
    /// None: the file cannot be checked.
    Unknown,
}

/// The digests of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCheck {
    /// The file.
    pub path: PathBuf,
    /// Expected digest.
    pub expected: Expected,
    /// Actual digest.
    pub actual: Sha256Hex,
}

impl FileCheck {
    /// Whether the digests agree; `None` if no digest is expected.
    pub fn is_good(&self) -> Option<bool> {
        match &self.expected {
            Expected::Registered(digest) | Expected::Recorded(digest) => Some(*digest == self.actual),
            Expected::Unknown => None,
        }
    }
}

/// Reads every file of a set and compares digests.
///
/// # Errors
/// If a file cannot be read.
pub fn verify(entry: &RegistryEntry, found: &Found) -> io::Result<Vec<FileCheck>> {
    let check = |path: &PathBuf| {
        Ok(FileCheck {
            path: path.clone(),
            expected: expected(entry, path),
            actual: Sha256Hex::of_file(path)?,
        })
    };
    found.files.iter().map(check).collect()
}

/// The digest that a file of a set should have.
pub fn expected(entry: &RegistryEntry, path: &Path) -> Expected {
    let registered =
        entry.files.iter().find(|file| path.ends_with(&file.name)).and_then(|file| file.sha256.clone());
    match (registered, recorded(path)) {
        (Some(digest), _) => Expected::Registered(digest),
        (None, Some(digest)) => Expected::Recorded(digest),
        (None, None) => Expected::Unknown,
    }
}

/// The path of the digest of a first download, in the format of `sha256sum`.
pub(crate) fn record_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    PathBuf::from(name)
}

/// The digest that an earlier download recorded beside `path`.
pub(crate) fn recorded(path: &Path) -> Option<Sha256Hex> {
    let text = fs::read_to_string(record_path(path)).ok()?;
    text.split_whitespace().next()?.parse().ok()
}
