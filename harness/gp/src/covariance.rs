//! Covariance functions of learners: stationary, or linear.

use ndarray::{Array1, ArrayView2, Axis};

use crate::Kernel;

/// A covariance function. Solvers know the stationary ones only, so the linear one is not a [`Kernel`].
#[derive(Debug, Clone, PartialEq)]
pub enum Covariance {
    /// A function of the scaled distance.
    Stationary(Kernel),
    /// `s^2 x^T z`.
    Linear {
        /// `s`.
        signal_scale: f64,
    },
}

impl Covariance {
    /// `k(x, x)` for each row of `x`.
    pub fn diagonal(&self, x: ArrayView2<f64>) -> Array1<f64> {
        match self {
            Covariance::Stationary(kernel) => Array1::from_elem(x.nrows(), kernel.variance()),
            Covariance::Linear { signal_scale } => {
                x.map_axis(Axis(1), |row| signal_scale * signal_scale * row.dot(&row))
            }
        }
    }
}
