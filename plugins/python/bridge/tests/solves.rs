//! Solvers in Python on dense systems, in the host that runs cases too.

use gpbench_terms::{Capability, ParamValue, Reason};
use ndarray::{Array2, array};

use crate::python::{dominant, is_here, small, solver, zoo};

#[test]
fn a_script_is_described_without_running() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("richardson"), "richardson");
    assert_eq!(entry.info.doc, "Richardson's iteration with a fixed step");
    assert_eq!(entry.info.source.as_deref(), Some("Richardson (1911)"));
    assert_eq!((entry.info.facts.step.as_str(), entry.info.facts.advice.as_str()), ("n^2 entries", ""));
    assert_eq!(entry.info.capabilities, [Capability::WarmStart, Capability::BlasThreads]);
    assert_eq!(entry.oddities, [""; 0]);
    let step = &entry.info.params[0];
    assert_eq!((step.name.as_str(), step.min, step.max), ("step", Some(0.0), Some(2.0)));
    assert_eq!(step.default, ParamValue::Float(0.5));
    assert_eq!(entry.info.params[1].default, ParamValue::Int(10_000));
}

#[test]
fn richardson_solves_to_the_tolerance() {
    if !is_here() {
        return;
    }
    let (problem, entry) = (small(), solver(&zoo("richardson"), "richardson"));
    let outcome = problem.solve_with(&entry, &[("step", 0.9.into())]).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    assert!(problem.residuals(&outcome.x).iter().all(|&norm| norm <= 1e-8), "{:?}", outcome.x);
    assert_eq!(outcome.claimed.len(), 2);
    assert_eq!(outcome.trace.len() as i64, outcome.iterations + 1);
    assert_eq!(outcome.number("scale"), 0.9 / 5.5);
    // One product to prepare, then one an iteration; an epoch is 9 entries.
    assert_eq!((outcome.entries_prepare, outcome.entries), (9.0, 9.0 * (outcome.iterations + 2) as f64));
}

#[test]
fn conjugate_gradients_take_as_many_iterations_as_there_are_eigenvalues() {
    if !is_here() {
        return;
    }
    let a = Array2::from_diag(&array![1.0, 2.0, 2.0, 5.0, 5.0, 5.0]);
    let problem = gpbench_testing::DenseProblem::new(a, Array2::ones((6, 3))).tolerance(1e-10);
    let outcome = problem.solve_with(&solver(&zoo("cg"), "numpy-cg"), &[]).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, 3));
    assert!(problem.residuals(&outcome.x).iter().all(|&norm| norm <= 1e-10));
}

#[test]
fn a_budget_stops_where_it_is_spent() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("richardson"), "richardson");
    let problem = small().max_epochs(4.0);
    let outcome = problem.solve_with(&entry, &[("step", 0.01.into())]).unwrap();
    assert_eq!((outcome.reason, outcome.entries), (Reason::Stopped, 36.0));
    assert!(outcome.x.iter().any(|&x| x != 0.0), "the iterate so far");
    assert_eq!(outcome.claimed, outcome.trace.last().unwrap().1, "those observed last");
    // None of it is left for preparing.
    let outcome = small().max_epochs(0.5).solve_with(&entry, &[]).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Stopped, 0));
}

#[test]
fn iterates_are_those_at_the_observations() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("arrays"), "stopper");
    let problem = small().iterates().stop_at(3);
    let outcome = problem.solve_with(&entry, &[]).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Stopped, 3));
    let firsts: Vec<f64> = outcome.iterates.iter().map(|x| x[[0, 0]]).collect();
    assert_eq!(firsts[..2], [1.0, 2.0]);
    assert!(outcome.x.iter().all(|&x| x == 3.0), "what it left after it was told to stop");
}

#[test]
fn a_warm_start_is_seen() {
    if !is_here() {
        return;
    }
    let (problem, entry) = (small(), solver(&zoo("cg"), "numpy-cg"));
    let first = problem.solve_with(&entry, &[]).unwrap();
    let again = problem.clone().start(first.x).tolerance(1e-6).solve_with(&entry, &[]).unwrap();
    assert_eq!(again.iterations, 0);
}

#[test]
fn objects_of_one_process_share_a_child_and_nothing_else() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("arrays"), "keeper");
    let problem = small();
    let expected = problem.solve_with(&entry, &[]).unwrap().x;
    // Each solve writes into views of the one before; it must not matter.
    for _ in 0..3 {
        assert_eq!(problem.solve_with(&entry, &[]).unwrap().x, expected);
    }
}

#[test]
fn results_do_not_depend_on_the_layout_of_the_hosts_matrices() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("cg"), "numpy-cg");
    let rhs = Array2::from_shape_fn((40, 5), |(i, j)| ((i * 7 + j * 3) % 11) as f64 - 5.0);
    let problem = gpbench_testing::DenseProblem::new(dominant(40), rhs).targets(2).tolerance(1e-9);
    let outcome = problem.solve_with(&entry, &[]).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    assert!(problem.residuals(&outcome.x).iter().all(|&norm| norm <= 1e-8));
}
