//! Dense systems for tests of solvers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gpbench_host::{DenseFeatures, DenseInputs, DenseSystem, SolveLimits, SolverState, VolatileObjects};
use gpbench_numerics::layout::column_major;
use gpbench_terms::Family;
use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, Axis, ShapeBuilder};

/// Objects that a solver keeps in memory, shared by the problems of one training and freed with the last of them.
pub type SharedObjects = Rc<RefCell<VolatileObjects>>;

/// A system A X = B with a dense A, to be solved by a solver under test.
#[derive(Debug, Clone)]
pub struct DenseProblem {
    pub(crate) system: DenseSystem,
    pub(crate) start: Array2<f64>,
    pub(crate) limits: SolveLimits,
    pub(crate) iterates: bool,
    pub(crate) stop_at: Option<u64>,
    pub(crate) state: SolverState,
    pub(crate) objects: Option<SharedObjects>,
}

impl DenseProblem {
    /// The system A x = `rhs` with a zero start, without tolerance and budget; the first column is the only target.
    pub fn new(a: Array2<f64>, rhs: Array2<f64>) -> DenseProblem {
        DenseProblem {
            start: Array2::zeros((a.ncols(), rhs.ncols()).f()),
            system: DenseSystem::new(a, rhs.view()),
            limits: SolveLimits {
                tolerance: Some(0.0),
                max_epochs: None,
                seconds: None,
                threads: 2,
                seed: 0,
            },
            iterates: false,
            stop_at: None,
            state: BTreeMap::new(),
            objects: None,
        }
    }

    /// Sets other right-hand sides, with a zero start.
    #[must_use]
    pub fn right_hand_sides(mut self, rhs: &Array2<f64>) -> Self {
        self.start = Array2::zeros(rhs.dim().f());
        self.system.rhs = column_major(rhs);
        self
    }

    /// Relative residual norms of `x`, computed from A, for assertions.
    #[must_use]
    pub fn residuals(&self, x: &ArrayRef2<f64>) -> Vec<f64> {
        relative_residuals(&self.system.a.0, x, &self.system.rhs)
    }

    /// Sets the relative residual norm to reach.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.limits.tolerance = Some(tolerance);
        self
    }

    /// Sets the budget in epochs.
    #[must_use]
    pub fn max_epochs(mut self, epochs: f64) -> Self {
        self.limits.max_epochs = Some(epochs);
        self
    }

    /// Sets the number of targets, which are the first columns.
    #[must_use]
    pub fn targets(mut self, n_targets: usize) -> Self {
        self.system.n_targets = n_targets;
        self
    }

    /// Sets the number of threads that the solver may use.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.limits.threads = threads;
        self
    }

    /// Sets the seed of the solver's random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.limits.seed = seed;
        self
    }

    /// Sets a warm start.
    #[must_use]
    pub fn start(mut self, x: Array2<f64>) -> Self {
        self.start = x;
        self
    }

    /// Asks for the iterate at each observation.
    #[must_use]
    pub fn iterates(mut self) -> Self {
        self.iterates = true;
        self
    }

    /// Asks the solver to stop at the observation of this iteration.
    #[must_use]
    pub fn stop_at(mut self, iteration: usize) -> Self {
        self.stop_at = Some(iteration as u64);
        self
    }

    /// Sets the kernel and the inputs of A, without checking that they give A.
    #[must_use]
    pub fn kernel(
        mut self,
        family: Family,
        x: Array2<f64>,
        signal_scale: f64,
        noise_scale: f64,
        length_scale: Vec<f64>,
    ) -> Self {
        let inputs = DenseInputs { family, x, basis: None, signal_scale, noise_scale, length_scale };
        self.system.inputs = Some(inputs);
        self
    }

    /// Sets the basis points Z (m x d) of A = K(X, Z).
    ///
    /// # Panics
    /// If the problem has no [`kernel`](Self::kernel) yet.
    #[must_use]
    pub fn basis(mut self, z: &Array2<f64>) -> Self {
        self.system.inputs.as_mut().expect("a problem with a kernel").basis = Some(z.clone());
        self
    }

    /// Sets the parts of the probes, each n x (number of probes); that they sum to the probes is not
    /// checked.
    #[must_use]
    pub fn pathwise(mut self, f: &Array2<f64>, noise: &Array2<f64>) -> Self {
        self.system.parts = Some([f, noise].map(|part| column_major(part)));
        self
    }

    /// Offers random features Phi = `root` G / sqrt(count), with signs G (r x count) drawn from each
    /// seed: E\[Phi Phi^T\] = `root` `root`^T, with `root` m x r.
    #[must_use]
    pub fn random_features(mut self, root: Array2<f64>) -> Self {
        self.system.features = Some(DenseFeatures::Drawn(root));
        self
    }

    /// Offers these features (m x count) for every seed, to solvers that ask for this number.
    #[must_use]
    pub fn fixed_features(mut self, phi: Array2<f64>) -> Self {
        self.system.features = Some(DenseFeatures::Fixed(phi));
        self
    }

    /// Sets the state that a solver has saved in an earlier outer step.
    #[must_use]
    pub fn state(mut self, state: SolverState) -> Self {
        self.state = state;
        self
    }

    /// Sets the store of volatile objects between outer steps. Without it, none can be kept.
    #[must_use]
    pub fn objects(mut self, objects: &SharedObjects) -> Self {
        self.objects = Some(objects.clone());
        self
    }
}

/// Relative residual norms of a solution, computed from A, for assertions.
pub fn relative_residuals(a: &ArrayRef2<f64>, x: &ArrayRef2<f64>, rhs: &ArrayRef2<f64>) -> Vec<f64> {
    let norms = |b: ArrayView2<'_, f64>| -> Array1<f64> {
        b.axis_iter(Axis(1)).map(|column| column.dot(&column).sqrt()).collect()
    };
    let residual = rhs.to_owned() - a.dot(x);
    (norms(residual.view()) / norms(rhs.view())).to_vec()
}
