//! Random Fourier features of the RBF kernel, with their pull-back (Rahimi and Recht 2007).
//!
//! phi(z) = signal_scale / sqrt(R/2) [sin(a), cos(a)], a = z frequencies / length_scale, with standard normal
//! frequencies, d x R/2, drawn once.

use ndarray::{Array2, ArrayRef2, ArrayView2};

use crate::{Result, Workers};

/// The frequencies of random features.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomFeatures {
    frequencies: Array2<f64>,
}

/// The features of a batch: what [`RandomFeatures::pull_back`] needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    angles: Array2<f64>,
    features: Array2<f64>,
    length_scale: f64,
}

/// Derivatives by what random features are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomGradient {
    /// By the logarithm of the signal scale.
    pub log_signal_scale: f64,
    /// By the logarithm of the length scale.
    pub log_length_scale: f64,
    /// By the points, b x d.
    pub points: Array2<f64>,
}

impl Evaluated {
    /// The features, b x R, row-major: sines, then cosines.
    pub fn features(&self) -> ArrayView2<'_, f64> {
        todo!()
    }
}

impl RandomFeatures {
    /// `features` features, sines and cosines together, of points with `inputs` coordinates.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) if `features` is odd or 0, or there are no inputs.
    pub fn new(inputs: usize, features: usize, seed: u64) -> Result<RandomFeatures> {
        todo!()
    }

    /// Features of given frequencies, d x R/2, as from a saved state.
    pub fn with_frequencies(frequencies: Array2<f64>) -> RandomFeatures {
        todo!()
    }

    /// The frequencies, d x R/2.
    pub fn frequencies(&self) -> ArrayView2<'_, f64> {
        todo!()
    }

    /// Number of features R.
    pub fn count(&self) -> usize {
        todo!()
    }

    /// The features of the rows of `points`, b x d.
    pub fn evaluate(
        &self,
        points: &ArrayRef2<f64>,
        signal_scale: f64,
        length_scale: f64,
        workers: Workers<'_>,
    ) -> Evaluated {
        todo!()
    }

    /// Derivatives where those by the features are `cotangent`, b x R.
    pub fn pull_back(
        &self,
        evaluated: &Evaluated,
        cotangent: &ArrayRef2<f64>,
        workers: Workers<'_>,
    ) -> RandomGradient {
        todo!()
    }
}
