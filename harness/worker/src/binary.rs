//! Binary files of the worker: a magic word, the content, a checksum.
//!
//! A file is replaced as a whole, and its checksum is compared before anything in it is used. Most hold numbers:
//! sizes, then little-endian f64.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use gpbench_files::{Durability, SEAL_BYTES, open_regular, replace_sealed, unseal};

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system could not write or read it.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is no such file.
    #[error("{path} does not exist", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Its first bytes are not those of this version's files.
    #[error("{path} does not begin with `{magic}`: another version wrote it, or it is damaged", path = path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// How it should begin.
        magic: String,
    },
    /// It was cut short or has changed since it was written.
    #[error("{path} is damaged: its checksum is wrong", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// It is as it was written, but not what was asked for.
    #[error("{path}: {what}", path = path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

impl FileError {
    fn io(path: &Path, source: io::Error) -> FileError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => FileError::Missing { path },
            _ => FileError::Io { path, source },
        }
    }

    pub(crate) fn mismatch(path: &Path, what: impl Into<String>) -> FileError {
        FileError::Mismatch { path: path.to_owned(), what: what.into() }
    }
}

/// Writes a file: the magic word, what `fill` writes, and the checksum of both.
pub(crate) fn replace(
    path: &Path,
    durability: Durability,
    magic: &[u8; 8],
    fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), FileError> {
    let written = replace_sealed(path, durability, |out| {
        out.write_all(magic)?;
        fill(out)
    });
    written.map_err(|source| FileError::Io { path: path.to_owned(), source })
}

/// Reads a file that [`replace`] wrote, of at most `longest` bytes of content, and gives its content to `take`.
pub(crate) fn read<T>(
    path: &Path,
    magic: &[u8; 8],
    longest: usize,
    take: impl FnOnce(&[u8]) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let file = bytes(path, longest.saturating_add(magic.len() + SEAL_BYTES))?;
    if !file.starts_with(magic) {
        let magic = String::from_utf8_lossy(magic).into_owned();
        return Err(FileError::Version { path: path.to_owned(), magic });
    }
    let content = unseal(&file).and_then(|content| content.get(magic.len()..));
    take(content.ok_or_else(|| FileError::Damaged { path: path.to_owned() })?)
}

/// The bytes of a regular file of at most `longest` bytes; a longer one is refused before it is read.
fn bytes(path: &Path, longest: usize) -> Result<Vec<u8>, FileError> {
    let io_error = |source| FileError::io(path, source);
    let file = open_regular(path).map_err(io_error)?;
    let length = file.metadata().map_err(io_error)?.len();
    let Some(room) = usize::try_from(length).ok().filter(|room| *room <= longest) else {
        let what = format!("it has {length} bytes, more than the {longest} that it can need");
        return Err(FileError::mismatch(path, what));
    };
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room).map_err(|_| io_error(io::ErrorKind::OutOfMemory.into()))?;
    // A file that grows meanwhile is not what was written.
    file.take(length).read_to_end(&mut bytes).map_err(io_error)?;
    Ok(bytes)
}

/// Writes a file of sizes and numbers.
pub(crate) fn write_numbers<'a>(
    path: &Path,
    durability: Durability,
    magic: &[u8; 8],
    sizes: &[u64],
    numbers: impl Iterator<Item = &'a f64>,
) -> Result<(), FileError> {
    replace(path, durability, magic, |out| {
        sizes.iter().try_for_each(|size| out.write_all(&size.to_le_bytes()))?;
        numbers.into_iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
    })
}

