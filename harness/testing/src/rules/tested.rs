//! Rules in a plugin's own test program, where the subject is linked, not loaded, and runs on dense systems.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use gpbench_host::{HostTable, SolverState};
use gpbench_sdk::{Learner, Solver};
use gpbench_terms::{Capability, Reason};

use super::dense_judge::DenseJudge;
use super::dense_systems::DenseSystems;
use super::subject::max_iterations;
use super::{Claims, Expect, Finding, FitRequest, ProcessState, Rule, Subject, SubjectEntry};
use crate::Settings;
use crate::entry::{learner_entry, solver_entry};
use crate::services::host;

/// Time limit for the test of a rule in a process of its own.
const LIMIT: Duration = Duration::from_secs(60);

/// Environment variable that gives such a process the name of its rule.
const VARIABLE: &str = "GPBENCH_RULE";

/// A solver or learner of this program, with the statements of its author.
pub struct Tested {
    entry: SubjectEntry<'static>,
    host: &'static HostTable,
    expect: Expect,
}

impl Tested {
    /// A solver with default parameters. It is to converge, with norms that are true up to 1e-10, and its results are
    /// to depend on the seed if its capabilities say so. A parameter `max_iterations` limits its iterations.
    #[must_use]
    pub fn solver<S: Solver>() -> Tested {
        let entry = solver_entry::<S>();
        let limited = entry.info.params.iter().any(|param| param.name == "max_iterations");
        let expect = Expect {
            randomized: Some(entry.info.can(Capability::Randomized)),
            limit: limited.then_some(max_iterations),
            ends: Some(Reason::Converged),
            claims: Some(Claims::Observed(1e-10)),
            ..Expect::default()
        };
        Tested { expect, ..Tested::of(SubjectEntry::Solver(Box::leak(Box::new(entry))), host()) }
    }

    /// A learner with default parameters. It is to spend all passes.
    #[must_use]
    pub fn learner<L: Learner>() -> Tested {
        let entry = SubjectEntry::Learner(Box::leak(Box::new(learner_entry::<L>())));
        let expect = Expect { ends: Some(Reason::Stopped), ..Expect::default() };
        Tested { expect, ..Tested::of(entry, host()) }
    }

    /// A solver or learner of any origin, with its host, of which its description alone is known.
    #[must_use]
    pub fn of(entry: SubjectEntry<'static>, host: &'static HostTable) -> Tested {
        Tested { entry, host, expect: Expect::default() }
    }

    /// Sets parameters; the others have their defaults.
    #[must_use]
    pub fn settings(mut self, settings: impl Into<Settings>) -> Self {
        self.expect.settings = settings.into();
        self
    }

    /// Sets whether results depend on the seed with these parameters; by default, as the capabilities state.
    #[must_use]
    pub fn randomized(mut self, randomized: bool) -> Self {
        self.expect.randomized = Some(randomized);
        self
    }

    /// Sets the parameters with which a solver ends after a given number of iterations.
    #[must_use]
    pub fn limit(mut self, limit: fn(i64) -> Settings) -> Self {
        self.expect.limit = Some(limit);
        self
    }

    /// Sets the reason with which undisturbed solves or fits end.
    #[must_use]
    pub fn ends_with(mut self, reason: Reason) -> Self {
        self.expect.ends = Some(reason);
        self
    }

    /// Sets the accuracy of a solver's residual norms.
    #[must_use]
    pub fn claims(mut self, claims: Claims) -> Self {
        self.expect.claims = Some(claims);
        self
    }

    /// Sets the state of an earlier outer step, which each solve is given.
    #[must_use]
    pub fn state(mut self, state: SolverState) -> Self {
        self.expect.state = state;
        self
    }

    /// Sets a change of each fit that a rule asks for, such as another kernel or a network.
    #[must_use]
    pub fn fit(mut self, change: fn(FitRequest) -> FitRequest) -> Self {
        self.expect.fit = Some(change);
        self
    }

    /// Leaves out a rule that does not apply, for this reason.
    #[must_use]
    pub fn except(mut self, rule: &'static str, why: &'static str) -> Self {
        self.expect.except.push((rule, why));
        self
    }

    /// Tests it by a rule, in this process.
    ///
    /// # Errors
    /// If it does not keep the rule, or the rule does not apply to it.
    pub fn run(&self, rule: &Rule) -> Result<(), Finding> {
        rule.run(&Subject {
            entry: self.entry,
            host: self.host,
            make: &DenseSystems,
            judge: &DenseJudge,
            process: &TestProcess,
            expect: self.expect.clone(),
        })
    }
}

/// State of this process. Standard output and BLAS are not observed, since other tests print too and BLAS may be
/// absent.
struct TestProcess;

impl ProcessState for TestProcess {}

/// Asserts that a rule is kept. `path` is the path of the calling test, with its crate.
///
/// # Panics
/// If it is not.
#[doc(hidden)]
pub fn check(tested: &Tested, rules: &[Rule], name: &str, path: &str) {
    let rule = rules.iter().find(|rule| rule.name == name).expect("a rule of the list");
    if rule.alone && std::env::var_os(VARIABLE).is_none() {
        return check_in_a_process(rule, path);
    }
    match tested.run(rule) {
        Ok(()) => eprintln!("{}", ended(name)),
        Err(Finding::Skipped(why)) => eprintln!("{}: skipped, {why}", ended(name)),
        Err(Finding::Failed(why)) => panic!("{name}: {why}"),
    }
}

/// The line that a process prints at its end. Its exit status is not enough, since a filter that matches no test
/// succeeds too.
fn ended(name: &str) -> String {
    format!("rule {name} is not broken")
}

/// Runs this test again in a process of its own.
fn check_in_a_process(rule: &Rule, path: &str) {
    let (_, test) = path.split_once("::").expect("a path begins with its crate");
    let mut child = Command::new(std::env::current_exe().expect("this program has a path"))
        .args([test, "--exact", "--nocapture"])
        .env(VARIABLE, rule.name)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this program runs again");
    let mut stderr = child.stderr.take().expect("it was asked for");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        // If the text cannot be read to its end, its last line is missing.
        let _ = stderr.read_to_end(&mut text);
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    let text = receiver.recv_timeout(LIMIT);
    if text.is_err() {
        // This fails if the process has just ended.
        let _ = child.kill();
    }
    let status = child.wait().expect("a child of this process");
    let text = text.unwrap_or_else(|_| panic!("{}: did not end within {} s", rule.name, LIMIT.as_secs()));
    let kept = status.success() && text.contains(&ended(rule.name));
    assert!(kept, "{}: ended the process that checked it ({status}):\n{text}", rule.name);
}
