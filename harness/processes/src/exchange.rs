//! Runs a process with a given input and reads its output.

use std::io::{self, Read, Write as _};
use std::process::{Command, Output, Stdio};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::started::{Started, adopt_orphans, end_orphans, spawn};

/// Time limit for ending the orphans of a process.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a process, writes `input` to its standard input, and reads its output until it has ended. Its orphans are
/// ended too.
///
/// # Errors
/// If the process or the reading threads cannot be started.
pub fn exchange(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    Ok(talk(command, input, |_| true)?.expect("it was waited for without a limit"))
}

/// Does the same as [`exchange`] for a process that has no more than `limit` to answer; `None` where it was ended then.
///
/// # Errors
/// If the process or the reading threads cannot be started.
pub fn exchange_within(command: &mut Command, limit: Duration) -> io::Result<Option<Output>> {
    talk(command, b"", |started| started.ends_before(Instant::now() + limit))
}

/// Runs a process. `waits` may return before it has ended: false where it is to be ended.
fn talk(
    command: &mut Command,
    input: &[u8],
    waits: impl FnOnce(&Started) -> bool,
) -> io::Result<Option<Output>> {
    adopt_orphans()?;
    let mut started = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let stdout = read(started.child.stdout.take().expect("standard output is piped"))?;
    let stderr = read(started.child.stderr.take().expect("standard error is piped"))?;
    // If the process ended without reading, its output contains the reason.
    let _ = started.child.stdin.take().expect("standard input is piped").write_all(input);
    let has_answered = waits(&started);
    let status = if has_answered { started.wait()? } else { started.end(PATIENCE)? };
    // Orphans of the process may hold the streams open, so they are ended before the streams are read to their ends.
    end_orphans(PATIENCE);
    let all = |reader: JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
    let output = Output { status, stdout: all(stdout), stderr: all(stderr) };
    Ok(has_answered.then_some(output))
}

/// Reads a stream to its end, in a thread.
fn read(mut stream: impl Read + Send + 'static) -> io::Result<JoinHandle<Vec<u8>>> {
    Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        // After an error, the bytes that were read before it are returned.
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_does_not_answer_is_ended() {
        let mut command = Command::new("sh");
        let ended = exchange_within(command.args(["-c", "exec sleep 600"]), Duration::from_millis(20));
        assert!(ended.unwrap().is_none());
        let mut command = Command::new("sh");
        let answered = exchange_within(command.args(["-c", "echo here"]), Duration::from_secs(600));
        assert_eq!(answered.unwrap().map(|output| output.stdout), Some(b"here\n".to_vec()));
    }
}
