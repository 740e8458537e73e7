//! The solver's steps on the oracle's blocks, and the oracle itself.

use gpbench_plugin_askotch::{BlockInverse, BlockSolver, Damping, Iterates, Nesterov};
use gpbench_sdk::ndarray::{Array2, ArrayView2, Axis, ShapeBuilder};
use gpbench_sdk::{Family, Problem, Reason, Report, Result, Solver, params};
use gpbench_testing::DenseProblem;
use gpbench_testkit::json::{self, Value, matrix, number, vector};

/// Rows of the oracle's system, and of its blocks.
pub(crate) const N: usize = 40;
pub(crate) const BLOCK: usize = 8;

/// What was computed elsewhere for a small system, in extended precision.
pub(crate) fn oracle() -> Value {
    json::parse(include_str!("data/sketch_project_small.json"))
}

/// K of the oracle's system, by its formula.
pub(crate) fn kernel_matrix(family: &str) -> Array2<f64> {
    let inputs = &oracle()["inputs"];
    let (x, length_scale) = (matrix(&inputs["X"]), vector(&inputs["length_scale"]));
    let variance = number(&inputs["signal_scale"]).powi(2);
    Array2::from_shape_fn((N, N).f(), |(i, j)| {
        let scaled = (&x.row(i) - &x.row(j)) / &length_scale;
        let square = scaled.dot(&scaled);
        let root = (3.0 * square).sqrt();
        let correlation = match family {
            "rbf" => (-square / 2.0).exp(),
            _ => (1.0 + root) * (-root).exp(),
        };
        variance * correlation
    })
}

pub(crate) fn noise_variance() -> f64 {
    number(&oracle()["inputs"]["noise_scale"]).powi(2)
}

/// The oracle's system: y and two probes.
pub(crate) fn problem(family: &str) -> DenseProblem {
    let inputs = &oracle()["inputs"];
    let mut b = Array2::zeros((N, 3).f());
    b.column_mut(0).assign(&vector(&inputs["y"]));
    b.columns_mut().into_iter().skip(1).zip(matrix(&inputs["probes"]).columns()).for_each(
        |(mut b, probe)| {
            b.assign(&probe);
        },
    );
    let scale = |name: &str| number(&inputs[name]);
    let length_scale = vector(&inputs["length_scale"]).to_vec();
    let a = kernel_matrix(family) + Array2::<f64>::eye(N) * noise_variance();
    let of = if family == "rbf" { Family::Rbf } else { Family::Matern32 };
    let (x, signal, noise) = (matrix(&inputs["X"]), scale("signal_scale"), scale("noise_scale"));
    DenseProblem::new(a, b).kernel(of, x, signal, noise, length_scale)
}

params! {
    /// Parameters of steps on given blocks.
    pub(crate) struct GivenParams {
        /// As the solver's.
        pub(crate) block_solver: BlockSolver = BlockSolver::Exact;
        /// As the solver's.
        pub(crate) damping: Damping = Damping::Adaptive;
        /// Constant mu of the momentum; 0 for none.
        pub(crate) mu: f64 = 0.0;
        /// Number of steps.
        pub(crate) steps: usize = 40;
        /// Whether blocks are contiguous rows, in turn, and not the oracle's.
        pub(crate) cyclic: bool = false;
        /// Whether to leave the residual of Z in the place of the solution.
        pub(crate) gradient: bool = false;
    }
}

/// The solver's steps on the oracle's blocks, observed one by one, with the oracle's random numbers.
pub(crate) struct Given(GivenParams);

impl Solver for Given {
    type Params = GivenParams;
    const ID: &'static str = "given";
    const DOC: &'static str = "Steps on given blocks";
    type Prepared = ();

    fn new(params: GivenParams) -> Result<Self> {
        Ok(Given(params))
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let GivenParams { block_solver, damping, mu, steps, gradient, .. } = self.0;
        let (oracle, workers) = (oracle(), problem.workers());
        let nesterov = Some(Nesterov::new(mu, N as f64 / BLOCK as f64)).filter(|_| mu > 0.0);
        let mut iterates = Iterates::start(problem, nesterov)?;
        problem.observe(0, iterates.norms())?;
        for step in 0..steps {
            let rows = self.rows(&oracle, step);
            let mut block = Array2::zeros((BLOCK, BLOCK).f());
            problem.operator().block(&rows[..], &rows[..], &mut block)?;
            let inverse = match block_solver {
                BlockSolver::Exact => BlockInverse::exact(block.clone(), workers)?,
                BlockSolver::Identity => BlockInverse::Identity,
                BlockSolver::Nystrom => {
                    BlockInverse::nystrom(&block, omega(&oracle, step), noise_variance(), damping, workers)?
                }
            };
            let start = matrix(&oracle["inputs"]["sap_power_start"]).row(step).to_owned();
            let eta = inverse.step_size(&block, start.insert_axis(Axis(1)), 10, workers);
            problem.note(step, "step_size", eta)?;
            let mut change = iterates.gradient(&rows);
            inverse.apply(&mut change, workers);
            iterates.step(problem, &rows, &(change * eta))?;
            problem.observe(step + 1, iterates.norms())?;
        }
        if gradient {
            let all: Vec<usize> = (0..N).collect();
            problem.x_mut().assign(&iterates.gradient(&all));
        }
        Ok(Report::new(Reason::Iterations, steps))
    }
}

impl Given {
    /// Rows of a step's block.
    fn rows(&self, oracle: &Value, step: usize) -> Vec<usize> {
        if self.0.cyclic {
            let first = step * BLOCK % N;
            return (first..first + BLOCK).collect();
        }
        matrix(&oracle["inputs"]["sap_blocks"]).row(step).iter().map(|&row| row as usize).collect()
    }
}

/// The test matrix of a step, column-major.
pub(crate) fn omega(oracle: &Value, step: usize) -> Array2<f64> {
    let raw = matrix(&oracle["inputs"]["sap_omega_raw"][step]);
    let mut omega = Array2::zeros(raw.dim().f());
    omega.assign(&raw);
    omega
}

/// Norms of the columns.
pub(crate) fn norms(a: ArrayView2<'_, f64>) -> Vec<f64> {
    a.columns().into_iter().map(|column| column.dot(&column).sqrt()).collect()
}
