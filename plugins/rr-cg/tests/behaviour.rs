//! Truncation, budgets, warm starts, degenerate systems: what has to hold whatever the numbers.

use gpbench_plugin_rr_cg::{Roulette, RrCg, RrCgParams};
use gpbench_sdk::ndarray::{Array2, array};
use gpbench_sdk::precondition::PivotedCholesky;
use gpbench_sdk::{NoParams, ParamValue, Problem, Purpose, Reason, Report, Result, Solver};
use gpbench_testing::{
    DenseProblem, matern32, relative_residuals, scattered, scattered_inputs, scattered_right_hand_sides,
};
use gpbench_testkit::{ClosedForm, assert_close, relative_error};
use rand::RngExt;

const N: usize = 120;

fn a() -> Array2<f64> {
    matern32(&scattered_inputs(N), 1.0, 0.5, &[0.3, 0.3])
}

fn well_posed() -> DenseProblem {
    DenseProblem::scattered(0.5, 0.3, 3)
}

/// P(J) ~ exp(-0.2 J), J = 5, ..., n.
fn short() -> Vec<(&'static str, ParamValue)> {
    vec![("lambda", 0.2.into()), ("min_iterations", 5.into())]
}

#[test]
fn the_seed_draws_the_truncation_which_is_all_that_is_spent() {
    let roulette = Roulette::new(0.2, 5, N);
    let mut seen = Vec::new();
    for seed in 0..20 {
        let outcome = well_posed().seed(seed).solve::<RrCg>(&short()).unwrap();
        let truncation = roulette.draw(seed, 0);
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, truncation as i64));
        assert_eq!(outcome.number("truncation"), truncation as f64);
        assert_eq!(outcome.number("expected_truncation"), roulette.expected());
        assert_eq!(outcome.entries, (truncation * N * N) as f64);
        assert_eq!((outcome.trace.len(), outcome.claimed.len()), (truncation + 1, 0));
        seen.push(truncation);
    }
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 3, "{seen:?}");
}

/// Reports the first pivot of the random preconditioner.
struct FirstPivot;

impl Solver for FirstPivot {
    type Params = NoParams;
    const ID: &'static str = "first-pivot";
    const DOC: &'static str = "Draws a pivot";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(FirstPivot)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let factor = PivotedCholesky::random(problem.operator(), 0.25, 1, problem.seed(), problem.workers())?;
        Ok(Report::new(Reason::Converged, 0).number("pivot", factor.pivots[0] as f64))
    }
}

/// Pearson's correlation.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let centred = |v: &[f64]| {
        let mean = v.iter().sum::<f64>() / v.len() as f64;
        v.iter().map(|v| v - mean).collect::<Vec<_>>()
    };
    let (a, b) = (centred(a), centred(b));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

#[test]
fn the_truncation_does_not_follow_from_the_preconditioners_pivots() {
    let roulette = Roulette::new(0.2, 5, N);
    let (mut pivots, mut drawn, mut shared) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..400 {
        pivots.push(well_posed().seed(seed).solve::<FirstPivot>(&[]).unwrap().number("pivot"));
        drawn.push(roulette.draw(seed, 0) as f64);
        // What the pivots' own stream would give: the largest j with P(J >= j) >= u.
        let u = 1.0 - Purpose::Pivots.generator(seed, 0).random::<f64>();
        shared.push((5..=N).rfind(|&j| roulette.survival(j) >= u).unwrap() as f64);
    }
    assert!(correlation(&pivots, &shared) > 0.8, "{}", correlation(&pivots, &shared));
    // Four standard deviations of the correlation of independent numbers.
    assert!(correlation(&pivots, &drawn).abs() < 0.2, "{}", correlation(&pivots, &drawn));
}

#[test]
fn nothing_is_claimed() {
    let outcome = well_posed().tolerance(0.9).solve::<RrCg>(&short()).unwrap();
    assert_eq!(outcome.reason, Reason::Iterations);
    assert!(outcome.claimed.is_empty() && outcome.trace.iter().all(|(_, norms)| norms.is_empty()));
}

#[test]
fn estimates_scatter_about_the_solution() {
    let exact = well_posed().solve::<RrCg>(&[("min_iterations", (N as i64).into())]).unwrap().x;
    assert!(
        relative_residuals(&a(), &exact, &scattered_right_hand_sides(N, 3)).iter().all(|norm| *norm < 1e-10)
    );
    let quadratic = |x: &Array2<f64>| scattered_right_hand_sides(N, 3).column(0).dot(&x.column(0));
    let deviations: Vec<f64> = (0..400)
        .map(|seed| {
            let x = well_posed().seed(seed).solve::<RrCg>(&short()).unwrap().x;
            quadratic(&x) - quadratic(&exact)
        })
        .collect();
    let mean = deviations.iter().sum::<f64>() / 400.0;
    let error = (deviations.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 400.0 / 400.0).sqrt();
    assert!(mean.abs() < 4.0 * error, "{mean} with a standard error of {error}");
    // Cutting at the mean number of iterations is off by much more than that, always downwards.
    let expected = Roulette::new(0.2, 5, N).expected().round() as i64;
    let cut = well_posed().solve::<RrCg>(&[("lambda", 100.0.into()), ("min_iterations", 5.into())]).unwrap();
    let bias = quadratic(&cut.x) - quadratic(&exact);
    assert!(expected > 5 && bias < -10.0 * error, "{bias} with a standard error of {error}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for reorthogonalise in [false, true] {
        let params = [short(), vec![("reorthogonalise", reorthogonalise.into())]].concat();
        let x = |threads| well_posed().threads(threads).solve::<RrCg>(&params).unwrap().x;
        assert_eq!(x(1), x(2));
        assert_eq!(x(1), x(7));
    }
}

