//! Random Fourier features: a finite-dimensional prior whose covariance approximates the kernel.
//!
//! `phi(x) = s / sqrt(m / 2) [sin(x/l . omega_1) .., cos(x/l . omega_1) ..]` with
//! `m / 2` frequency vectors from the kernel's spectral density (Rahimi and
//! Recht 2007; Sutherland and Schneider 2015 for the paired form).
//!
//! The spectral density of a Matérn kernel of smoothness `nu` is a multivariate Student t with `2 nu` degrees of
//! freedom: all components of a frequency vector share one chi-square number. Independent components belong to
//! another kernel, a product of one-dimensional Matérn kernels; early public code drew those, and
//! [`Frequencies::ProductT`] reproduces it.

use gpbench_numerics::Pool;
use gpbench_record::Frequencies;
use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2, ShapeBuilder, s};
use rand::{Rng, RngExt};
use rand_distr::{ChiSquared, StandardNormal};

use crate::threads::Here;
use crate::{Kernel, blas, sin_cos};

/// A set of random features of one kernel.
#[derive(Debug, Clone)]
pub struct RandomFeatures {
    kernel: Kernel,
    /// d x (m / 2), for inputs in units of the length scales.
    omega: Array2<f64>,
}

/// Rows of a block of features.
const ROWS: usize = 256;

/// Number of stripes of rows in the sums of [`FeatureRows::apply_transposed`], for any number of threads.
const STRIPES: usize = 64;

impl RandomFeatures {
    /// Draws `count` features from `count / 2` frequency vectors, one vector after the other.
    ///
    /// # Panics
    /// If `count` is odd or 0.
    pub fn draw(kernel: &Kernel, law: Frequencies, count: usize, rng: &mut impl Rng) -> Self {
        assert!(count > 0 && count.is_multiple_of(2), "features come in pairs of a sine and a cosine");
        let mut omega = Array2::zeros((kernel.d(), count / 2).f());
        for mut frequency in omega.columns_mut() {
            frequency.iter_mut().for_each(|component| *component = rng.sample(StandardNormal));
            if let Some(freedom) = kernel.spectral_degrees_of_freedom() {
                let chi_squared = ChiSquared::new(freedom).expect("degrees of freedom are positive");
                match law {
                    Frequencies::MultivariateT => frequency *= (freedom / rng.sample(chi_squared)).sqrt(),
                    Frequencies::ProductT => {
                        frequency.iter_mut().for_each(|component| {
                            *component *= (freedom / rng.sample(chi_squared)).sqrt();
                        });
                    }
                }
            }
        }
        Self::from_omega(kernel, omega)
    }

    /// Features with given frequencies, d x (m / 2), for inputs in units of the length scales.
    pub fn from_omega(kernel: &Kernel, omega: Array2<f64>) -> Self {
        assert_eq!(omega.nrows(), kernel.d(), "a frequency vector has one component per input");
        blas::start_single_threaded();
        RandomFeatures { kernel: kernel.clone(), omega }
    }