/// Reads a file that [`write_numbers`] wrote: its sizes, and as many numbers as `count` makes of them, at most `most`.
pub(crate) fn read_numbers<const SIZES: usize>(
    path: &Path,
    magic: &[u8; 8],
    most: usize,
    count: impl FnOnce([usize; SIZES]) -> Option<usize>,
) -> Result<([usize; SIZES], Vec<f64>), FileError> {
    read(path, magic, most.saturating_add(SIZES).saturating_mul(8), |content| {
        let parts = content.split_at_checked(8 * SIZES);
        let (sizes, rest) = parts.ok_or_else(|| FileError::mismatch(path, "it ends in its header"))?;
        let sizes: [usize; SIZES] = std::array::from_fn(|i| {
            let word = sizes[8 * i..8 * i + 8].try_into().expect("a slice of eight bytes");
            usize::try_from(u64::from_le_bytes(word)).unwrap_or(usize::MAX)
        });
        let expected = count(sizes).and_then(|numbers| numbers.checked_mul(8));
        if expected != Some(rest.len()) {
            let what = format!("it holds {} bytes of numbers, which is not what its sizes say", rest.len());
            return Err(FileError::mismatch(path, what));
        }
        let number = |word: &[u8]| f64::from_le_bytes(word.try_into().expect("a chunk of eight bytes"));
        Ok((sizes, rest.chunks_exact(8).map(number).collect()))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    const MAGIC: &[u8; 8] = b"GPBTEST1";

    /// Writes three numbers into a new folder; returns it, the file and its bytes.
    fn written() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.bin");
        write_numbers(&path, Durability::ThisRun, MAGIC, &[3], [1.0, -0.0, f64::NAN].iter()).unwrap();
        let bytes = fs::read(&path).unwrap();
        (folder, path, bytes)
    }

    fn count(path: &Path) -> Result<usize, FileError> {
        read_numbers(path, MAGIC, 3, |[n]| Some(n)).map(|(_, numbers)| numbers.len())
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let (_folder, path, good) = written();
        assert_eq!(count(&path).unwrap(), 3);
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, bad).unwrap();
            let error = count(&path).unwrap_err();
            let in_magic = bit < 64;
            assert_eq!(matches!(error, FileError::Version { .. }), in_magic, "bit {bit}: {error}");
            assert_eq!(matches!(error, FileError::Damaged { .. }), !in_magic, "bit {bit}: {error}");
        }
        for length in 0..good.len() {
            fs::write(&path, &good[..length]).unwrap();
            assert!(count(&path).is_err(), "{length}");
        }
    }

    #[test]
    fn a_file_that_is_too_long_is_not_read() {
        let (_folder, path, good) = written();
        let error = read_numbers(&path, MAGIC, 2, |[n]| Some(n)).unwrap_err().to_string();
        assert!(error.ends_with("it has 72 bytes, more than the 64 that it can need"), "{error}");
        // A sparse file, larger than any memory.
        fs::File::options().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
        assert!(matches!(count(&path).unwrap_err(), FileError::Mismatch { .. }));
        assert_eq!(good.len(), 72);
    }

    #[test]
    fn what_is_not_a_regular_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for path in [&fifo, folder.path(), Path::new("/dev/zero")] {
            let error = count(path).unwrap_err();
            assert!(matches!(error, FileError::Io { .. }), "{error}");
            assert!(error.to_string().ends_with(": it is not a regular file"), "{error}");
        }
    }

    #[test]
    fn causes_are_told_apart() {
        let (folder, path, good) = written();
        let failed = |path: &Path| count(path).unwrap_err();
        assert!(matches!(failed(&folder.path().join("none.bin")), FileError::Missing { .. }));
        assert!(matches!(failed(folder.path()), FileError::Io { .. }));
        fs::write(&path, [b"GPBTEST0", &good[8..]].concat()).unwrap();
        assert!(matches!(failed(&path), FileError::Version { .. }));
        fs::write(&path, &good[..good.len() - 1]).unwrap();
        assert!(matches!(failed(&path), FileError::Damaged { .. }));
        write_numbers(&path, Durability::ThisRun, MAGIC, &[2], [1.0].iter()).unwrap();
        let error = failed(&path);
        assert!(matches!(error, FileError::Mismatch { .. }), "{error}");
        assert!(error.to_string().ends_with("holds 8 bytes of numbers, which is not what its sizes say"));
        write_numbers(&path, Durability::ThisRun, MAGIC, &[], [].iter()).unwrap();
        assert!(failed(&path).to_string().ends_with("it ends in its header"));
        let nowhere = folder.path().join("none/numbers.bin");
        let unwritten = write_numbers(&nowhere, Durability::ThisRun, MAGIC, &[], [].iter()).unwrap_err();
        assert!(matches!(unwritten, FileError::Io { .. }), "{unwritten}");
    }
}
