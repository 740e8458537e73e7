//! The binary copy of a data set, which workers read instead of text.
//!
//! One file, little-endian throughout:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | `GPBDATA` and a zero byte |
//! | 8..12 | format version, u32 |
//! | 12..16 | number of splits, u32 |
//! | 16..24 | n, u64 |
//! | 24..32 | d, u64 |
//! | 32..40 | length of the trailing text, u64 |
//! | 40..72 | SHA-256 of bytes 0..32, x, y and masks |
//! | 72.. | x: n d numbers of type f64, row by row |
//! | | y: n numbers of type f64 |
//! | | masks: per split ceil(n / 8) bytes, row r is bit r mod 8 of byte r / 8 |
//! | | text: JSON with name and warnings |
//!
//! The digest covers everything that can change a result and nothing else, so it is the identity of a data set;
//! other names or warnings do not change it. A reader checks the size before it reads and the digest after. The
//! file is read into its final memory: mapping it would save little, since every number is used, and would need
//! `unsafe`.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use gpbench_files::{Durability, replace};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::hash::Sha256Hex;
use crate::table::{Table, TableError};

const MAGIC: &[u8; 8] = b"GPBDATA\0";
const VERSION: u32 = 1;
/// Header bytes that the digest covers.
const DIMENSIONS_END: usize = 32;
const HEADER: usize = 72;

/// Why a copy cannot be written or read.
#[derive(Debug, Error)]
pub enum CopyError {
    /// The file system reported an error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// Not a copy, or a copy of another version.
    #[error("{} is not a binary copy of a data set that this version reads: {what}; delete it, and it will be made again", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The content has changed since it was written.
    #[error("{} is damaged (SHA-256 {actual}, expected {expected}); delete it, and it will be made again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Digest in the header.
        expected: Sha256Hex,
        /// Digest of what was read.
        actual: Sha256Hex,
    },
    /// The table is inconsistent.
    #[error("data set `{name}`: {source}")]
    Table {
        /// Its name.
        name: String,
        /// The mistake.
        source: TableError,
    },
}

/// The description of a copy, without its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Name of the set.
    pub name: String,
    /// Warnings of the import.
    pub warnings: Vec<String>,
    /// Rows.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Number of splits; 0 if the set has no masks.
    pub splits: usize,
    /// Digest of the content.
    pub sha256: Sha256Hex,
}

/// The fixed part of the file, at its beginning.
struct Dimensions {
    n: usize,
    d: usize,
    splits: usize,
    sha256: Sha256Hex,
    text_length: usize,
    bytes: [u8; DIMENSIONS_END],
}

#[derive(Serialize, Deserialize)]
struct Text {
    name: String,
    warnings: Vec<String>,
}

/// Writes a copy atomically, and returns the digest of its content.
///
/// # Errors
/// If the table is inconsistent or the file cannot be written.
pub fn write(table: &Table, path: &Path) -> Result<Sha256Hex, CopyError> {
    table.check().map_err(|source| CopyError::Table { name: table.name.clone(), source })?;
    let text = Text { name: table.name.clone(), warnings: table.warnings.clone() };
    let text = serde_json::to_vec(&text).expect("strings always have a JSON form");
    let dimensions = dimensions(table);

    let masks: Vec<u8> = table.test_masks.iter().flat_map(|mask| pack(mask)).collect();
    let mut hasher = Sha256::new();
    hasher.update(dimensions);
    each_part(table, &masks, &mut |bytes| {
        hasher.update(bytes);
        Ok(())
    })
    .expect("hashing cannot fail");
    let digest: [u8; 32] = hasher.finalize().into();

    let io_error = |source| CopyError::Io { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io_error)?;
    }
    replace(path, Durability::Durable, |file| {
        file.write_all(&dimensions)?;
        file.write_all(&(text.len() as u64).to_le_bytes())?;
        file.write_all(&digest)?;
        each_part(table, &masks, &mut |bytes| file.write_all(bytes))?;
        file.write_all(&text)
    })
    .map_err(io_error)?;
    Ok(Sha256Hex::from_digest(&digest))
}

/// Reads a copy and checks its digest.
///
/// # Errors
/// If the file cannot be read, is not a copy, or is damaged.
pub fn read(path: &Path) -> Result<Table, CopyError> {
    let io_error = |source| CopyError::Io { path: path.to_owned(), source };
    let (mut file, header) = open(path)?;
    let Dimensions { n, d, splits, .. } = header;

    let mut hasher = Sha256::new();
    hasher.update(header.bytes);
    let x = read_numbers(&mut file, n * d, &mut hasher).map_err(io_error)?;
    let y = read_numbers(&mut file, n, &mut hasher).map_err(io_error)?;
    let mut masks = vec![0; splits * n.div_ceil(8)];
    file.read_exact(&mut masks).map_err(io_error)?;
    hasher.update(&masks);
    let actual = Sha256Hex::from_digest(&hasher.finalize().into());
    if actual != header.sha256 {
        return Err(CopyError::Damaged { path: path.to_owned(), expected: header.sha256, actual });
    }

    let text = read_text(&mut file, header.text_length, path)?;
    Ok(Table {
        name: text.name,
        x: Array2::from_shape_vec((n, d), x).expect("n d numbers were read"),
        y: Array1::from(y),
        test_masks: masks.chunks_exact(n.div_ceil(8)).map(|bytes| unpack(bytes, n)).collect(),
        warnings: text.warnings,
    })
}

