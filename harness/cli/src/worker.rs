//! Requests to `gpbench-worker`, which alone opens plugins and links the numerics.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::Builder;
use std::time::Duration;

use gpbench_processes::{adopt_orphans, end_orphans, exchange};
use gpbench_record::{AbsentLibrary, BenchAnswer, BenchRequest, LibraryInfo, RuleResult, text};
use gpbench_spec::NamedLibrary;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::environment;
use crate::exit::Failure;
use crate::notice;

/// Time that processes which a worker leaves behind may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The worker program, in the folder of this one.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    /// Its file.
    pub(crate) file: PathBuf,
}

/// Longest time to wait for the last lines of a log.
const LAST_LINES: Duration = Duration::from_secs(1);

/// A library, or why it cannot be used.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Described {
    /// A usable plugin.
    Library(LibraryInfo),
    /// A plugin that needs something that is not installed.
    Absent(AbsentLibrary),
    /// A file that is not one.
    Unusable {
        /// The file.
        #[serde(with = "gpbench_record::path")]
        file: PathBuf,
        /// Why it cannot be used.
        error: String,
    },
}

impl Worker {
    /// Finds the worker in the folder of this program. Fails if the environment asks it for an unknown instruction set,
    /// which it would ignore.
    pub(crate) fn locate() -> Result<Worker, Failure> {
        environment::asked_instructions()?;
        let here = std::env::current_exe()
            .map_err(|e| Failure::internal(format!("the path of this program is unknown: {e}")))?;
        let file = here.with_file_name(format!("gpbench-worker{}", std::env::consts::EXE_SUFFIX));
        if file.is_file() {
            return Ok(Worker { file });
        }
        Err(Failure::internal(format!(
            "{} is missing; build it with `cargo build --release`",
            file.display()
        )))
    }

    /// Describes the plugins at `files`, or all that are found if `files` is empty.
    pub(crate) fn describe(&self, files: &[PathBuf]) -> Result<Vec<Described>, Failure> {
        let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        self.ask("describe", &files, &[])
    }

    /// Describes libraries that a spec names, of which there is at least one.
    pub(crate) fn describe_named(&self, libraries: &[NamedLibrary]) -> Result<Vec<Described>, Failure> {
        let mut arguments = Vec::new();
        for NamedLibrary { file, runtime } in libraries {
            arguments.extend(runtime.iter().flat_map(|runtime| [Path::new("--runtime"), Path::new(runtime)]));
            arguments.push(file);
        }
        self.ask("describe", &arguments, &[])
    }

    /// Tests the solvers and learners of a library, or only `solver`, with the conformance suite, `limit` seconds for each rule.
    /// Calls `report` with each result as it comes. What they log goes to standard error if `show_log`.
    pub(crate) fn conform(
        &self,
        library: &Path,
        solver: Option<&str>,
        limit: f64,
        show_log: bool,
        report: &mut dyn FnMut(RuleResult),
    ) -> Result<(), Failure> {
        let mut command = Command::new(&self.file);
        command.arg("conform").arg(library).args(["--limit", &limit.to_string()]);
        if let Some(solver) = solver {
            command.args(["--solver", solver]);
        }
        let log = if show_log { Stdio::piped() } else { Stdio::null() };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut worker = spawn(&mut command).map_err(|e| self.cannot_start(&e))?;
        let stdout = worker.child.stdout.take().expect("standard output is piped");
        let log = worker.child.stderr.take().map(show).transpose().map_err(|e| self.cannot_start(&e))?;
        let failed = |what: String| Failure::internal(format!("`gpbench-worker conform` failed: {what}"));
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|e| failed(e.to_string()))?;
            report(serde_json::from_str(&line).map_err(|e| failed(e.to_string()))?);
        }
        let status = worker.wait().map_err(|e| failed(e.to_string()))?;
        end_orphans(PATIENCE);
        // A process that a solver left behind may hold the log open.
        let _ = log.map(|ended| ended.recv_timeout(LAST_LINES));
        if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
    }

    /// Times kernel products.
    pub(crate) fn bench(&self, request: &BenchRequest) -> Result<BenchAnswer, Failure> {
        self.ask("bench", &[], &serde_json::to_vec(request).expect("plain data serialises"))
    }

    /// Starts the worker, writes `input` to its standard input, and reads its one answer.
    fn ask<T: DeserializeOwned>(&self, verb: &str, files: &[&Path], input: &[u8]) -> Result<T, Failure> {
        let mut command = Command::new(&self.file);
        let output = exchange(command.arg(verb).args(files), input).map_err(|e| self.cannot_start(&e))?;
        serde_json::from_slice(&output.stdout).map_err(|e| {
            let log = String::from_utf8_lossy(&output.stderr);
            let log = text::cut(&log, text::LOG);
            Failure::internal(format!("`gpbench-worker {verb}` failed ({}): {e}\n{log}", output.status))
        })
    }

    fn cannot_start(&self, error: &io::Error) -> Failure {
        Failure::internal(format!("{} cannot be started: {error}", self.file.display()))
    }
}

/// Prints a log as it comes, line by line, on a thread of its own. The channel closes when the log ends.
fn show(log: ChildStderr) -> io::Result<Receiver<()>> {
    let (open, ended) = mpsc::channel();
    Builder::new().name("log of the solvers".to_owned()).spawn(move || {
        show_lines(log);
        drop(open);
    })?;
    Ok(ended)
}

/// Prints each line; a long line comes in pieces.
fn show_lines(log: impl Read) {
    const PIECE: u64 = 4096;
    let mut log = BufReader::new(log);
    let mut line = Vec::new();
    while (&mut log).take(PIECE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        notice::say(String::from_utf8_lossy(line.trim_ascii_end()));
        line.clear();
    }
}

/// Starts a worker. All processes that it starts stay below it in the tree of processes.
fn spawn(command: &mut Command) -> io::Result<gpbench_processes::Started> {
    adopt_orphans()?;
    gpbench_processes::spawn(command)
}
