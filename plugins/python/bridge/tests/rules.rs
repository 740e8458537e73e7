//! The rules that every solver and learner keeps, checked on scripts. `gpbench plugin test` also checks those that need a
//! process of their own.

use std::path::{Path, PathBuf};

use gpbench_host::HostTable;
use gpbench_terms::Reason;
use gpbench_testing::rules::{Claims, Finding, LEARNERS, Rule, SOLVERS, SubjectEntry, Tested};

use crate::python::{is_here, learner, solver, zoo};

fn template(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../template").join(format!("{name}.py"))
}

fn solver_of(script: &Path, id: &str) -> Tested {
    let entry = SubjectEntry::Solver(Box::leak(Box::new(solver(script, id))));
    Tested::of(entry, HostTable::new(Box::new(())))
}

fn learner_of(script: &Path, id: &str) -> Tested {
    let entry = SubjectEntry::Learner(Box::leak(Box::new(learner(script, id))));
    Tested::of(entry, HostTable::new(Box::new(())))
}

/// Checks all rules that can be checked in this process, and lists those that are broken.
fn check(tested: &Tested, rules: &[Rule]) {
    let mut broken = Vec::new();
    for rule in rules.iter().filter(|rule| !rule.alone) {
        match tested.run(rule) {
            Ok(()) => {}
            Err(Finding::Skipped(why)) => eprintln!("{}: skipped, {why}", rule.name),
            Err(Finding::Failed(why)) => broken.push(format!("{}: {why}", rule.name)),
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_template_of_a_solver_keeps_them() {
    if is_here() {
        check(&solver_of(&template("fancy_solver"), "fancy-solver"), SOLVERS);
    }
}

#[test]
fn richardsons_iteration_keeps_them() {
    if is_here() {
        check(&solver_of(&zoo("richardson"), "richardson"), SOLVERS);
    }
}

#[test]
fn conjugate_gradients_keep_them_and_converge() {
    if is_here() {
        let tested = solver_of(&zoo("cg"), "numpy-cg");
        check(&tested.ends_with(Reason::Converged).claims(Claims::Observed(1e-8)), SOLVERS);
    }
}

#[test]
fn the_template_of_a_learner_keeps_them() {
    if is_here() {
        check(&learner_of(&template("fancy_learner"), "fancy-learner"), LEARNERS);
    }
}

#[test]
fn a_line_keeps_them() {
    if is_here() {
        check(&learner_of(&zoo("learner"), "line"), LEARNERS);
    }
}
