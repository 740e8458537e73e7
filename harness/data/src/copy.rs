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
//! | 32..36 | length of the text, u32 |
//! | 36..40 | number of keys, u32 |
//! | 40..72 | identity: SHA-256 of bytes 0..32 with format version 1, x, y, masks and keys |
//! | 72..104 | SHA-256 of bytes 0..72 and the text |
//! | 104.. | text: JSON with name, names of columns and of keys, warnings, and what was understood of the file |
//! | | x: n d numbers of type f64, row by row |
//! | | y: n numbers of type f64 |
//! | | masks: per split ceil(n / 8) bytes, row r is bit r mod 8 of byte r / 8 |
//! | | keys: n numbers of type f64 for each column that splits refer to |
//!
//! The identity covers everything that can change a result and nothing else: other names or warnings do not change
//! it, and neither does the format version. The two digests together cover every byte. A description is read
//! and checked without the numbers; a reader checks the size before it reads and the identity after. The file is
//! read into its final memory: mapping it would save little, since every number is used, and would need `unsafe`.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use gpbench_files::{Durability, open_regular, replace};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::hash::Sha256Hex;
use crate::reading::FileReading;
use crate::table::{KeyColumn, Names, Table, TableError};

const MAGIC: &[u8; 8] = b"GPBDATA\0";
/// The format that this program writes, and the only one that it reads.
pub const VERSION: u32 = 3;
/// The format version in the identity: data sets keep the identity that the first format gave them.
const IDENTITY_VERSION: u32 = 1;
/// Ends of the parts of the header: dimensions, length of the text, number of keys, identity, checksum.
const DIMENSIONS_END: usize = 32;
const TEXT_LENGTH_END: usize = 36;
const LENGTH_END: usize = 40;
const IDENTITY_END: usize = 72;
const HEADER: usize = 104;

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
    #[error("{} is damaged: its checksum is wrong; delete it, and it will be made again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
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

impl CopyError {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, CopyError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// The description of a copy, without its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Name of the set.
    pub name: String,
    /// Names of its columns.
    pub names: Names,
    /// Warnings of the import.
    pub warnings: Vec<String>,
    /// Rows.
    pub n: usize,
    /// Inputs.
    pub d: usize,
    /// Number of splits; 0 if the set has no masks.
    pub splits: usize,
    /// Names of the columns that splits refer to.
    pub keys: Vec<String>,
    /// What was understood of the file.
    pub reading: FileReading,
    /// Digest of the content.
    pub sha256: Sha256Hex,
}

/// The text of a copy.
#[derive(Serialize, Deserialize)]
struct Text {
    name: String,
    names: Names,
    keys: Vec<String>,
    warnings: Vec<String>,
    reading: FileReading,
}

/// Writes a copy atomically, and returns the digest of its content.
///
/// # Errors
/// If the table is inconsistent or the file cannot be written.
pub fn write(table: &Table, path: &Path) -> Result<Sha256Hex, CopyError> {
    table.check().map_err(|source| CopyError::Table { name: table.name.clone(), source })?;
    let text = Text {
        name: table.name.clone(),
        names: table.names.clone(),
        keys: table.keys.iter().map(|key| key.label.clone()).collect(),
        warnings: table.warnings.clone(),
        reading: table.reading.clone(),
    };
    let text = serde_json::to_vec(&text).expect("strings always have a JSON form");
    let masks: Vec<u8> = table.test_masks.iter().flat_map(|mask| pack(mask)).collect();
    let (splits, n, d) = (table.test_masks.len() as u32, table.n() as u64, table.d() as u64);

    let mut hasher = Sha256::new();
    hasher.update(dimensions(IDENTITY_VERSION, splits, n, d));
    each_part(table, &masks, &mut |bytes| {
        hasher.update(bytes);
        Ok(())
    })
    .expect("hashing cannot fail");
    let identity: [u8; 32] = hasher.finalize().into();

    let mut header = [0; HEADER];
    header[..DIMENSIONS_END].copy_from_slice(&dimensions(VERSION, splits, n, d));
    header[DIMENSIONS_END..TEXT_LENGTH_END].copy_from_slice(&(text.len() as u32).to_le_bytes());
    header[TEXT_LENGTH_END..LENGTH_END].copy_from_slice(&(table.keys.len() as u32).to_le_bytes());
    header[LENGTH_END..IDENTITY_END].copy_from_slice(&identity);
    let checksum = checksum(&header, &text);
    header[IDENTITY_END..].copy_from_slice(&checksum);

    let write = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        replace(path, Durability::Durable, |file| {
            file.write_all(&header)?;
            file.write_all(&text)?;
            each_part(table, &masks, &mut |bytes| file.write_all(bytes))
        })
    };
    again_where_vanished(write).map_err(|source| CopyError::Io { path: path.to_owned(), source })?;
    Ok(Sha256Hex::from_digest(&identity))
}

