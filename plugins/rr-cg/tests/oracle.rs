//! Against the independent oracle, at its stated tolerances.

use gpbench_plugin_rr_cg::{Iteration, Roulette, RrCg};
use gpbench_sdk::ndarray::{Array1, Array2, Axis};
use gpbench_sdk::precondition::{AUTOMATIC, Preconditioning};
use gpbench_sdk::{Problem, Reason, Report, Result, Solver, params};
use gpbench_testing::{DenseProblem, Outcome};
use gpbench_testkit::json::{self, Value, number, vector};
use gpbench_testkit::{SmallSystem, assert_number, relative_error};

const SETTINGS: [&str; 3] = ["matern32_ones", "matern32_paper", "matern32_smooth"];

/// What was computed elsewhere for the small system, in extended precision.
fn oracle() -> Value {
    json::parse(include_str!("data/estimators_small.json"))
}

/// P(J) ~ exp(-0.05 J), J = 20, ..., 300.
fn roulette(oracle: &Value) -> Roulette {
    let given = &oracle["roulette"];
    let whole = |name: &str| number(&given[name]) as usize;
    Roulette::new(number(&given["rate"]), whole("j_min"), whole("j_max"))
}

#[test]
fn probabilities() {
    let oracle = oracle();
    let roulette = roulette(&oracle);
    let probabilities: Array1<f64> = (20..=300).map(|j| roulette.probability(j)).collect();
    let survivals: Array1<f64> = (1..=300).map(|j| roulette.survival(j)).collect();
    let (p, survival) =
        (vector(&oracle["roulette"]["p_J"]), vector(&oracle["roulette"]["survival_at_least_j"]));
    // Small ones too: each has an error relative to itself.
    for (got, expected) in probabilities.iter().chain(&survivals).zip(p.iter().chain(&survival)) {
        assert!((got / expected - 1.0).abs() <= 1e-13, "{got} against {expected}");
    }
    let expected: f64 = (20..=300).zip(&p).map(|(j, p)| f64::from(j) * p).sum();
    assert_number(roulette.expected(), expected, 1e-13);
}

params! {
    /// Parameters of a sum with a given truncation.
    struct GivenParams {
        /// Number of terms.
        truncation: usize = 1;
        /// As the solver's.
        reorthogonalise: bool = true;
        /// Rank of a pivoted Cholesky preconditioner; 0 for none.
        rank: usize = 0;
    }
}

/// The solver's sum, truncated where it is told, observed term by term.
struct Given(GivenParams);

impl Solver for Given {
    type Params = GivenParams;
    const ID: &'static str = "given";
    const DOC: &'static str = "Sums a given number of terms";
    type Prepared = ();

    fn new(params: GivenParams) -> Result<Self> {
        Ok(Given(params))
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let roulette = roulette(&oracle());
        let preconditioner = match self.0.rank {
            0 => None,
            rank => Preconditioning::PivotedCholesky.build(problem, rank, AUTOMATIC)?,
        };
        let mut iteration = Iteration::start(problem, preconditioner.as_ref(), self.0.reorthogonalise)?;
        for count in 1..=self.0.truncation {
            iteration.step(problem, 1.0 / roulette.survival(count))?;
            problem.observe(count, &[])?;
        }
        Ok(Report::new(Reason::Iterations, self.0.truncation))
    }
}

/// The small system, with y alone.
fn problem(setting: &str) -> DenseProblem {
    let system = SmallSystem::load();
    let given = system.setting(setting);
    DenseProblem::matern32(
        &system.x_train,
        given.signal_scale,
        given.noise_scale,
        &given.length_scale,
        &system.y_train.clone().insert_axis(Axis(1)),
    )
}

fn sum(setting: &str, truncation: i64, reorthogonalise: bool) -> Outcome {
    let params = [("truncation", truncation.into()), ("reorthogonalise", reorthogonalise.into())];
    problem(setting).iterates().solve::<Given>(&params).unwrap()
}

