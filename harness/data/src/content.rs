//! The content of source files: their SHA-256, remembered by their stamps.
//!
//! A result depends on the content of a file, and not on its times: another file may be put in its place with the same
//! length and the same modification time. So the content is hashed, and the digest is remembered together with the stamp of
//! the file. While device, inode, length, modification time and change time are the same, the file is not read again.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use gpbench_files::{Durability, open_regular, replace};
use gpbench_record::Stamp;
use serde::{Deserialize, Serialize};

use crate::hash::Sha256Hex;

/// Nanoseconds after its last change from which on a stamp is remembered. The times of a file system advance in steps, of up
/// to two seconds on some; a file that is edited twice within a step has one stamp and two contents.
const SETTLED: i64 = 3_000_000_000;

/// A digest that was computed earlier.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    #[serde(with = "gpbench_record::path")]
    file: PathBuf,
    stamp: Stamp,
    sha256: Sha256Hex,
}

/// The SHA-256 of a file's content, remembered in the folder `memory`.
///
/// # Errors
/// If the file cannot be read. A memory that cannot be read or written is no error: the file is hashed.
pub fn digest(file: &Path, memory: &Path) -> io::Result<Sha256Hex> {
    let file = fs::canonicalize(file)?;
    let note =
        memory.join(format!("{}.json", &Sha256Hex::of_bytes(file.as_os_str().as_bytes()).as_str()[..32]));
    let stamp = Stamp::of(&file)?;
    if let Some(known) = recall(&note).filter(|known| known.file == file && known.stamp == stamp) {
        return Ok(known.sha256);
    }
    let open = open_regular(&file)?;
    // Taken before the file is read, so that a write in the meantime changes it.
    let stamp = Stamp::new(&open.metadata()?);
    let sha256 = Sha256Hex::of_reader(open)?;
    if is_settled(&stamp) && Stamp::of(&file)? == stamp {
        let known = Remembered { file, stamp, sha256: sha256.clone() };
        let text = serde_json::to_vec(&known).expect("paths and numbers have a JSON form");
        // A later call hashes the file again.
        let _ = fs::create_dir_all(memory)
            .and_then(|()| replace(&note, Durability::ThisRun, |note| note.write_all(&text)));
    }
    Ok(sha256)
}

fn recall(note: &Path) -> Option<Remembered> {
    let note = open_regular(note).ok()?;
    serde_json::from_reader(io::BufReader::new(note)).ok()
}

/// Whether a file was changed so long ago that any later change has other times. Clocks of file servers may be ahead.
fn is_settled(stamp: &Stamp) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
    now.saturating_sub(stamp.modified.max(stamp.changed)) > SETTLED
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};

    use super::*;

    /// Notes a wrong digest for a file with this stamp.
    fn note_wrongly(file: &Path, memory: &Path, stamp: Stamp) {
        let file = fs::canonicalize(file).unwrap();
        let name = Sha256Hex::of_bytes(file.as_os_str().as_bytes());
        let known = Remembered { file, stamp, sha256: Sha256Hex::of_bytes(b"wrong") };
        fs::create_dir_all(memory).unwrap();
        let note = memory.join(format!("{}.json", &name.as_str()[..32]));
        fs::write(note, serde_json::to_vec(&known).unwrap()).unwrap();
    }

    #[test]
    fn an_equal_stamp_skips_the_hash_and_any_difference_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (file, memory) = (folder.path().join("a.csv"), folder.path().join("memory"));
        fs::write(&file, "abc").unwrap();
        let (stamp, right) = (Stamp::of(&file).unwrap(), Sha256Hex::of_bytes(b"abc"));
        note_wrongly(&file, &memory, stamp);
        assert_eq!(digest(&file, &memory).unwrap(), Sha256Hex::of_bytes(b"wrong"));
        let others = [
            Stamp { size: stamp.size + 1, ..stamp },
            Stamp { device: stamp.device + 1, ..stamp },
            Stamp { inode: stamp.inode + 1, ..stamp },
            Stamp { modified: stamp.modified + 1, ..stamp },
            Stamp { changed: stamp.changed + 1, ..stamp },
        ];
        for other in others {
            note_wrongly(&file, &memory, other);
            assert_eq!(digest(&file, &memory).unwrap(), right, "{other:?}");
        }
    }

    #[test]
    fn a_file_that_was_just_written_is_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let (file, memory) = (folder.path().join("a.csv"), folder.path().join("memory"));
        fs::write(&file, "abc").unwrap();
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        digest(&file, &memory).unwrap();
        fs::write(&file, "abd").unwrap();
        File::open(&file).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        assert_eq!(digest(&file, &memory).unwrap(), Sha256Hex::of_bytes(b"abd"));
    }

    #[test]
    fn a_damaged_memory_and_one_that_cannot_be_written_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        fs::write(&file, "abc").unwrap();
        let is_right = |memory: &Path| digest(&file, memory).unwrap() == Sha256Hex::of_bytes(b"abc");
        assert!(is_right(&file) && is_right(Path::new("/proc/nowhere")));
        note_wrongly(&file, folder.path(), Stamp::of(&file).unwrap());
        for entry in fs::read_dir(folder.path()).unwrap().flatten().filter(|entry| entry.path() != file) {
            fs::write(entry.path(), "{\"file\":").unwrap();
        }
        assert!(is_right(folder.path()));
    }
}
