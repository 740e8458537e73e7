//! The part of the likelihood that is a sum over rows.

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, Axis};

/// An unbiased estimate, from a minibatch S, of
///
/// ```text
/// g(w, Phi, s^2) = |Phi w - r|^2 / s^2 + |w|^2 + (n - D) log s^2
/// ```
///
/// for targets r without their mean, and its gradient. With c = n / |S| and e = Phi_S w - r_S it is c |e|^2 / s^2 + |w|^2
/// + (n - D) log s^2. At the minimum by w, g + log|F| + n log 2 pi is twice the negative log marginal likelihood.
#[derive(Debug, Clone)]
pub struct DataTerm {
    /// The estimate.
    pub value: f64,
    /// By the batch's features, |S| x D: (2c / s^2) e w^T.
    pub by_features: Array2<f64>,
    /// By the weights, D: (2c / s^2) Phi_S^T e + 2 w.
    pub by_weights: Array1<f64>,
    /// By s^2: -c |e|^2 / s^4 + (n - D) / s^2.
    pub by_noise_variance: f64,
    /// By a constant that is added to every target's mean: (2c / s^2) sum e.
    pub by_mean: f64,
}

impl DataTerm {
    /// The estimate from features Phi_S and targets r_S of a batch out of `n` rows.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub fn new(
        n: usize,
        features: &ArrayRef2<f64>,
        targets: &ArrayRef1<f64>,
        weights: &ArrayRef1<f64>,
        noise_variance: f64,
    ) -> DataTerm {
        let error = features.dot(weights) - targets;
        let scale = n as f64 / features.nrows() as f64;
        let free = n as f64 - features.ncols() as f64;
        let squares = scale * error.dot(&error);
        let pull = &error * (2.0 * scale / noise_variance);
        DataTerm {
            value: squares / noise_variance + weights.dot(weights) + free * noise_variance.ln(),
            by_features: pull.view().insert_axis(Axis(1)).dot(&weights.view().insert_axis(Axis(0))),
            by_weights: features.t().dot(&pull) + weights * 2.0,
            by_noise_variance: (free - squares / noise_variance) / noise_variance,
            by_mean: pull.sum(),
        }
    }
}