/// The digest of a copy's content, as its header says.
///
/// # Errors
/// If the header is not that of a copy of this length.
pub fn sha256(path: &Path) -> Result<Sha256Hex, CopyError> {
    open(path).map(|(_, header)| header.sha256)
}

/// The description of a copy. Checks the length of the file, but not its numbers.
///
/// # Errors
/// If the file cannot be read or is not a copy.
pub fn header(path: &Path) -> Result<Header, CopyError> {
    let (mut file, Dimensions { n, d, splits, sha256, text_length, .. }) = open(path)?;
    file.seek(SeekFrom::End(-(text_length as i64)))
        .map_err(|source| CopyError::Io { path: path.to_owned(), source })?;
    let Text { name, warnings } = read_text(&mut file, text_length, path)?;
    Ok(Header { name, warnings, n, d, splits, sha256 })
}

fn read_text(file: &mut File, length: usize, path: &Path) -> Result<Text, CopyError> {
    let mut text = vec![0; length];
    file.read_exact(&mut text).map_err(|source| CopyError::Io { path: path.to_owned(), source })?;
    serde_json::from_slice(&text)
        .map_err(|error| CopyError::Format { path: path.to_owned(), what: error.to_string() })
}

fn open(path: &Path) -> Result<(File, Dimensions), CopyError> {
    let io_error = |source| CopyError::Io { path: path.to_owned(), source };
    let format = |what: String| CopyError::Format { path: path.to_owned(), what };
    let mut file = File::open(path).map_err(io_error)?;
    let size = file.metadata().map_err(io_error)?.len();
    if size < HEADER as u64 {
        return Err(format(format!("it has {size} bytes, fewer than its header")));
    }
    let mut bytes = [0; HEADER];
    file.read_exact(&mut bytes).map_err(io_error)?;
    if &bytes[..8] != MAGIC {
        return Err(format("its first bytes are wrong".into()));
    }
    let version = u32_at(&bytes, 8);
    if version != VERSION {
        return Err(format(format!("its format is version {version}, this program reads version {VERSION}")));
    }
    let (splits, n, d) = (u64::from(u32_at(&bytes, 12)), u64_at(&bytes, 16), u64_at(&bytes, 24));
    let text_length = u64_at(&bytes, 32);
    let expected = expected_size(splits, n, d, text_length);
    if expected != Some(size) {
        let expected = expected.map_or("more than a file can hold".into(), |bytes| bytes.to_string());
        return Err(format(format!("it has {size} bytes, its header announces {expected}")));
    }
    if n == 0 || d == 0 {
        return Err(format(format!("its header says {n} rows and {d} inputs")));
    }
    let digest: [u8; 32] = bytes[40..72].try_into().expect("32 bytes");
    let header = Dimensions {
        n: n as usize,
        d: d as usize,
        splits: splits as usize,
        sha256: Sha256Hex::from_digest(&digest),
        text_length: text_length as usize,
        bytes: bytes[..DIMENSIONS_END].try_into().expect("32 bytes"),
    };
    Ok((file, header))
}

/// Length of the file according to its header; `None` if it overflows. A damaged header must not make the reader
/// allocate huge amounts of memory.
fn expected_size(splits: u64, n: u64, d: u64, text_length: u64) -> Option<u64> {
    let numbers = n.checked_mul(d.checked_add(1)?)?.checked_mul(8)?;
    let masks = splits.checked_mul(n.div_ceil(8))?;
    numbers.checked_add(masks)?.checked_add(text_length)?.checked_add(HEADER as u64)
}

fn dimensions(table: &Table) -> [u8; DIMENSIONS_END] {
    let mut bytes = [0; DIMENSIONS_END];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&(table.test_masks.len() as u32).to_le_bytes());
    bytes[16..24].copy_from_slice(&(table.n() as u64).to_le_bytes());
    bytes[24..32].copy_from_slice(&(table.d() as u64).to_le_bytes());
    bytes
}

/// Calls `take` with x, y and masks as bytes, in the order of the file.
fn each_part(table: &Table, masks: &[u8], take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let x = table.x.as_standard_layout();
    let y = table.y.as_standard_layout();
    for numbers in [x.as_slice(), y.as_slice()] {
        let numbers = numbers.expect("standard layout is contiguous");
        if cfg!(target_endian = "little") {
            take(bytemuck::cast_slice(numbers))?;
        } else {
            numbers.iter().try_for_each(|number| take(&number.to_le_bytes()))?;
        }
    }
    take(masks)
}

/// Reads numbers directly into the memory of the array.
fn read_numbers(file: &mut File, count: usize, hasher: &mut Sha256) -> io::Result<Vec<f64>> {
    let mut numbers = vec![0.0_f64; count];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut numbers);
    file.read_exact(bytes)?;
    hasher.update(&*bytes);
    if cfg!(target_endian = "big") {
        for number in &mut numbers {
            *number = f64::from_bits(number.to_bits().swap_bytes());
        }
    }
    Ok(numbers)
}

fn pack(mask: &[bool]) -> Vec<u8> {
    let byte = |rows: &[bool]| {
        rows.iter().enumerate().fold(0, |byte, (bit, &is_test)| byte | (u8::from(is_test) << bit))
    };
    mask.chunks(8).map(byte).collect()
}

fn unpack(bytes: &[u8], n: usize) -> Vec<bool> {
    (0..n).map(|row| bytes[row / 8] >> (row % 8) & 1 == 1).collect()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
