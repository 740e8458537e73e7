//! Against the independent oracle, at its stated tolerances.

use std::cell::RefCell;

use gpbench_plugin_cg::Cg;
use gpbench_sdk::ndarray::{Array2, aview1};
use gpbench_sdk::precondition::{PivotedCholesky, Preconditioner};
use gpbench_sdk::{NoParams, Problem, Reason, Report, Result, Solver};
use gpbench_testing::DenseProblem;
use gpbench_testkit::json::{self, Value, matrix, number, vector};
use gpbench_testkit::{SmallSystem, relative_error};

/// What was computed elsewhere for the small system, in extended precision, with its tolerances.
fn oracle() -> Value {
    json::parse(include_str!("data/solvers_small.json"))
}

/// The small system under one of its settings, with the oracle's right-hand sides.
fn oracle_problem(oracle: &Value, setting: &str) -> DenseProblem {
    let system = SmallSystem::load();
    let given = system.setting(setting);
    DenseProblem::matern32(
        &system.x_train,
        given.signal_scale,
        given.noise_scale,
        &given.length_scale,
        &matrix(&oracle["b"]),
    )
}

const SETTINGS: [&str; 3] = ["matern32_ones", "matern32_paper", "matern32_smooth"];

fn preconditioned() -> Vec<(&'static str, gpbench_sdk::ParamValue)> {
    vec![("preconditioner", "pivoted_cholesky".into()), ("rank", 20.into())]
}

/// Residuals of the first iterations: later ones are not reproducible in any precision.
fn residuals_agree(setting: &str, solver: &str, params: &[(&str, gpbench_sdk::ParamValue)]) {
    let oracle = oracle();
    let expected = &oracle["settings"][setting][solver];
    let comparable = expected["comparable_iterations"].as_u64().unwrap() as i64;
    let params = [params, &[("max_iterations", comparable.into())]].concat();
    let outcome = oracle_problem(&oracle, setting).solve::<Cg>(&params).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, comparable));
    let (norms, deviation) = (matrix(&expected["residual_norms"]), vector(&expected["float64_max_rel_dev"]));
    assert_eq!(outcome.trace.len() as i64, comparable + 1);
    for (iteration, observed) in outcome.trace {
        let k = iteration as usize;
        let tolerance = (100.0 * deviation[k]).max(1e-9);
        for (observed, expected) in observed.iter().zip(norms.row(k)) {
            let error = (observed / expected - 1.0).abs();
            assert!(error <= tolerance, "{setting}, {solver}, iteration {k}: {error:e} above {tolerance:e}");
        }
    }
}

/// Iterations to the tolerance, and the solution once converged.
fn converges(setting: &str, solver: &str, params: &[(&str, gpbench_sdk::ParamValue)]) {
    let oracle = oracle();
    let expected = &oracle["settings"][setting];
    let problem = oracle_problem(&oracle, setting);
    let iterations = problem.clone().tolerance(0.01).solve::<Cg>(params).unwrap().iterations as f64;
    let seen = number(&expected[solver]["iterations_to_0p01"]["float64"]);
    assert!((iterations - seen).abs() <= 0.1 * seen + 2.0, "{setting}: {iterations} iterations, not {seen}");

    let outcome = problem.tolerance(1e-12).solve::<Cg>(params).unwrap();
    assert_eq!(outcome.reason, Reason::Converged);
    let error = relative_error(&outcome.x, &matrix(&expected["v_exact"]));
    println!("{setting}, {solver}: {iterations} iterations to 0.01 ({seen}), final error {error:.1e}");
    assert!(error < 1e-9, "{setting}: error {error:e}");
}

#[test]
fn plain_residuals() {
    SETTINGS.iter().for_each(|setting| residuals_agree(setting, "cg", &[]));
}

#[test]
fn preconditioned_residuals() {
    // Under `matern32_ones` the pivots tie to within rounding, and so every code has its own.
    for setting in ["matern32_paper", "matern32_smooth"] {
        residuals_agree(setting, "pcg", &preconditioned());
    }
}

#[test]
fn plain_convergence() {
    SETTINGS.iter().for_each(|setting| converges(setting, "cg", &[]));
}

#[test]
fn preconditioned_convergence() {
    SETTINGS.iter().for_each(|setting| converges(setting, "pcg", &preconditioned()));
}

