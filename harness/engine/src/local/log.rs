//! The file of a log: its opening and its size.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use gpbench_files::append_regular;

/// A log that outgrows this is cut, so that prints do not fill the disk.
const LOG_LIMIT: u64 = 64 << 20;

/// Opens a log for appending. What is not a regular file is removed first.
pub(super) fn open_log(path: &Path) -> io::Result<File> {
    match append_regular(path) {
        // A plugin may have put a FIFO or a device there, which would block or swallow what is written.
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            remove(path)?;
            append_regular(path)
        }
        opened => opened,
    }
}

fn remove(path: &Path) -> io::Result<()> {
    // Of a link, the link itself.
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Empties a log that has outgrown its limit. Its writers append, so that they continue at the new end.
pub(super) fn cut_log(path: &Path) {
    if fs::metadata(path).is_ok_and(|data| data.len() > LOG_LIMIT)
        && let Ok(mut file) = append_regular(path)
    {
        let _ = file.set_len(0);
        let _ = writeln!(file, "[gpbench: the log had grown over {} MiB and was cut]", LOG_LIMIT >> 20);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_not_a_regular_file_becomes_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
        symlink("/dev/full", at("device")).unwrap();
        fs::create_dir_all(at("folder").join("below")).unwrap();
        for name in ["fifo", "device", "folder", "new"] {
            cut_log(&at(name));
            for line in ["one", "two"] {
                writeln!(open_log(&at(name)).unwrap(), "{line}").unwrap();
            }
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "one\ntwo\n", "{name}");
        }
        assert!(open_log(&at("none").join("log")).is_err());
    }

    #[test]
    fn a_log_beyond_its_limit_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        // A sparse file: nothing is written.
        File::create(&path).unwrap().set_len(LOG_LIMIT + 1).unwrap();
        cut_log(&path);
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "[gpbench: the log had grown over 64 MiB and was cut]\n"
        );
        cut_log(&path);
        assert!(fs::metadata(&path).unwrap().len() < 100);
    }
}
