//! What is wrong with a packed run.

use std::io;
use std::path::PathBuf;

use crate::layout::PACK_FORMAT;

/// What is wrong with a packed run.
#[derive(Debug, thiserror::Error)]
pub enum PackFault {
    /// The file is something else.
    #[error("it is no packed run; `gpbench pack RUN -o FILE` writes one")]
    NotPacked,
    /// A later version of gpbench wrote it.
    #[error(
        "it has format {format}, which is newer than this gpbench reads ({PACK_FORMAT}); use a newer gpbench"
    )]
    Newer {
        /// Its format.
        format: u64,
    },
    /// The compressed archive cannot be read to its end.
    #[error("it is damaged, or was cut short ({0})")]
    Damaged(#[from] io::Error),
    /// The manifest cannot be read, or is not as it was written.
    #[error("its manifest is damaged ({reason})")]
    Manifest {
        /// What is wrong.
        reason: String,
    },
    /// An entry would be written where no file of a run is.
    #[error("its entry `{path}` is not the path of a file of a run")]
    Path {
        /// The path.
        path: String,
    },
    /// An entry is a link, a device or a folder.
    #[error("its entry `{path}` is not a regular file")]
    NotAFile {
        /// The path.
        path: String,
    },
    /// There are more bytes than a run is allowed.
    #[error("{what} has {bytes} bytes, more than the {most} that are unpacked")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its bytes.
        bytes: u64,
        /// The most that are allowed.
        most: u64,
    },
    /// An entry that readers parse has more values than they read.
    #[error("its entry `{path}` has more than {most} values, the most that are unpacked")]
    TooManyValues {
        /// The path.
        path: String,
        /// The most that are allowed.
        most: usize,
    },
    /// An entry is not the one that comes next in the manifest.
    #[error("its entry `{path}` is not in its manifest, or not in this place")]
    Unlisted {
        /// The path.
        path: String,
    },
    /// An entry of the manifest is absent.
    #[error("its entry `{path}` is missing")]
    Missing {
        /// The path.
        path: String,
    },
    /// An entry has another content than the manifest states.
    #[error("its entry `{path}` has another content than its manifest states")]
    Changed {
        /// The path.
        path: String,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl PackFault {
    /// Whether the file is a packed run of this version whose content is not what it states.
    pub fn is_of_content(&self) -> bool {
        !matches!(self, PackFault::NotPacked | PackFault::Newer { .. } | PackFault::Unwritable { .. })
    }
}
