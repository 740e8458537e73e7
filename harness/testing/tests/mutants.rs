//! The rules find the faults of mutants on dense systems, in one process, as they do in processes of the worker.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::Path;

use gpbench_host::{HostTable, Library};
use gpbench_testing::rules::{Finding, LEARNERS as FIT_RULES, Rule, SOLVERS, SubjectEntry, Tested};

include!("../../testkit/mutants/pairs.rs");

/// The library of mutants, beside the folder of this program.
fn library() -> &'static Library {
    let program = std::env::current_exe().expect("this program has a path");
    let folder = program.parent().and_then(Path::parent).expect("a folder of a build");
    let file = folder.join(format!("{DLL_PREFIX}gpbench_mutants{DLL_SUFFIX}"));
    let library = Library::load(&file, HostTable::new(Box::new(())));
    Box::leak(Box::new(library.expect("run `cargo build --release --workspace` first")))
}

fn solver(id: &str) -> Tested {
    let library = library();
    Tested::of(SubjectEntry::Solver(library.solver(id).expect("a mutant")), library.host())
}

fn learner(id: &str) -> Tested {
    let library = library();
    Tested::of(SubjectEntry::Learner(library.learner(id).expect("a mutant")), library.host())
}

/// Whether a rule is tested here: without a process of its own, and not on what a test program does not show.
fn is_tested(rule: &Rule) -> bool {
    !rule.alone && !["blas-threads", "silence"].contains(&rule.name)
}

fn assert_found(pairs: &[(&str, &str, &str)], rules: &[Rule], tested: fn(&str) -> Tested) {
    for (mutant, name, word) in pairs {
        let rule = rules.iter().find(|rule| rule.name == *name).expect("a rule of the list");
        if !is_tested(rule) || *word == "two processes" {
            continue;
        }
        match tested(mutant).run(rule) {
            Err(Finding::Failed(reason)) => {
                assert!(reason.contains(word), "{mutant}: `{word}` is not in `{reason}`");
            }
            other => panic!("{mutant} must break `{name}`: {other:?}"),
        }
    }
}

fn assert_kept(rules: &[Rule], tested: &Tested) {
    for rule in rules.iter().filter(|rule| is_tested(rule)) {
        if let Err(Finding::Failed(reason)) = tested.run(rule) {
            panic!("{}: {reason}", rule.name);
        }
    }
}

#[test]
fn solvers_with_a_fault_break_its_rule() {
    assert_found(MUTANTS, SOLVERS, solver);
}

#[test]
fn learners_with_a_fault_break_its_rule() {
    assert_found(LEARNERS, FIT_RULES, learner);
}

#[test]
fn a_solver_and_a_learner_without_a_fault_keep_every_rule() {
    assert_kept(SOLVERS, &solver("correct"));
    assert_kept(FIT_RULES, &learner("fit-correct"));
}
