//! Refinement: corrections with an inexact operator reach the tolerance of the true residual.

use gpbench_sdk::ndarray::{Array2, ShapeBuilder};
use gpbench_sdk::{Error, NoParams, Precision, Problem, Reason, Report, Result, Solver, Watch};
use gpbench_testing::{DenseProblem, matern32};

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
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Richardson)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        Precision::Mixed.solve(problem, Richardson::iterate)
    }
}

/// The same with a limit of 30 iterations.
struct Limited;

impl Solver for Limited {
    type Params = NoParams;
    const ID: &'static str = "limited";
    const DOC: &'static str = "Refined, with a limit";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Limited)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        Precision::Mixed.solve(problem, |problem| {
            let mut watch = Watch::new(1000, 30);
            for count in 0.. {
                let (r, scales) = problem.relative_residual()?;
                let norms: Vec<f64> = r.columns().into_iter().map(|r| r.dot(&r).sqrt()).collect();
                problem.observe(count, &norms)?;
                if let Some(reason) = watch.judge(problem, count, &norms) {
                    return Ok(Report::new(reason, count).residuals(norms));
                }
                for ((mut x, r), scale) in
                    problem.x_mut().columns_mut().into_iter().zip(r.columns()).zip(scales)
                {
                    x.scaled_add(scale / BOUND, &r);
                }
            }
            Err(Error::Stopped)
        })
    }
}

/// Reports by itself that it was stopped, with a number of its own; with residuals if `CLAIMS`.
struct Reporting<const CLAIMS: bool>;

impl<const CLAIMS: bool> Solver for Reporting<CLAIMS> {
    type Params = NoParams;
    const ID: &'static str = "reporting";
    const DOC: &'static str = "Refined, with reports of its own";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Reporting)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        Precision::Mixed.solve(problem, |problem| {
            let report = match Richardson::iterate(problem) {
                Err(Error::Stopped) => Report::new(Reason::Stopped, 7),
                other => other?,
            };
            let residuals = if CLAIMS { vec![0.5; 3] } else { Vec::new() };
            Ok(Report { residuals, ..report }.number("steps", 7.0))
        })
    }
}

/// Where the budget has no product left for the residual in double precision.
#[test]
fn the_report_of_a_stopped_correction_is_kept() {
    let (_, _, problem) = problem(1e-12);
    let problem = problem.max_epochs(12.0);
    let claims = problem.solve::<Reporting<true>>(&[]).unwrap();
    let silent = problem.solve::<Reporting<false>>(&[]).unwrap();
    for outcome in [&claims, &silent] {
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Stopped, 7));
        assert_eq!(outcome.number("steps"), 7.0);
    }
    // All of the right-hand sides was to be corrected.
    assert_eq!(claims.claimed.len(), 3);
    assert!(claims.claimed.iter().all(|norm| (norm - 0.5).abs() < 1e-12), "{:?}", claims.claimed);
    assert!(silent.claimed.is_empty());
}

#[test]
fn the_limit_of_iterations_counts_all_corrections() {
    let (_, _, problem) = problem(1e-12);
    let unlimited = problem.solve::<Richardson>(&[]).unwrap();
    assert!(unlimited.iterations > 60, "several corrections: {}", unlimited.iterations);
    let outcome = problem.solve::<Limited>(&[]).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, 30));
}

/// Only the residual that certifies the solution is in double precision; the start's is a product all the same.
#[test]
fn a_warm_start_costs_a_product_and_its_certificate_another() {
    let (_, _, problem) = problem(1e-6);
    let solution = problem.solve::<Richardson>(&[]).unwrap().x;
    let again = problem.clone().start(solution).solve::<Richardson>(&[]).unwrap();
    assert_eq!((again.reason, again.iterations), (Reason::Converged, 0));
    assert_eq!(again.entries, 2.0 * 15.0 * 15.0);
}

/// One right-hand side starts near its solution: a correction leaves it at the tolerance, and not at the share of it that
/// the others need.
#[test]
fn no_column_is_solved_further_than_the_tolerance_asks() {
    let (a, b, problem) = problem(1e-4);
    let mut start = Array2::zeros((15, 3).f());
    let exact = problem.clone().tolerance(1e-13).solve::<Richardson>(&[]).unwrap().x;
    start.column_mut(0).assign(&(0.99999 * &exact.column(0)));
    let outcome = problem.start(start).solve::<Richardson>(&[]).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    let r = &b - &a.dot(&outcome.x);
    let norm = |j: usize| (r.column(j).dot(&r.column(j)) / b.column(j).dot(&b.column(j))).sqrt();
    assert!((norm(1) + norm(2)) / 2.0 > 0.8e-4, "stops at the tolerance: {} {}", norm(1), norm(2));
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
        assert_eq!(outcome.reason, Reason::Converged);
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
    assert_eq!(outcome.reason, Reason::Stopped);
    let r = &b - &a.dot(&outcome.x);
    assert!(r.iter().map(|r| r * r).sum::<f64>() < 0.5 * b.iter().map(|b| b * b).sum::<f64>());
}
