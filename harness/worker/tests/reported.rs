//! Systems on which users of other libraries reported wrong results, for every solver of this workspace.

use std::collections::BTreeMap;

use gpbench_host::{
    CallError, DenseSystem, Library, LinearSystem, Session, SolveLimits, SolveOutcome, SolverObject,
};
use gpbench_record::{Capability, StopReason, names};
use gpbench_sdk as sdk;
use gpbench_sdk::{Problem, Reason, Report};
use gpbench_worker::evaluate::weights;
use gpbench_worker::{process, services};
use ndarray::{Array1, Array2, Axis, ShapeBuilder};

use crate::common::worker::library;
use crate::common::{self, exact_solution, run, system};

/// The solvers of this workspace.
const SOLVERS: [&str; 12] = [
    "ap",
    "ap-accelerated",
    "askotch",
    "block-cg",
    "cg",
    "cholesky",
    "cholesky-mixed",
    "falkon",
    "rr-cg",
    "sdd",
    "sgd",
    "sgd-rff",
];

/// A solver with its default parameters, from a start.
fn solve(
    id: &str,
    system: &dyn LinearSystem,
    limits: SolveLimits,
    x: &mut Array2<f64>,
) -> Result<SolveOutcome, CallError> {
    let library = Library::load(&library(id), services::host(None)).unwrap();
    let mut solver =
        SolverObject::create(library.solver(id).unwrap(), library.host(), &BTreeMap::new()).unwrap();
    let mut no_observer = ();
    solver.run(&Session::new(system, limits, library.host(), &mut no_observer), x)
}

fn can(id: &str, capability: Capability) -> bool {
    let library = Library::load(&library(id), services::host(None)).unwrap();
    library.solver(id).unwrap().info.can(capability)
}

fn zeros(system: &dyn LinearSystem) -> Array2<f64> {
    Array2::zeros((system.operator().shape().1, system.rhs().ncols()).f())
}

#[test]
fn a_tolerance_that_zero_meets_is_met() {
    let system = system(&common::case(60));
    for id in SOLVERS {
        let limits = SolveLimits { tolerance: Some(1.0), max_epochs: Some(100.0), ..common::LIMITS };
        let mut x = zeros(&system);
        let outcome = solve(id, &system, limits, &mut x).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(x.iter().all(|value| value.is_finite()), "{id}: {outcome:?}");
        let found = weights::residuals(&system, x.view());
        if outcome.stop_reason == StopReason::Converged {
            let worst = found.get(names::RESIDUAL_MAX).unwrap();
            assert!(worst <= 1.01, "{id} claims a tolerance of 1 with a residual of {worst}");
        }
    }
}

#[test]
fn the_error_to_exact_does_not_jump_at_a_number_of_rows() {
    // A library that changes its method at 800 rows, as by a threshold for a dense factor, jumps between these.
    let error = |id: &str, n: usize| {
        let system = system(&common::case(n));
        let limits = SolveLimits { tolerance: Some(1e-6), max_epochs: Some(30.0), ..common::LIMITS };
        let mut x = zeros(&system);
        solve(id, &system, limits, &mut x).unwrap_or_else(|error| panic!("{id}: {error}"));
        let exact = exact_solution(&system);
        let norm = |a: &Array2<f64>| a.iter().map(|value| value * value).sum::<f64>().sqrt();
        norm(&(&x - &exact)) / norm(&exact)
    };
    for id in SOLVERS {
        let [before, after] = [800, 801].map(|n| error(id, n));
        // Below the tolerance, the last step decides.
        let (low, high) = (before.min(after).max(1e-6), before.max(after));
        assert!(high <= 3.0 * low, "{id}: {before:e} with 800 rows, {after:e} with 801");
    }
}

