//! Small binary files of numbers: a magic word, sizes, little-endian f64.
//!
//! Written under another name and moved into place, so that a file that exists
//! is whole; read with its length checked against its sizes. Whole after a power cut, too, is only what
//! was asked to be [`Kept::ForLong`]: to wait for the disk takes longer than a small case.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system said no.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
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

/// How long a file is of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// To the next process.
    Briefly,
    /// To later runs: it is on the disk before it has its name.
    ForLong,
}

/// Writes `magic`, then the sizes, then the numbers, and moves the file into place.
pub(crate) fn write<'a>(
    path: &Path,
    kept: Kept,
    magic: &[u8; 8],
    sizes: &[u64],
    numbers: impl Iterator<Item = &'a f64>,
) -> Result<(), FileError> {
    let failed = |source| FileError::Io { path: path.to_owned(), source };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = write_part(&part, kept, magic, sizes, numbers).and_then(|()| fs::rename(&part, path));
    written.map_err(|source| {
        // What could not be finished is of no use; that it cannot be removed either adds nothing.
        let _ = fs::remove_file(&part);
        failed(source)
    })
}

fn write_part<'a>(
    path: &Path,
    kept: Kept,
    magic: &[u8; 8],
    sizes: &[u64],
    numbers: impl Iterator<Item = &'a f64>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    out.write_all(magic)?;
    for size in sizes {
        out.write_all(&size.to_le_bytes())?;
    }
    for number in numbers {
        out.write_all(&number.to_le_bytes())?;
    }
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    match kept {
        Kept::Briefly => Ok(()),
        Kept::ForLong => file.sync_data(),
    }
}

/// Reads a file that [`write`] wrote: its sizes, and as many numbers as `count` makes of them.
pub(crate) fn read<const SIZES: usize>(
    path: &Path,
    magic: &[u8; 8],
    count: impl FnOnce([usize; SIZES]) -> Option<usize>,
) -> Result<([usize; SIZES], Vec<f64>), FileError> {
    let wrong = |what: String| FileError::Format { path: path.to_owned(), what };
    let bytes = fs::read(path).map_err(|source| FileError::Io { path: path.to_owned(), source })?;
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
