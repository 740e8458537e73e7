//! The distribution of the number of iterations.

use gpbench_sdk::Purpose;
use rand::RngExt;

/// The truncation distribution: P(J) ~ exp(-lambda J) for J = min, ..., max.
///
/// Potapczynski et al. 2021, equation (17), with N for max.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roulette {
    lambda: f64,
    min: usize,
    max: usize,
}

impl Roulette {
    /// The distribution with this decay rate, at least 0, and these smallest and largest J. A `min` above `max` counts
    /// as `max`.
    #[must_use]
    pub fn new(lambda: f64, min: usize, max: usize) -> Roulette {
        Roulette { lambda, min: min.min(max), max }
    }

    /// P(J = j).
    #[must_use]
    pub fn probability(&self, j: usize) -> f64 {
        if (self.min..=self.max).contains(&j) {
            self.decay(j) * self.sum(1) / self.sum(self.count())
        } else {
            0.0
        }
    }

    /// P(J >= j).
    #[must_use]
    pub fn survival(&self, j: usize) -> f64 {
        if j <= self.min {
            1.0
        } else if j > self.max {
            0.0
        } else {
            self.decay(j) * self.sum(self.max - j + 1) / self.sum(self.count())
        }
    }

    /// Mean of J: the sum of all P(J >= j), j = 1, 2, ...
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.min as f64 + (self.min + 1..=self.max).map(|j| self.survival(j)).sum::<f64>()
    }

    /// Draws J: the largest j with P(J >= j) >= u, u uniform on (0, 1].
    ///
    /// 1 - u is the first number of this seed's stream for truncations with this number. Since u is never zero, every
    /// term that is reached has a positive probability in floating-point arithmetic.
    #[must_use]
    pub fn draw(&self, seed: u64, number: u64) -> usize {
        let mut rng = Purpose::Truncation.generator(seed, number);
        self.quantile(1.0 - rng.random::<f64>())
    }

    /// The largest j with P(J >= j) >= u, for u in (0, 1].
    fn quantile(&self, u: f64) -> usize {
        let (mut sure, mut beyond) = (self.min, self.max + 1);
        while beyond - sure > 1 {
            let middle = usize::midpoint(sure, beyond);
            if self.survival(middle) >= u {
                sure = middle;
            } else {
                beyond = middle;
            }
        }
        sure
    }

    /// Number of values of J.
    fn count(&self) -> usize {
        self.max - self.min + 1
    }

    /// exp(-lambda (j - min)).
    fn decay(&self, j: usize) -> f64 {
        (-self.lambda * (j - self.min) as f64).exp()
    }

    /// Sum of `count` terms of the geometric series 1 + exp(-lambda) + ..., relative to its sum to
    /// infinity where that converges.
    fn sum(&self, count: usize) -> f64 {
        if self.lambda > 0.0 { -(-self.lambda * count as f64).exp_m1() } else { count as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_the_formula() {
        for lambda in [0.0, 1e-12, 0.05, 3.0] {
            let roulette = Roulette::new(lambda, 4, 30);
            let weights: Vec<f64> = (4..=30).map(|j| (-lambda * f64::from(j)).exp()).collect();
            let total: f64 = weights.iter().sum();
            let mut mean = 0.0;
            for (j, weight) in (4..).zip(&weights) {
                let tail: f64 = weights[j - 4..].iter().sum();
                assert!((roulette.probability(j) / (weight / total) - 1.0).abs() < 1e-13, "{lambda}, {j}");
                assert!((roulette.survival(j) / (tail / total) - 1.0).abs() < 1e-13, "{lambda}, {j}");
                mean += j as f64 * weight / total;
            }
            assert!((roulette.expected() / mean - 1.0).abs() < 1e-13);
            assert_eq!([0, 3, 31].map(|j| roulette.probability(j)), [0.0; 3]);
            assert_eq!([0, 3, 31].map(|j| roulette.survival(j)), [1.0, 1.0, 0.0]);
        }
    }

    #[test]
    fn quantiles_invert_the_survival() {
        let roulette = Roulette::new(0.3, 2, 9);
        for j in 2..=9 {
            let (here, next) = (roulette.survival(j), roulette.survival(j + 1));
            assert_eq!(roulette.quantile(here), j);
            assert_eq!(roulette.quantile(f64::midpoint(here, next)), j);
            assert_eq!(roulette.quantile(next.next_up()), j);
        }
    }

    #[test]
    fn draws_have_the_distribution() {
        let roulette = Roulette::new(0.5, 3, 8);
        let mut count = [0.0; 9];
        (0..4000).for_each(|seed| count[roulette.draw(seed, 0)] += 1.0);
        for (j, count) in count.into_iter().enumerate() {
            let p = roulette.probability(j);
            // Five standard deviations.
            assert!((count - 4000.0 * p).abs() <= 5.0 * (4000.0 * p * (1.0 - p)).sqrt(), "{j}: {count}");
        }
    }

    #[test]
    fn streams_are_independent_and_never_change() {
        let roulette = Roulette::new(0.05, 20, 300);
        assert_eq!([0, 1, 2, 3].map(|number| roulette.draw(7, number)), KNOWN);
    }

    /// Draws that must never change.
    const KNOWN: [usize; 4] = [25, 87, 126, 24];

    #[test]
    fn few_rows_leave_no_choice() {
        let roulette = Roulette::new(0.05, 80, 10);
        assert_eq!((roulette.draw(1, 0), roulette.expected(), roulette.survival(10)), (10, 10.0, 1.0));
    }
}
