//! Writes array files.

use std::iter::once;
use std::path::Path;

use gpbench_files::{Durability, SEAL_BYTES, replace_sealed};
use gpbench_host::Arrays;
use ndarray::{ArrayView, ArrayViewD, Dimension};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use serde::Serialize;

use super::{CHECKSUM, DESCRIPTION, Description, FileError, VERSION};

/// Longest header that readers of the format accept, in bytes.
const LONGEST_HEADER: usize = 100_000_000;

/// An array file to be written.
pub(crate) struct ArrayWriter<'a> {
    description: String,
    numbers: Vec<(String, ArrayViewD<'a, f64>)>,
    bytes: Vec<(String, &'a [u8])>,
}

impl<'a> ArrayWriter<'a> {
    /// A file of a kind with a state and no arrays yet. The state is everything other than arrays; it is `()` where
    /// there is nothing else.
    pub(crate) fn new(kind: &str, state: &impl Serialize) -> ArrayWriter<'a> {
        let description = Description { kind: kind.to_owned(), version: VERSION, state };
        let description = serde_json::to_string(&description).expect("plain data with text keys serialises");
        ArrayWriter { description, numbers: Vec::new(), bytes: Vec::new() }
    }

    /// Adds an array of numbers.
    #[must_use]
    pub(crate) fn array<D: Dimension>(mut self, name: &str, array: ArrayView<'a, f64, D>) -> Self {
        self.numbers.push((name.to_owned(), array.into_dyn()));
        self
    }

    /// Adds a group of matrices.
    #[must_use]
    pub(crate) fn group(self, group: &str, matrices: &'a Arrays) -> Self {
        matrices
            .iter()
            .fold(self, |writer, (name, matrix)| writer.array(&format!("{group}/{name}"), matrix.view()))
    }

    /// Adds an array of bytes.
    #[must_use]
    pub(crate) fn bytes(mut self, name: &str, bytes: &'a [u8]) -> Self {
        self.bytes.push((name.to_owned(), bytes));
        self
    }

    /// Writes the file as a whole.
    pub(crate) fn write(self, path: &Path, durability: Durability) -> Result<(), FileError> {
        let header = self.header();
        if header.len() > LONGEST_HEADER {
            let what = format!("its header takes {} bytes, more than {LONGEST_HEADER}", header.len());
            return Err(FileError::mismatch(path, what));
        }
        let written = replace_sealed(path, durability, |out| {
            out.write_all(&(header.len() as u64).to_le_bytes())?;
            out.write_all(&header)?;
            // Views iterate row by row for any memory layout.
            let mut numbers = self.numbers.iter().flat_map(|(_, array)| array);
            numbers.try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
            self.bytes.iter().try_for_each(|(_, bytes)| out.write_all(bytes))
        });
        written.map_err(|source| FileError::Io { path: path.to_owned(), source })
    }

    /// The header, padded so that numbers are aligned in the file.
    fn header(&self) -> Vec<u8> {
        let numbers = self.numbers.iter().map(|(name, array)| (&**name, Dtype::F64, array.shape(), 8));
        let lengths: Vec<[usize; 1]> = self.bytes.iter().map(|(_, bytes)| [bytes.len()]).collect();
        let bytes =
            self.bytes.iter().zip(&lengths).map(|((name, _), length)| (&**name, Dtype::U8, &length[..], 1));
        let checksum = once((CHECKSUM, Dtype::U8, &[SEAL_BYTES][..], 1));
        let mut end = 0;
        let tensors = numbers.chain(bytes).chain(checksum).map(|(name, dtype, shape, entry)| {
            let begin = end;
            end += entry * shape.iter().product::<usize>();
            (name.to_owned(), TensorInfo { dtype, shape: shape.to_vec(), data_offsets: (begin, end) })
        });
        let metadata = once((DESCRIPTION.to_owned(), self.description.clone())).collect();
        let header = Metadata::new(Some(metadata), tensors.collect()).expect("each array follows the last");
        let mut header = serde_json::to_vec(&header).expect("plain data with text keys serialises");
        header.resize(header.len().next_multiple_of(8), b' ');
        header
    }
}
