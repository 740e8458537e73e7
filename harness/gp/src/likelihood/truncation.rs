//! The number of terms of a truncated series.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The distribution of the number of terms, which is at most n.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truncation {
    /// A fixed number.
    Fixed {
        /// Number of terms.
        terms: usize,
    },
    /// Drawn from `P(J) ~ exp(-rate J)` for J from `min` to n (Potapczynski et al. 2021, equation 17).
    Random {
        /// Smallest number of terms.
        min: usize,
        /// Rate at which the probability decreases, at least 0.
        rate: f64,
        /// Seed of the draws.
        seed: u64,
    },
}

impl Truncation {
    /// The number of terms that every draw has.
    pub(super) fn fixed_terms(&self, n: usize) -> usize {
        match *self {
            Truncation::Fixed { terms } | Truncation::Random { min: terms, .. } => terms.clamp(1, n),
        }
    }

    /// The probability of `j` terms or more.
    pub(super) fn survival(&self, j: usize, n: usize) -> f64 {
        let fixed = self.fixed_terms(n);
        match *self {
            _ if j <= fixed => 1.0,
            Truncation::Random { rate, .. } if j <= n => {
                tail(rate, n - j + 1) / tail(rate, n - fixed + 1) * (-rate * (j - fixed) as f64).exp()
            }
            _ => 0.0,
        }
    }

    /// The number of terms of draw `draw`: the largest j whose survival is at least u, with u uniform on (0, 1]
    /// from a separate stream for each draw.
    pub(super) fn draw(&self, draw: usize, n: usize) -> usize {
        let fixed = self.fixed_terms(n);
        let Truncation::Random { seed, .. } = *self else { return fixed };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(draw as u64);
        let u = 1.0 - rng.random::<f64>();
        let more: Vec<usize> = (fixed + 1..=n).collect();
        fixed + more.partition_point(|&j| self.survival(j, n) >= u)
    }
}

/// The sum of `count` terms of `1 + exp(-rate) + exp(-2 rate) ...`, as a share of the infinite sum if that is finite.
fn tail(rate: f64, count: usize) -> f64 {
    if rate > 0.0 { -(-rate * count as f64).exp_m1() } else { count as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survival_is_the_sum_of_the_probabilities() {
        for rate in [0.0, 0.05, 2.0] {
            let truncation = Truncation::Random { min: 4, rate, seed: 1 };
            let weights: Vec<f64> = (4..=30).map(|j| (-rate * f64::from(j)).exp()).collect();
            let total: f64 = weights.iter().sum();
            for j in 4..=30 {
                let expected = weights[j - 4..].iter().sum::<f64>() / total;
                assert!((truncation.survival(j, 30) / expected - 1.0).abs() < 1e-12, "{rate} {j}");
            }
            assert_eq!([1, 3, 31].map(|j| truncation.survival(j, 30)), [1.0, 1.0, 0.0]);
        }
    }

    #[test]
    fn draws_follow_the_survival() {
        let truncation = Truncation::Random { min: 3, rate: 0.4, seed: 5 };
        let draws: Vec<usize> = (0..4000).map(|draw| truncation.draw(draw, 12)).collect();
        for j in 3..=12 {
            let (p, count) = (truncation.survival(j, 12), draws.iter().filter(|&&d| d >= j).count() as f64);
            // Five standard deviations.
            assert!((count - 4000.0 * p).abs() <= 5.0 * (4000.0 * p * (1.0 - p)).sqrt() + 1e-9, "{j}");
        }
        assert!(draws.iter().all(|draw| (3..=12).contains(draw)));
    }

    #[test]
    fn there_are_no_more_terms_than_rows() {
        assert_eq!(Truncation::Fixed { terms: 20 }.draw(0, 7), 7);
        assert_eq!(Truncation::Random { min: 20, rate: 0.1, seed: 0 }.draw(0, 7), 7);
        assert_eq!(Truncation::Fixed { terms: 5 }.draw(3, 7), 5);
    }
}
