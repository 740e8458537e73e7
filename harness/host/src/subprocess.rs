//! Work in a subprocess that answers with one line, and that may crash, print, hang or fork.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use crate::process;

/// Most bytes of an answer, far more than any has.
const LONGEST_ANSWER: u64 = 64 << 20;

/// The answer of a subprocess.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The first line that was printed; none if time ran out before it ended.
    pub(crate) line: Option<String>,
    /// How the process ended.
    pub(crate) status: ExitStatus,
}

/// Starts a subprocess that will answer with one line.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    // A group of its own, so that whatever the library forks can be ended with it.
    command.process_group(0).spawn()
}

/// Waits for the line for at most `limit`, and ends the subprocess and all that it forked.
pub(crate) fn answer(mut child: Child, limit: Duration) -> io::Result<Answer> {
    let stdout = child.stdout.take().expect("standard output is piped");
    let (send, receive) = channel();
    // Not joined: what the library has forked may hold the pipe open forever. One line is the answer.
    spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout.take(LONGEST_ANSWER)).read_line(&mut line);
        // There is no receiver left if it took too long.
        let _ = send.send(read.map(|_| line).unwrap_or_default());
    });
    let deadline = Instant::now() + limit;
    let line = receive.recv_timeout(limit);
    // A process that closes its output without an answer is about to end; its exit status gives the reason.
    let is_ending = matches!(&line, Ok(line) if line.is_empty());
    while is_ending && !process::has_ended(&child) && Instant::now() < deadline {
        sleep(Duration::from_millis(2));
    }
    process::kill_group(&child);
    Ok(Answer { line: line.ok(), status: child.wait()? })
}
