//! The posterior of a data set with one input, along that input.

use serde::{Deserialize, Serialize};

/// Predictions on a grid of inputs, for the figure of a one-dimensional posterior.
///
/// For plotting: all values are in units of the standardised data and rounded to six digits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Curve {
    /// Inputs, increasing and equally spaced.
    pub x: Vec<f64>,
    /// Predictive mean.
    pub mean: Vec<f64>,
    /// Standard deviation of the latent function, from the samples; empty where there are none.
    pub deviation: Vec<f64>,
    /// A few posterior samples of the latent function.
    pub samples: Vec<Vec<f64>>,
    /// Mean of the exact Gaussian process; empty where there is no exact reference.
    pub exact_mean: Vec<f64>,
    /// Standard deviation of the exact latent function; empty where there is no exact reference.
    pub exact_deviation: Vec<f64>,
    /// 2-Wasserstein distance of the latent marginals to the exact ones; empty without those or
    /// without samples.
    pub w2: Vec<f64>,
    /// Smallest and largest training input.
    pub range: [f64; 2],
    /// Some of the training rows, as input and target, in the order of the inputs.
    pub rows: Vec<[f64; 2]>,
    /// The kernel matrix's spectrum; absent without an exact reference, or where the kernel is too
    /// rough for the number of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<SpectralBasis>,
}

/// Eigenvalues of a kernel matrix, and spectral basis functions (Lin et al. 2023, section 3.4).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SpectralBasis {
    /// Eigenvalues by their index, which counts from 1 at the largest: the first ones all, later ones thinned.
    pub eigenvalues: Vec<(usize, f64)>,
    /// Spectral basis functions on [`Curve::x`], by index.
    pub functions: Vec<(usize, Vec<f64>)>,
}
