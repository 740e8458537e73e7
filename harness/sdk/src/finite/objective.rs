//! Objectives of a batch, with their derivatives.

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, Axis};

/// An objective's value for a batch of b rows, and its derivatives, for a process with D features.
#[derive(Debug, Clone)]
pub struct Objective {
    /// The value.
    pub value: f64,
    /// Derivatives by the batch's features, b x D.
    pub by_features: Array2<f64>,
    /// Derivatives by the weights, D; empty where the objective has none.
    pub by_weights: Array1<f64>,
    /// Derivative by the noise variance s^2.
    pub by_noise_variance: f64,
    /// Derivative by the constant mean.
    pub by_mean: f64,
}

impl Objective {
    /// The part of the likelihood that is a sum over rows, with weights w:
    ///
    /// ```text
    /// g(w, Phi, s^2) = |Phi w - r|^2 / s^2 + |w|^2 + (n - D) log s^2
    /// ```
    ///
    /// where r are the targets without their mean. At the minimum by w, g + log|F| + n log 2 pi is twice the negative log
    /// marginal likelihood of all n rows.
    ///
    /// From the features and targets of a minibatch S out of `n` rows, this is an unbiased estimate: with c = n / |S| and
    /// e = Phi_S w - r_S,
    ///
    /// ```text
    /// value   c |e|^2 / s^2 + |w|^2 + (n - D) log s^2
    /// by Phi_S  (2c / s^2) e w^T          by s^2   -c |e|^2 / s^4 + (n - D) / s^2
    /// by w      (2c / s^2) Phi_S^T e + 2 w     by the mean   (2c / s^2) sum e
    /// ```
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub fn of_rows(
        n: usize,
        features: &ArrayRef2<f64>,
        targets: &ArrayRef1<f64>,
        weights: &ArrayRef1<f64>,
        noise_variance: f64,
    ) -> Objective {
        let error = features.dot(weights) - targets;
        let scale = n as f64 / features.nrows() as f64;
        let free = n as f64 - features.ncols() as f64;
        let squares = scale * error.dot(&error);
        let pull = &error * (2.0 * scale / noise_variance);
        Objective {
            value: squares / noise_variance + weights.dot(weights) + free * noise_variance.ln(),
            by_features: pull.view().insert_axis(Axis(1)).dot(&weights.view().insert_axis(Axis(0))),
            by_weights: features.t().dot(&pull) + weights.to_owned() * 2.0,
            by_noise_variance: (free - squares / noise_variance) / noise_variance,
            by_mean: pull.sum(),
        }
    }

    /// Adds a term that depends on features and noise only.
    pub fn add(&mut self, value: f64, by_features: &Array2<f64>, by_noise_variance: f64) {
        self.value += value;
        self.by_features += by_features;
        self.by_noise_variance += by_noise_variance;
    }
}
