//! The program itself, asked as the engine would ask it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gpbench_record::{
    Case, CaseStatus, ExactRequest, Fault, Job, Limits, Message, Metrics, PluginParts, Program, SCHEMA,
    Solved, Stamp, Step, Verified,
};
use serde::Serialize;
use tempfile::TempDir;

pub(crate) const WORKER: &str = env!("CARGO_BIN_EXE_gpbench-worker");

/// The library of a plugin of this workspace, which is built if it has not been.
pub(crate) fn library(id: &str) -> PathBuf {
    library_of(&format!("gpbench-plugin-{id}"))
}

/// The library of a package of this workspace, which is built if it has not been.
pub(crate) fn library_of(package: &str) -> PathBuf {
    let file = Path::new(WORKER).with_file_name(format!("lib{}.so", package.replace('-', "_")));
    if !file.exists() {
        let profile = file.parent().unwrap();
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--locked", "--package", package, "--profile"]);
        cargo.arg(if profile.ends_with("debug") { "dev".as_ref() } else { profile.file_name().unwrap() });
        cargo.arg("--target-dir").arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        // Cargo's own lock makes concurrent tests wait for one build.
        assert!(
            cargo.status().unwrap().success() && file.exists(),
            "{cargo:?} does not build {}",
            file.display()
        );
    }
    file
}

pub(crate) fn worker(verb: &str, job: &impl Serialize) -> Output {
    let mut child = Command::new(WORKER)
        .arg(verb)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(job).unwrap()).unwrap();
    child.wait_with_output().unwrap()
}

pub(crate) fn messages(output: &Output) -> Vec<Message> {
    assert!(output.status.success(), "{output:?}");
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A job in a folder of its own, with the library of its solver.
pub(crate) fn job(case: Case, threads: usize) -> (Job, TempDir) {
    let plugin = library(&case.solver.plugin);
    job_of(case, plugin, threads)
}

/// The case of 300 rows that `cg` solves to a tolerance.
pub(crate) fn cg(tolerance: f64) -> Case {
    let mut case = super::case(300);
    case.budget.tolerance = Some(tolerance);
    case
}

/// A library as it is planned, or one that was never there.
fn program(file: PathBuf) -> Program {
    let missing = Program { file: file.clone(), sha256: "none".into(), stamp: Stamp::default() };
    Program::of(&file).unwrap_or(missing)
}

/// The same with another library.
pub(crate) fn job_of(case: Case, plugin: PathBuf, threads: usize) -> (Job, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let job = Job {
        schema: SCHEMA,
        id: "0123456789abcdef".into(),
        case,
        dataset_file: None,
        dataset_sha256: None,
        plugin: program(plugin),
        plugin_parts: PluginParts::default(),
        exact_file: None,
        solution_file: folder.path().join("solution.safetensors"),
        checkpoint_file: None,
        threads,
        limits: Limits::default(),
    };
    (job, folder)
}

pub(crate) fn exact(job: &mut Job, folder: &TempDir) -> Metrics {
    let request = ExactRequest {
        schema: SCHEMA,
        dataset: job.case.dataset.clone(),
        kernel: job.case.kernel.clone(),
        seed: job.case.seed,
        dataset_file: None,
        dataset_sha256: None,
        output: folder.path().join("exact.safetensors"),
        threads: job.threads,
    };
    let answer = messages(&worker("exact", &request)).pop();
    job.exact_file = Some(request.output);
    match answer {
        Some(Message::Exact(summary)) => summary.metrics,
        other => panic!("{other:?}"),
    }
}

/// Runs `case`: the messages while the plugin runs, and what it measured.
pub(crate) fn solve(job: &Job) -> (Vec<Message>, Solved) {
    let mut messages = messages(&worker("case", job));
    messages.retain(|message| *message != Message::Loading);
    match messages.pop() {
        Some(Message::Solved(solved)) => (messages, solved),
        other => panic!("{other:?}"),
    }
}

/// Runs `case` of a task of outer steps: the steps, which are all its messages, and what it measured.
pub(crate) fn solve_in_steps(job: &Job) -> (Vec<Step>, Solved) {
    let (messages, solved) = solve(job);
    let step = |message| match message {
        Message::Step(step) => step,
        other => panic!("{other:?}"),
    };
    (messages.into_iter().map(step).collect(), solved)
}

/// Steps or looks without what a clock measured.
pub(crate) fn timeless(steps: &[Step]) -> Vec<Step> {
    let keep = |metrics: &Metrics| -> Metrics {
        let kept = metrics.iter().filter(|(name, _)| !name.starts_with("seconds"));
        kept.map(|(name, value)| (name.to_owned(), value)).collect()
    };
    steps.iter().map(|step| Step { metrics: keep(&step.metrics), ..step.clone() }).collect()
}

pub(crate) fn verified(job: &Job) -> Verified {
    match messages(&worker("verify", job)).pop() {
        Some(Message::Verified(verified)) => verified,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn verify(job: &Job) -> Metrics {
    verified(job).metrics
}

pub(crate) fn failure(job: &Job) -> (CaseStatus, String) {
    match messages(&worker("case", job)).pop() {
        Some(Message::Failed(failure)) => (failure.status, failure.reason),
        other => panic!("{other:?}"),
    }
}

/// The fault that a verb reports of a job.
pub(crate) fn fault(verb: &str, job: &impl Serialize) -> Fault {
    match messages(&worker(verb, job)).pop() {
        Some(Message::Fault(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_close(metrics: &Metrics, name: &str, expected: f64, tolerance: f64) {
    let value = metrics.get(name).unwrap_or_else(|| panic!("{name} is missing"));
    assert!((value - expected).abs() <= tolerance, "{name}: {value}, not {expected}");
}
