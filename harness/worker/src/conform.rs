//! `gpbench-worker conform`: checks the solvers and learners of a library by the conformance suite.
//!
//! Each rule is checked in a subprocess with a time limit, `gpbench-worker check`, so that
//! a solver that crashes, hangs or exits breaks only that rule.

mod models;
mod process;
mod systems;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use gpbench_gp::{blas, thread_pool};
use gpbench_record::{LibraryInfo, RuleResult, RuleStatus, SolverKind};
use gpbench_testing::rules::{Expect, Finding, LEARNERS, Rule, SOLVERS, Subject, SubjectEntry};
use rayon::prelude::*;

use crate::channel::Capture;
use crate::subprocess::{self, Answer};
use crate::{blas_memory, describe, library, services};

use models::Models;
use process::RuleProcess;
use systems::KernelSystems;

/// Largest number of threads that a rule requests.
const THREADS: usize = 3;

/// Seconds that the check of a rule may take; it normally takes a fraction of a second.
const LIMIT: f64 = 60.0;

/// Longest time to wait for the last lines of a log, whose processes have ended.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Request to check a library.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The library.
    pub file: PathBuf,
    /// The only solver to check; `None` checks all solvers and learners of the library.
    pub solver: Option<String>,
    /// Time limit of the check of a rule.
    pub limit: Duration,
}

impl Request {
    /// Reads `FILE [--solver ID] [--limit SECONDS]`; `None` for any other arguments.
    pub fn read(arguments: &[OsString]) -> Option<Request> {
        let (file, options) = arguments.split_first()?;
        let mut request = Request { file: file.into(), solver: None, limit: Duration::from_secs_f64(LIMIT) };
        for option in options.chunks(2) {
            match option {
                [name, id] if name == "--solver" => request.solver = Some(id.to_str()?.to_owned()),
                [name, seconds] if name == "--limit" => {
                    request.limit = Duration::try_from_secs_f64(seconds.to_str()?.parse().ok()?).ok()?;
                }
                _ => return None,
            }
        }
        Some(request)
    }
}

/// Checks the solvers, one rule per processor at a time, and passes each result to `tell`; `worker` is
/// this program. A library that cannot be read, or memory that is too small for any check, breaks the first rule, and
/// nothing is checked further.
pub fn run(
    worker: &Path,
    request: &Request,
    tell: &mut dyn FnMut(RuleResult) -> io::Result<()>,
) -> io::Result<()> {
    let described = describe::in_subprocesses(worker, &[describe::Request::of(request.file.clone())])
        .pop()
        .unwrap_or_default();
    let of_all = |reason: String| result("", &SOLVERS[0], Err(Finding::Failed(reason)));
    let library: LibraryInfo = match serde_json::from_value(described.clone()) {
        Ok(library) => library,
        Err(_) => {
            let reason = described["error"].as_str().or_else(|| described["absent"].as_str());
            return tell(of_all(reason.unwrap_or("it cannot be described").to_owned()));
        }
    };
    // As each check does in a process with the limits of this one.
    if let Err(refused) = blas_memory::reserve(THREADS) {
        return tell(of_all(refused.to_string()));
    }
    let wanted = |id: &str| request.solver.as_deref().is_none_or(|solver| solver == id);
    for solver in library.solvers.iter().filter(|solver| wanted(&solver.id)) {
        let rules = rules(solver.kind);
        let results: Vec<_> =
            rules.par_iter().map(|rule| tested(worker, request, &solver.id, rule)).collect();
        results.into_iter().try_for_each(&mut *tell)?;
    }
    Ok(())
}

/// The rules of solvers or of learners.
fn rules(kind: SolverKind) -> &'static [Rule] {
    match kind {
        SolverKind::Solver => SOLVERS,
        SolverKind::Learner => LEARNERS,
    }
}

/// Checks a rule in a subprocess. Where it leaves a digest, another process must leave the same.
fn tested(worker: &Path, request: &Request, solver: &str, rule: &Rule) -> RuleResult {
    let first = in_subprocess(worker, request, solver, rule);
    if first.digest.is_none() {
        return first;
    }
    let second = in_subprocess(worker, request, solver, rule);
    match second.status {
        RuleStatus::Passed if first.digest != second.digest => {
            let what = "two processes with one seed give different solutions";
            result(solver, rule, Err(Finding::Failed(what.into())))
        }
        _ => RuleResult { digest: None, ..second },
    }
}