#[test]
fn random_preconditioners_converge_to_the_same() {
    let oracle = oracle();
    for setting in SETTINGS {
        let expected = &oracle["settings"][setting];
        for preconditioner in ["rp_cholesky", "nystrom"] {
            let params = [("preconditioner", preconditioner.into()), ("rank", 100.into())];
            let problem = oracle_problem(&oracle, setting);
            let iterations = problem.clone().tolerance(0.01).solve::<Cg>(&params).unwrap().iterations;
            let outcome = problem.tolerance(1e-12).solve::<Cg>(&params).unwrap();
            assert_eq!(outcome.reason, Reason::Converged);
            let error = relative_error(&outcome.x, &matrix(&expected["v_exact"]));
            let plain = number(&expected["cg"]["iterations_to_0p01"]["float64"]);
            println!(
                "{setting}, {preconditioner}: {iterations} iterations ({plain} plain), error {error:.1e}"
            );
            assert!(error < 1e-9 && iterations as f64 <= plain, "{setting}: {iterations}, {error:e}");
        }
    }
}

thread_local! {
    static DISSECTED: RefCell<Option<PivotedCholesky>> = const { RefCell::new(None) };
}

/// Builds the preconditioner, lays it open, and applies it to the right-hand sides.
struct Dissector;

impl Solver for Dissector {
    type Params = NoParams;
    const ID: &'static str = "dissector";
    const DOC: &'static str = "Lays the preconditioner open";
    type Prepared = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Dissector)
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let noise_scale = problem.operator().inputs()?.noise_scale;
        let low_rank = PivotedCholesky::new(problem.operator(), noise_scale.powi(2), 20)?;
        let (factor, workers) = (low_rank.factor.clone(), problem.workers());
        let preconditioner = Preconditioner::low_rank_plus_noise(factor, noise_scale, workers)?;
        let product = preconditioner.apply(&problem.rhs(), workers);
        problem.x_mut().assign(&product);
        DISSECTED.set(Some(low_rank));
        Ok(Report::new(Reason::Converged, 0))
    }
}

fn dissect(oracle: &Value, setting: &str) -> (PivotedCholesky, Array2<f64>) {
    let outcome = oracle_problem(oracle, setting).solve::<Dissector>(&[]).unwrap();
    assert_eq!(outcome.entries, 20.0 * 300.0);
    (DISSECTED.take().unwrap(), outcome.x)
}

#[test]
fn pivoted_cholesky() {
    let oracle = oracle();
    for setting in ["matern32_paper", "matern32_smooth"] {
        let expected = &oracle["settings"][setting]["pcg"];
        let (low_rank, product) = dissect(&oracle, setting);
        let pivots: Vec<f64> = low_rank.pivots.iter().map(|&pivot| pivot as f64).collect();
        assert_eq!(pivots, vector(&expected["pivots"]).to_vec());
        let diagonal: Vec<f64> =
            low_rank.pivots.iter().enumerate().map(|(m, &pivot)| low_rank.factor[[pivot, m]]).collect();
        let trace = relative_error(&aview1(&low_rank.remaining_trace), &vector(&expected["remaining_trace"]));
        let diagonal = relative_error(&aview1(&diagonal), &vector(&expected["L_diag"]));
        let last = relative_error(&low_rank.factor.column(19), &vector(&expected["L_last_row"]));
        let product = relative_error(&product, &matrix(&expected["P_times_b"]));
        println!("{setting}: trace {trace:.1e}, diagonal {diagonal:.1e}, last {last:.1e}, P b {product:.1e}");
        assert!(trace < 1e-11 && diagonal < 1e-11 && last < 1e-11 && product < 1e-11);
    }
}

#[test]
fn pivots_that_tie_within_rounding() {
    let oracle = oracle();
    let expected = &oracle["settings"]["matern32_ones"]["pcg"];
    let (low_rank, _) = dissect(&oracle, "matern32_ones");
    assert_eq!(low_rank.pivots[0], 0);
    // Any choice among equals leaves the same trace.
    let error = relative_error(&aview1(&low_rank.remaining_trace), &vector(&expected["remaining_trace"]));
    assert!(error < 1e-9, "{error:e}");
}
