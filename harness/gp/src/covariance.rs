//! Covariance functions of learners: stationary, or linear.

use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::Kernel;

/// A covariance function. Solvers know the stationary ones only, so the linear one is not a [`Kernel`].
#[derive(Debug, Clone, PartialEq)]
pub enum CovarianceFunction {
    /// A function of the scaled distance.
    Stationary(Kernel),
    /// The inner product of scaled inputs.
    Linear(Linear),
}

/// `k(x, z) = sum over inputs k of (c_k x_k) (c_k z_k)`, with `c_k = s / l_k`.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// c, one factor per input.
    factors: Array1<f64>,
}

impl Linear {
    /// The kernel over `d` inputs. A single length scale applies to all inputs.
    ///
    /// # Panics
    /// If `length_scale` has neither one entry nor `d`.
    pub fn new(signal_scale: f64, length_scale: &[f64], d: usize) -> Linear {
        let factors = match length_scale {
            [shared] => Array1::from_elem(d, signal_scale / shared),
            each => each.iter().map(|length| signal_scale / length).collect(),
        };
        assert_eq!(factors.len(), d, "one length scale per input");
        Linear { factors }
    }

    /// Number of inputs, which equals the number of features.
    pub fn d(&self) -> usize {
        self.factors.len()
    }

    /// The features of the rows of `x`, `c_k x_k`.
    pub fn features(&self, x: ArrayView2<f64>) -> Array2<f64> {
        &x * &self.factors
    }
}

impl CovarianceFunction {
    /// `k(x, x)` for each row of `x`.
    pub fn diagonal(&self, x: ArrayView2<f64>) -> Array1<f64> {
        match self {
            CovarianceFunction::Stationary(kernel) => Array1::from_elem(x.nrows(), kernel.variance()),
            CovarianceFunction::Linear(linear) => linear.features(x).map_axis(Axis(1), |row| row.dot(&row)),
        }
    }
}
