//! Learners' models as named arrays, and the predictions and likelihoods that follow from them.
//!
//! The host receives a [`ModelKind`] and [`Arrays`] from a learner, or from a solution file, and computes everything
//! that it reports with this module, which shares no code with the learners:
//!
//! ```text
//! let model = Model::parse(kind, family, shape, &arrays)?;    // checks each array
//! let posterior = model.posterior(x, y, &pool)?;              // computes shared intermediate results once
//! let prediction = posterior.predict(x_test)?;                // mean and variance of y
//! let objective = posterior.objective()?;                     // per row: -bound / n, or nlml
//! let nlml = posterior.nlml()?;                               // per row, exact; None where n is too large
//! ```
//!
//! | kind | `posterior` costs | `predict` adds, for m rows | `nlml` adds |
//! |---|---|---|---|
//! | [`ModelKind::Features`], and linear kernels of [`ModelKind::Gp`], [`ModelKind::NetworkGp`] | n D^2 | m D^2 | |
//! | [`ModelKind::Gp`], [`ModelKind::NetworkGp`] | n^3 / 3 up to [`DENSE_ROWS`] rows | m n^2 | |
//! | the same with more rows | conjugate gradients | m n | not available |
//! | both [`with_variance_rank`](Model::with_variance_rank) r | as above | r n^2 once, m n r | as above |
//! | [`ModelKind::Inducing`], [`ModelKind::NetworkInducing`] | M^3 / 3 (`objective` adds n M^2) | m M^2 | n^3 / 3 |
//! | [`ModelKind::Neighbours`] | (with M inducing points n M^2) | m n d + m k^3 / 3, k neighbours (m n M) | n^3 / 3 |
//! | [`ModelKind::Actions`] | n^2 i + 3 n i^2, i actions | m n i | n^3 / 3 |
//! | [`ModelKind::Experts`] | | K M^3 / 3 + m K M^2 (`objective` K M^3 / 3) | as `objective` for one expert with all rows, else not available |
//!
//! Where the exact nlml of all rows is too expensive, [`subset`] selects rows:
//! `model.posterior(x_subset, y_subset, &pool)`.

mod arrays;
mod parse;
mod posterior;

use std::sync::Arc;

use gpbench_record::{Covariance, Learning, ModelKind};
use ndarray::{Array2, ArrayView1, ArrayView2};
use rand::seq::index;
use rayon::ThreadPool;

use crate::NotPositiveDefinite;
use crate::actions::Actions;
use crate::experts::{Experts, SingularExpert};
use crate::finite::OutputFeatures;
use crate::iterative::Unsolved;
use crate::low_rank::NotPositive;
use crate::neighbours::{Neighbours, SingularRow};
use crate::network::Network;
use crate::sparse::Variational;
use crate::train::Hyperparameters;
use crate::{CovarianceFunction, Kernel, seed};

pub use arrays::{Arrays, InvalidArray};
pub use posterior::{Posterior, Prediction};

/// Largest number of rows for which an exact Gaussian process uses a dense Cholesky factor, which then takes 3.2 GB, unless
/// [`Model::with_dense_rows`] says otherwise.
pub const DENSE_ROWS: usize = Learning::EXACT_ROWS;

/// Shape of the training inputs of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of training rows.
    pub rows: usize,
    /// Number of inputs.
    pub inputs: usize,
}

