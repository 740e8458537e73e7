//! Array files: named arrays with a description and a checksum, in one file each.
//!
//! An array file is a [safetensors](https://github.com/huggingface/safetensors) file, so programs in Python and other
//! languages read it by a public package:
//!
//! - the length of the header, a little-endian u64;
//! - the header, JSON padded with spaces to a multiple of 8 bytes: type, shape and position of each array, and under
//!   `__metadata__` the one key `gpbench`, a JSON text with the kind of the file, the version of the format and the state:
//!   everything that the file holds in addition to arrays;
//! - the arrays, each row by row and little-endian: 64-bit floating-point numbers (`F64`), then bytes (`U8`);
//! - `sha256`, the last array: the SHA-256 of all bytes before it.
//!
//! Each kind of file has a module that lists its arrays. A name such as `model/mean` belongs to the group
//! `model`. A file is replaced as a whole, and its checksum is verified before any of its content is used.

mod error;
mod reader;
mod writer;

pub use error::FileError;
pub(crate) use reader::ArrayFile;
pub(crate) use writer::ArrayWriter;

use serde::{Deserialize, Serialize};

/// Key of `__metadata__` whose value is the JSON of a [`Description`].
const DESCRIPTION: &str = "gpbench";

/// Version of the format: the only one that is read.
const VERSION: u32 = 1;

/// Name of the last array.
const CHECKSUM: &str = "sha256";

/// Description of a file. The state is `null` for a kind that holds only arrays.
#[derive(Serialize, Deserialize)]
struct Description<S> {
    kind: String,
    version: u32,
    state: S,
}

#[cfg(test)]
mod tests;
