//! Reads array files.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use gpbench_files::{SEAL_BYTES, open_regular, unseal};
use gpbench_host::Arrays;
use ndarray::{Array1, Array2, ArrayView2, ShapeBuilder};
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};
use serde::de::{DeserializeOwned, IgnoredAny};

use super::{DESCRIPTION, Description, FileError, VERSION};

/// Largest number of bytes of a header with a short state and few arrays.
const HEADER_ROOM: usize = 1 << 14;

/// An array file that has been read and whose checksum is right.
pub(crate) struct ArrayFile {
    path: PathBuf,
    file: Vec<u8>,
    /// Bytes before the first array.
    begin: usize,
    header: Metadata,
    description: String,
}

impl ArrayFile {
    /// Reads a file of a kind whose arrays and state have at most `longest` bytes; a longer one is refused before it is
    /// read.
    pub(crate) fn read(path: &Path, kind: &'static str, longest: usize) -> Result<ArrayFile, FileError> {
        let file = read(path, longest.saturating_add(HEADER_ROOM + SEAL_BYTES))?;
        unseal(&file).ok_or_else(|| FileError::Damaged { path: path.to_owned() })?;
        let other = |reason| FileError::Version { path: path.to_owned(), kind, reason };
        let (length, header) = SafeTensors::read_metadata(&file).map_err(|error| other(error.to_string()))?;
        let description = header.metadata().as_ref().and_then(|metadata| metadata.get(DESCRIPTION));
        let description = description.ok_or_else(|| other(format!("it has no `{DESCRIPTION}`")))?.clone();
        let found: Description<IgnoredAny> =
            serde_json::from_str(&description).map_err(|error| other(error.to_string()))?;
        if (&*found.kind, found.version) != (kind, VERSION) {
            return Err(other(format!("it is of kind `{}`, version {}", found.kind, found.version)));
        }
        Ok(ArrayFile { path: path.to_owned(), file, begin: size_of::<u64>() + length, header, description })
    }

    /// The state that the file was written with.
    pub(crate) fn state<S: DeserializeOwned>(&self) -> Result<S, FileError> {
        let description: Description<S> =
            serde_json::from_str(&self.description).map_err(|error| self.mismatch(error.to_string()))?;
        Ok(description.state)
    }

    /// Whether there is an array of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.header.info(name).is_some()
    }

    /// A matrix of numbers in row-major order.
    pub(crate) fn row_major(&self, name: &str) -> Result<Array2<f64>, FileError> {
        Ok(self.matrix(name)?.map(number))
    }

    /// A matrix of numbers in column-major order.
    pub(crate) fn column_major(&self, name: &str) -> Result<Array2<f64>, FileError> {
        let stored = self.matrix(name)?;
        let mut matrix = Array2::zeros(stored.dim().f());
        matrix.zip_mut_with(&stored, |entry, bytes| *entry = number(bytes));
        Ok(matrix)
    }

    /// A matrix of numbers in column-major order; `None` where the file has none of this name.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<Array2<f64>>, FileError> {
        self.has(name).then(|| self.column_major(name)).transpose()
    }

    /// A vector of numbers.
    pub(crate) fn vector(&self, name: &str) -> Result<Array1<f64>, FileError> {
        let ([_], bytes) = self.array(name, Dtype::F64)?;
        Ok(bytes.as_chunks().0.iter().map(number).collect())
    }

    /// An array of bytes.
    pub(crate) fn bytes(&self, name: &str) -> Result<&[u8], FileError> {
        let ([_], bytes) = self.array(name, Dtype::U8)?;
        Ok(bytes)
    }

    /// The names of the arrays of a group, without the group.
    pub(crate) fn names(&self, group: &str) -> Vec<String> {
        let names = self.header.offset_keys().into_iter();
        names.filter_map(|name| Some(name.strip_prefix(group)?.strip_prefix('/')?.to_owned())).collect()
    }

    /// The matrices of a group, each in column-major order; none where the group has no array.
    pub(crate) fn group(&self, group: &str) -> Result<Arrays, FileError> {
        let named = |name: String| Ok((name.clone(), self.column_major(&format!("{group}/{name}"))?));
        self.names(group).into_iter().map(named).collect()
    }

    /// The error of a file whose content is not what was expected.
    pub(crate) fn mismatch(&self, what: impl Into<String>) -> FileError {
        FileError::mismatch(&self.path, what)
    }

    /// The entries of a matrix.
    fn matrix(&self, name: &str) -> Result<ArrayView2<'_, [u8; 8]>, FileError> {
        let (shape, bytes) = self.array::<2>(name, Dtype::F64)?;
        Ok(ArrayView2::from_shape(shape, bytes.as_chunks().0).expect("as many numbers as the shape says"))
    }

    /// The shape and the bytes of an array.
    fn array<const DIMENSIONS: usize>(
        &self,
        name: &str,
        of: Dtype,
    ) -> Result<([usize; DIMENSIONS], &[u8]), FileError> {
        let info = self.header.info(name).ok_or_else(|| self.mismatch(format!("it lacks `{name}`")))?;
        let TensorInfo { dtype, shape, data_offsets: (begin, end) } = info;
        match <[usize; DIMENSIONS]>::try_from(&**shape) {
            Ok(shape) if *dtype == of => Ok((shape, &self.file[self.begin + begin..self.begin + end])),
            _ => {
                let what = format!("`{name}` is {dtype} {shape:?}, not {of} of {DIMENSIONS} dimensions");
                Err(self.mismatch(what))
            }
        }
    }
}

fn number(bytes: &[u8; 8]) -> f64 {
    f64::from_le_bytes(*bytes)
}

/// The bytes of a regular file of at most `longest` bytes; a longer one is refused before it is read.
fn read(path: &Path, longest: usize) -> Result<Vec<u8>, FileError> {
    let io_error = |source| FileError::io(path, source);
    let file = open_regular(path).map_err(io_error)?;
    let length = file.metadata().map_err(io_error)?.len();
    let Some(room) = usize::try_from(length).ok().filter(|room| *room <= longest) else {
        let what = format!("it has {length} bytes, more than the {longest} that it can need");
        return Err(FileError::mismatch(path, what));
    };
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room).map_err(|_| io_error(io::ErrorKind::OutOfMemory.into()))?;
    // A file that grows while it is read is not the file that was written.
    file.take(length).read_to_end(&mut bytes).map_err(io_error)?;
    Ok(bytes)
}
