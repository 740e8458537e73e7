//! The size of a log.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

/// A log that outgrows this is cut, so that prints do not fill the disk.
const LOG_LIMIT: u64 = 64 << 20;

/// Empties a log that has outgrown its limit. Its writers append, so that they continue at the new end.
pub(super) fn cut_log(path: &Path) {
    if fs::metadata(path).is_ok_and(|data| data.len() > LOG_LIMIT)
        && let Ok(mut file) = OpenOptions::new().append(true).open(path)
    {
        let _ = file.set_len(0);
        let _ = writeln!(file, "[gpbench: the log had grown over {} MiB and was cut]", LOG_LIMIT >> 20);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_beyond_its_limit_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        // A sparse file: nothing is written.
        fs::File::create(&path).unwrap().set_len(LOG_LIMIT + 1).unwrap();
        cut_log(&path);
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "[gpbench: the log had grown over 64 MiB and was cut]\n"
        );
        cut_log(&path);
        assert!(fs::metadata(&path).unwrap().len() < 100);
    }
}
