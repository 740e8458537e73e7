//! Objectives and gradients against the independent oracle, at its stated tolerance, for the batch and the
//! features that it was given.

use gpbench_plugin_sgd_rff::{ObjectiveGradient, ObjectiveScale, SampleObjective, SgdRffParams};
use gpbench_sdk::ndarray::{Array1, Array2, Axis, ShapeBuilder, concatenate, stack};
use gpbench_sdk::{Family, Problem, Reason, Report, Result, Solver, lapack, params};
use gpbench_testing::{DenseProblem, Outcome};
use gpbench_testkit::json::{self, Value, matrix, number, vector};
use gpbench_testkit::{Setting, SmallSystem, assert_number, relative_error};

const TOLERANCE: f64 = 1e-11;

const SETTINGS: [&str; 4] = ["matern32_ones", "matern32_paper", "matern32_smooth", "rbf_paper"];

/// What was computed elsewhere for the small system, in extended precision.
fn oracle() -> Value {
    json::parse(include_str!("data/sgd2023_small.json"))
}

fn indices(value: &Value) -> Vec<usize> {
    vector(value).iter().map(|&index| index as usize).collect()
}

params! {
    /// What is asked of the gradient.
    struct GivenParams {
        /// All rows instead of the oracle's batch.
        all_rows: bool = false;
        /// Random features.
        features: usize = 100;
        /// As the solver's.
        scale: ObjectiveScale = ObjectiveScale::Printed;
        /// As the solver's.
        objective: SampleObjective = SampleObjective::Loss2;
    }
}

/// Puts the gradients at `x` into `x`, and reports the objectives as if they were residuals.
struct Given(GivenParams);

impl Solver for Given {
    type Params = GivenParams;
    const ID: &'static str = "given";
    const DOC: &'static str = "Evaluates gradients";
    type Prepared = ();

    fn new(params: GivenParams) -> Result<Self> {
        Ok(Given(params))
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let batch = match self.0.all_rows {
            true => (0..problem.operator().n()).collect(),
            false => indices(&oracle()["batch"]),
        };
        let GivenParams { features, scale, objective, .. } = self.0;
        let params = SgdRffParams { features, scale, objective, ..SgdRffParams::default() };
        let mut gradient = ObjectiveGradient::new(problem, batch.len(), &params)?;
        let estimate = gradient.estimate(&problem.x().to_owned(), &batch, 0)?.clone();
        problem.x_mut().assign(&estimate);
        Ok(Report::new(Reason::Iterations, 1).residuals(gradient.objectives()))
    }
}

/// One of the oracle's settings, with what follows from its hyperparameters.
struct System {
    setting: Setting,
    x: Array2<f64>,
    y: Array1<f64>,
    /// K(X, X), without noise.
    k: Array2<f64>,
    /// The oracle's 100 random features, sines before cosines.
    phi: Array2<f64>,
}

impl System {
    fn load(name: &str) -> System {
        let SmallSystem { x_train: x, y_train: y, settings, .. } = SmallSystem::load();
        let setting = settings.into_iter().find(|setting| setting.name == name).unwrap();
        let scaled = &x / &Array1::from(setting.length_scale.clone());
        let kernel = |squares: f64| match setting.kernel.as_str() {
            "rbf" => (-squares / 2.0).exp(),
            _ => (1.0 + (3.0 * squares).sqrt()) * (-(3.0 * squares).sqrt()).exp(),
        };
        let k = Array2::from_shape_fn((300, 300), |(i, j)| {
            let difference = &scaled.row(i) - &scaled.row(j);
            setting.signal_scale.powi(2) * kernel(difference.dot(&difference))
        });
        let angles = scaled.dot(&matrix(&oracle()[format!("omega_{}", setting.kernel)]));
        let phi = concatenate![Axis(1), angles.mapv(f64::sin), angles.mapv(f64::cos)]
            * (setting.signal_scale / 50_f64.sqrt());
        System { setting, x, y, k, phi }
    }

    /// A prior draw and its noise.
    fn sample(&self) -> (Array1<f64>, Array1<f64>) {
        let (weights, noise) = (vector(&oracle()["prior_weights"]), vector(&oracle()["prior_noise"]));
        (self.phi.dot(&weights), noise * self.setting.noise_scale)
    }

    /// K + noise_scale^2 I.
    fn a(&self) -> Array2<f64> {
        let noise: Array2<f64> = Array2::eye(300) * self.setting.noise_scale.powi(2);
        &self.k + &noise
    }

    /// A right-hand side, y or f + noise, and the point where the gradient is taken.
    fn problem(&self, b: &Array1<f64>, v: &Array1<f64>) -> DenseProblem {
        self.tell(DenseProblem::new(self.a(), column(b))).fixed_features(self.phi.clone()).start(column(v))
    }

    /// The kernel, without an answer that depends on its family.
    fn tell(&self, problem: DenseProblem) -> DenseProblem {
        let Setting { signal_scale, noise_scale, length_scale, .. } = self.setting.clone();
        problem.kernel(Family::Matern32, self.x.clone(), signal_scale, noise_scale, length_scale)
    }
}

fn column(vector: &Array1<f64>) -> Array2<f64> {
    vector.clone().insert_axis(Axis(1))
}