    /// The approximated kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The frequencies, d x (m / 2), for inputs in units of the length scales.
    pub fn omega(&self) -> ArrayView2<'_, f64> {
        self.omega.view()
    }

    /// The features of the first `count / 2` frequency vectors, scaled to approximate the kernel.
    ///
    /// # Panics
    /// If `count` is odd, 0, or larger than [`Self::count`].
    #[must_use]
    pub fn first(&self, count: usize) -> RandomFeatures {
        assert!(count > 0 && count.is_multiple_of(2), "features come in pairs of a sine and a cosine");
        RandomFeatures {
            kernel: self.kernel.clone(),
            omega: self.omega.slice(s![.., ..count / 2]).to_owned(),
        }
    }

    /// Number of features `m`.
    pub fn count(&self) -> usize {
        2 * self.omega.ncols()
    }

    /// Features of the rows of `x` (n x d): n x m, sines before cosines.
    pub fn matrix(&self, x: ArrayView2<f64>) -> Array2<f64> {
        let mut phi = Array2::default((0, 0));
        self.evaluate_block(x, &mut phi);
        phi
    }

    /// Replaces `blocks` by the features of the rows of `x`, in the blocks of [`FeatureRows::Kept`], on the rayon pool
    /// of the caller. Memory of blocks of the same shape is used again.
    pub fn evaluate(&self, x: ArrayView2<f64>, blocks: &mut Vec<Array2<f64>>) {
        blocks.resize_with(x.nrows().div_ceil(ROWS), || Array2::default((0, 0)));
        let parts = x.axis_chunks_iter(Axis(0), ROWS);
        Here.for_each(blocks.iter_mut().zip(parts), |(block, x)| self.evaluate_block(x, block));
    }

    /// `phi(x)` in place of `phi`, whatever its shape was.
    fn evaluate_block(&self, x: ArrayView2<f64>, phi: &mut Array2<f64>) {
        let mut scaled = x.to_owned();
        for (mut column, length) in scaled.columns_mut().into_iter().zip(&self.kernel.length_scale) {
            column /= *length;
        }
        let pairs = self.omega.ncols();
        if phi.dim() != (x.nrows(), 2 * pairs) {
            *phi = Array2::zeros((x.nrows(), 2 * pairs).f());
        }
        let (mut sines, mut cosines) = phi.view_mut().split_at(Axis(1), pairs);
        general_mat_mul(1.0, &scaled, &self.omega, 0.0, &mut sines);
        let scale = self.kernel.signal_scale / (pairs as f64).sqrt();
        for (mut sines, mut cosines) in sines.columns_mut().into_iter().zip(cosines.columns_mut()) {
            let columns = sines.as_slice_mut().zip(cosines.as_slice_mut());
            let (sines, cosines) = columns.expect("columns of a column-major array are contiguous");
            sin_cos::sines_and_cosines(sines, cosines, scale);
        }
    }

    /// `phi(x) w` for weights `w` (m x s): n x s, on the rayon pool of the caller.
    pub fn apply(&self, x: ArrayView2<f64>, w: ArrayView2<f64>) -> Array2<f64> {
        FeatureRows::Evaluated(self, x).apply(w)
    }

    /// `||phi phi^T - K||_F / ||K||_F` over the rows of `x`: the relative error of the prior covariance. Takes the
    /// memory and time of a dense kernel matrix.
    pub fn relative_error(&self, x: ArrayView2<f64>) -> f64 {
        let phi = self.matrix(x);
        let exact = self.kernel.matrix(x, x);
        let difference = phi.dot(&phi.t()) - &exact;
        frobenius(&difference) / frobenius(&exact)
    }
}

/// The features of n points for products, in blocks of rows. Results are the same for both.
#[derive(Debug, Clone, Copy)]
pub enum FeatureRows<'a> {
    /// Blocks that [`RandomFeatures::evaluate`] has filled.
    Kept(&'a [Array2<f64>]),
    /// The features of points, n x d, whose blocks are evaluated in each product.
    Evaluated(&'a RandomFeatures, ArrayView2<'a, f64>),
}

impl FeatureRows<'_> {
    /// Number of points n, and number of features m.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            FeatureRows::Kept(blocks) => {
                (blocks.iter().map(Array2::nrows).sum(), blocks.first().map_or(0, Array2::ncols))
            }
            FeatureRows::Evaluated(features, x) => (x.nrows(), features.count()),
        }
    }

    /// `phi(x) w` for weights `w` (m x s): n x s, on the rayon pool of the caller.
    ///
    /// # Panics
    /// If `w` does not have one row a feature.
    pub fn apply(&self, w: ArrayView2<f64>) -> Array2<f64> {
        let (n, count) = self.shape();
        assert_eq!(w.nrows(), count, "one weight per feature");
        let mut out = Array2::zeros((n, w.ncols()).f());
        let parts = out.axis_chunks_iter_mut(Axis(0), ROWS);
        Here.for_each(parts.enumerate(), |(block, mut part)| {
            add_product(self.block(block).view(), w, &mut part);
        });
        out
    }

    /// `phi(x)^T y` for `y` (n x s): m x s, on the rayon pool of the caller, summed over fixed stripes of rows in a
    /// fixed order.
    ///
    /// # Panics
    /// If `y` does not have one row a point.
    pub fn apply_transposed(&self, y: ArrayView2<f64>) -> Array2<f64> {
        let (n, count) = self.shape();
        assert_eq!(n, y.nrows(), "one row of values per row of inputs");
        let values: Vec<_> = y.axis_chunks_iter(Axis(0), ROWS).enumerate().collect();
        let sums = Here.map(values.chunks(values.len().div_ceil(STRIPES).max(1)), |stripe| {
            let mut sum = Array2::<f64>::zeros((count, y.ncols()).f());
            for &(block, y) in stripe {
                add_product(self.block(block).t(), y, &mut sum.view_mut());
            }
            sum
        });
        let mut total = Array2::zeros((count, y.ncols()).f());
        sums.iter().for_each(|sum| total += sum);
        total
    }

    /// The features of the points of a block.
    fn block(&self, block: usize) -> CowArray<'_, f64, Ix2> {
        match self {
            FeatureRows::Kept(blocks) => CowArray::from(&blocks[block]),
            FeatureRows::Evaluated(features, x) => {
                let rows = block * ROWS..x.nrows().min((block + 1) * ROWS);
                CowArray::from(features.matrix(x.slice(s![rows, ..])))
            }
        }
    }
}

