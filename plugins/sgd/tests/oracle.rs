//! Against the independent oracle, at its stated tolerance, with the batches that it was given.

use gpbench_plugin_sgd::MomentumDescent;
use gpbench_sdk::ndarray::{Array2, Axis};
use gpbench_sdk::{Problem, Reason, Report, Result, Solver, params};
use gpbench_testing::{DenseProblem, matern32, relative_residuals};
use gpbench_testkit::json::{self, Value, matrix, number};
use gpbench_testkit::{SmallSystem, relative_error};

const TOLERANCE: f64 = 1e-12;

/// What was computed elsewhere for the small system, in extended precision.
fn oracle() -> Value {
    json::parse(include_str!("data/solvers_small.json"))
}

fn batches(oracle: &Value) -> Vec<Vec<usize>> {
    let rows = matrix(&oracle["sgd_batches"]);
    rows.axis_iter(Axis(0)).map(|batch| batch.iter().map(|&row| row as usize).collect()).collect()
}

params! {
    /// Parameters of the descent on given batches.
    struct GivenParams {
        /// As the solver's.
        learning_rate: f64 = 1.0;
        /// As the solver's.
        momentum: f64 = 0.0;
    }
}

/// The solver's steps on the oracle's batches, observed one by one.
struct Given(GivenParams);

impl Solver for Given {
    type Params = GivenParams;
    const ID: &'static str = "given";
    const DOC: &'static str = "Descends on given batches";
    type Prepared = ();

    fn new(params: GivenParams) -> Result<Self> {
        Ok(Given(params))
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let batches = batches(&oracle());
        let mut descent =
            MomentumDescent::start(problem, batches[0].len(), self.0.learning_rate, self.0.momentum)?;
        problem.observe(0, &descent.residual_norms())?;
        for (step, batch) in batches.iter().enumerate() {
            descent.step(problem, batch)?;
            problem.observe(step + 1, &descent.residual_norms())?;
        }
        Ok(Report::new(Reason::Iterations, batches.len()).residuals(descent.residual_norms()))
    }
}

fn descends_as_expected(setting: &str, rate: &str) {
    let (oracle, system) = (oracle(), SmallSystem::load());
    let (given, b) = (system.setting(setting), matrix(&oracle["b"]));
    let expected = &oracle["settings"][setting]["sgd"][rate];
    let problem = DenseProblem::matern32(
        &system.x_train,
        given.signal_scale,
        given.noise_scale,
        &given.length_scale,
        &b,
    );
    let params = [
        ("learning_rate", number(&expected["learning_rate"]).into()),
        ("momentum", number(&expected["momentum"]).into()),
    ];
    let outcome = problem.iterates().solve::<Given>(&params).unwrap();

    // The oracle's norms are relative to |b| + 1e-10, as the published code has it.
    let norms: Vec<f64> = b.axis_iter(Axis(1)).map(|column| column.dot(&column).sqrt()).collect();
    let rescale = |observed: &[f64], row: &mut [f64]| {
        for ((entry, observed), norm) in row.iter_mut().zip(observed).zip(&norms) {
            *entry = observed * norm / (norm + 1e-10);
        }
    };
    let a = matern32(&system.x_train, given.signal_scale, given.noise_scale, &given.length_scale);
    let (mut estimates, mut truths) = (Array2::zeros((61, 5)), Array2::zeros((61, 5)));
    for (k, ((step, observed), x)) in outcome.trace.iter().zip(&outcome.iterates).enumerate() {
        assert_eq!(*step, k as i64);
        rescale(observed, estimates.row_mut(k).as_slice_mut().unwrap());
        rescale(&relative_residuals(&a, x, &b), truths.row_mut(k).as_slice_mut().unwrap());
    }
    let solution = relative_error(&outcome.x, &matrix(&expected["v_final"]));
    let estimate = relative_error(&estimates, &matrix(&expected["residual_estimate_norms"]));
    let truth = relative_error(&truths, &matrix(&expected["true_residual_norms"]));
    println!("{setting}, {rate}: solution {solution:.1e}, estimate {estimate:.1e}, truth {truth:.1e}");
    assert!(solution <= TOLERANCE && estimate <= TOLERANCE && truth <= TOLERANCE);
}

#[test]
fn long_steps() {
    for setting in ["matern32_ones", "matern32_paper", "matern32_smooth"] {
        descends_as_expected(setting, "lr_1.0");
    }
}

#[test]
fn short_steps() {
    for setting in ["matern32_ones", "matern32_paper", "matern32_smooth"] {
        descends_as_expected(setting, "lr_0.3");
    }
}
