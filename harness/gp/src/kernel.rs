//! Covariance functions with one length scale per input.

use std::fmt;
use std::str::FromStr;

use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::tile::{Correlation, Matern12, Matern32, Matern52, Rbf};

/// A stationary covariance family, as a function of the scaled distance
/// `r^2 = sum_k ((x_k - z_k) / l_k)^2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Squared exponential: `exp(-r^2 / 2)`.
    Rbf,
    /// Matérn with smoothness 1/2: `exp(-r)`.
    Matern12,
    /// Matérn with smoothness 3/2: `(1 + a) exp(-a)`, `a = sqrt(3) r`.
    Matern32,
    /// Matérn with smoothness 5/2: `(1 + a + a^2 / 3) exp(-a)`, `a = sqrt(5) r`.
    Matern52,
}

impl Family {
    /// Every family, roughest last.
    pub const ALL: [Family; 4] = [Family::Rbf, Family::Matern52, Family::Matern32, Family::Matern12];

    /// Correlation at the squared scaled distance `r2`, to at most a few units
    /// in the last place.
    pub fn correlation(self, r2: f64) -> f64 {
        match self {
            Family::Rbf => Rbf::at(r2),
            Family::Matern12 => Matern12::at(r2),
            Family::Matern32 => Matern32::at(r2),
            Family::Matern52 => Matern52::at(r2),
        }
    }

    /// `-2 dk/d(r^2)` at the squared scaled distance `r2`, the factor by which a length scale
    /// enters: `dk/dl_k = slope (x_k - z_k)^2 / l_k^3`. For `matern12` it is infinite at 0, where
    /// the derivative itself is 0.
    pub fn slope(self, r2: f64) -> f64 {
        match self {
            Family::Rbf => Rbf::at(r2),
            Family::Matern12 => Matern12::at(r2) / r2.sqrt(),
            Family::Matern32 => 3.0 * (-(3.0 * r2).sqrt()).exp(),
            Family::Matern52 => {
                let a = (5.0 * r2).sqrt();
                5.0 / 3.0 * (1.0 + a) * (-a).exp()
            }
        }
    }

    /// Twice the smoothness of a Matérn family: the degrees of freedom of its
    /// spectral density, a multivariate Student t. `None` for the squared
    /// exponential, whose spectrum is normal.
    pub fn spectral_degrees_of_freedom(self) -> Option<f64> {
        match self {
            Family::Rbf => None,
            Family::Matern12 => Some(1.0),
            Family::Matern32 => Some(3.0),
            Family::Matern52 => Some(5.0),
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Rbf => "rbf",
            Family::Matern12 => "matern12",
            Family::Matern32 => "matern32",
            Family::Matern52 => "matern52",
        })
    }
}

/// The name of a kernel family that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kernel family `{name}`; known are rbf, matern12, matern32, matern52")]
pub struct UnknownFamily {
    /// The name as given.
    pub name: String,
}

impl FromStr for Family {
    type Err = UnknownFamily;

    fn from_str(name: &str) -> Result<Self, UnknownFamily> {
        Family::ALL
            .into_iter()
            .find(|family| family.to_string() == name)
            .ok_or_else(|| UnknownFamily { name: name.to_owned() })
    }
}

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
    /// A kernel over `d` inputs. A single length scale is shared by all inputs.
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

    /// `s^2 k(x, z)` for all rows of `x` (n x d) and `z` (m x d), from direct
    /// differences and one entry at a time: the plain definition, for small
    /// matrices and as the yardstick of faster code.
    pub fn matrix(&self, x: ArrayView2<f64>, z: ArrayView2<f64>) -> Array2<f64> {
        assert_eq!(
            (x.ncols(), z.ncols()),
            (self.d(), self.d()),
            "inputs have as many columns as length scales"
        );
        Array2::from_shape_fn((x.nrows(), z.nrows()), |(i, j)| {
            self.variance() * self.family.correlation(self.squared_distance(x.row(i), z.row(j)))
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
            let slope = self.family.slope(self.squared_distance(x.row(i), z.row(j)));
            self.variance() * slope * difference * difference / self.length_scale[k].powi(3)
        })
    }

    /// Squared scaled distance of two points, from direct differences.
    fn squared_distance(&self, x: ArrayView1<f64>, z: ArrayView1<f64>) -> f64 {
        let scaled = self.length_scale.iter().enumerate().map(|(k, length)| (x[k] - z[k]) / length);
        scaled.map(|difference| difference * difference).sum()
    }
}
