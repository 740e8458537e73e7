//! A linear system whose matrix is stored: for tests of plugins.

use gpbench_numerics::{Dense, LinearOperator};
use gpbench_terms::Family;
use ndarray::{Array2, ArrayView2};

use crate::dense_features::DenseFeatures;
use crate::system::{FeatureProducts, LinearSystem, SystemInputs};
use gpbench_numerics::layout::column_major;

/// A system A X = B with a stored A (n x m). Nothing checks A against the inputs.
#[derive(Debug, Clone)]
pub struct DenseSystem {
    /// A, n x m.
    pub a: Dense,
    /// B, n x s, column-major.
    pub rhs: Array2<f64>,
    /// How many of the first right-hand sides are targets.
    pub n_targets: usize,
    /// Inputs and hyperparameters of A; `None` where plugins should get no inputs.
    pub inputs: Option<DenseInputs>,
    /// Prior draws and noise, whose sums are the probes: each n x (s - n_targets), column-major.
    pub parts: Option<[Array2<f64>; 2]>,
    /// Random features at the points of the columns.
    pub features: Option<DenseFeatures>,
}

/// Inputs and hyperparameters of the matrix of a [`DenseSystem`]; see [`SystemInputs`].
#[derive(Debug, Clone)]
pub struct DenseInputs {
    /// Covariance family.
    pub family: Family,
    /// Inputs of the rows, n x d.
    pub x: Array2<f64>,
    /// Points of the columns, m x d, where they are not those of the rows.
    pub basis: Option<Array2<f64>>,
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// Standard deviation of the noise.
    pub noise_scale: f64,
    /// One length scale per input.
    pub length_scale: Vec<f64>,
}

impl DenseSystem {
    /// A X = B with one target, and without inputs, parts and features.
    pub fn new(a: Array2<f64>, rhs: ArrayView2<'_, f64>) -> DenseSystem {
        let (n_targets, rhs) = (rhs.ncols().min(1), column_major(&rhs));
        DenseSystem { a: Dense(a), rhs, n_targets, inputs: None, parts: None, features: None }
    }
}

impl LinearSystem for DenseSystem {
    fn operator(&self) -> &dyn LinearOperator {
        &self.a
    }

    fn rhs(&self) -> ArrayView2<'_, f64> {
        self.rhs.view()
    }

    fn n_targets(&self) -> usize {
        self.n_targets
    }

    fn inputs(&self) -> Option<SystemInputs<'_>> {
        self.inputs.as_ref().map(|inputs| SystemInputs {
            family: inputs.family,
            x: inputs.x.view(),
            basis: inputs.basis.as_ref().map(|basis| basis.view()),
            signal_scale: inputs.signal_scale,
            noise_scale: inputs.noise_scale,
            length_scale: &inputs.length_scale,
            scales: None,
        })
    }

    fn targets(&self) -> Option<[ArrayView2<'_, f64>; 2]> {
        self.parts.as_ref().map(|parts| parts.each_ref().map(|part| part.view()))
    }

    fn features(&self) -> Option<&dyn FeatureProducts> {
        self.features.as_ref().map(|features| features as _)
    }
}
