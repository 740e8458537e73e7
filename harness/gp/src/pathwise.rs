//! Pathwise conditioning: posterior samples through linear systems.
//!
//! One solve turns a prior draw `f` at training and test inputs into a posterior draw (Wilson et al. 2021): with
//! `xi = f(X) + noise * eps`,
//!
//! ```text
//! sample(x*) = K* H^-1 y + f(x*) - K* H^-1 xi
//! ```
//!
//! The same right-hand sides are probes of gradient estimators ("pathwise", Lin et al. 2024); the usual probes
//! ("standard") are random vectors z with `E z z^T = I`.

use gpbench_numerics::lapack;
use gpbench_numerics::layout::column_major;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder, concatenate, s};

use crate::NotPositiveDefinite;
use crate::seed::Streams;
use crate::threads::{ThreadsRefused, thread_pool};
use crate::{Kernel, KernelMatrix, KernelOperator, RandomFeatures};

/// The right-hand sides of a batch of systems, and their parts.
#[derive(Debug, Clone)]
pub struct Targets {
    /// n x (1 + s): y, then xi_1 .. xi_s (or the standard probes).
    pub rhs: Array2<f64>,
    /// n x s: prior draws at the training inputs (n x 0 for standard probes).
    pub f_train: Array2<f64>,
    /// n x s: noise part of the targets, `noise_scale * eps` (n x 0 for standard probes).
    pub noise: Array2<f64>,
    /// n* x s: the same prior draws at the test inputs (n* x 0 for standard probes).
    pub f_test: Array2<f64>,
}

/// Distribution of the standard probes z, with `E z z^T = I`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProbeLaw {
    /// Standard normal.
    #[default]
    Normal,
    /// 1 or -1, each with probability 1/2.
    Rademacher,
}

/// Source of prior draws.
#[derive(Debug, Clone, Copy)]
pub enum Prior<'a> {
    /// A linear model of random features.
    Features(&'a RandomFeatures),
    /// The kernel itself, by a dense Cholesky factor over all training and test inputs: for small n only.
    Exact,
}

/// One draw per column, at training and at test inputs.
#[derive(Debug, Clone)]
pub struct PriorDraws {
    /// n x s.
    pub train: Array2<f64>,
    /// n* x s.
    pub test: Array2<f64>,
}

/// Why the prior cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriorError {
    /// The kernel matrix is singular even with jitter.
    #[error(transparent)]
    Singular(#[from] NotPositiveDefinite),
    /// There are no threads to compute on.
    #[error(transparent)]
    Threads(#[from] ThreadsRefused),
}

impl Prior<'_> {
    /// Draws `samples` functions at the rows of `x_train` and of `x_test`, from the streams
    /// `prior-weights/<column>`, on the caller's rayon pool.
    ///
    /// # Errors
    /// For [`Prior::Exact`], where the kernel matrix is singular even with a jitter of 1e-6 s^2, or the system
    /// refuses a thread.
    pub fn draw(
        &self,
        kernel: &Kernel,
        x_train: ArrayView2<f64>,
        x_test: ArrayView2<f64>,
        samples: usize,
        streams: &Streams,
    ) -> Result<PriorDraws, PriorError> {
        match self {
            Prior::Features(features) => {
                let w = prior_weights(features, samples, streams);
                Ok(PriorDraws {
                    train: features.apply(x_train, w.view()),
                    test: features.apply(x_test, w.view()),
                })
            }
            Prior::Exact => {
                let x =
                    concatenate(Axis(0), &[x_train, x_test]).expect("train and test have the same inputs");
                let factor = factor_with_jitter(kernel, x.view())?;
                let mut f = streams.normals("prior-weights", x.nrows(), samples);
                lapack::multiply_lower(&factor, false, &mut f).expect("shapes fit");
                let (train, test) = f.view().split_at(Axis(0), x_train.nrows());
                Ok(PriorDraws { train: column_major(&train), test: column_major(&test) })
            }
        }
    }
}

/// The weights of prior draws that are made of features, m x s, from the streams `prior-weights/<column>`.
pub fn prior_weights(features: &RandomFeatures, samples: usize, streams: &Streams) -> Array2<f64> {
    streams.normals("prior-weights", features.count(), samples)
}