/// Calls a function again where a file or folder has vanished: another process may remove the folder of copies at any time.
fn again_where_vanished<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const TRIES: usize = 10;
    for _ in 1..TRIES {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            ended => return ended,
        }
    }
    call()
}

/// Reads a copy and checks its digests.
///
/// # Errors
/// If the file cannot be read, is not a copy, or is damaged.
pub fn read(path: &Path) -> Result<Table, CopyError> {
    read_identified(path).map(|(table, _)| table)
}

/// Reads a copy, checks its digests, and returns its identity too: that of the numbers that were read, whatever
/// has taken the place of the file since.
///
/// # Errors
/// Those of [`read`].
pub fn read_identified(path: &Path) -> Result<(Table, Sha256Hex), CopyError> {
    let io_error = |source| CopyError::Io { path: path.to_owned(), source };
    let (mut file, Header { name, names, warnings, n, d, splits, keys, reading, sha256 }) = open(path)?;
    let mut hasher = Sha256::new();
    hasher.update(dimensions(IDENTITY_VERSION, splits as u32, n as u64, d as u64));
    let x = read_numbers(&mut file, n * d, &mut hasher).map_err(io_error)?;
    let y = read_numbers(&mut file, n, &mut hasher).map_err(io_error)?;
    let mut masks = vec![0; splits * n.div_ceil(8)];
    file.read_exact(&mut masks).map_err(io_error)?;
    hasher.update(&masks);
    let key = |label: String| -> io::Result<KeyColumn> {
        Ok(KeyColumn { label, values: read_numbers(&mut file, n, &mut hasher)? })
    };
    let keys = keys.into_iter().map(key).collect::<io::Result<Vec<KeyColumn>>>().map_err(io_error)?;
    if Sha256Hex::from_digest(&hasher.finalize().into()) != sha256 {
        return Err(CopyError::Damaged { path: path.to_owned() });
    }
    let table = Table {
        name,
        x: Array2::from_shape_vec((n, d), x).expect("n d numbers were read"),
        y: Array1::from(y),
        test_masks: masks.chunks_exact(n.div_ceil(8)).map(|bytes| unpack(bytes, n)).collect(),
        keys,
        names,
        warnings,
        reading,
    };
    Ok((table, sha256))
}

/// The identity of a copy. Checks the description, but not the numbers.
///
/// # Errors
/// Those of [`header`].
pub fn sha256(path: &Path) -> Result<Sha256Hex, CopyError> {
    header(path).map(|header| header.sha256)
}

/// Training rows of each split that comes with the set of a copy. Checks the description, but not the masks.
///
/// # Errors
/// Those of [`header`].
pub fn training_rows_of_splits(path: &Path) -> Result<Vec<usize>, CopyError> {
    let io_error = |source| CopyError::Io { path: path.to_owned(), source };
    let (mut file, Header { n, d, splits, .. }) = open(path)?;
    if splits == 0 {
        return Ok(Vec::new());
    }
    let numbers = 8 * n as i64 * (d as i64 + 1);
    file.seek(SeekFrom::Current(numbers)).map_err(io_error)?;
    let mut masks = vec![0; splits * n.div_ceil(8)];
    file.read_exact(&mut masks).map_err(io_error)?;
    let test = |mask: &[u8]| mask.iter().map(|byte| byte.count_ones() as usize).sum::<usize>();
    let training = |mask| n.saturating_sub(test(mask));
    Ok(masks.chunks_exact(n.div_ceil(8)).map(training).collect())
}

