//! The exact Gaussian process of many rows, by conjugate gradients and posterior samples.
//!
//! It takes O(n) memory in place of the n^2 of [`crate::exact`]. Means have the relative error of the solution;
//! variances are means over [`SAMPLES`] posterior samples by pathwise conditioning, each with a relative error of
//! about `sqrt(2 / SAMPLES)`. In addition, a finite number of random features makes variances too small: for a Matérn
//! kernel by a quarter with 2000 features, and by a few hundredths with 20 000.

use std::sync::Arc;

use gpbench_numerics::{LinearOperator, lapack};
use gpbench_record::Learning;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ShapeBuilder, Zip};
use rayon::ThreadPool;

use crate::NotPositiveDefinite;
use crate::pathwise::{self, Prior, Targets};
use crate::pivoted::PivotedFactor;
use crate::seed::{self, Streams};
use crate::threads::inside;
use crate::{Frequencies, Kernel, KernelOperator, RandomFeatures, SystemMatrix};

/// Number of posterior samples from which a variance is computed.
pub const SAMPLES: usize = Learning::VARIANCE_SAMPLES;
/// Relative residual at which a solution has converged.
pub const TOLERANCE: f64 = 1e-4;
/// Relative residual of the systems of single predictions, whose errors are of second order in it.
const FINE_TOLERANCE: f64 = 1e-6;
/// Maximum number of iterations.
pub const ITERATIONS: usize = 2000;
/// Number of random features of a prior draw.
const FEATURES: usize = 20_000;
/// Rank of the preconditioner.
const RANK: usize = 100;

/// Conjugate gradients ended before their tolerance.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("conjugate gradients end at a relative residual of {residual:e} after {iterations} iterations")]
pub struct Unsolved {
    /// Largest relative residual of a right-hand side.
    pub residual: f64,
    /// Iterations.
    pub iterations: usize,
}

/// An exact process with the solutions of its systems.
#[derive(Debug)]
pub struct IterativeGp {
    op: KernelOperator,
    preconditioner: Preconditioner,
    features: RandomFeatures,
    /// n x (1 + SAMPLES).
    solution: Array2<f64>,
}

impl IterativeGp {
    /// Solves for the rows of `x` (n x d) with targets `y`. All random numbers are fixed.
    ///
    /// # Errors
    /// [`Unsolved`], also where numbers are not finite.
    pub fn fit(
        kernel: &Kernel,
        noise_scale: f64,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, Unsolved> {
        let rng = &mut seed::stream(0, &["iterative-gp", "frequencies"]);
        let features = RandomFeatures::draw(kernel, Frequencies::default(), FEATURES, rng);
        let op = KernelOperator::with_pool(kernel, noise_scale, x, Arc::clone(pool));
        let nowhere = Array2::zeros((0, x.ncols()));
        let prior = Prior::Features(&features);
        let draws = inside(pool, || prior.draw(kernel, x, nowhere.view(), SAMPLES, &streams()))
            .expect("features have no matrix to factorise");
        let Targets { rhs, .. } = Targets::pathwise(y, noise_scale, draws, &streams());
        let preconditioner = Preconditioner::new(&op, x, noise_scale);
        let solution = conjugate_gradients(&op, &preconditioner, rhs.view(), TOLERANCE)?;
        Ok(IterativeGp { op, preconditioner, features, solution })
    }

    /// The operator of the systems.
    pub fn operator(&self) -> &dyn SystemMatrix {
        &self.op
    }

    /// Representer weights `H^-1 y`.
    pub fn weights(&self) -> ArrayView1<'_, f64> {
        self.solution.column(0)
    }

    /// Posterior mean and latent variance (without observation noise) at the rows of `x_star`.
    pub fn predict(&self, x_star: ArrayView2<f64>) -> (Array1<f64>, Array1<f64>) {
        let w = streams().normals("prior-weights", FEATURES, SAMPLES);
        let f_star = inside(self.op.pool(), || self.features.apply(x_star, w.view()));
        let prediction = pathwise::predict(&self.op, x_star, self.solution.view(), f_star.view());
        (prediction.mean, prediction.sample_variance.expect("there are samples"))
    }

