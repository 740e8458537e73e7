//! Requests to `gpbench-worker`, which alone opens plugins and links the numerics.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Output, Stdio};
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
        self.ask("describe", &files)
    }

    /// Describes libraries that a spec names, of which there is at least one.
    pub(crate) fn describe_named(&self, libraries: &[NamedLibrary]) -> Result<Vec<Described>, Failure> {
        let mut arguments = Vec::new();
        for NamedLibrary { file, runtime } in libraries {
            arguments.extend(runtime.iter().flat_map(|runtime| [Path::new("--runtime"), Path::new(runtime)]));
            arguments.push(file);
        }
        self.ask("describe", &arguments)
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

    /// Times kernel products, in memory that is allocated as in a case.
    pub(crate) fn bench(&self, request: &BenchRequest) -> Result<BenchAnswer, Failure> {
        let mut command = Command::new(&self.file);
        command.arg("bench").envs(gpbench_engine::allocation(request.threads));
        self.answer("bench", &mut command, &serde_json::to_vec(request).expect("plain data serialises"))
    }

    /// Starts the worker with these files as arguments, and reads its one answer.
    fn ask<T: DeserializeOwned>(&self, verb: &str, files: &[&Path]) -> Result<T, Failure> {
        self.answer(verb, Command::new(&self.file).arg(verb).args(files), &[])
    }

    /// Starts a worker, writes `input` to its standard input, and reads its one answer.
    fn answer<T: DeserializeOwned>(
        &self,
        verb: &str,
        command: &mut Command,
        input: &[u8],
    ) -> Result<T, Failure> {
        let output = exchange(command, input).map_err(|e| self.cannot_start(&e))?;
        serde_json::from_slice(&output.stdout)
            .map_err(|error| Failure::internal(unanswered(verb, &output, &error)))
    }

    fn cannot_start(&self, error: &io::Error) -> Failure {
        Failure::internal(format!("{} cannot be started: {error}", self.file.display()))
    }
}

/// Why a worker gave no answer that can be read. Where it gave none at all, its log has the reason.
fn unanswered(verb: &str, output: &Output, error: &serde_json::Error) -> String {
    let log = String::from_utf8_lossy(&output.stderr);
    let log = text::cut(log.trim_end().trim_start_matches("gpbench-worker: "), text::LOG);
    let failed = format!("`gpbench-worker {verb}` failed ({})", output.status);
    match (output.stdout.is_empty(), log.is_empty()) {
        (true, false) => format!("{failed}: {log}"),
        (true, true) => format!("{failed}: it answered nothing"),
        (false, _) => format!("{failed}: {error}\n{log}"),
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

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn a_worker_without_an_answer_has_the_reason_in_its_log() {
        let told = |stdout: &str, stderr: &str| {
            let (stdout, stderr) = (stdout.as_bytes().to_vec(), stderr.as_bytes().to_vec());
            let error = serde_json::from_slice::<bool>(&stdout).unwrap_err();
            unanswered("bench", &Output { status: ExitStatus::from_raw(70 << 8), stdout, stderr }, &error)
        };
        let failed = "`gpbench-worker bench` failed (exit status: 70)";
        let limit = "the address space of a process is limited to 390 MiB";
        assert_eq!(told("", &format!("gpbench-worker: {limit}\n")), format!("{failed}: {limit}"));
        assert_eq!(told("", ""), format!("{failed}: it answered nothing"));
        assert!(told("tru", "lines").starts_with(&format!("{failed}: EOF while parsing")));
    }
}