#[test]
fn a_start_at_the_solution_takes_no_iteration_whatever_the_norms() {
    let mut system = system(&common::case(60));
    let scales = Array1::from_vec(vec![1e-9, 1.0, 1e9, 1e-3]);
    system.targets.rhs *= &scales.view().insert_axis(Axis(0));
    let exact = exact_solution(&system);
    // The number of iterations of `rr-cg` is drawn, whatever the residual is.
    for id in SOLVERS.into_iter().filter(|id| *id != "rr-cg" && can(id, Capability::WarmStart)) {
        let limits = SolveLimits { tolerance: Some(1e-6), max_epochs: Some(50.0), ..common::LIMITS };
        let mut x = exact.clone();
        let outcome = solve(id, &system, limits, &mut x).unwrap_or_else(|error| panic!("{id}: {error}"));
        let residual = weights::residuals(&system, x.view()).get(names::RESIDUAL_MAX).unwrap();
        assert!(residual <= 1.01e-6, "{id} leaves the solution: {residual:e}");
        assert_eq!((outcome.cost.iterations, outcome.stop_reason), (0, StopReason::Converged), "{id}");
    }
}

#[test]
fn an_indefinite_matrix_ends_in_time_without_a_claim() {
    // Eigenvalues of both signs; with zero on the diagonal, and with a positive diagonal.
    for shift in [0.0, 0.5] {
        let n = 40;
        let a = Array2::from_shape_fn((n, n).f(), |(i, j)| {
            let entry = ((i * j + i + j) as f64).sin();
            if i == j { shift } else { entry }
        });
        let rhs = Array2::from_shape_fn((n, 2), |(i, j)| ((i + 3 * j) as f64).cos());
        let system = DenseSystem::new(a.clone(), rhs.view());
        for id in SOLVERS {
            let limits = SolveLimits { tolerance: Some(1e-8), max_epochs: Some(200.0), ..common::LIMITS };
            let mut x = zeros(&system);
            let Ok(outcome) = solve(id, &system, limits, &mut x) else { continue };
            if outcome.stop_reason == StopReason::Converged {
                let product = a.dot(&x);
                let far = (&product - &rhs).iter().map(|value| value.abs()).fold(0.0, f64::max);
                assert!(far < 1e-6, "{id} claims to have converged, {far:e} from the right-hand side");
            }
        }
    }
}

solver! {
    /// Conjugate gradients in single precision, which claim the residual of their own recursion.
    Single = "single";

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> sdk::Result<Report> {
        let single = |a: &Array2<f64>| a.mapv(|value| f64::from(value as f32));
        let (op, rhs) = (problem.operator(), problem.rhs().to_owned());
        let dot = |a: &Array2<f64>, b: &Array2<f64>| (a * b).sum_axis(Axis(0));
        let sizes = dot(&rhs, &rhs);
        let mut x = Array2::<f64>::zeros(rhs.dim().f());
        let mut r = single(&rhs);
        let mut p = r.clone();
        let mut product = Array2::zeros(rhs.dim().f());
        for iteration in 0..1000 {
            let squares = dot(&r, &r);
            let norms: Vec<f64> = squares.iter().zip(&sizes).map(|(a, b)| (a / b).sqrt()).collect();
            if problem.converged(&norms) {
                problem.x_mut().assign(&x);
                return Ok(Report::new(Reason::Converged, iteration).residuals(norms));
            }
            op.apply(&p, &mut product)?;
            let product = single(&product);
            let step = (&squares / &dot(&p, &product)).insert_axis(Axis(0));
            x = single(&(&x + &(&p * &step)));
            r = single(&(&r - &(&product * &step)));
            p = single(&(&r + &(&p * &(dot(&r, &r) / squares).insert_axis(Axis(0)))));
        }
        Ok(Report::new(Reason::Iterations, 1000))
    }
}

#[test]
fn a_recursive_residual_in_single_precision_is_not_believed() {
    let system = system(&common::case(60));
    let limits = SolveLimits { tolerance: Some(1e-10), ..common::LIMITS };
    let (outcome, x) = run::<Single>(&system, &[], limits, process::now, &mut ()).unwrap();
    assert_eq!(outcome.stop_reason, StopReason::Converged);
    assert!(outcome.claimed.iter().all(|claim| *claim <= 1e-10), "{:?}", outcome.claimed);
    let residual = weights::residuals(&system, x.view()).get(names::RESIDUAL_Y).unwrap();
    // Verification measures this one, and more than twice the tolerance makes the case invalid.
    assert!((2e-10..1e-5).contains(&residual), "{residual:e}");
}
