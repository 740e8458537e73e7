//! The solver's steps on the oracle's batches, and the oracle itself.

use gpbench_plugin_eigenpro::{EigenDescent, EigenPreconditioner, SubsetSpectrum};
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array2, Axis, ShapeBuilder};
use gpbench_sdk::{Family, Problem, Reason, Report, Result, Solver, Workers, params};
use gpbench_testing::DenseProblem;
use gpbench_testkit::json::{self, Value, matrix, number, vector};

/// Rows of the oracle's system.
pub(crate) const N: usize = 40;

/// What was computed elsewhere for a small system, in extended precision.
pub(crate) fn oracle() -> Value {
    json::parse(include_str!("data/eigenpro_small.json"))
}

/// The oracle's system: y and two probes.
pub(crate) fn problem(name: &str) -> DenseProblem {
    let inputs = &oracle()["inputs"];
    let (y, probes, x) = (vector(&inputs["y"]), matrix(&inputs["probes"]), matrix(&inputs["X"]));
    let b = Array2::from_shape_fn((N, 3).f(), |(i, j)| if j == 0 { y[i] } else { probes[[i, j - 1]] });
    let family = if name == "rbf" { Family::Rbf } else { Family::Matern32 };
    let (signal_scale, noise_scale) = (number(&inputs["signal_scale"]), number(&inputs["noise_scale"]));
    let length_scale = vector(&inputs["length_scale"]).to_vec();
    let kernel = Kernel { family: family.into(), signal_scale, length_scale: length_scale.clone() };
    let mut a = kernel.gram(&x, &x, Workers::new(1));
    a.diag_mut().mapv_inplace(|entry| entry + noise_scale.powi(2));
    DenseProblem::new(a, b).kernel(family, x, signal_scale, noise_scale, length_scale)
}

params! {
    /// Parameters of steps on given batches.
    pub(crate) struct GivenParams {
        /// Number of steps.
        pub(crate) steps: usize = 12;
    }
}

/// The solver's steps on the oracle's subset and batches.
pub(crate) struct Given(GivenParams);

impl Solver for Given {
    type Params = GivenParams;
    const ID: &'static str = "given";
    const DOC: &'static str = "Steps on given batches";
    type Prepared = ();

    fn new(params: GivenParams) -> Result<Self> {
        Ok(Given(params))
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let oracle = oracle();
        let known = &oracle["kernels"]["rbf"]["eigenpro"];
        let (rank, exponent) = (number(&known["q"]) as usize, number(&known["alpha"]));
        let spectrum = SubsetSpectrum::of(problem.operator(), rows(&oracle["inputs"]["eigenpro_subset"]))?;
        let preconditioner = EigenPreconditioner::new(&spectrum, rank, exponent);
        let batches = matrix(&oracle["inputs"]["eigenpro_batches"]);
        let size = batches.ncols();
        let rate = preconditioner.learning_rate(size);
        problem.note(0, "rate", rate / size as f64)?;
        for (index, value) in spectrum.values().iter().enumerate() {
            problem.note(index, "eigenvalue", *value)?;
        }
        let mut descent = EigenDescent::start(problem, &preconditioner, size, rate)?;
        for batch in batches.axis_iter(Axis(0)).take(self.0.steps) {
            let batch: Vec<usize> = batch.iter().map(|&row| row as usize).collect();
            assert!(descent.step(problem, &batch)?);
        }
        Ok(Report::new(Reason::Iterations, self.0.steps))
    }
}

/// Numbers of rows.
fn rows(value: &Value) -> Vec<usize> {
    vector(value).iter().map(|&row| row as usize).collect()
}
