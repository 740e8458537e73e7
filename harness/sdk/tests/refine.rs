//! Refinement: corrections with an inexact operator reach the tolerance of the true residual.

use gpbench_sdk::ndarray::{Array2, ShapeBuilder};
use gpbench_sdk::testing::{DenseProblem, matern32};
use gpbench_sdk::{Error, NoParams, Precision, Problem, Reason, Report, Result, Solver, abi};

/// Richardson's iteration, refined.
struct Richardson;

/// The largest eigenvalue of the test matrix is below this.
const BOUND: f64 = 20.0;

impl Richardson {
    fn iterate(problem: &mut Problem<'_>) -> Result<Report> {
        for count in 0.. {
            let (r, scales) = problem.relative_residual()?;
            let norms: Vec<f64> = r.columns().into_iter().map(|r| r.dot(&r).sqrt()).collect();
            problem.observe(count, &norms)?;
            if problem.converged(&norms) {
                return Ok(Report::new(Reason::Converged, count).residuals(norms));
            }
            for ((mut x, r), scale) in problem.x_mut().columns_mut().into_iter().zip(r.columns()).zip(scales)
            {
                x.scaled_add(scale / BOUND, &r);
            }
        }
        Err(Error::Stopped)
    }
}

impl Solver for Richardson {
    type Params = NoParams;
    const ID: &'static str = "richardson";
    const DOC: &'static str = "Refined";

    fn new(_: NoParams) -> Result<Self> {
        Ok(Richardson)
    }

    fn solve(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
        Precision::Mixed.solve(problem, Richardson::iterate)
    }
}

fn problem(tolerance: f64) -> (Array2<f64>, Array2<f64>, DenseProblem) {
    let x = Array2::from_shape_fn((15, 1).f(), |(i, _)| i as f64 * 0.7);
    let a = matern32(&x, 1.0, 1.0, &[1.0]);
    let b = Array2::from_shape_fn((15, 3).f(), |(i, j)| ((i * 7 + j * 3) % 11) as f64 - 4.0);
    (a.clone(), b.clone(), DenseProblem::new(a, b).tolerance(tolerance).targets(1))
}

#[test]
fn the_residual_in_double_precision_meets_the_tolerance() {
    for tolerance in [0.5, 1e-2, 1e-5, 1e-10] {
        let (a, b, problem) = problem(tolerance);
        let outcome = problem.solve::<Richardson>(&[]).unwrap();
        assert_eq!(outcome.reason, abi::reason::CONVERGED);
        let r = &b - &a.dot(&outcome.x);
        for (j, (r, b)) in r.columns().into_iter().zip(b.columns()).enumerate() {
            let norm = (r.dot(&r) / b.dot(&b)).sqrt();
            assert!((norm - outcome.claimed[j]).abs() <= 1e-12, "column {j} claims {}", outcome.claimed[j]);
        }
    }
}

#[test]
fn observations_of_a_correction_refer_to_the_whole_system() {
    let (_, _, problem) = problem(1e-8);
    let outcome = problem.iterates().solve::<Richardson>(&[]).unwrap();
    let worst = |norms: &[f64]| norms.iter().fold(0.0_f64, |worst, norm| worst.max(*norm));
    let observed: Vec<f64> = outcome.trace.iter().map(|(_, norms)| worst(norms)).collect();
    assert!(observed.windows(2).all(|pair| pair[1] <= pair[0] * 1.001), "{observed:?}");
    assert!(observed[0] == 1.0 && *observed.last().unwrap() < 2e-8);
    assert!(outcome.trace.windows(2).all(|pair| pair[1].0 >= pair[0].0));
}

#[test]
fn a_stopped_correction_leaves_what_there_is() {
    let (a, b, problem) = problem(1e-12);
    let outcome = problem.max_epochs(12.0).solve::<Richardson>(&[]).unwrap();
    assert_eq!(outcome.reason, abi::reason::STOPPED);
    let r = &b - &a.dot(&outcome.x);
    assert!(r.iter().map(|r| r * r).sum::<f64>() < 0.5 * b.iter().map(|b| b * b).sum::<f64>());
}
