//! Random numbers of simulations.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal, StandardUniform};

/// A generator of random numbers.
pub struct Random(ChaCha8Rng);

impl Random {
    /// A generator that a seed determines.
    pub fn new(seed: u64) -> Random {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A standard normal value.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// An exponential value with mean 1.
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Whether an event of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        let value: f64 = StandardUniform.sample(&mut self.0);
        value < probability
    }

    /// A factor of timings: noise of 10 %, and a tenth of them slowed by half on average.
    pub fn timing(&mut self) -> f64 {
        let slowed = self.exponential();
        let outlier = if self.happens(0.1) { 1.0 + 0.5 * slowed } else { 1.0 };
        (0.1 * self.normal()).exp() * outlier
    }
}
