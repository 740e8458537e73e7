//! When an iteration ends, by the residuals that it shows.

use gpbench_sdk::ndarray::array;
use gpbench_sdk::{NoParams, Problem, Reason, Report, Result, Solver, Watch};
use gpbench_testing::DenseProblem;

/// Patience of the watch, and the iterations asked for.
const PATIENCE: usize = 3;
const ITERATIONS: usize = 8;

/// Judges series of residuals, of a system with one right-hand side and tolerance 0.01.
struct Judged;

impl Solver for Judged {
    type Params = NoParams;
    const ID: &'static str = "judged";
    const DOC: &'static str = "Judges series of residuals";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Judged)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let end = |max_iterations: usize, norms: &[f64]| {
            let mut watch = Watch::new(PATIENCE, max_iterations);
            (0..norms.len()).find_map(|i| Some((watch.judge(problem, i, &norms[i..=i])?, i)))
        };
        let falling: Vec<f64> = (0..20).map(|i| 0.9f64.powi(i)).collect();
        assert_eq!(end(0, &falling), None);
        assert_eq!(end(ITERATIONS, &falling), Some((Reason::Iterations, ITERATIONS)));
        assert_eq!(end(ITERATIONS, &[1.0, 0.1, 0.009]), Some((Reason::Converged, 2)));
        assert_eq!(end(0, &[1.0, f64::NAN]), Some((Reason::Diverged, 1)));
        assert_eq!(end(0, &[1.0, 1e9, 1e11]), Some((Reason::Diverged, 2)));
        // The best of them came in iteration 1: an equal one is no better.
        assert_eq!(end(0, &[1.0, 0.5, 0.7, 0.5, 0.6, 0.4]), Some((Reason::Stagnated, 4)));
        assert_eq!(end(0, &[1.0, 0.5, 0.7, 0.6, 0.4]), None);
        Ok(Report::new(Reason::Converged, 0))
    }
}

#[test]
fn an_iteration_ends_for_the_first_reason_that_holds() {
    DenseProblem::new(array![[1.0]], array![[1.0]]).tolerance(0.01).solve::<Judged>(&[]).unwrap();
}
