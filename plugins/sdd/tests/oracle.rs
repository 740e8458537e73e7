//! Against trajectories that other code has computed in extended precision, from the formulae as printed.

use gpbench_plugin_sdd::{DescentStart, DualDescent, GradientPoint, StepRule};
use gpbench_sdk::ndarray::{Array2, Axis, aview1};
use gpbench_sdk::{Problem, Reason, Report, Result, Solver, params};
use gpbench_testing::{DenseProblem, Outcome, matern32, relative_residuals};
use gpbench_testkit::json::{self, Value, matrix, number};
use gpbench_testkit::{SmallSystem, relative_error};

const TOLERANCE: f64 = 1e-12;

fn oracle() -> Value {
    json::parse(include_str!("data/descent_small.json"))
}

fn batches(oracle: &Value) -> Vec<Vec<usize>> {
    let rows = matrix(&oracle["batches"]);
    rows.axis_iter(Axis(0)).map(|batch| batch.iter().map(|&row| row as usize).collect()).collect()
}

params! {
    /// Parameters of the descent on given batches.
    struct GivenParams {
        /// As the solver's.
        learning_rate: f64 = 1.0;
        /// As the solver's.
        gradient: GradientPoint = GradientPoint::Lookahead;
        /// As the solver's.
        averaging: f64 = 1.0;
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
        let (oracle, GivenParams { learning_rate, gradient, averaging }) = (oracle(), self.0.clone());
        let batches = batches(&oracle);
        let rule = StepRule { learning_rate, momentum: number(&oracle["momentum"]), averaging, gradient };
        let start = DescentStart::of(problem)?;
        let mut descent = DualDescent::new(problem, &start, batches[0].len(), rule);
        problem.observe(0, &descent.residual_norms())?;
        for (step, batch) in batches.iter().enumerate() {
            descent.step(problem, batch)?;
            problem.observe(step + 1, &descent.residual_norms())?;
        }
        Ok(Report::new(Reason::Iterations, batches.len()))
    }
}

fn descends_as_expected(setting: &str, gradient: &'static str) {
    let (oracle, system) = (oracle(), SmallSystem::load());
    let (given, b) = (system.setting(setting), matrix(&oracle["b"]));
    let rate = number(&oracle["settings"][setting]["learning_rate"]);
    let expected = &oracle["settings"][setting][gradient];
    let solve = |averaging: f64| -> Outcome {
        let problem = DenseProblem::matern32(
            &system.x_train,
            given.signal_scale,
            given.noise_scale,
            &given.length_scale,
            &b,
        );
        let params =
            [("learning_rate", rate.into()), ("gradient", gradient.into()), ("averaging", averaging.into())];
        problem.iterates().solve::<Given>(&params).unwrap()
    };

    let averaged = solve(number(&oracle["averaging"]));
    let a = matern32(&system.x_train, given.signal_scale, given.noise_scale, &given.length_scale);
    let (mut estimates, mut truths) = (Array2::zeros((41, 3)), Array2::zeros((41, 3)));
    for (k, ((_, observed), x)) in averaged.trace.iter().zip(&averaged.iterates).enumerate() {
        estimates.row_mut(k).assign(&aview1(observed));
        truths.row_mut(k).assign(&aview1(&relative_residuals(&a, x, &b)));
    }
    let error = |got: &Array2<f64>, name: &str| relative_error(got, &matrix(&expected[name]));
    let errors = [
        error(&averaged.x, "average_final"),
        // The average of the newest iterate alone.
        error(&solve(1.0).x, "iterate_final"),
        error(&truths, "average_residual_norms"),
        error(&estimates, "point_residual_estimate_norms"),
    ];
    println!("{setting}, {gradient}: {errors:?}");
    assert!(errors.iter().all(|error| *error <= TOLERANCE), "{errors:?}");
}

#[test]
fn gradients_ahead_of_the_iterate() {
    descends_as_expected("matern32_ones", "lookahead");
    descends_as_expected("matern32_smooth", "lookahead");
}

#[test]
fn gradients_at_the_iterate() {
    descends_as_expected("matern32_ones", "heavy_ball");
    descends_as_expected("matern32_smooth", "heavy_ball");
}
