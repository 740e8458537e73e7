//! Covariance functions with one length scale per input.
//!
//! Each family has a module with all its formulae, which implements [`Correlation`]. [`with_family!`] selects a family;
//! a new one is added to its list.

mod correlation;
mod matern12;
mod matern32;
mod matern52;
mod rbf;

use ndarray::{Array2, ArrayView1, ArrayView2};

pub(crate) use correlation::Correlation;
pub use gpbench_record::Family;
pub(crate) use matern12::Matern12;
pub(crate) use matern32::Matern32;
pub(crate) use matern52::Matern52;
pub(crate) use rbf::Rbf;

/// Evaluates an expression with a type name bound to the formulae of a family; the only place that lists them.
///
/// `with_family!(family, C => C::correlation(r2))`
macro_rules! with_family {
    ($family:expr, $formulae:ident => $value:expr) => {
        with_family!(@among [Rbf, Matern12, Matern32, Matern52], $family, $formulae => $value)
    };
    (@among [$($name:ident),*], $family:expr, $formulae:ident => $value:expr) => {
        match $family {
            $($crate::Family::$name => {
                type $formulae = $crate::kernel::$name;
                $value
            })*
        }
    };
}
pub(crate) use with_family;

/// A covariance function `s^2 k(x, z)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Correlation family.
    pub family: Family,
    /// Standard deviation `s` of the latent function.
    pub signal_scale: f64,
    /// One length scale per input.
    pub length_scale: Vec<f64>,
}

impl Kernel {
    /// A kernel over `d` inputs. A single length scale applies to all inputs.
    ///
    /// # Panics
    /// If `length_scale` has neither one entry nor `d`, or a scale is not positive.
    pub fn new(family: Family, signal_scale: f64, length_scale: &[f64], d: usize) -> Self {
        let length_scale = match length_scale {
            [shared] => vec![*shared; d],
            each => each.to_vec(),
        };
        assert_eq!(length_scale.len(), d, "one length scale per input");
        assert!(signal_scale > 0.0, "the signal scale is positive");
        assert!(length_scale.iter().all(|&l| l > 0.0), "length scales are positive");
        Kernel { family, signal_scale, length_scale }
    }

    /// Number of inputs.
    pub fn d(&self) -> usize {
        self.length_scale.len()
    }

    /// Variance at distance zero, `s^2`.
    pub fn variance(&self) -> f64 {
        self.signal_scale * self.signal_scale
    }

    /// Correlation at the squared scaled distance `r2`, to at most a few units in the last place.
    pub fn correlation(&self, r2: f64) -> f64 {
        with_family!(self.family, C => C::correlation(r2))
    }

    /// `-2 dk/d(r^2)` at the squared scaled distance `r2`, the factor by which a length scale
    /// enters: `dk/dl_k = slope (x_k - z_k)^2 / l_k^3`. For `matern12` it is infinite at 0, where
    /// the derivative itself is 0.
    pub fn slope(&self, r2: f64) -> f64 {
        with_family!(self.family, C => C::slope(r2))
    }

    /// Degrees of freedom of the spectral density, a multivariate Student t: twice the smoothness of a Matérn
    /// family. `None` for the squared exponential, whose spectral density is normal.
    pub fn spectral_degrees_of_freedom(&self) -> Option<f64> {
        with_family!(self.family, C => C::SPECTRAL_DEGREES_OF_FREEDOM)
    }

    /// Whether distances may be taken from products of coordinates, see [`Correlation::IS_SMOOTH_AT_ZERO`].
    pub(crate) fn is_smooth_at_zero(&self) -> bool {
        with_family!(self.family, C => C::IS_SMOOTH_AT_ZERO)
    }

    /// `s^2 k(x, z)` for all rows of `x` (n x d) and `z` (m x d), from differences of coordinates, one entry at a
    /// time: for small matrices, and as the reference for faster code.
    pub fn matrix(&self, x: ArrayView2<f64>, z: ArrayView2<f64>) -> Array2<f64> {
        assert_eq!(
            (x.ncols(), z.ncols()),
            (self.d(), self.d()),
            "inputs have as many columns as length scales"
        );
        Array2::from_shape_fn((x.nrows(), z.nrows()), |(i, j)| {
            self.variance() * self.correlation(self.squared_distance(x.row(i), z.row(j)))
        })
    }

    /// Derivative of [`Kernel::matrix`] by the signal scale.
    pub fn matrix_by_signal_scale(&self, x: ArrayView2<f64>, z: ArrayView2<f64>) -> Array2<f64> {
        self.matrix(x, z) * (2.0 / self.signal_scale)
    }

    /// Derivative of [`Kernel::matrix`] by the length scale of input `k`.
    pub fn matrix_by_length_scale(&self, k: usize, x: ArrayView2<f64>, z: ArrayView2<f64>) -> Array2<f64> {
        Array2::from_shape_fn((x.nrows(), z.nrows()), |(i, j)| {
            let difference = x[(i, k)] - z[(j, k)];
            if difference == 0.0 {
                return 0.0;
            }
            let slope = self.slope(self.squared_distance(x.row(i), z.row(j)));
            self.variance() * slope * difference * difference / self.length_scale[k].powi(3)
        })
    }

    /// Squared scaled distance of two points, from differences of coordinates.
    fn squared_distance(&self, x: ArrayView1<f64>, z: ArrayView1<f64>) -> f64 {
        let scaled = self.length_scale.iter().enumerate().map(|(k, length)| (x[k] - z[k]) / length);
        scaled.map(|difference| difference * difference).sum()
    }
}
