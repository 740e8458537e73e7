//! All requests of a solver, each compared with the matrix.

use std::rc::Rc;

use gpbench_terms::{Family, ParamValue, Reason};
use gpbench_testing::{DenseProblem, SharedObjects};
use ndarray::Array2;

use crate::python::{dominant, is_here, small, solver, zoo};

fn parameters(act: &str) -> [(&str, ParamValue); 1] {
    [("act", ParamValue::Text(act.to_owned()))]
}

#[test]
fn every_request_does_what_it_says() {
    if !is_here() {
        return;
    }
    let n = 12;
    let part = |k: usize| Array2::from_shape_fn((n, 2), |(i, j)| ((i * k + j) % 5) as f64);
    let (f, noise) = (part(3), part(7));
    let mut rhs = Array2::ones((n, 3));
    rhs.slice_mut(ndarray::s![.., 1..]).assign(&(&f + &noise));
    let root = Array2::from_shape_fn((n, 4), |(i, j)| (i + j) as f64 / 10.0);
    let objects = SharedObjects::default();
    let problem = DenseProblem::new(dominant(n), rhs)
        .targets(1)
        .tolerance(1e-6)
        .iterates()
        .kernel(Family::Matern32, Array2::zeros((n, 2)), 1.0, 0.5, vec![1.0, 2.0])
        .pathwise(&f, &noise)
        .random_features(root)
        .objects(&objects);
    let entry = solver(&zoo("arrays"), "everything");
    let first = problem.solve_with(&entry, &[]).unwrap();
    assert_eq!((first.reason, first.number("calls")), (Reason::Converged, 0.0));
    assert!(first.number("iterates") >= 1.0);
    assert!(first.iterates[0].iter().all(|&x| x == 3.0), "what `iterate` put there");
    assert!(first.iterates[1].iter().all(|&x| x == 4.0), "what was assigned to x");
    assert!(problem.residuals(&first.x).iter().all(|&norm| norm < 1e-10));
    assert_eq!(first.notes, [(3, "variance".to_owned(), 0.5)]);
    assert!(first.state.len() >= 2);

    let second = problem.clone().state(first.state).solve_with(&entry, &[]).unwrap();
    assert_eq!(second.number("calls"), 1.0, "kept from the first solve");
    assert_eq!(Rc::strong_count(&objects), 2);
    drop(objects.take());
    let third = problem.solve_with(&entry, &[]).unwrap();
    assert_eq!(third.number("calls"), 0.0, "the host has freed it");
}

#[test]
fn seeds_have_64_bits() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("faults"), "faults");
    for seed in [0, 1 << 63, u64::MAX - 5] {
        let outcome = small().seed(seed).solve_with(&entry, &[]).unwrap();
        let (high, low) = (outcome.number("seed_high") as u64, outcome.number("seed_low") as u64);
        assert_eq!(high << 32 | low, seed);
    }
}

#[test]
fn every_counted_request_after_the_stop_is_refused_again() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("faults"), "faults");
    let failed = small().stop_at(2).solve_with(&entry, &parameters("after-stop")).unwrap_err();
    assert!(failed.to_string().contains("8 of 8 were refused"), "{failed}");
}

#[test]
fn a_swallowed_exception_does_not_swallow_the_stop() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("faults"), "faults");
    let outcome = small().max_epochs(5.0).solve_with(&entry, &parameters("swallow")).unwrap();
    assert_eq!(outcome.reason, Reason::Stopped);
}

#[test]
fn exceptions_are_errors_of_their_call_and_the_child_lives() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("faults"), "faults");
    for (act, said) in [
        ("raise", "ValueError: wrong sign (faults.py:"),
        ("linalg", "not positive definite"),
        ("memory", "solve ran out of memory: MemoryError: a factor of 3 GiB (faults.py:"),
        ("system-exit", "SystemExit: 5 (faults.py:"),
        ("keyboard", "KeyboardInterrupt (faults.py:"),
        ("thread", "another thread"),
        ("in-transform", "inside"),
        ("deep", "RecursionError: "),
    ] {
        let failed = small().solve_with(&entry, &parameters(act)).unwrap_err();
        assert!(failed.to_string().contains(said), "{act}: {failed}");
        assert_eq!(failed.is_singular(), act == "linalg");
        let outcome = small().solve_with(&entry, &parameters("none")).unwrap();
        assert_eq!(outcome.reason, Reason::Converged, "after {act}");
    }
}

#[test]
fn a_flood_of_text_and_an_error_in_a_destructor_change_nothing() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("faults"), "faults");
    for act in ["flood", "del", "rebound"] {
        assert_eq!(small().solve_with(&entry, &parameters(act)).unwrap().reason, Reason::Converged);
    }
}

#[test]
fn a_broken_frame_fails_the_call_at_once() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("frames"), "frames");
    for (act, said) in [
        ("short", "a frame of 5 bytes has no header"),
        ("long", "has 145 bytes, not 144"),
        ("huge", "a frame of 71697 bytes"),
        ("kind", "the unknown kind 99"),
        ("sequence", "is the next"),
        ("answer", "an answer to frame 12345"),
        ("json", "is no object"),
        ("flags", "the unknown flags 0x8"),
        ("offset", "does not lie in the arena"),
        ("shape", "does not lie in the arena"),
        ("overlap", "`y` overlaps `x`"),
        ("misaligned", "does not lie in the arena"),
        ("index", "`rows` has the index 3, where there are 3"),
        ("closed", "it closed its socket"),
    ] {
        // Each object has a child of its own, whatever happened to the one before.
        let failed = small().solve_with(&entry, &parameters(act)).unwrap_err().to_string();
        assert!(failed.contains("broke the protocol"), "{act}: {failed}");
        assert!(failed.contains(said), "{act}: {failed}");
    }
    assert_eq!(small().solve_with(&entry, &parameters("none")).unwrap().reason, Reason::Converged);
}

#[test]
fn the_arena_keeps_its_size_and_takes_empty_matrices() {
    if !is_here() {
        return;
    }
    let entry = solver(&zoo("frames"), "frames");
    let failed = small().solve_with(&entry, &parameters("truncate")).unwrap_err().to_string();
    assert!(failed.contains("PermissionError: "), "{failed}");
    assert_eq!(small().solve_with(&entry, &parameters("empty")).unwrap().reason, Reason::Converged);
}
