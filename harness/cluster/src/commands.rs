//! Runs programs of the scheduler, with a time limit: each may hang.

use std::io::{self, Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use gpbench_processes::spawn;

/// The answer of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// Its exit status, or 128 and the number of the signal that ended it.
    pub status: i32,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Why a program gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// It cannot be started.
    #[error("it cannot be started: {0}")]
    NotStarted(#[from] io::Error),
    /// It did not end in time, and was killed.
    #[error("it did not end within {} s", .0.as_secs())]
    Hangs(Duration),
}

/// Runs programs.
pub trait Commands {
    /// Runs a program and waits for its answer. `input` goes to its standard input.
    ///
    /// # Errors
    /// When it cannot be started, or does not end in time.
    fn run(&self, program: &str, arguments: &[String], input: &[u8]) -> Result<Answer, NoAnswer>;
}

/// Runs programs of this machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemCommands {
    /// How long a program may take.
    pub patience: Duration,
}

impl Default for SystemCommands {
    /// A minute: a controller that is away answers within half of that.
    fn default() -> Self {
        Self { patience: Duration::from_secs(60) }
    }
}

/// Variables of the environment that change what Slurm's programs print.
const FORMATS: [&str; 6] =
    ["SQUEUE_FORMAT", "SQUEUE_FORMAT2", "SQUEUE_SORT", "SQUEUE_STATES", "SINFO_FORMAT", "SLURM_TIME_FORMAT"];

/// Time between two checks whether a program that has closed its streams has ended.
const PAUSE: Duration = Duration::from_millis(2);

impl Commands for SystemCommands {
    fn run(&self, program: &str, arguments: &[String], input: &[u8]) -> Result<Answer, NoAnswer> {
        let deadline = Instant::now() + self.patience;
        let mut command = Command::new(program);
        for name in FORMATS {
            command.env_remove(name);
        }
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // It is killed where this returns early.
        let mut started = spawn(&mut command)?;
        let (sender, receiver) = mpsc::channel();
        read(started.child.stdout.take().expect("standard output is piped"), Stream::Output, sender.clone())?;
        read(started.child.stderr.take().expect("standard error is piped"), Stream::Error, sender)?;
        let mut stdin = started.child.stdin.take().expect("standard input is piped");
        let input = input.to_owned();
        // A program that ends without reading says why in its answer.
        thread::Builder::new().spawn(move || drop(stdin.write_all(&input)))?;
        let (mut stdout, mut stderr) = (String::new(), String::new());
        for _ in 0..2 {
            match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok((Stream::Output, text)) => stdout = text,
                Ok((Stream::Error, text)) => stderr = text,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(NoAnswer::Hangs(self.patience));
                }
            }
        }
        while !started.has_ended() {
            if Instant::now() > deadline {
                return Err(NoAnswer::Hangs(self.patience));
            }
            thread::sleep(PAUSE);
        }
        Ok(Answer { status: number(started.wait()?), stdout, stderr })
    }
}

/// The exit status as a shell reports it.
fn number(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

enum Stream {
    Output,
    Error,
}

/// Reads a stream to its end, in a thread.
fn read(
    mut from: impl Read + Send + 'static,
    stream: Stream,
    sender: Sender<(Stream, String)>,
) -> io::Result<()> {
    let reader = move || {
        let mut bytes = Vec::new();
        // What was read before an error is what there is. Nobody waits for it where the program hangs.
        let _ = from.read_to_end(&mut bytes);
        let _ = sender.send((stream, String::from_utf8_lossy(&bytes).into_owned()));
    };
    thread::Builder::new().spawn(reader).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(commands: SystemCommands, script: &str, input: &str) -> Result<Answer, NoAnswer> {
        commands.run("sh", &["-c".into(), script.into()], input.as_bytes())
    }

    #[test]
    fn a_program_answers() {
        let answer = shell(SystemCommands::default(), "cat; echo no >&2; exit 3", "yes").unwrap();
        assert_eq!(answer, Answer { status: 3, stdout: "yes".into(), stderr: "no\n".into() });
        let killed = shell(SystemCommands::default(), "kill -9 $$", "").unwrap();
        assert_eq!(killed.status, 137);
    }

    #[test]
    fn long_answers_and_questions_that_are_not_read_do_no_harm() {
        let much = "x".repeat(1 << 20);
        let answer = shell(SystemCommands::default(), "seq 100000; seq 100000 >&2", &much).unwrap();
        assert_eq!((answer.stdout.len(), answer.stderr.len()), (588_895, 588_895));
    }

    #[test]
    fn a_program_that_hangs_is_killed() {
        let commands = SystemCommands { patience: Duration::from_millis(1) };
        let error = shell(commands, "sleep 600", "").unwrap_err();
        assert_eq!(error.to_string(), "it did not end within 0 s");
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        let error = SystemCommands::default().run("gpbench-nowhere", &[], b"").unwrap_err();
        assert!(error.to_string().starts_with("it cannot be started: No such file"), "{error}");
    }
}