    /// Posterior mean and latent variance at a few rows of `x_star`, without samples: each row has a system of its own, V = H^-1
    /// K(X, X*). `y` are the targets that the process was fitted to.
    ///
    /// With the residuals R of V and r of the weights w, the mean is `K(X*, X) w + V^T r`, and what the rows reduce the variance
    /// by is the diagonal of `V^T (K(X, X*) + R)`. Their errors are products of two residuals.
    ///
    /// # Errors
    /// [`Unsolved`], also where numbers are not finite.
    pub fn predict_exactly(
        &self,
        y: ArrayView1<f64>,
        x_star: ArrayView2<f64>,
    ) -> Result<(Array1<f64>, Array1<f64>), Unsolved> {
        let (n, m) = (y.len(), x_star.nrows());
        let mut covariances = Array2::zeros((n, m).f());
        covariances.assign(&self.op.cross_matrix(x_star));
        let v = conjugate_gradients(&self.op, &self.preconditioner, covariances.view(), FINE_TOLERANCE)?;
        let weights = self.solution.slice(ndarray::s![.., ..1]);
        let mut of_weights = Array2::zeros((n, 1).f());
        self.op.apply(weights, of_weights.view_mut());
        let residual = &y - &of_weights.column(0);
        let mut of_v = Array2::zeros((n, m).f());
        self.op.apply(v.view(), of_v.view_mut());
        let mean = covariances.t().dot(&weights.column(0)) + v.t().dot(&residual);
        let reduction = 2.0 * dots(&v, &covariances) - dots(&v, &of_v);
        Ok((mean, self.op.kernel().variance() - reduction))
    }
}

fn streams() -> Streams {
    Streams::new(0, &["iterative-gp"])
}

/// `P^-1` of `P = L L^T + noise^2 I`, L the pivoted Cholesky factor of K.
#[derive(Debug)]
struct Preconditioner {
    /// n x r; without columns where the noise is too small for P^-1 to be computed.
    l: Array2<f64>,
    /// Cholesky factor of `L^T L + noise^2 I`.
    inner: Array2<f64>,
    noise: f64,
}

impl Preconditioner {
    fn new(op: &KernelOperator, x: ArrayView2<f64>, noise_scale: f64) -> Self {
        let noise = noise_scale * noise_scale;
        let l = PivotedFactor::new(op, x, RANK).factor;
        match inner_factor(&l, noise) {
            Ok(inner) => Preconditioner { l, inner, noise },
            Err(_) => {
                Preconditioner { l: Array2::zeros((x.nrows(), 0)), inner: Array2::zeros((0, 0)), noise: 1.0 }
            }
        }
    }

    /// `(v - L (L^T L + noise^2 I)^-1 L^T v) / noise^2`.
    fn apply(&self, v: &Array2<f64>) -> Array2<f64> {
        if self.l.ncols() == 0 {
            return v / self.noise;
        }
        let mut inner = Array2::zeros((self.l.ncols(), v.ncols()).f());
        inner.assign(&self.l.t().dot(v));
        lapack::cholesky_solve(&self.inner, &mut inner).expect("shapes fit");
        (v - &self.l.dot(&inner)) / self.noise
    }
}

fn inner_factor(l: &Array2<f64>, noise: f64) -> Result<Array2<f64>, NotPositiveDefinite> {
    let mut inner = Array2::zeros((l.ncols(), l.ncols()).f());
    inner.assign(&l.t().dot(l));
    inner.diag_mut().mapv_inplace(|entry| entry + noise);
    lapack::cholesky(&mut inner).map_err(NotPositiveDefinite::of)?;
    Ok(inner)
}