#[test]
fn independent_rows_are_solved_at_once() {
    // Two distinct eigenvalues: two terms, the others are zero.
    let known = ClosedForm::diagonal(&(0..40).map(|i| 1.0 + (i % 2) as f64).collect::<Vec<_>>());
    let b = Array2::from_shape_fn((40, 2), |(i, j)| scattered(i, j));
    let outcome = DenseProblem::new(known.matrix, b.clone()).solve::<RrCg>(&short()).unwrap();
    assert_eq!(outcome.reason, Reason::Iterations);
    assert_close(&outcome.x, &known.inverse.dot(&b), 1e-14);
}

#[test]
fn a_warm_start_is_where_the_sum_begins() {
    let all = [("min_iterations", (N as i64).into())];
    let exact = well_posed().solve::<RrCg>(&all).unwrap().x;
    let start = Array2::from_elem((N, 3), 3.0);
    let warm = well_posed().start(start.clone()).iterates().solve::<RrCg>(&all).unwrap();
    assert_eq!(warm.iterates[0], start);
    assert_close(&warm.x, &exact, 1e-10);
    assert_eq!(warm.entries, ((N + 1) * N * N) as f64);
    // The correction is that of the residual: the sum is linear in both.
    let residual = scattered_right_hand_sides(N, 3) - a().dot(&start);
    let correction = DenseProblem::new(a(), residual).solve::<RrCg>(&short()).unwrap().x;
    let warm = well_posed().start(start.clone()).solve::<RrCg>(&short()).unwrap().x;
    assert_close(&warm, &(start + correction), 1e-10);
}

#[test]
fn preconditioners_shorten_the_series_and_leave_its_sum() {
    let all = [("min_iterations", (N as i64).into())];
    let exact = well_posed().solve::<RrCg>(&all).unwrap().x;
    let cut = [("lambda", 100.0.into()), ("min_iterations", 12.into()), ("rank", 60.into())];
    let error = |preconditioner: &'static str| {
        let with = |params: &[(&'static str, ParamValue)]| {
            [params, &[("preconditioner", preconditioner.into())]].concat()
        };
        assert_close(&well_posed().solve::<RrCg>(&with(&all)).unwrap().x, &exact, 1e-10);
        let outcome = well_posed().solve::<RrCg>(&with(&cut)).unwrap();
        relative_error(&outcome.x, &exact)
    };
    let plain = error("none");
    for preconditioner in ["pivoted_cholesky", "rp_cholesky", "nystrom"] {
        let error = error(preconditioner);
        assert!(error < 0.5 * plain, "{preconditioner}: {error} against {plain}");
    }
    let outcome = well_posed()
        .solve::<RrCg>(&[("preconditioner", "pivoted_cholesky".into()), ("rank", 7.into())])
        .unwrap();
    assert_eq!((outcome.number("preconditioner_rank"), outcome.entries_prepare), (7.0, (7 * N) as f64));
}

#[test]
fn more_iterations_than_rows_are_not_made() {
    let entries = [1.0, 2.0, 3.0, 4.0];
    let b = Array2::from_shape_fn((4, 1), |(i, j)| scattered(i, j));
    let outcome = DenseProblem::new(ClosedForm::diagonal(&entries).matrix, b).solve::<RrCg>(&[]).unwrap();
    assert_eq!((outcome.number("truncation"), outcome.number("expected_truncation")), (4.0, 4.0));
}

#[test]
fn an_indefinite_matrix_has_no_next_step() {
    let a = array![[1.0, 2.0], [2.0, 1.0]];
    let outcome = DenseProblem::new(a, array![[1.0], [-1.0]]).solve::<RrCg>(&[]).unwrap();
    assert_eq!(outcome.reason, Reason::Stagnated);
    assert!(outcome.x.iter().all(|x| x.is_finite()));
}

#[test]
fn a_residual_without_a_step_is_not_taken_from_itself() {
    let problem = DenseProblem::new(array![[-1.0, 0.0], [0.0, 1.0]], array![[1.0], [0.0]]);
    let outcome = problem.solve::<RrCg>(&[("reorthogonalise", true.into())]).unwrap();
    assert_eq!(outcome.reason, Reason::Stagnated);
}

#[test]
fn a_product_that_is_not_a_number_never_reaches_the_solution() {
    let mut a = a();
    a[[3, 4]] = f64::NAN;
    for reorthogonalise in [false, true] {
        let params = [short(), vec![("reorthogonalise", reorthogonalise.into())]].concat();
        let outcome =
            DenseProblem::new(a.clone(), scattered_right_hand_sides(N, 2)).solve::<RrCg>(&params).unwrap();
        assert_eq!(outcome.reason, Reason::Stagnated);
        assert!(outcome.x.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn defaults_are_the_published_ones() {
    let RrCgParams { lambda, min_iterations, .. } = RrCgParams::default();
    assert_eq!((lambda, min_iterations), (0.05, 80));
    // "The expected number of iterations is set to 100."
    assert!((Roulette::new(lambda, min_iterations, 10_000).expected() - 100.0).abs() < 1.0);
}
