//! Files of one JSON object, with its checksum as the first member.

use std::fs;
use std::path::Path;

use gpbench_files::checksum::{self, Checksum};
use gpbench_files::{Durability, replace};
use serde::Serialize;
use serde_json::Value;

use crate::RunError;
use crate::error::Context as _;

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
    let text = serde_json::to_vec_pretty(object).expect("plain data with text keys always serialises");
    let text = checksum::seal(&text);
    replace(path, durability, |file| file.write_all(&text)).context("write", path)
}

/// Reads an object and compares its checksum; earlier versions wrote none.
pub(crate) fn read(path: &Path) -> Result<Value, RunError> {
    let text = fs::read(path).context("read", path)?;
    match checksum::verify(&text) {
        Checksum::Wrong => Err(damaged(path, "its checksum is wrong")),
        Checksum::Right | Checksum::Absent => {
            serde_json::from_slice(&text).map_err(|error| damaged(path, error))
        }
    }
}

/// The error of a file that is not as it was written.
pub(crate) fn damaged(path: &Path, reason: impl ToString) -> RunError {
    RunError::Damaged { path: path.to_owned(), reason: reason.to_string() }
}