/// Reason why a result of a checked model cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A matrix is singular in double precision, or overflows.
    #[error("{matrix} is not positive definite: {error}")]
    Singular {
        /// Name of the matrix.
        matrix: &'static str,
        /// The error of the factorisation.
        error: NotPositiveDefinite,
    },
    /// The matrix of an expert is singular.
    #[error(transparent)]
    Expert(#[from] SingularExpert),
    /// The matrix of the neighbours of a row is singular.
    #[error(transparent)]
    Row(#[from] SingularRow),
    /// Conjugate gradients do not reach their tolerance.
    #[error(transparent)]
    Unsolved(#[from] Unsolved),
    /// Variances of low rank cannot be computed.
    #[error(transparent)]
    Variances(#[from] NotPositive),
}

/// A checked model.
#[derive(Debug, Clone)]
pub struct Model {
    shape: Shape,
    /// Most rows of which an exact Gaussian process factorises the matrix.
    dense_rows: usize,
    /// Rank of the variances of an exact Gaussian process; `None` where they have none.
    variance_rank: Option<usize>,
    network: Network,
    mean: f64,
    /// `None` for experts.
    hyperparameters: Option<Hyperparameters>,
    body: Body,
}

/// The part of a model that depends on its kind.
#[derive(Debug, Clone)]
enum Body {
    /// An exact process by its n x n matrix.
    Dense(Kernel),
    /// A process of finite dimension.
    Features(OutputFeatures),
    Inducing {
        covariance: CovarianceFunction,
        z: Array2<f64>,
        jitter: f64,
        q: Variational,
    },
    Experts(Experts),
    Neighbours(Neighbours),
    Actions(Actions),
}

impl Model {
    /// The model that `arrays` describe. `family` is that of the kernel on the inputs, or on the outputs of the
    /// network where there is one.
    ///
    /// # Errors
    /// Where an array is missing, has another shape, or has entries that are not finite or, for scales, not
    /// positive; and where an array belongs to another kind of model, such as `bias_3` where there are two layers.
    /// Arrays whose names no kind of model uses are ignored.
    pub fn parse(
        kind: ModelKind,
        family: Covariance,
        shape: Shape,
        arrays: &Arrays,
    ) -> Result<Model, InvalidArray> {
        parse::parse(kind, family, shape, arrays)
    }

    /// The same model, which takes exact Gaussian processes of up to `rows` rows by a dense Cholesky factor, in `8 rows^2`
    /// bytes, in place of [`DENSE_ROWS`].
    #[must_use]
    pub fn with_dense_rows(self, rows: usize) -> Model {
        Model { dense_rows: rows, ..self }
    }

    /// The same model, whose variances, where it is an exact Gaussian process, have this rank ([`crate::low_rank`]); `None`: they
    /// come from a factor, or from samples.
    #[must_use]
    pub fn with_variance_rank(self, rank: Option<usize>) -> Model {
        Model { variance_rank: rank, ..self }
    }

    /// The scales of the kernel and the noise; `None` for [`ModelKind::Experts`], which have several sets. A linear
    /// kernel may have no length scales, and `length_scale` is then empty.
    pub fn hyperparameters(&self) -> Option<Hyperparameters> {
        self.hyperparameters.clone()
    }

    /// Constant prior mean; `None` for [`ModelKind::Experts`], which have several.
    pub fn mean(&self) -> Option<f64> {
        self.hyperparameters.as_ref().map(|_| self.mean)
    }

    /// Outputs of the network that are 0 in all rows of `x` (n x d); `None` without a network.
    pub fn dead_features(&self, x: ArrayView2<f64>, pool: &ThreadPool) -> Option<usize> {
        (!self.network.is_identity()).then(|| self.network.dead_outputs(x, pool))
    }

    /// Conditions on the training rows `x` (n x d) with targets `y`.
    ///
    /// # Errors
    /// Where a matrix is singular, or conjugate gradients fail.
    ///
    /// # Panics
    /// Where `x` has another number of inputs than the shape given to [`Model::parse`], or, for [`ModelKind::Experts`]
    /// and [`ModelKind::Actions`], another number of rows.
    pub fn posterior<'a>(
        &'a self,
        x: ArrayView2<'a, f64>,
        y: ArrayView1<'_, f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Posterior<'a>, ModelError> {
        Posterior::new(self, x, y, pool)
    }
}

/// `count` of `n` rows without repeats, in ascending order, or all rows if there are no more than `count`. The subset
/// is the same for all learners with the same `seed` and n.
pub fn subset(n: usize, count: usize, seed: u64) -> Vec<usize> {
    if count >= n {
        return (0..n).collect();
    }
    let mut rows = index::sample(&mut seed::stream(seed, &["likelihood-rows"]), n, count).into_vec();
    rows.sort_unstable();
    rows
}
