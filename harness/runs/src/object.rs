//! Files of one JSON object, with its checksum as the first member.

use std::path::Path;

use gpbench_files::checksum::{self, Checksum};
use gpbench_files::{Durability, read_regular, replace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::RunError;
use crate::error::Context as _;

/// Most bytes of an object that are read: a plan of a million cases has fewer.
const MOST_BYTES: u64 = 4 << 30;

/// Writes an object, for people to read as well, and waits until it is on the disk.
pub(crate) fn write(path: &Path, object: &impl Serialize) -> Result<(), RunError> {
    write_with(path, object, Durability::Durable)
}

/// [`write`], without waiting until the object is on the disk: a power cut may lose it.
pub(crate) fn write_with(
    path: &Path,
    object: &impl Serialize,
    durability: Durability,
) -> Result<(), RunError> {
    let text = sealed(object);
    replace(path, durability, |file| file.write_all(&text)).context("write", path)
}

/// [`write`], unless the file has this content: then it takes no room on a full disk.
pub(crate) fn write_changed(path: &Path, object: &impl Serialize) -> Result<(), RunError> {
    write_changed_text(path, &sealed(object))
}

/// Replaces a file, unless it has this content, and waits until it is on the disk.
pub(crate) fn write_changed_text(path: &Path, text: &[u8]) -> Result<(), RunError> {
    match read_regular(path, text.len() as u64) {
        Ok(known) if known == text => Ok(()),
        _ => replace(path, Durability::Durable, |file| file.write_all(text)).context("write", path),
    }
}

fn sealed(object: &impl Serialize) -> Vec<u8> {
    let text = serde_json::to_vec_pretty(object).expect("plain data with text keys always serialises");
    checksum::seal(&text)
}

/// Reads an object and compares its checksum; earlier versions wrote none.
pub(crate) fn read(path: &Path) -> Result<Value, RunError> {
    read_at_most(path, MOST_BYTES)
}

/// [`read`], for an object of at most so many bytes.
pub(crate) fn read_at_most(path: &Path, most: u64) -> Result<Value, RunError> {
    parse(path, &text(path, most)?)
}

/// The text of an object, for [`parse`].
pub(crate) fn read_text(path: &Path) -> Result<Vec<u8>, RunError> {
    text(path, MOST_BYTES)
}

/// Parses the text of an object; what is not of the type takes no memory.
pub(crate) fn parse<T: DeserializeOwned>(path: &Path, text: &[u8]) -> Result<T, RunError> {
    serde_json::from_slice(text).map_err(|error| damaged(path, error))
}

/// The text of an object of at most so many bytes, whose checksum is compared.
fn text(path: &Path, most: u64) -> Result<Vec<u8>, RunError> {
    let text = read_regular(path, most).context("read", path)?;
    match checksum::verify(&text) {
        Checksum::Wrong => Err(damaged(path, "its checksum is wrong")),
        Checksum::Right | Checksum::Absent => Ok(text),
    }
}

/// The error of a file that is not as it was written.
pub(crate) fn damaged(path: &Path, reason: impl ToString) -> RunError {
    RunError::Damaged { path: path.to_owned(), reason: reason.to_string() }
}
