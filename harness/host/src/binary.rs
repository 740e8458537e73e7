//! Small binary files of numbers: a magic word, sizes, little-endian f64.
//!
//! A file is replaced as a whole, and read with its length checked against its sizes.

use std::path::{Path, PathBuf};

use gpbench_files::Durability;

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system could not write or read it.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The content is not what it should be.
    #[error("{path}: {what}", path = path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Writes `magic`, then the sizes, then the numbers, and moves the file into place.
pub(crate) fn write<'a>(
    path: &Path,
    durability: Durability,
    magic: &[u8; 8],
    sizes: &[u64],
    numbers: impl Iterator<Item = &'a f64>,
) -> Result<(), FileError> {
    let written = gpbench_files::replace(path, durability, |out| {
        out.write_all(magic)?;
        sizes.iter().try_for_each(|size| out.write_all(&size.to_le_bytes()))?;
        numbers.into_iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
    });
    written.map_err(|source| FileError::Io { path: path.to_owned(), source })
}

/// Reads a file that [`write()`] wrote: its sizes, and as many numbers as `count` makes of them.
pub(crate) fn read<const SIZES: usize>(
    path: &Path,
    magic: &[u8; 8],
    count: impl FnOnce([usize; SIZES]) -> Option<usize>,
) -> Result<([usize; SIZES], Vec<f64>), FileError> {
    let wrong = |what: String| FileError::Format { path: path.to_owned(), what };
    let bytes = std::fs::read(path).map_err(|source| FileError::Io { path: path.to_owned(), source })?;
    let Some(rest) = bytes.strip_prefix(magic) else {
        let kind = String::from_utf8_lossy(magic);
        return Err(wrong(format!("does not begin with `{kind}`")));
    };
    let (sizes, rest) = rest.split_at_checked(8 * SIZES).ok_or_else(|| wrong("ends in its header".into()))?;
    let sizes: [usize; SIZES] = std::array::from_fn(|i| {
        let word = sizes[8 * i..8 * i + 8].try_into().expect("a slice of eight bytes");
        usize::try_from(u64::from_le_bytes(word)).unwrap_or(usize::MAX)
    });
    let expected = count(sizes).and_then(|numbers| numbers.checked_mul(8));
    if expected != Some(rest.len()) {
        return Err(wrong(format!("holds {} bytes of numbers, which is not what its sizes say", rest.len())));
    }
    let numbers =
        rest.chunks_exact(8).map(|word| f64::from_le_bytes(word.try_into().expect("a chunk of eight bytes")));
    Ok((sizes, numbers.collect()))
}