/// Cholesky factor of `K + jitter I` with the smallest jitter of 1e-12 s^2,
/// 1e-10 s^2, .. 1e-6 s^2 that makes it positive definite.
fn factor_with_jitter(kernel: &Kernel, x: ArrayView2<f64>) -> Result<Array2<f64>, PriorError> {
    let pool = thread_pool(1)?;
    let mut outcome = Err(NotPositiveDefinite { order: 0 });
    for jitter_scale in [1e-6, 1e-5, 1e-4, 1e-3] {
        let mut a = KernelOperator::with_pool(kernel, jitter_scale * kernel.signal_scale, x, pool.clone())
            .lower_triangle();
        outcome = lapack::cholesky(&mut a).map(|()| a).map_err(NotPositiveDefinite::of);
        if outcome.is_ok() {
            break;
        }
    }
    Ok(outcome?)
}

impl Targets {
    /// Targets of posterior samples: `xi = f_train + noise_scale * eps` with
    /// `eps` from the streams `target-noise/<column>`.
    pub fn pathwise(y: ArrayView1<f64>, noise_scale: f64, draws: PriorDraws, streams: &Streams) -> Self {
        let (n, samples) = draws.train.dim();
        assert_eq!(n, y.len(), "one target per training row");
        let noise = streams.normals("target-noise", n, samples) * noise_scale;
        let rhs = with_y(y, &(&draws.train + &noise));
        Targets { rhs, f_train: draws.train, noise, f_test: draws.test }
    }

    /// Targets y and probes of a distribution, from the streams `probes/<column>`.
    pub fn standard(
        y: ArrayView1<f64>,
        law: ProbeLaw,
        probes: usize,
        n_test: usize,
        streams: &Streams,
    ) -> Self {
        let n = y.len();
        let mut z = streams.normals("probes", n, probes);
        if law == ProbeLaw::Rademacher {
            // The sign of a normal number is 1 or -1 with equal probability, so both laws use the same streams.
            z.mapv_inplace(|z| 1.0_f64.copysign(z));
        }
        let rhs = with_y(y, &z);
        let empty = |rows: usize| Array2::zeros((rows, 0).f());
        Targets { rhs, f_train: empty(n), noise: empty(n), f_test: empty(n_test) }
    }
}

fn with_y(y: ArrayView1<f64>, probes: &Array2<f64>) -> Array2<f64> {
    let mut rhs = Array2::zeros((y.len(), 1 + probes.ncols()).f());
    rhs.column_mut(0).assign(&y);
    rhs.slice_mut(s![.., 1..]).assign(probes);
    rhs
}

/// The posterior at the test inputs, from solutions of the systems.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// n*: `K* v_y`.
    pub mean: Array1<f64>,
    /// n* x s: posterior samples of the latent function.
    pub samples: Array2<f64>,
    /// n*: latent variance, the mean over samples of `(f_test - K* H^-1 xi)^2`;
    /// `None` without samples.
    pub sample_variance: Option<Array1<f64>>,
}

/// Predicts from `solution` (m x (1 + s), the solutions for y and the targets) and `f_test` (n* x s); without
/// columns in `f_test`, the mean alone. Uses n* m kernel entries.
///
/// With inducing points Z the samples are `f(x*) + K(x*, Z) (v - alpha)` (Lin et al. 2023, equations 11 to 13),
/// with `f` in place of its Nyström approximation (section 3.3 there).
pub fn predict(
    op: &dyn KernelMatrix,
    x_test: ArrayView2<f64>,
    solution: ArrayView2<f64>,
    f_test: ArrayView2<f64>,
) -> Prediction {
    let samples = f_test.ncols();
    assert!(solution.ncols() > samples, "one solution for y and one per sample");
    let product = op.cross(x_test, solution.slice(s![.., ..=samples]));
    let mean = product.column(0).to_owned();
    let mut zero_mean = column_major(&f_test);
    zero_mean -= &product.slice(s![.., 1..]);
    let sample_variance = (samples > 0)
        .then(|| zero_mean.map_axis(Axis(1), |row| row.iter().map(|v| v * v).sum::<f64>() / samples as f64));
    let samples = zero_mean + mean.view().insert_axis(Axis(1));
    Prediction { mean, samples, sample_variance }
}