#[test]
fn estimates_of_given_truncations() {
    let (oracle, y) = (oracle(), SmallSystem::load().y_train);
    for setting in SETTINGS {
        let expected = &oracle["settings"][setting]["roulette"];
        for truncation in [20, 40, 100] {
            let name = truncation.to_string();
            let x = sum(setting, truncation, true).x.remove_axis(Axis(1));
            let error = relative_error(&x, &vector(&expected["estimates"][&name]));
            println!("{setting}, {truncation}: {error:.1e}");
            assert!(error <= 1e-9);
            assert_number(y.dot(&x), number(&expected["y_dot_estimates"][&name]), 1e-9);
        }
    }
    // Without the earlier residuals, where rounding does no harm.
    let expected = &oracle["settings"]["matern32_ones"]["roulette"]["estimates"];
    for truncation in [20, 40, 100] {
        let x = sum("matern32_ones", truncation, false).x.remove_axis(Axis(1));
        let error = relative_error(&x, &vector(&expected[&truncation.to_string()]));
        println!("plain, {truncation}: {error:.1e}");
        assert!(error <= 1e-9);
    }
}

#[test]
fn preconditioned_estimates_of_given_truncations() {
    let oracle = json::parse(include_str!("data/preconditioned_small.json"));
    let rank = number(&oracle["rank"]) as i64;
    for truncation in [10, 20, 40, 100] {
        let params = [("truncation", truncation.into()), ("rank", rank.into())];
        let x = problem("matern32_smooth").solve::<Given>(&params).unwrap().x.remove_axis(Axis(1));
        let error = relative_error(&x, &vector(&oracle["estimates"][&truncation.to_string()]));
        println!("preconditioned, {truncation}: {error:.1e}");
        assert!(error <= 1e-9);
    }
}

#[test]
fn the_mean_over_all_truncations_is_the_solution() {
    let (oracle, y) = (oracle(), SmallSystem::load().y_train);
    let roulette = roulette(&oracle);
    for (setting, reorthogonalise) in
        SETTINGS.into_iter().flat_map(|setting| [(setting, true), (setting, false)])
    {
        let expected = &oracle["settings"][setting]["roulette"];
        let outcome = sum(setting, 300, reorthogonalise);
        let (mut mean, mut first, mut second) = (Array2::zeros((300, 1)), 0.0, 0.0);
        for ((count, _), x) in outcome.trace.iter().zip(&outcome.iterates) {
            let p = roulette.probability(*count as usize);
            let quadratic = y.dot(&x.column(0));
            mean.scaled_add(p, x);
            first += p * quadratic;
            second += p * quadratic * quadratic;
        }
        let mean = mean.remove_axis(Axis(1));
        let error = relative_error(&mean, &vector(&expected["expectation_over_J"]));
        println!("{setting}, {reorthogonalise}: {error:.1e}");
        assert!(error <= 1e-8);
        assert!(relative_error(&mean, &vector(&expected["exact_Hinv_y"])) <= 1e-8);
        assert_number(first, number(&expected["y_dot_estimate_mean"]), 1e-8);
        if reorthogonalise {
            assert_number(second, number(&expected["y_dot_estimate_second_moment"]), 1e-8);
        }
    }
}

#[test]
fn a_steep_distribution_is_truncated_cg() {
    let (oracle, y) = (oracle(), SmallSystem::load().y_train);
    for setting in SETTINGS {
        let expected = &oracle["settings"][setting]["quadratic"];
        for (j, u) in vector(&expected["J"]).iter().zip(&vector(&expected["u_J"])) {
            let params = [
                ("lambda", 100.0.into()),
                ("min_iterations", (*j as i64).into()),
                ("reorthogonalise", true.into()),
            ];
            let outcome = problem(setting).solve::<RrCg>(&params).unwrap();
            assert_eq!(outcome.iterations, *j as i64);
            assert_number(y.dot(&outcome.x.column(0)), *u, 1e-9);
        }
    }
}
