//! Predictions of all experts, combined with exponents that sum to 1.
//!
//! With mean m_e, variance v_e and weight w_e of expert e:
//!
//! ```text
//! 1 / v = sum of w_e / v_e,   mean = v sum of w_e m_e / v_e
//! ```

use gpbench_sdk::ndarray::{Array1, ArrayRef1, Zip};

use crate::Combination;

/// A product to which experts are added one after the other.
#[derive(Debug, Clone)]
pub struct Product {
    combine: Combination,
    /// Sums of w / v, and of w m / v.
    precision: Array1<f64>,
    weighted_mean: Array1<f64>,
    /// Sums of w s^2, and of w.
    noise: f64,
    weight: f64,
}

impl Product {
    /// A product without experts, for the predictions of so many rows.
    pub fn new(combine: Combination, rows: usize) -> Product {
        let zeros = Array1::zeros(rows);
        Product { combine, precision: zeros.clone(), weighted_mean: zeros, noise: 0.0, weight: 0.0 }
    }

    /// Adds an expert, with the means and variances of its latent function.
    pub fn add(&mut self, weight: f64, mean: &ArrayRef1<f64>, latent: &ArrayRef1<f64>, noise_variance: f64) {
        let added = if self.combine == Combination::Observed { noise_variance } else { 0.0 };
        let sums = Zip::from(&mut self.precision).and(&mut self.weighted_mean);
        sums.and(mean).and(latent).for_each(|precision, weighted_mean, mean, latent| {
            let share = weight / (latent + added);
            *precision += share;
            *weighted_mean += share * mean;
        });
        self.noise += weight * noise_variance;
        self.weight += weight;
    }

    /// Means and variances of y.
    pub fn predict(self) -> (Array1<f64>, Array1<f64>) {
        let added = if self.combine == Combination::Latent { self.noise / self.weight } else { 0.0 };
        (self.weighted_mean / &self.precision, self.precision.mapv(f64::recip) + added)
    }
}
