//! The identity of a program or a library: its content's hash and its file's stamp.
//!
//! A file must not change between hashing and running. Hashing a file before each use takes milliseconds, so changes
//! are detected by the file's stamp instead: its size, inode and modification time. If the stamp differs, the file is
//! hashed again, since it may have been touched, or replaced by an identical one. The stamp excludes the time of the
//! last status change, because a new hard link changes that time.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 18;

/// A program or a library, with its hash and its stamp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The file.
    #[serde(with = "crate::path")]
    pub file: PathBuf,
    /// SHA-256 of its content.
    pub sha256: String,
    /// Stamp of the file just before it was hashed.
    pub stamp: Stamp,
}

/// Metadata of a file that change with its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Inode number, which differs after the file was replaced.
    pub inode: u64,
    /// Time of the last modification, in nanoseconds since 1970.
    pub modified: i64,
}

/// The error that a file no longer has the content that was hashed.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The content of the file has changed.
    #[error("{} has changed: its SHA-256 is {found}, and was {expected} when the run was planned", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
        /// The SHA-256 that was planned.
        expected: String,
        /// The SHA-256 now.
        found: String,
    },
}

impl Program {
    /// Hashes a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(file: &Path) -> Result<Program, ProgramError> {
        let hashed = File::open(file).and_then(|mut open| {
            // The stamp is taken before the file is read, so that a write in the meantime changes it.
            let stamp = Stamp::new(&open.metadata()?);
            Ok(Program { file: file.to_owned(), sha256: sha256(&mut open)?, stamp })
        });
        hashed.map_err(|source| ProgramError::Unreadable { file: file.to_owned(), source })
    }

    /// Checks that the file still has the content that was hashed.
    ///
    /// # Errors
    /// If the content differs, or cannot be read.
    pub fn check(&self) -> Result<(), ProgramError> {
        self.at(&self.file).map(drop)
    }

    /// This program in another file, such as a hard link. The file is hashed only if the stamps differ.
    ///
    /// # Errors
    /// If the file has different content, or cannot be read.
    pub fn at(&self, file: &Path) -> Result<Program, ProgramError> {
        match Stamp::of(file) {
            Ok(stamp) if stamp == self.stamp => Ok(Program { file: file.to_owned(), ..self.clone() }),
            _ => Program::of(file)?.matching(&self.sha256),
        }
    }

    /// This program, if its content has this SHA-256.
    ///
    /// # Errors
    /// If its content has a different one.
    pub fn matching(self, sha256: &str) -> Result<Program, ProgramError> {
        if self.sha256 == sha256 {
            return Ok(self);
        }
        Err(ProgramError::Changed { file: self.file, expected: sha256.to_owned(), found: self.sha256 })
    }
}

impl Stamp {
    fn of(file: &Path) -> io::Result<Stamp> {
        Ok(Stamp::new(&file.metadata()?))
    }

    fn new(metadata: &Metadata) -> Stamp {
        let seconds = metadata.mtime().wrapping_mul(1_000_000_000);
        let modified = seconds.wrapping_add(metadata.mtime_nsec());
        Stamp { size: metadata.size(), inode: metadata.ino(), modified }
    }
}

fn sha256(file: &mut File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, FileTimes};

    use super::*;

    fn program(folder: &Path) -> Program {
        let file = folder.join("library.so");
        fs::write(&file, "abc").unwrap();
        Program::of(&file).unwrap()
    }

    #[test]
    fn a_file_is_hashed_and_known_again() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path());
        assert_eq!(program.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        program.check().unwrap();
        fs::hard_link(&program.file, folder.path().join("link")).unwrap();
        assert_eq!(Stamp::of(&program.file).unwrap(), program.stamp, "a link changes no stamp");
    }

    #[test]
    fn other_content_is_found_however_it_came() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path());
        let time = fs::metadata(&program.file).unwrap().modified().unwrap();
        let changed = || matches!(program.check(), Err(ProgramError::Changed { .. }));
        let other = folder.path().join("other");
        fs::write(&other, "abd").unwrap();
        File::open(&other).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        fs::rename(&other, &program.file).unwrap();
        assert!(changed(), "another file of the same size and time");
        fs::write(&program.file, "abcd").unwrap();
        assert!(changed(), "the same file with more in it");
        fs::remove_file(&program.file).unwrap();
        let missing = program.check().unwrap_err().to_string();
        assert!(missing.contains("library.so cannot be read"), "{missing}");
    }

    #[test]
    fn the_same_content_in_another_file_is_the_same_program() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path());
        let other = folder.path().join("other");
        fs::write(&other, "abc").unwrap();
        fs::rename(&other, &program.file).unwrap();
        assert_ne!(Stamp::of(&program.file).unwrap(), program.stamp);
        program.check().unwrap();
    }
}
