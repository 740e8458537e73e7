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
pub struct ExpertProduct {
    combine: Combination,
    /// Sums of w / v, and of w m / v.
    precision: Array1<f64>,
    weighted_mean: Array1<f64>,
    /// Sums of w s^2, and of w.
    noise: f64,
    weight: f64,
}

impl ExpertProduct {
    /// A product without experts, for the predictions of so many rows.
    pub fn new(combine: Combination, rows: usize) -> ExpertProduct {
        let zeros = Array1::zeros(rows);
        ExpertProduct { combine, precision: zeros.clone(), weighted_mean: zeros, noise: 0.0, weight: 0.0 }
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

#[cfg(test)]
mod tests {
    use gpbench_sdk::ndarray::array;

    use super::*;

    #[test]
    fn equal_experts_are_one() {
        for combine in [Combination::Observed, Combination::Latent] {
            let mut product = ExpertProduct::new(combine, 2);
            (0..3).for_each(|_| product.add(1.0 / 3.0, &array![1.0, -2.0], &array![0.5, 0.1], 0.25));
            let (mean, variance) = product.predict();
            assert!((mean - array![1.0, -2.0]).iter().all(|gap| gap.abs() < 1e-14));
            assert!((variance - array![0.75, 0.35]).iter().all(|gap| gap.abs() < 1e-14));
        }
    }

    #[test]
    fn a_sure_expert_counts_more() {
        let mut product = ExpertProduct::new(Combination::Latent, 1);
        product.add(0.5, &array![1.0], &array![0.1], 0.2);
        product.add(0.5, &array![2.0], &array![0.4], 0.6);
        let (mean, variance) = product.predict();
        // 1/v = 5 + 1.25 = 6.25, mean = (5 + 2.5) / 6.25; the noise is 0.4.
        assert!((mean[0] - 1.2).abs() < 1e-14 && (variance[0] - 0.56).abs() < 1e-14, "{mean} {variance}");
    }
}
