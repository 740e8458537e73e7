//! Free space on the disk, found by writing.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use gpbench_files::process_tag;
use gpbench_record::Case;

use crate::EngineError;

/// Bytes of the smallest and the largest file that is written to find out whether a disk is full.
const TRIAL_BYTES: [u64; 2] = [4 << 10, 256 << 20];

/// Bytes to try to write in place of the solution of a case of `n` training rows.
pub(crate) fn solution_bytes(n: Option<usize>, case: &Case) -> u64 {
    let numbers = n.unwrap_or_default().saturating_mul(case.task.right_hand_sides()) as u64;
    let [least, most] = TRIAL_BYTES;
    numbers.saturating_mul(8).clamp(least, most)
}

/// Tries to write so many bytes into a folder.
///
/// The free space that the system reports does not account for quotas and reserved space.
pub(crate) fn try_room(folder: &Path, bytes: u64) -> Result<(), EngineError> {
    let path = folder.join(format!("room.{}.part", process_tag()));
    let written = File::create(&path).and_then(|mut file| {
        io::copy(&mut io::repeat(0).take(bytes), &mut file)?;
        file.sync_all()
    });
    let _ = fs::remove_file(&path);
    written.map_err(|source| EngineError::NoRoom { folder: folder.to_owned(), source })
}
