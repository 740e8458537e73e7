//! What a learner has learned, as named arrays, and the predictions and likelihoods that follow from it.
//!
//! The host receives a [`Kind`] and [`Arrays`] from a learner, or from a solution file, and computes everything that
//! it reports by this module, which shares no code with the learners' own:
//!
//! ```text
//! let model = Model::parse(kind, family, shape, &arrays)?;    // checks each array
//! let posterior = model.posterior(x, y, &pool)?;              // what all answers share is computed once
//! let prediction = posterior.predict(x_test)?;                // mean and variance of y
//! let objective = posterior.objective()?;                     // a row: -bound / n, or nlml
//! let nlml = posterior.nlml()?;                               // a row, exact; None where n is too large
//! ```
//!
//! | kind | `posterior` costs | `predict` adds, for m rows | `nlml` adds |
//! |---|---|---|---|
//! | [`Kind::Features`], and linear kernels of [`Kind::Gp`], [`Kind::NetworkGp`] | n D^2 | m D^2 | |
//! | [`Kind::Gp`], [`Kind::NetworkGp`] | n^3 / 3 up to [`DENSE_ROWS`] rows | m n^2 | |
//! | the same with more rows | conjugate gradients | m n | not available |
//! | [`Kind::Inducing`], [`Kind::NetworkInducing`] | M^3 / 3 (`objective` adds n M^2) | m M^2 | n^3 / 3 |
//! | [`Kind::Experts`] | | K M^3 / 3 + m K M^2 (`objective` K M^3 / 3) | not available |
//!
//! Where exact nlml of all rows is too dear, [`subset`] selects rows: `model.posterior(x_subset, y_subset, &pool)`.

use std::collections::BTreeMap;
use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use rayon::ThreadPool;

use crate::train::Hyperparameters;
use gpbench_record::CovarianceFamily;

/// Arrays by their names. Names and shapes are those of `gpbench_abi::model_kind`; vectors are matrices of one column.
pub type Arrays = BTreeMap<String, Array2<f64>>;

/// Most rows of an exact Gaussian process by a dense Cholesky factor, which takes 3.2 GB here.
pub const DENSE_ROWS: usize = 20_000;

/// What the arrays of a model are: `gpbench_abi::model_kind` in the terms of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An exact Gaussian process on all training rows.
    Gp,
    /// Inducing points with a variational distribution.
    Inducing,
    /// Finitely many features, mostly of a network.
    Features,
    /// [`Kind::Gp`] on the outputs of a network.
    NetworkGp,
    /// [`Kind::Inducing`] on the outputs of a network.
    NetworkInducing,
    /// Exact Gaussian processes on subsets, combined.
    Experts,
}

/// The training inputs that a model belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Training rows.
    pub rows: usize,
    /// Inputs of a row.
    pub inputs: usize,
}

/// An array that is not what its kind of model has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{array}` {found}; it must be {wanted}")]
pub struct InvalidArray {
    /// Name of the array.
    pub array: String,
    /// What it is, as the predicate of a sentence.
    pub found: String,
    /// What it must be.
    pub wanted: String,
}

/// Why a checked model has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A matrix is singular in double precision.
    #[error("{matrix} is not positive definite: {error}")]
    Singular {
        /// Which matrix.
        matrix: String,
        /// Where the factorisation ended.
        error: crate::blas::NotPositiveDefinite,
    },
    /// Conjugate gradients do not reach their tolerance.
    #[error("conjugate gradients end at a relative residual of {residual:e} after {iterations} iterations")]
    Unsolved {
        /// Largest relative residual of a right-hand side.
        residual: f64,
        /// Iterations.
        iterations: usize,
    },
}

/// A checked model.
#[derive(Debug, Clone)]
pub struct Model {}

impl Model {
    /// The model that `arrays` describe. `family` is that of the kernel: on the inputs, or on the outputs of the
    /// network where there is one. An array called `kind` is ignored.
    ///
    /// # Errors
    /// Where an array is missing, is not part of this kind, has another shape, or has entries that are not finite
    /// or, for scales, not positive.
    pub fn parse(
        kind: Kind,
        family: CovarianceFamily,
        shape: Shape,
        arrays: &Arrays,
    ) -> Result<Model, InvalidArray> {
        todo!("{kind:?} {family} {shape:?} {arrays:?}")
    }

    /// The scales of the kernel and the noise; `None` for [`Kind::Experts`], which have many. Without length scales,
    /// as for a linear kernel, `length_scale` is empty.
    pub fn hyperparameters(&self) -> Option<Hyperparameters> {
        todo!()
    }

    /// Constant prior mean; `None` for [`Kind::Experts`].
    pub fn mean(&self) -> Option<f64> {
        todo!()
    }

    /// Conditions on the training rows `x` (n x d) with targets `y`.
    ///
    /// # Errors
    /// Where a matrix is singular, or conjugate gradients fail.
    ///
    /// # Panics
    /// Where `x` has another number of inputs, or for [`Kind::Experts`] of rows, than the shape that was parsed with.
    pub fn posterior<'a>(
        &'a self,
        x: ArrayView2<'a, f64>,
        y: ArrayView1<'a, f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Posterior<'a>, ModelError> {
        todo!("{x} {y} {pool:?}")
    }
}

/// A model and the training rows, with what all its answers share.
#[derive(Debug)]
pub struct Posterior<'a> {
    _model: &'a Model,
}

/// Predictions of y, the observation noise included.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// One mean a row.
    pub mean: Array1<f64>,
    /// One variance a row, at least the noise variance.
    pub variance: Array1<f64>,
}

impl Posterior<'_> {
    /// Predicts y at the rows of `x_test` (m x d). A row's prediction does not depend on the other rows.
    ///
    /// # Errors
    /// Where an expert's matrix is singular.
    pub fn predict(&self, x_test: ArrayView2<f64>) -> Result<Prediction, ModelError> {
        todo!("{x_test}")
    }

    /// What the model minimises, for each row, over all training rows: -bound / n with inducing points, the mean
    /// nlml of the experts' rows, else the exact nlml. `None` where the exact nlml is not available.
    ///
    /// # Errors
    /// Where an expert's matrix is singular.
    pub fn objective(&self) -> Result<Option<f64>, ModelError> {
        todo!()
    }

    /// Exact negative log marginal likelihood of the training rows under the model's kernel, for each row and with
    /// all constants. `None` for experts, which define none, and for a dense matrix of more than [`DENSE_ROWS`] rows.
    ///
    /// # Errors
    /// Where the kernel matrix is singular.
    pub fn nlml(&self) -> Result<Option<f64>, ModelError> {
        todo!()
    }

    /// Features of [`Kind::Features`] that are 0 in all training rows; `None` for other kinds.
    pub fn dead_features(&self) -> Option<usize> {
        todo!()
    }

    /// `|F| |F^-1|` in Frobenius norms, F = Phi^T Phi + noise^2 I, for [`Kind::Features`]; `None` for other kinds.
    /// Costs D^3.
    pub fn condition(&self) -> Option<f64> {
        todo!()
    }

    /// Whether variances are means over a few posterior samples, and so have a relative error of about 0.2, not to be
    /// compared with a learner's own: an exact Gaussian process of more than [`DENSE_ROWS`] rows.
    pub fn has_sampled_variance(&self) -> bool {
        todo!()
    }
}

/// `count` of `n` rows without repeats, in ascending order, or all rows if there are no more. The same for all learners with
/// the same `seed` and n.
pub fn subset(n: usize, count: usize, seed: u64) -> Vec<usize> {
    todo!("{n} {count} {seed}")
}
