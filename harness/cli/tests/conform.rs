//! `gpbench plugin test`: every rule has a mutant that breaks it, and no plugin of ours breaks a rule.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::{Ended, Sandbox, library};

/// The rule that each mutant breaks, and a part of the reason.
const MUTANTS: &[(&str, &str, &str)] = &[
    ("unknown-capability", "interface", "0x10000000000"),
    ("reserved-field", "interface", "reserved"),
    ("no-doc", "description", "the solver has no documentation"),
    ("parameter-without-doc", "description", "`patience`"),
    ("refuses-end-of-range", "parameters", "1000"),
    ("forgets-only-row", "one-row", "claims convergence"),
    ("probes-alone", "one-column", "claims convergence"),
    ("first-target-alone", "several-targets", "claims convergence"),
    ("sixty-four-columns", "many-columns", "claims convergence"),
    ("zero-over-zero", "zero-column", "diverged"),
    ("ignores-distance", "margin", "was written to"),
    ("lax", "tolerance", "true residual norm"),
    ("flatters", "claims", "where the true one is"),
    ("claims-exact", "exact", "ended"),
    ("leaves-out-nan", "not-a-number", "there is none"),
    ("hangs-on-nan", "not-a-number", "did not end within 15 s"),
    ("nan-passes", "matrix-not-a-number", "the matrix has NaN"),
    ("claims-at-limit", "singular", "there is none"),
    ("tiny-is-zero", "linearity", "1e-6"),
    ("needs-sorted-rows", "row-order", "claims convergence"),
    ("scale-of-first", "column-order", "claims convergence"),
    ("pretends-warm-start", "warm-start", "epochs"),
    ("adds-to-start", "any-start", "claims convergence"),
    ("ignores-charge", "budget", "used 11"),
    ("asks-on", "budget", "called the operator"),
    ("steps-unpaid", "no-budget", "another iterate"),
    ("steps-on", "limit", "with the budget of 3 iterations"),
    ("ignores-stop", "cancel", "told to stop"),
    ("stale-iterate", "iterate", "another than stopping there leaves"),
    ("restarts-when-watched", "watching", "another solution"),
    ("writes-right-hand-side", "inputs", "right-hand sides"),
    ("writes-in-prepare", "inputs", "during prepare"),
    ("counts-calls", "same-seed", "different solutions"),
    ("hides-seed", "other-seed", "another seed"),
    ("sums-by-threads", "threads", "on 2 threads"),
    ("accumulates", "reuse", "in solve 2"),
    ("keeps-preparation", "prepare-again", ""),
    ("shares-state", "two-objects", ""),
    ("aborts-unused", "unused", "SIGABRT"),
    ("leaks", "leaks", "MiB"),
    ("leaves-threads", "left-threads", "left 8 running"),
    ("flushes-to-zero", "float-mode", "flushed to zero"),
    ("raises-blas", "blas-threads", "has 4 after"),
    ("prints", "silence", "7 bytes"),
];

/// The same of learners.
const LEARNERS: &[(&str, &str, &str)] = &[
    ("fit-unknown-capability", "interface", "0x10000000000"),
    ("fit-no-doc", "description", "the learner has no documentation"),
    ("fit-refuses-end-of-range", "parameters", "1000"),
    ("fit-needs-three-rows", "two-rows", "fewer than three rows"),
    ("fit-needs-two-inputs", "one-input", "fewer than two inputs"),
    ("fit-divides-by-range", "constant-input", "diverged"),
    ("fit-refuses-repeated-rows", "repeated-rows", "a row occurs twice"),
    ("fit-refuses-large-batch", "large-batch", "too large a batch"),
    ("fit-skips-short-batch", "short-batch", "steps from"),
    ("fit-leaves-out-nan", "not-a-number", "fits targets with NaN"),
    ("fit-draws-on", "budget", "drew 100 times"),
    ("fit-reports-more", "observe", "reports"),
    ("fit-draws-first", "grant", "other batches"),
    ("fit-forgets-at-pause", "pause", "with a pause after every step"),
    ("fit-forgets-velocity", "resume", "after it was resumed"),
    ("fit-loads-anything", "load-elsewhere", "a state of other targets"),
    ("fit-keeps-velocity", "reuse", "begins again"),
    ("fit-writes-targets", "inputs", "wrote into the targets"),
    ("fit-counts-predictions", "pieces", "predicts otherwise at"),
    ("fit-negative-far", "positive", "a variance of -1"),
    ("fit-shrinks-variance", "model", "predicts variances"),
    ("fit-wrong-constant", "objective", "where the model's is"),
    ("fit-drifts", "descends", "after 20 small steps"),
    ("fit-learns-nothing", "learns", "the mean of the targets"),
    ("fit-charges-nothing", "charges", "no kernel entries"),
    ("fit-counts-calls", "same-seed", "two fits with one seed differ"),
    ("fit-hides-seed", "other-seed", "another seed"),
    ("fit-sums-by-threads", "threads", "on 2 threads"),
    ("fit-shares-velocity", "two-objects", "disturb each other"),
    ("fit-aborts-unused", "unused", "SIGABRT"),
    ("fit-leaks", "leaks", "MiB"),
    ("fit-leaves-threads", "left-threads", "left 8 running"),
    ("fit-flushes-to-zero", "float-mode", "flushed to zero"),
    ("fit-raises-blas", "blas-threads", "has 4 after"),
    ("fit-prints", "silence", "7 bytes"),
];

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
    let ended = conform(&library("gpbench_mutants"), &["--limit", "15"]).exits(1);
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
