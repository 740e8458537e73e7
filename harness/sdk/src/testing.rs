//! A host in memory: runs a solver on a dense matrix, or a learner on training data, through the tables that the real host uses.
//!
//! With it, tests of a plugin need no harness, no data and no loaded library. It counts entries, applies the
//! harness's rule of the budget, and records what the solver observes. [`solver_suite!`](crate::solver_suite) adds
//! the tests that every solver inherits. [`FitHost`] and [`learner_suite!`](crate::learner_suite) are the same for
//! learners.

#[cfg(feature = "blas")]
pub mod behaviour;
#[cfg(feature = "blas")]
mod dense_model;
mod extension;
mod fit_host;
mod fixtures;
mod host;
mod learner_suite;
mod matern32;
mod mock_problem;
mod run;
mod settings;
mod suite;

use std::collections::BTreeMap;

use gpbench_abi::Status;
use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, Axis, ShapeBuilder};

use extension::features::Features;
use extension::inputs::Kernel;
use extension::state::State;

#[cfg(feature = "blas")]
pub use dense_model::DenseModel;
pub use extension::volatile::Kept;
pub use fit_host::{FitHost, FitReport, FitRun, SavedFit, Used};
pub use fixtures::{scattered, scattered_inputs, scattered_right_hand_sides};
pub use learner_suite::LearnerSuite;
pub use matern32::matern32;
pub use settings::Settings;
pub use suite::{Claims, Suite};

/// A system A X = B with a dense A, to be solved by a solver under test.
#[derive(Debug, Clone)]
pub struct DenseProblem {
    a: Array2<f64>,
    rhs: Array2<f64>,
    start: Array2<f64>,
    kernel: Option<Kernel>,
    basis: Option<Array2<f64>>,
    features: Option<Features>,
    parts: Option<[Array2<f64>; 2]>,
    tolerance: f64,
    max_epochs: f64,
    n_targets: usize,
    threads: u32,
    seed: u64,
    iterates: bool,
    stop_at: Option<i64>,
    state: State,
    kept: Option<Kept>,
}

/// Outcome of a solve.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The solution.
    pub x: Array2<f64>,
    /// One of [`crate::abi::reason`].
    pub reason: i32,
    /// Iterations, as reported.
    pub iterations: i64,
    /// Residual norms, as reported.
    pub claimed: Vec<f64>,
    /// Further numbers, as reported.
    pub numbers: Vec<(String, f64)>,
    /// Iteration and norms, as observed.
    pub trace: Vec<(i64, Vec<f64>)>,
    /// Iteration, name and value of the solver's own numbers, as noted.
    pub notes: Vec<(i64, String, f64)>,
    /// Iterates, as put into `x` for each entry of the trace, if asked for.
    pub iterates: Vec<Array2<f64>>,
    /// Kernel entries used by `prepare`.
    pub entries_prepare: f64,
    /// Kernel entries used, `prepare` included.
    pub entries: f64,
    /// State that the solver has saved, for [`DenseProblem::state`].
    pub state: BTreeMap<String, Vec<u8>>,
}

impl Outcome {
    /// A further number that the solver has reported.
    ///
    /// # Panics
    /// If it has not reported the number.
    #[must_use]
    #[track_caller]
    pub fn number(&self, name: &str) -> f64 {
        let found = self.numbers.iter().find(|(reported, _)| reported == name);
        found.unwrap_or_else(|| panic!("no number is called `{name}`")).1
    }
}

/// An error status with the text that went with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The status returned.
    pub status: Status,
    /// The text passed to the host; empty if there was none.
    pub text: String,
}

impl DenseProblem {
    /// A x = `rhs` from zero, to no tolerance, without budget; the first column is the only target.
    pub fn new(a: Array2<f64>, rhs: Array2<f64>) -> DenseProblem {
        let start = Array2::zeros((a.ncols(), rhs.ncols()).f());
        DenseProblem {
            a,
            start,
            n_targets: rhs.ncols().min(1),
            rhs,
            kernel: None,
            basis: None,
            features: None,
            parts: None,
            tolerance: 0.0,
            max_epochs: f64::INFINITY,
            threads: 2,
            seed: 0,
            iterates: false,
            stop_at: None,
            state: State::new(),
            kept: None,
        }
    }

    /// Relative residual norms of `x`, computed from A itself: for assertions.
    #[must_use]
    pub fn residuals(&self, x: &ArrayRef2<f64>) -> Vec<f64> {
        relative_residuals(&self.a, x, &self.rhs)
    }

    /// Relative residual norm to reach.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Epochs to spend.
    #[must_use]
    pub fn max_epochs(mut self, epochs: f64) -> Self {
        self.max_epochs = epochs;
        self
    }

    /// How many of the first columns are targets.
    #[must_use]
    pub fn targets(mut self, n_targets: usize) -> Self {
        self.n_targets = n_targets;
        self
    }

    /// Threads that the solver may use.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// Seed of the solver's random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A warm start.
    #[must_use]
    pub fn start(mut self, x: Array2<f64>) -> Self {
        self.start = x;
        self
    }

    /// Asks for the iterate each time the solver observes.
    #[must_use]
    pub fn iterates(mut self) -> Self {
        self.iterates = true;
        self
    }

    /// Answers the observation of this iteration with stop.
    #[must_use]
    pub fn stop_at(mut self, iteration: usize) -> Self {
        self.stop_at = Some(iteration as i64);
        self
    }
}

/// Relative residual norms of a solution, computed from A itself: for assertions.
pub fn relative_residuals(a: &ArrayRef2<f64>, x: &ArrayRef2<f64>, rhs: &ArrayRef2<f64>) -> Vec<f64> {
    let norms = |b: ArrayView2<'_, f64>| -> Array1<f64> {
        b.axis_iter(Axis(1)).map(|column| column.dot(&column).sqrt()).collect()
    };
    let residual = rhs.to_owned() - a.dot(x);
    (norms(residual.view()) / norms(rhs.view())).to_vec()
}