/// Checks a rule in one subprocess.
fn in_subprocess(worker: &Path, request: &Request, solver: &str, rule: &Rule) -> RuleResult {
    let mut command = Command::new(worker);
    command.arg("check").arg(&request.file).args([solver, rule.name]);
    let failed = |why: String| result(solver, rule, Err(Finding::Failed(why)));
    let deadline = subprocess::deadline(request.limit);
    let answered = subprocess::start(command.stderr(Stdio::piped())).and_then(|mut child| {
        let log = subprocess::log_tail(&mut child)?;
        let answer = subprocess::answer(child, deadline)?;
        Ok((answer, log.recv_timeout(LAST_LINES).unwrap_or_default()))
    });
    let (answer, log) = match answered {
        Err(error) => return failed(format!("the rule could not be checked: {error}")),
        Ok(answered) => answered,
    };
    let result = match answer {
        Answer { line: None, .. } => failed(format!("did not end within {} s", request.limit.as_secs_f64())),
        Answer { line: Some(line), status } => match serde_json::from_str::<RuleResult>(&line) {
            Ok(result) if (&*result.solver, &*result.name) == (solver, rule.name) => result,
            _ => failed(ended(status, &line)),
        },
    };
    let log = if result.status == RuleStatus::Failed { log } else { String::new() };
    RuleResult { log, ..result }
}

/// The reason why a subprocess ended without a result.
fn ended(status: ExitStatus, line: &str) -> String {
    match line {
        "" => format!("ended the process that checked it ({status})"),
        _ => format!("wrote to the channel of the records: {}", line.trim_end()),
    }
}

/// Checks a rule in this process, whose standard output is captured.
pub fn check(
    file: &Path,
    solver: &str,
    name: &str,
    capture: Capture,
) -> Result<RuleResult, Box<dyn std::error::Error>> {
    blas_memory::reserve(THREADS)?;
    // As during calls; loading the library must not change it.
    blas::set_threads(1);
    let pool = thread_pool(THREADS)?;
    let library = library::open(file, None, THREADS, services::host(Some(pool.clone())))?;
    let kind = library.offers().find(|info| info.id == solver).map_or(SolverKind::Solver, |info| info.kind);
    let rule = rules(kind).iter().find(|rule| rule.name == name);
    let rule = rule.ok_or_else(|| format!("there is no rule `{name}`"))?;
    let entry = match kind {
        SolverKind::Solver => library.solver(solver).map(SubjectEntry::Solver),
        SolverKind::Learner => library.learner(solver).map(SubjectEntry::Learner),
    };
    let process = RuleProcess::new(capture);
    // A learner of the first version of the interface is listed but cannot be used.
    let outcome = entry.map_err(|error| Finding::Failed(error.to_string())).and_then(|entry| {
        rule.run(&Subject {
            entry,
            host: library.host(),
            make: &KernelSystems(pool.clone()),
            judge: &Models(pool.clone()),
            process: &process,
            expect: Expect::default(),
        })
    });
    Ok(RuleResult { digest: process.digest(), ..result(solver, rule, outcome) })
}

fn result(solver: &str, rule: &Rule, outcome: Result<(), Finding>) -> RuleResult {
    let (status, reason) = match outcome {
        Ok(()) => (RuleStatus::Passed, String::new()),
        Err(Finding::Failed(why)) => (RuleStatus::Failed, why),
        Err(Finding::Skipped(why)) => (RuleStatus::Skipped, why),
    };
    RuleResult {
        solver: solver.to_owned(),
        name: rule.name.to_owned(),
        status,
        reason,
        doc: rule.doc.to_owned(),
        log: String::new(),
        digest: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let read = |text: &str| Request::read(&text.split(' ').map(OsString::from).collect::<Vec<_>>());
        let request = read("a.so --limit 2.5 --solver cg").unwrap();
        assert_eq!((request.file, request.solver.as_deref()), (PathBuf::from("a.so"), Some("cg")));
        assert_eq!(request.limit, Duration::from_millis(2500));
        assert_eq!(read("a.so").unwrap().limit, Duration::from_secs(60));
        for wrong in ["a.so --solver", "a.so --limit -1", "a.so --limit soon", "a.so b.so", "a.so --colour x"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
