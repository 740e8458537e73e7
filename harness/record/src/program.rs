//! The identity of a program or a library: its content's hash and its file's stamp.
//!
//! A file must not change between hashing and running. Hashing a file before each use takes milliseconds, so the hash is
//! skipped while the file has the same stamp: its device, inode, size, and the times of its last modification and status
//! change. If the stamp differs, the file is hashed again, since it may have been touched, got another hard link, or been
//! replaced by an identical one.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::hash::sha256_hex;

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

/// Metadata of a file that change with its content. A program can set the time of the last modification, as `cp -p` does,
/// but not that of the last status change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Number of the device that holds the file.
    #[serde(default)]
    pub device: u64,
    /// Inode number, which differs after the file was replaced.
    pub inode: u64,
    /// Time of the last modification, in nanoseconds since 1970.
    pub modified: i64,
    /// Time of the last status change, in nanoseconds since 1970.
    #[serde(default)]
    pub changed: i64,
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
    /// The file cannot be copied into a run folder.
    #[error("{} cannot be copied to {}: {source}", file.display(), folder.display())]
    NotCopied {
        /// The file.
        file: PathBuf,
        /// The folder.
        folder: PathBuf,
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
        let hashed = File::open(file).and_then(|open| {
            // The stamp is taken before the file is read, so that a write in the meantime changes it.
            let stamp = Stamp::new(&open.metadata()?);
            Ok(Program { file: file.to_owned(), sha256: sha256_hex(open)?, stamp })
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

    /// This program at a link that was made just after [`Program::check`]. A new hard link changes the time of the file's
    /// last status change, so that alone does not cause the file to be hashed.
    ///
    /// # Errors
    /// Those of [`Program::at`].
    pub fn at_new_link(&self, link: &Path) -> Result<Program, ProgramError> {
        match Stamp::of(link) {
            Ok(stamp) if (Stamp { changed: self.stamp.changed, ..stamp }) == self.stamp => {
                Ok(Program { file: link.to_owned(), stamp, sha256: self.sha256.clone() })
            }
            _ => Program::of(link)?.matching(&self.sha256),
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
    /// The stamp of a file.
    ///
    /// # Errors
    /// If the file does not exist, or its metadata cannot be read.
    pub fn of(file: &Path) -> io::Result<Stamp> {
        Ok(Stamp::new(&file.metadata()?))
    }

    /// The stamp of a file with this metadata.
    pub fn new(metadata: &Metadata) -> Stamp {
        let nanoseconds = |seconds: i64, rest: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(rest);
        Stamp {
            size: metadata.size(),
            device: metadata.dev(),
            inode: metadata.ino(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
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
        let link = folder.path().join("link");
        fs::hard_link(&program.file, &link).unwrap();
        assert_eq!(program.at(&link).unwrap().stamp, Stamp::of(&program.file).unwrap());
        assert_eq!(program.at_new_link(&link).unwrap(), program.at(&link).unwrap());
    }

    #[test]
    fn an_edit_in_place_that_restores_the_time_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path());
        let time = fs::metadata(&program.file).unwrap().modified().unwrap();
        fs::write(&program.file, "abd").unwrap();
        File::open(&program.file).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        // The clock of the file system advances in steps; a file that is edited later has another time of status change.
        let later =
            Program { stamp: Stamp { changed: program.stamp.changed - 1, ..program.stamp }, ..program };
        assert!(matches!(later.check(), Err(ProgramError::Changed { .. })));
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
