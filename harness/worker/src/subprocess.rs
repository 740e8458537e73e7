//! Subprocesses that answer with one line, and that may crash, print, hang or fork.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use gpbench_processes::Started;

use crate::process;

/// Largest number of bytes of an answer, far more than any answer has.
const LONGEST_ANSWER: u64 = 64 << 20;

/// Bytes that are kept of the end of a log.
const TAIL: u64 = 4096;
/// Lines that are kept of the end of a log.
const TAIL_LINES: usize = 20;

/// Time between two checks whether this process must end.
const TICK: Duration = Duration::from_millis(20);

/// Time between two checks whether a subprocess has ended.
const SHORT_TICK: Duration = Duration::from_millis(2);

/// Time to read the output that a subprocess printed before it ended or reached its deadline.
const READING: Duration = Duration::from_secs(1);

/// Time that the remaining processes of a subprocess may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The answer of a subprocess.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The first line that was printed; `None` if the deadline passed before the line ended.
    pub(crate) line: Option<String>,
    /// How the process ended.
    pub(crate) status: ExitStatus,
}

/// The deadline after this limit, at most a day from now, so that the clock does not overflow.
pub(crate) fn deadline(limit: Duration) -> Instant {
    Instant::now() + limit.min(Duration::from_secs(24 * 3600))
}

/// Starts a subprocess that will answer with one line.
pub(crate) fn start(command: &mut Command) -> io::Result<Started> {
    gpbench_processes::spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))
}

/// Passes on what a subprocess writes to standard error, which is piped, and gives its last lines once that has ended.
pub(crate) fn log_tail(child: &mut Started) -> io::Result<Receiver<String>> {
    let stderr = child.child.stderr.take().expect("standard error is piped");
    let (send, receive) = channel();
    // Not joined, as below.
    thread::Builder::new().spawn(move || {
        let (mut log, mut line, mut tail) = (BufReader::new(stderr), Vec::new(), Vec::new());
        while (&mut log).take(TAIL).read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            // A log that cannot be written is lost.
            let _ = io::stderr().lock().write_all(&line);
            tail.append(&mut line);
            let excess = tail.len().saturating_sub(TAIL as usize);
            tail.drain(..excess);
        }
        let _ = send.send(last_lines(&String::from_utf8_lossy(&tail)));
    })?;
    Ok(receive)
}

/// The last lines of a log.
fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.trim_end().lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

/// Waits for the line until `deadline`, and ends the subprocess and all processes that it has started. A line that has
/// already arrived is read even after the deadline.
pub(crate) fn answer(mut child: Started, deadline: Instant) -> io::Result<Answer> {
    let lines = first_line(&mut child)?;
    let line = wait(&child, &lines, deadline.max(Instant::now() + READING));
    let status = child.end(PATIENCE)?;
    // Output printed before the end counts. No process is left that could hold the output open.
    let line = line.or_else(|ended| match ended {
        Ended::ByItself => Ok(lines.recv_timeout(PATIENCE).unwrap_or_default()),
        Ended::OutOfTime => Err(()),
    });
    Ok(Answer { line: line.ok(), status })
}

/// Reason why waiting ended without a line.
enum Ended {
    /// The subprocess has ended.
    ByItself,
    /// The deadline has passed.
    OutOfTime,
}

/// Reads the first line that a subprocess prints, in a thread; an empty line if its output ends without one.
fn first_line(child: &mut Started) -> io::Result<Receiver<String>> {
    let stdout = child.child.stdout.take().expect("standard output is piped");
    let (send, receive) = channel();
    // The thread is not joined, because processes that the library has forked may hold the pipe open.
    thread::Builder::new().spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout.take(LONGEST_ANSWER)).read_line(&mut line);
        // The receiver has been dropped if the line came too late.
        let _ = send.send(read.map(|_| line).unwrap_or_default());
    })?;
    Ok(receive)
}

/// Waits for the line of a subprocess.
fn wait(child: &Started, lines: &Receiver<String>, deadline: Instant) -> Result<String, Ended> {
    let mut is_open = true;
    loop {
        process::leave_if_asked();
        let left = deadline.saturating_duration_since(Instant::now());
        if is_open {
            match lines.recv_timeout(left.min(TICK)) {
                Ok(line) if !line.is_empty() => return Ok(line),
                Err(RecvTimeoutError::Timeout) => {}
                // A process that closes its output without an answer is about to end; its status gives the reason.
                _ => is_open = false,
            }
        } else {
            sleep(SHORT_TICK);
        }
        if child.has_ended() {
            return Err(Ended::ByItself);
        }
        if left.is_zero() {
            return Err(Ended::OutOfTime);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    /// The line of a shell that runs `script`, and the signal that ended it.
    fn of(script: &str, limit: Duration) -> (Option<String>, Option<i32>) {
        gpbench_processes::adopt_orphans().unwrap();
        let child = start(Command::new("sh").args(["-c", script])).unwrap();
        let here = std::process::id();
        let Answer { line, status } = answer(child, Instant::now() + limit).unwrap();
        assert_eq!(gpbench_processes::descendants(here), [0; 0], "`{script}` leaves nothing");
        (line, status.signal())
    }

    #[test]
    fn the_first_line_is_the_answer_and_nothing_is_left() {
        let long = Duration::from_secs(600);
        let answer = || Some("answer\n".to_owned());
        assert_eq!(of("echo answer; echo more", long).0, answer());
        assert_eq!(of("echo answer; sleep 600", long), (answer(), Some(9)));
        // Its output may be closed before it is killed.
        let (line, signal) = of("echo answer; exec yes", long);
        assert!(line == answer() && matches!(signal, Some(9 | 13)), "{line:?}, {signal:?}");
        assert_eq!(
            of("(setsid sh -c 'trap \"\" TERM; echo answer; sleep 600' &); wait; sleep 600", long).0,
            answer()
        );
        assert_eq!(of("exit 3", long), (Some(String::new()), None));
        assert_eq!(of("kill -SEGV $$", long), (Some(String::new()), Some(11)));
        // An orphan holds the output open, and the process that was started has ended.
        assert_eq!(of("env -i setsid sleep 600 & exit 3", long), (Some(String::new()), None));
    }

    #[test]
    fn the_end_of_a_log_is_kept() {
        gpbench_processes::adopt_orphans().unwrap();
        let script = "seq 1000 >&2; echo answer; printf 'the last' >&2; exec sleep 600";
        let mut command = Command::new("sh");
        let mut child = start(command.args(["-c", script]).stderr(Stdio::piped())).unwrap();
        let log = log_tail(&mut child).unwrap();
        answer(child, Instant::now() + Duration::from_secs(600)).unwrap();
        let log = log.recv_timeout(PATIENCE).unwrap();
        assert_eq!(log.lines().count(), TAIL_LINES);
        assert!(log.contains("\n1000"), "{log}");
    }

    #[test]
    fn the_limit_holds_whatever_the_process_does() {
        let short = Duration::from_millis(300);
        for script in [
            "sleep 600",
            "while :; do :; done",
            "trap '' HUP INT QUIT TERM; sleep 600",
            "exec >&- 2>&-; sleep 600",
            "kill -STOP $$",
            "tr '\\0' x < /dev/zero | tr -d x; sleep 600",
            "(setsid sleep 600 &) ; sleep 600",
        ] {
            assert_eq!(of(script, short), (None, Some(9)), "{script}");
        }
    }
}