/// Up to this many right-hand sides a product goes column by column: BLAS packs both factors of a matrix product,
/// which is slower for few columns.
const THIN: usize = 3;

/// `out += a b`.
fn add_product(a: ArrayView2<f64>, b: ArrayView2<f64>, out: &mut ArrayViewMut2<f64>) {
    if b.ncols() <= THIN {
        for (column, mut out) in b.columns().into_iter().zip(out.columns_mut()) {
            general_mat_vec_mul(1.0, &a, &column, 1.0, &mut out);
        }
    } else {
        general_mat_mul(1.0, &a, &b, 1.0, out);
    }
}

fn frobenius(a: &Array2<f64>) -> f64 {
    a.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, seed};

    fn line(n: usize, d: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, d), |(i, k)| ((i * (3 + k)) % n) as f64 / n as f64)
    }

    #[test]
    fn many_features_come_close_to_each_kernel() {
        let x = line(40, 3);
        for family in Family::ALL {
            let kernel = Kernel::new(family, 1.3, &[0.7], 3);
            let rng = &mut seed::stream(1, &["features"]);
            let features = RandomFeatures::draw(&kernel, Frequencies::MultivariateT, 20_000, rng);
            let error = features.relative_error(x.view());
            assert!(error < 0.02, "{family}: {error}");
        }
    }

    #[test]
    fn independent_components_belong_to_another_kernel() {
        let x = line(40, 3);
        let kernel = Kernel::new(Family::Matern12, 1.0, &[0.7], 3);
        let rng = &mut seed::stream(1, &["features"]);
        let product = RandomFeatures::draw(&kernel, Frequencies::ProductT, 20_000, rng);
        assert!(product.relative_error(x.view()) > 0.05);
    }

    #[test]
    fn products_in_blocks_are_those_of_the_matrix_whether_blocks_are_kept_or_not() {
        let x = line(601, 2);
        let kernel = Kernel::new(Family::Matern52, 0.5, &[0.3, 2.0], 2);
        let draw =
            |seed| RandomFeatures::draw(&kernel, Frequencies::default(), 30, &mut seed::stream(seed, &[]));
        let features = draw(2);
        let streams = seed::Streams::new(2, &[]);
        let (w, y) = (streams.normals("weights", 30, 3), streams.normals("values", 601, 3));
        let mut blocks = Vec::new();
        // Blocks of other features and of fewer points are replaced.
        draw(3).evaluate(x.slice(s![..300, ..]), &mut blocks);
        features.evaluate(x.view(), &mut blocks);
        let (kept, evaluated) = (FeatureRows::Kept(&blocks), FeatureRows::Evaluated(&features, x.view()));
        let whole = features.matrix(x.view());
        assert!((kept.apply(w.view()) - whole.dot(&w)).iter().all(|e| e.abs() < 1e-13));
        assert!((kept.apply_transposed(y.view()) - whole.t().dot(&y)).iter().all(|e| e.abs() < 1e-12));
        assert_eq!(kept.apply(w.view()), evaluated.apply(w.view()));
        assert_eq!(kept.apply_transposed(y.view()), evaluated.apply_transposed(y.view()));
    }
}
