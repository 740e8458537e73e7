//! One question to a process, and its answer.

use std::io::{self, Read, Write as _};
use std::process::{Command, Output, Stdio};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::started::{adopt_orphans, end_orphans, spawn};

/// Time that what a process leaves behind may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a process, writes `input` to its standard input, and reads all that it prints until it has ended. What it
/// leaves behind is ended too.
///
/// # Errors
/// When the process or the threads that read cannot be started.
pub fn exchange(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    adopt_orphans()?;
    let mut started = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let stdout = read(started.child.stdout.take().expect("standard output is piped"))?;
    let stderr = read(started.child.stderr.take().expect("standard error is piped"))?;
    // If the process ended without reading, its answer says why.
    let _ = started.child.stdin.take().expect("standard input is piped").write_all(input);
    let status = started.wait()?;
    // Before the streams are read to their ends: what the process has left behind may hold them open.
    end_orphans(PATIENCE);
    let all = |reader: JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
    Ok(Output { status, stdout: all(stdout), stderr: all(stderr) })
}

/// Reads a stream to its end, in a thread.
fn read(mut stream: impl Read + Send + 'static) -> io::Result<JoinHandle<Vec<u8>>> {
    Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is what there is.
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}
