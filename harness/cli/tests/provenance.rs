//! A plugin or the worker that changes during a run: every row is of the programs that were planned.
//!
//! The worker is a script around the real one. The first time that it runs a case, it changes a file first, as a build
//! on another terminal may.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{Ended, Sandbox, library, reproducible, spec};
use gpbench_record::Program;
use serde_json::Value;

/// A folder with a program, a worker and a plugin of its own.
struct Place {
    sandbox: Sandbox,
}

impl Place {
    /// A place whose worker executes a command of the shell once, when it is to run its first case.
    fn new(act: &str) -> Place {
        let place = Place { sandbox: Sandbox::new() };
        fs::create_dir(place.path("bin")).expect("a writable folder");
        let program = Path::new(env!("CARGO_BIN_EXE_gpbench"));
        fs::hard_link(program, place.path("bin/gpbench"))
            .or_else(|_| fs::copy(program, place.path("bin/gpbench")).map(drop))
            .expect("a writable folder");
        place.write_worker("bin/gpbench-worker", act);
        place.write_worker("bin/broken-worker", "exit 1");
        place.copy("gpbench_plugin_cg", "solver.so");
        place.copy("gpbench_plugin_cholesky", "other.so");
        let table = format!(
            "\n[solver.mine]\nplugin = \"cg\"\nlibrary = \"{}\"\n",
            place.path("solver.so").display()
        );
        let text =
            spec("toy", &[("[\"cholesky\", \"cg\"]", "[\"mine\"]"), ("seeds = [0]", "seeds = [0, 1, 2]")]);
        place.sandbox.write("spec.toml", &(text + &table));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sandbox.path(name)
    }

    fn copy(&self, plugin: &str, to: &str) {
        fs::copy(library(plugin), self.path(to)).expect("a writable folder");
    }

    fn write_worker(&self, name: &str, act: &str) {
        let real = Path::new(env!("CARGO_BIN_EXE_gpbench")).with_file_name("gpbench-worker");
        let (folder, real) = (self.path(""), real.display().to_string());
        // The shell reads the whole group before it executes any of it.
        let text = format!(
            "#!/bin/sh\n{{ cd '{}'\nif [ \"$1\" = case ] && mkdir acted 2> /dev/null; then {act}; fi\n\
             exec '{real}' \"$@\"\n}}\n",
            folder.display()
        );
        let path = self.sandbox.write(name, &text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of this user");
    }

    fn run(&self) -> Ended {
        let program = self.path("bin/gpbench");
        let program = program.to_str().expect("UTF-8");
        Ended::of(&mut self.sandbox.command_of(program, &["run", "spec.toml"]))
    }

    /// The metrics of all rows that do not depend on the machine.
    fn metrics(&self) -> Vec<Vec<(String, Value)>> {
        let mut cases = self.sandbox.cases();
        cases.sort_by_key(|case| case["seed"].as_u64());
        assert!(cases.iter().all(|case| case["status"] == "ok"), "{cases:?}");
        cases.iter().map(reproducible).collect()
    }

    fn rows(&self) -> usize {
        self.sandbox.read("reports/toy/latest/journal.jsonl").lines().count()
    }

    /// The SHA-256 of the plugin that the newest plan names.
    fn planned_plugin(&self) -> String {
        let plan: Value =
            serde_json::from_str(&self.sandbox.read("reports/toy/latest/plan.json")).expect("a plan");
        plan["cases"][0]["fingerprint"]["plugin_sha256"].as_str().expect("a checksum").to_owned()
    }

    /// The folders of all runs.
    fn runs(&self) -> usize {
        let entries = fs::read_dir(self.path("reports/toy")).expect("a folder");
        entries.filter(|entry| entry.as_ref().expect("an entry").file_name() != "latest").count()
    }
}

fn sha256(file: &Path) -> String {
    Program::of(file).expect("a file").sha256
}

/// What a run without changes measures.
fn undisturbed() -> Vec<Vec<(String, Value)>> {
    let place = Place::new(":");
    place.run().exits(0);
    let metrics = place.metrics();
    assert_eq!(metrics.len(), 3);
    metrics
}

#[test]
fn a_plugin_replaced_during_a_run_is_used_by_the_next() {
    let place = Place::new("mv other.so solver.so");
    place.run().exits(0);
    assert_eq!(place.metrics(), undisturbed());
    assert_eq!(place.planned_plugin(), sha256(&library("gpbench_plugin_cg")));
    assert_eq!(sha256(&place.path("solver.so")), sha256(&library("gpbench_plugin_cholesky")));

    // Another build of the same solver.
    let mut built = fs::read(library("gpbench_plugin_cg")).expect("a library");
    built.push(0);
    fs::write(place.path("solver.so"), built).expect("a writable folder");
    place.run().exits(0);
    assert_eq!((place.runs(), place.metrics()), (2, undisturbed()));
    assert_eq!(place.planned_plugin(), sha256(&place.path("solver.so")));
}

#[test]
fn no_row_is_of_a_plugin_overwritten_during_a_run() {
    let place = Place::new("cp other.so solver.so");
    place.run().exits(1).says(&["solver.so has changed"]);
    assert_eq!(place.rows(), 0);

    // The planned one is back.
    place.copy("gpbench_plugin_cg", "solver.so");
    place.run().exits(0);
    assert_eq!((place.runs(), place.metrics()), (1, undisturbed()));
}

#[test]
fn a_worker_replaced_during_a_run_is_used_by_the_next() {
    let place = Place::new("mv bin/broken-worker bin/gpbench-worker");
    place.run().exits(0);
    assert_eq!(place.metrics(), undisturbed());
    let first = place.sandbox.read("reports/toy/latest/journal.jsonl");

    place.write_worker("bin/new-worker", "echo built");
    fs::rename(place.path("bin/new-worker"), place.path("bin/gpbench-worker")).expect("a writable folder");
    place.run().exits(0);
    assert_eq!((place.runs(), place.metrics()), (2, undisturbed()));
    assert_ne!(place.sandbox.read("reports/toy/latest/journal.jsonl"), first);
}

#[test]
fn no_row_is_of_a_worker_overwritten_during_a_run() {
    let place = Place::new("cp bin/broken-worker bin/gpbench-worker");
    place.run().exits(1).says(&["gpbench-worker has changed"]);
    assert_eq!(place.rows(), 0);

    place.write_worker("bin/gpbench-worker", ":");
    place.run().exits(0);
    assert_eq!((place.runs(), place.metrics()), (2, undisturbed()));
}
