//! The log of a case: its last lines, and known messages anywhere in it.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use gpbench_files::open_regular;

use crate::refusal::tells_of_refusal;

/// Bytes of a log that a row carries at most.
const TAIL_BYTES: u64 = 4096;
/// Lines of a log that a row carries at most.
const TAIL_LINES: usize = 20;
/// Bytes of a line that are searched.
const LINE_BYTES: u64 = 1 << 16;

/// Findings in the log of a case.
///
/// What the runtime printed counts wherever it is: a backtrace may come after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// Its path in the run folder, `logs/ID.log`.
    pub(crate) path: Option<String>,
    /// The last lines.
    pub(crate) tail: String,
    /// Whether the runtime of Rust or C++ reports that an allocation failed.
    pub(crate) allocation_failed: bool,
    /// Whether Rust's runtime reports that a stack overflowed.
    pub(crate) stack_overflowed: bool,
    /// Whether the system refused a process, a thread, a descriptor or memory.
    pub(crate) tells_of_refusal: bool,
}

impl Log {
    /// Reads a log; one that cannot be read, or is not a regular file, tells nothing.
    pub(crate) fn read(path: &Path) -> Self {
        let mut log = Self { path: in_run(path), tail: tail(path).unwrap_or_default(), ..Self::default() };
        let file = match open_regular(path) {
            Ok(file) => file,
            // A plugin may have removed or replaced the log. Any other error is a refusal by the system.
            Err(error) => {
                let is_away = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput);
                return Self { tells_of_refusal: !is_away, ..log };
            }
        };
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        // A line may be as long as the log.
        while (&mut reader).take(LINE_BYTES).read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            log.look_at(&String::from_utf8_lossy(&line));
            line.clear();
        }
        log
    }

    /// The log of these lines.
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        let mut log = Self { tail: last_lines(text, TAIL_LINES), ..Self::default() };
        text.lines().for_each(|line| log.look_at(line));
        log
    }

    fn look_at(&mut self, line: &str) {
        self.allocation_failed |= line.contains("memory allocation of") || line.contains("std::bad_alloc");
        self.stack_overflowed |= line.contains("overflowed its stack");
        self.tells_of_refusal |= tells_of_refusal(line);
    }
}

/// The path of a log from the run folder on, which is two folders above it.
fn in_run(path: &Path) -> Option<String> {
    let folder = path.parent()?.file_name()?.to_str()?;
    Some(format!("{folder}/{}", path.file_name()?.to_str()?))
}

/// The last lines of a log.
fn tail(path: &Path) -> io::Result<String> {
    let mut file = open_regular(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(last_lines(&String::from_utf8_lossy(&bytes), TAIL_LINES))
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_lines() {
        assert_eq!(last_lines("a\nb\nc\n\n", 2), "b\nc");
        assert_eq!(last_lines("", 2), "");
        let log = Log::read(Path::new("/nonexistent/log"));
        assert_eq!(log, Log { path: Some("nonexistent/log".to_owned()), ..Log::default() });
    }

    #[test]
    fn what_is_not_a_regular_file_tells_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("log");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for path in [&fifo, folder.path(), Path::new("/dev/zero")] {
            let log = Log { path: None, ..Log::read(path) };
            assert_eq!(log, Log::default(), "{}", path.display());
        }
    }

    #[test]
    fn a_long_backtrace_hides_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let backtrace: String = (0..2000).map(|frame| format!("{frame}: some::function\n")).collect();
        std::fs::write(&path, format!("memory allocation of 9 bytes failed\n{backtrace}")).unwrap();
        let log = Log::read(&path);
        assert!(log.allocation_failed && !log.stack_overflowed && !log.tells_of_refusal);
        assert_eq!(log.tail.lines().count(), TAIL_LINES);
    }
}
