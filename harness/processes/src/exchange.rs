//! Runs a process with a given input and reads its output.

use std::io::{self, Read, Write as _};
use std::process::{Command, Output, Stdio};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::started::{adopt_orphans, end_orphans, spawn};

/// Time limit for ending the orphans of a process.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a process, writes `input` to its standard input, and reads its output until it has ended. Its orphans are
/// ended too.
///
/// # Errors
/// If the process or the reading threads cannot be started.
pub fn exchange(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    adopt_orphans()?;
    let mut started = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let stdout = read(started.child.stdout.take().expect("standard output is piped"))?;
    let stderr = read(started.child.stderr.take().expect("standard error is piped"))?;
    // If the process ended without reading, its output contains the reason.
    let _ = started.child.stdin.take().expect("standard input is piped").write_all(input);
    let status = started.wait()?;
    // Orphans of the process may hold the streams open, so they are ended before the streams are read to their ends.
    end_orphans(PATIENCE);
    let all = |reader: JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
    Ok(Output { status, stdout: all(stdout), stderr: all(stderr) })
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