/// Solves `H V = rhs`, each column with step lengths of its own.
fn conjugate_gradients(
    op: &KernelOperator,
    preconditioner: &Preconditioner,
    rhs: ArrayView2<f64>,
    tolerance: f64,
) -> Result<Array2<f64>, Unsolved> {
    let norms = |a: &Array2<f64>| dots(a, a).mapv(f64::sqrt);
    let mut v = Array2::zeros(rhs.dim().f());
    let mut residual = v.clone();
    residual.assign(&rhs);
    // A right-hand side of zeros needs no iterations.
    let scale = norms(&residual).mapv(|norm| if norm > 0.0 { norm } else { 1.0 });
    let mut direction = preconditioner.apply(&residual);
    let mut rz = dots(&residual, &direction);
    let mut product = v.clone();
    let mut largest = f64::INFINITY;
    for iteration in 0..=ITERATIONS {
        // `max` would ignore NaN.
        let relative = norms(&residual) / &scale;
        largest = relative.iter().fold(0.0, |a: f64, &b| if b > a || b.is_nan() { b } else { a });
        if largest <= tolerance {
            return Ok(v);
        }
        if !largest.is_finite() || iteration == ITERATIONS {
            return Err(Unsolved { residual: largest, iterations: iteration });
        }
        op.apply(direction.view(), product.view_mut());
        let alpha = ratio(&rz, &dots(&direction, &product));
        add_scaled(&mut v, &alpha, &direction);
        add_scaled(&mut residual, &-alpha, &product);
        let z = preconditioner.apply(&residual);
        let next = dots(&residual, &z);
        let beta = ratio(&next, &rz);
        direction *= &beta;
        direction += &z;
        rz = next;
    }
    Err(Unsolved { residual: largest, iterations: ITERATIONS })
}

/// One inner product per column.
fn dots(a: &Array2<f64>, b: &Array2<f64>) -> Array1<f64> {
    Zip::from(a.columns()).and(b.columns()).map_collect(|a, b| a.dot(&b))
}

/// `a / b`, or 0 where a column is solved and both are 0.
fn ratio(a: &Array1<f64>, b: &Array1<f64>) -> Array1<f64> {
    Zip::from(a).and(b).map_collect(|&a, &b| if a == 0.0 { 0.0 } else { a / b })
}

fn add_scaled(to: &mut Array2<f64>, factors: &Array1<f64>, from: &Array2<f64>) {
    for ((mut to, &factor), from) in to.columns_mut().into_iter().zip(factors).zip(from.columns()) {
        to.scaled_add(factor, &from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;
    use crate::exact::ExactGp;
    use crate::threads::thread_pool;

    #[test]
    fn means_are_exact_to_the_tolerance_and_variances_to_the_number_of_samples() {
        let streams = Streams::new(8, &[]);
        let (x, noise) = (streams.normals("x", 600, 2), streams.normals("noise", 600, 1));
        let y = x.column(0).mapv(|x| (2.0 * x).sin()) * 2.0 + noise.column(0).mapv(|e| 0.1 * e);
        let x_star = streams.normals("test", 100, 2);
        let kernel = Kernel::new(Family::Matern32, 1.5, &[0.8], 2);
        let exact = ExactGp::fit(&kernel, 0.1, x.view(), y.view(), 1).unwrap();
        let (mean, variance) = exact.predict(x_star.view());
        let fit = |threads| {
            let pool = thread_pool(threads).unwrap();
            IterativeGp::fit(&kernel, 0.1, x.view(), y.view(), &pool).unwrap().predict(x_star.view())
        };
        let (iterative_mean, iterative_variance) = fit(1);
        let error = (&iterative_mean - &mean).mapv(f64::abs);
        assert!(error.iter().all(|&e| e < 1e-2), "{error}");
        let ratio = (iterative_variance.clone() / &variance).mean().unwrap();
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
        assert_eq!(fit(3), (iterative_mean, iterative_variance));
        // Of a few rows, both are known much better.
        let pool = thread_pool(2).unwrap();
        let fitted = IterativeGp::fit(&kernel, 0.1, x.view(), y.view(), &pool).unwrap();
        let few = x_star.slice(ndarray::s![..10, ..]);
        let (few_mean, few_variance) = fitted.predict_exactly(y.view(), few).unwrap();
        for row in 0..10 {
            assert!((few_mean[row] - mean[row]).abs() < 1e-6, "{few_mean} {mean}");
            assert!((few_variance[row] / variance[row] - 1.0).abs() < 1e-6, "{few_variance} {variance}");
        }
    }

    #[test]
    fn a_system_that_is_too_hard_is_an_error() {
        let x = Streams::new(8, &[]).normals("x", 50, 1);
        let kernel = Kernel::new(Family::Rbf, 1.0, &[1.0], 1);
        let pool = thread_pool(1).unwrap();
        let y = Array1::from_elem(50, f64::NAN);
        assert!(IterativeGp::fit(&kernel, 0.1, x.view(), y.view(), &pool).unwrap_err().residual.is_nan());
    }
}
