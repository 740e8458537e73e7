//! Room on the disk.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use crate::EngineError;

/// Tries to write so many bytes into a folder.
///
/// The free space that the system reports does not account for quotas and reserved space.
pub(crate) fn try_room(folder: &Path, bytes: u64) -> Result<(), EngineError> {
    let path = folder.join(format!("room.{}.part", std::process::id()));
    let written = File::create(&path).and_then(|mut file| {
        io::copy(&mut io::repeat(0).take(bytes), &mut file)?;
        file.sync_all()
    });
    let _ = fs::remove_file(&path);
    written.map_err(|source| EngineError::NoRoom { folder: folder.to_owned(), source })
}
