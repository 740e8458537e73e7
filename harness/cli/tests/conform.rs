//! `gpbench plugin test`: every rule has a mutant that breaks it, and no plugin of ours breaks a rule.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::zoo::compile;
use crate::support::{Ended, Sandbox, library};

include!("../../testkit/mutants/pairs.rs");

fn conform(file: &Path, options: &[&str]) -> Ended {
    let file = file.to_str().expect("a path of UTF-8");
    Sandbox::new().run(&[&["plugin", "test", file, "--format", "json"][..], options].concat())
}

/// The rules of each solver with this status, with their reasons.
fn with_status(ended: &Ended, status: &str) -> BTreeMap<String, Vec<(String, String)>> {
    let json = ended.json();
    assert_eq!(json["schema"], 1);
    let mut found = BTreeMap::new();
    for rule in json["checks"].as_array().expect("a list of rules") {
        let text = |key: &str| rule[key].as_str().expect("a text").to_owned();
        assert!(["passed", "failed", "skipped"].contains(&&*text("status")), "{rule}");
        assert_eq!(text("status") == "passed", text("reason").is_empty(), "{rule}");
        let of_solver: &mut Vec<_> = found.entry(text("solver")).or_default();
        if text("status") == status {
            of_solver.push((text("name"), text("reason")));
        }
    }
    found
}

#[test]
fn every_mutant_breaks_its_rule_and_no_other() {
    let ended = conform(&library("gpbench_mutants"), &["--limit", "8"]).exits(1);
    let failed = with_status(&ended, "failed");
    assert_eq!(failed.len(), MUTANTS.len() + LEARNERS.len() + 2);
    for correct in ["correct", "fit-correct"] {
        assert!(failed[correct].is_empty(), "{correct} keeps every rule: {:?}", failed[correct]);
    }
    for (mutant, rule, word) in MUTANTS.iter().chain(LEARNERS) {
        let [(name, reason)] = failed[*mutant].as_slice() else {
            panic!("{mutant} must break `{rule}` alone, and broke {:?}", failed[*mutant])
        };
        assert_eq!(name, rule, "{mutant}: {reason}");
        assert!(reason.contains(word), "{mutant}: `{word}` is not in `{reason}`");
    }
}

#[test]
fn every_rule_has_a_mutant() {
    for (correct, mutants) in [("correct", MUTANTS), ("fit-correct", LEARNERS)] {
        let broken: BTreeSet<&str> = mutants.iter().map(|(_, rule, _)| *rule).collect();
        let ended = conform(&library("gpbench_mutants"), &["--solver", correct]).exits(0);
        let passed = with_status(&ended, "passed").remove(correct).expect("the only one tested");
        let skipped = with_status(&ended, "skipped").remove(correct).expect("the only one tested");
        let all: BTreeSet<&str> = passed.iter().chain(&skipped).map(|(name, _)| &**name).collect();
        assert_eq!(broken, all);
    }
}

/// Our plugins beside the program, and the template of new ones.
fn plugins() -> Vec<PathBuf> {
    let program = Path::new(env!("CARGO_BIN_EXE_gpbench"));
    let entries = program.parent().expect("a folder").read_dir().expect("a readable folder");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let is_plugin = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let ours = ["libgpbench_plugin_", "libgpbench_template"].iter().any(|start| name.starts_with(start));
        ours && name.ends_with(std::env::consts::DLL_SUFFIX)
    };
    files.filter(is_plugin).collect()
}

#[test]
fn every_plugin_of_ours_keeps_every_rule() {
    let plugins = plugins();
    assert!(plugins.len() >= 4, "run `cargo build --release --workspace` first: {plugins:?}");
    for plugin in plugins {
        let ended = conform(&plugin, &[]);
        assert_eq!(ended.code, 0, "{}: {:#?}", plugin.display(), with_status(&ended, "failed"));
    }
}

#[test]
fn a_table_shows_each_rule() {
    let file = library("gpbench_plugin_cg");
    let ended = Sandbox::new().run(&["plugin", "test", file.to_str().expect("UTF-8"), "--solver", "cg"]);
    ended.exits(0).prints(&[
        "one-column",
        "one right-hand side is solved",
        "passed",
        "does not claim to be exact",
        "0 failed",
    ]);
}

#[test]
fn a_broken_rule_shows_the_end_of_its_log() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("solvers.so");
    compile("solvers.c", &[], &file);
    let test = ["plugin", "test", file.to_str().expect("UTF-8"), "--solver", "c-free-twice"];
    // The C library tells of it before it ends the process.
    let ended = sandbox.run(&test).exits(1);
    ended.prints(&["SIGABRT", "the end of the log of c-free-twice, one-column:\n    ", "double free"]);
    let json = sandbox.run(&[&test[..], &["--format", "json"]].concat()).exits(1).json();
    for rule in json["checks"].as_array().expect("a list of rules") {
        let log = rule["log"].as_str().expect("a text");
        assert!(rule["status"] == "failed" || log.is_empty(), "{rule}");
    }
}

#[test]
fn a_file_that_is_no_plugin_fails_and_a_missing_file_is_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.write("text.so", "no library");
    let ended = sandbox.run(&["plugin", "test", "text.so", "--format", "json"]).exits(1);
    let failed = with_status(&ended, "failed");
    assert_eq!(failed[""][0].0, "interface");
    assert!(failed[""][0].1.contains("cannot be loaded"), "{failed:?}");

    sandbox.run(&["plugin", "test", "nowhere.so"]).exits(2).says(&["nowhere.so"]);
    let cg = library("gpbench_plugin_cg");
    let ended = sandbox.run(&["plugin", "test", cg.to_str().expect("UTF-8"), "--solver", "gc"]);
    ended.exits(2).says(&["no solver or learner `gc`; it offers cg"]);
}