/// The description of a copy, checked. Checks the length of the file, but not its numbers.
///
/// # Errors
/// If the file cannot be read, is not a copy, or its description is damaged.
pub fn header(path: &Path) -> Result<Header, CopyError> {
    open(path).map(|(_, header)| header)
}

/// Opens a copy, and reads and checks its description. The file stands at the first number.
fn open(path: &Path) -> Result<(File, Header), CopyError> {
    let io_error = |source| CopyError::Io { path: path.to_owned(), source };
    let format = |what: String| CopyError::Format { path: path.to_owned(), what };
    let mut file = open_regular(path).map_err(io_error)?;
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
    let [text_length, keys] = [DIMENSIONS_END, TEXT_LENGTH_END].map(|at| u64::from(u32_at(&bytes, at)));
    let expected = expected_size(splits, keys, n, d, text_length);
    if expected != Some(size) {
        let expected = expected.map_or("more than a file can hold".into(), |bytes| bytes.to_string());
        return Err(format(format!("it has {size} bytes, its header announces {expected}")));
    }
    if n == 0 || d == 0 {
        return Err(format(format!("its header says {n} rows and {d} inputs")));
    }
    let mut text = vec![0; text_length as usize];
    file.read_exact(&mut text).map_err(io_error)?;
    if bytes[IDENTITY_END..] != checksum(&bytes, &text) {
        return Err(CopyError::Damaged { path: path.to_owned() });
    }
    let text: Text = serde_json::from_slice(&text).map_err(|error| format(error.to_string()))?;
    if text.keys.len() as u64 != keys {
        return Err(format(format!("it names {} keys, its header announces {keys}", text.keys.len())));
    }
    let identity: [u8; 32] = bytes[LENGTH_END..IDENTITY_END].try_into().expect("32 bytes");
    let header = Header {
        name: text.name,
        names: text.names,
        keys: text.keys,
        warnings: text.warnings,
        reading: text.reading,
        n: n as usize,
        d: d as usize,
        splits: splits as usize,
        sha256: Sha256Hex::from_digest(&identity),
    };
    Ok((file, header))
}

/// The digest of a description: the header up to its identity, and the text.
fn checksum(header: &[u8; HEADER], text: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(&header[..IDENTITY_END]).chain_update(text).finalize().into()
}

/// Length of the file according to its header; `None` if it overflows. A damaged header must not make the reader
/// allocate huge amounts of memory.
fn expected_size(splits: u64, keys: u64, n: u64, d: u64, text_length: u64) -> Option<u64> {
    let columns = d.checked_add(1)?.checked_add(keys)?;
    let numbers = n.checked_mul(columns)?.checked_mul(8)?;
    let masks = splits.checked_mul(n.div_ceil(8))?;
    numbers.checked_add(masks)?.checked_add(text_length)?.checked_add(HEADER as u64)
}

/// The first bytes of the header.
fn dimensions(version: u32, splits: u32, n: u64, d: u64) -> [u8; DIMENSIONS_END] {
    let mut bytes = [0; DIMENSIONS_END];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    bytes[12..16].copy_from_slice(&splits.to_le_bytes());
    bytes[16..24].copy_from_slice(&n.to_le_bytes());
    bytes[24..32].copy_from_slice(&d.to_le_bytes());
    bytes
}

/// Calls `take` with x, y, masks and keys as bytes, in the order of the file.
fn each_part(table: &Table, masks: &[u8], take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let x = table.x.as_standard_layout();
    let y = table.y.as_standard_layout();
    for numbers in [x.as_slice(), y.as_slice()] {
        take_numbers(numbers.expect("standard layout is contiguous"), take)?;
    }
    take(masks)?;
    table.keys.iter().try_for_each(|key| take_numbers(&key.values, take))
}

/// Calls `take` with numbers as bytes.
fn take_numbers(numbers: &[f64], take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    if cfg!(target_endian = "little") {
        take(bytemuck::cast_slice(numbers))
    } else {
        numbers.iter().try_for_each(|number| take(&number.to_le_bytes()))
    }
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
