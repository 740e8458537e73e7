//! The linear system that the host passes to a solver.

use gpbench_numerics::LinearOperator;
use gpbench_terms::{Covariance, Family, Shape};
use ndarray::{ArrayView2, ArrayViewMut2, CowArray, Ix2};

/// A linear system A X = B that is given to a solver: n rows, m unknowns, s right-hand sides.
///
/// Used on the thread that calls the plugin only.
pub trait LinearSystem {
    /// A, n x m.
    fn operator(&self) -> &dyn LinearOperator;

    /// B, n x s, column-major: plugins get its address.
    fn rhs(&self) -> ArrayView2<'_, f64>;

    /// How many of the first right-hand sides are targets; the others are probes. The default is one.
    fn n_targets(&self) -> usize {
        1
    }

    /// Inputs and hyperparameters of the matrix, for `gpbench.inputs/1`. The default is `None`: plugins get no inputs.
    fn inputs(&self) -> Option<SystemInputs<'_>> {
        None
    }

    /// Prior draws and noise, whose sums are the probes: each n x (s - n_targets) and column-major. The default is
    /// `None`: the probes are no such sums.
    fn targets(&self) -> Option<[ArrayView2<'_, f64>; 2]> {
        None
    }

    /// Random features of the kernel. The default is `None`: plugins get none.
    fn features(&self) -> Option<&dyn FeatureProducts> {
        None
    }

    /// Rows of the system that the case states: an epoch has the square of it in kernel entries.
    ///
    /// That system may differ from the solver's, as where duplicates are collapsed; this function and the next three
    /// convert between them. By default the two are the same.
    fn epoch_rows(&self) -> usize {
        self.operator().shape().0
    }

    /// The tolerance of the solver's system that implies `tolerance` in that of the case.
    fn solver_tolerance(&self, tolerance: f64) -> f64 {
        tolerance
    }

    /// Relative residual norms in the system of the case from those that the solver claims, one a column or none.
    fn case_norms(&self, claimed: &[f64]) -> Vec<f64> {
        claimed.to_vec()
    }

    /// The weights of the case's system that follow from the solver's iterate `x` (m x s).
    fn case_weights<'x>(&self, x: CowArray<'x, f64, Ix2>) -> CowArray<'x, f64, Ix2> {
        x
    }
}

/// The sizes of a system, for which a solver gets ready before it sees the system.
pub fn shape_of(system: &dyn LinearSystem, threads: usize) -> Shape {
    let ((n, m), inputs) = (system.operator().shape(), system.inputs());
    Shape {
        covariance: inputs.as_ref().map(|inputs| Covariance::Stationary(inputs.family)),
        n,
        m,
        d: inputs.map_or(0, |inputs| inputs.x.ncols()),
        s: system.rhs().ncols(),
        threads,
        batch: None,
    }
}

/// Inputs and hyperparameters of the matrix of a system: A = K(x, basis), or K + noise_scale^2 I without a basis.
#[derive(Debug, Clone, Copy)]
pub struct SystemInputs<'a> {
    /// Covariance family of K.
    pub family: Family,
    /// Inputs of the rows, n x d.
    pub x: ArrayView2<'a, f64>,
    /// Points of the columns, m x d, where they are not those of the rows.
    pub basis: Option<ArrayView2<'a, f64>>,
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// Standard deviation of the noise.
    pub noise_scale: f64,
    /// One length scale per input.
    pub length_scale: &'a [f64],
    /// Factors of rows and columns, the diagonal of S where A = S K S + noise_scale^2 I.
    pub scales: Option<&'a [f64]>,
}

/// Products with random features Phi (m x count) of the kernel at the points of the columns, so that Phi Phi^T has
/// the expectation K there. Where there are scales, each row of Phi is multiplied by its own.
pub trait FeatureProducts {
    /// `y = Phi w` for the features drawn from `seed`; `w` is count x s, `y` m x s.
    ///
    /// # Errors
    /// Why there are no such features, as a sentence.
    fn apply(&self, seed: u64, w: ArrayView2<'_, f64>, y: ArrayViewMut2<'_, f64>) -> Result<(), String>;

    /// `w = Phi^T y` for the features drawn from `seed`; `y` is m x s, `w` count x s.
    ///
    /// # Errors
    /// As for [`apply`](Self::apply).
    fn apply_transposed(
        &self,
        seed: u64,
        y: ArrayView2<'_, f64>,
        w: ArrayViewMut2<'_, f64>,
    ) -> Result<(), String>;
}