/// Compares with an objective and a gradient of the oracle.
fn agrees(what: &str, outcome: &Outcome, objective: &Value, gradient: &Value) {
    assert_number(outcome.claimed[0], number(objective), TOLERANCE);
    let error = relative_error(&outcome.x.column(0), &vector(gradient));
    println!("{what}: {error:.1e}");
    assert!(error <= TOLERANCE, "{what}: off by {error:e}");
}

#[test]
fn targets() {
    let oracle = oracle();
    let v = vector(&oracle["v"]);
    for name in SETTINGS {
        let (system, expected) = (System::load(name), &oracle["settings"][name]["mean"]);
        let problem = system.problem(&system.y, &v);
        let batch = problem.solve::<Given>(&[]).unwrap();
        agrees(name, &batch, &expected["minibatch"]["loss"], &expected["minibatch"]["gradient"]);
        assert_eq!(batch.entries, 50.0 * 300.0);
        let all = problem.solve::<Given>(&[("all_rows", true.into())]).unwrap();
        let expected = &expected["full_batch_features"];
        agrees(name, &all, &expected["loss"], &expected["gradient"]);
    }
}

#[test]
fn scales_multiply_gradients_and_leave_objectives() {
    let oracle = oracle();
    let name = "matern32_paper";
    let system = System::load(name);
    let expected = &oracle["settings"][name]["mean"]["minibatch"];
    let noise_variance = system.setting.noise_scale.powi(2);
    for (scale, factor) in [("noise", noise_variance), ("mean", noise_variance / 600.0)] {
        let problem = system.problem(&system.y, &vector(&oracle["v"]));
        let outcome = problem.solve::<Given>(&[("scale", scale.into())]).unwrap();
        assert_number(outcome.claimed[0], number(&expected["loss"]), TOLERANCE);
        let gradient = vector(&expected["gradient"]) * factor;
        assert!(relative_error(&outcome.x.column(0), &gradient) <= TOLERANCE);
    }
}

#[test]
fn samples() {
    let oracle = oracle();
    let v = vector(&oracle["v"]);
    for name in SETTINGS {
        let (system, expected) = (System::load(name), &oracle["settings"][name]["sample"]);
        let (f, noise) = system.sample();
        // y as a target before the sample, which therefore is column 1 and probe 0.
        let b = stack![Axis(1), system.y, &f + &noise];
        let problem = system
            .tell(DenseProblem::new(system.a(), b))
            .fixed_features(system.phi.clone())
            .start(stack![Axis(1), v, v])
            .pathwise(&column(&f), &column(&noise));
        for (objective, part) in [("loss1", "plain"), ("loss2", "shifted")] {
            let mut outcome = problem.solve::<Given>(&[("objective", objective.into())]).unwrap();
            outcome.x = column(&outcome.x.column(1).to_owned());
            outcome.claimed.remove(0);
            let (objective, gradient) =
                (&expected[part]["minibatch_loss"], &expected[part]["minibatch_gradient"]);
            agrees(&format!("{name}, {part}"), &outcome, objective, gradient);
        }
    }
}

#[test]
fn inducing_points() {
    let oracle = oracle();
    let v = vector(&oracle["v_inducing"]);
    let z = indices(&oracle["inducing_rows"]);
    for name in SETTINGS {
        let (system, expected) = (System::load(name), &oracle["settings"][name]["inducing"]);
        let at_z = |matrix: &Array2<f64>| matrix.select(Axis(0), &z);
        let problem = system
            .tell(DenseProblem::new(at_z(&system.k).reversed_axes(), column(&system.y)))
            .basis(&at_z(&system.x))
            // Z are inputs, but K(X, Z) has no noise there.
            .start(column(&v));
        let with_features = problem.clone().fixed_features(at_z(&system.phi));
        let outcome = with_features.solve::<Given>(&[]).unwrap();
        agrees(name, &outcome, &expected["minibatch_loss"], &expected["minibatch_gradient"]);
        assert_eq!(outcome.entries, 50.0 * 30.0);

        // With an exact regulariser the gradient of all rows vanishes at the optimum.
        let k_zz = at_z(&at_z(&system.k).reversed_axes());
        let mut factor = Array2::zeros(k_zz.dim().f());
        factor.assign(&k_zz);
        lapack::cholesky(&mut factor).unwrap();
        let root = Array2::from_shape_fn((30, 30), |(i, j)| if i >= j { factor[[i, j]] } else { 0.0 });
        let exact = problem.fixed_features(root);
        let params = [("all_rows", true.into()), ("features", 30.into())];
        let norm = |start: Array1<f64>| {
            let gradient = exact.clone().start(column(&start)).solve::<Given>(&params).unwrap().x;
            gradient.iter().map(|g| g * g).sum::<f64>().sqrt()
        };
        let relative = norm(vector(&expected["optimum"])) / norm(Array1::zeros(30));
        println!("{name}, at the optimum: {relative:.1e}");
        assert!(relative < 1e-11, "{name}: {relative:e}");
    }
}

#[test]
fn without_its_parts_a_sample_is_a_target() {
    let oracle = oracle();
    let name = "matern32_ones";
    let (system, expected) = (System::load(name), &oracle["settings"][name]["sample"]["plain"]);
    let (f, noise) = system.sample();
    let problem = system.problem(&(f + noise), &vector(&oracle["v"])).targets(0);
    let outcome = problem.solve::<Given>(&[]).unwrap();
    agrees(name, &outcome, &expected["minibatch_loss"], &expected["minibatch_gradient"]);
}
