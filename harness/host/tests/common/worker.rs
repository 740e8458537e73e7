//! The program itself, asked as the engine would ask it.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use gpbench_record::{Case, ExactRequest, Job, Limits, Message, Metrics, SCHEMA, Solved, Status, Verified};
use serde::Serialize;
use tempfile::TempDir;

pub(crate) const WORKER: &str = env!("CARGO_BIN_EXE_gpbench-worker");

/// The library of a plugin, if it has been built.
pub(crate) fn library(name: &str) -> Option<PathBuf> {
    let file = Path::new(WORKER).with_file_name(format!("libgpbench_plugin_{name}.so"));
    if !file.exists() {
        eprintln!("{} is not built: nothing is tested", file.display());
    }
    file.exists().then_some(file)
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

/// A job in a folder of its own.
pub(crate) fn job(case: Case, plugin: PathBuf, threads: usize) -> (Job, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let job = Job {
        schema: SCHEMA,
        id: "0123456789abcdef".into(),
        case,
        dataset_file: None,
        plugin_file: plugin,
        exact_file: None,
        solution_file: folder.path().join("solution.bin"),
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
        output: folder.path().join("exact.bin"),
        threads: job.threads,
    };
    let answer = messages(&worker("exact", &request)).pop();
    job.exact_file = Some(request.output);
    match answer {
        Some(Message::Exact(summary)) => summary.metrics,
        other => panic!("{other:?}"),
    }
}

/// Runs `case` and takes its last message apart.
pub(crate) fn solve(job: &Job) -> (Vec<Message>, Solved) {
    let mut messages = messages(&worker("case", job));
    match messages.pop() {
        Some(Message::Solved(solved)) => (messages, solved),
        other => panic!("{other:?}"),
    }
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

pub(crate) fn failure(job: &Job) -> (Status, String) {
    match messages(&worker("case", job)).pop() {
        Some(Message::Failed(failure)) => (failure.status, failure.reason),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_close(metrics: &Metrics, name: &str, expected: f64, tolerance: f64) {
    let value = metrics.get(name).unwrap_or_else(|| panic!("{name} is missing"));
    assert!((value - expected).abs() <= tolerance, "{name}: {value}, not {expected}");
}
