//! The single-sample estimate of a series over the number of random features.

use ndarray::{ArrayView1, ArrayView2};
use rand::{Rng, RngExt};

use super::{Likelihood, of_features};
use crate::RandomFeatures;
use crate::exact::{ExactError, ExactGp};

/// A series over numbers of features m_k: `min`, `min + step`, ... below n, and then the exact kernel. With `L_k` the
/// likelihood under the first `m_k` features, the estimate
///
/// ```text
/// L_0 + (L_k - L_{k-1}) / P(k),    P(k) ~ 1 / m_k
/// ```
///
/// has the exact likelihood as its mean over k and over the frequencies (Potapczynski et al. 2021, equations 19 and
/// 20, theorem 4), and its gradient has the exact gradient as its mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SingleSample {
    /// Features (sines and cosines) of every estimate.
    pub min: usize,
    /// Features that each term adds.
    pub step: usize,
}

/// An estimate, and the number of features that it used.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The estimate.
    pub likelihood: Likelihood,
    /// The largest number of features that it used, or n where it used the exact kernel.
    pub features: usize,
}

impl SingleSample {
    /// The numbers of features before the exact kernel.
    fn counts(&self, n: usize) -> Vec<usize> {
        (self.min..n).step_by(self.step.max(1)).collect()
    }

    /// Probabilities of the terms after the first; the last of them is the exact kernel's.
    fn probabilities(&self, n: usize) -> Vec<f64> {
        let counts = self.counts(n);
        let weights: Vec<f64> = counts.iter().skip(1).chain([&n]).map(|&m| 1.0 / m as f64).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / total).collect()
    }

    /// The largest number of features of any term.
    pub fn most(&self, n: usize) -> usize {
        self.counts(n).last().copied().unwrap_or(self.min)
    }

    /// An estimate from [`SingleSample::most`] `features` and a draw of k from `rng`. A term of the exact kernel
    /// runs on `threads` threads.
    ///
    /// # Errors
    /// [`ExactError::Singular`] where a matrix is not positive definite in double precision.
    ///
    /// # Panics
    /// If there are fewer features.
    pub fn estimate(
        &self,
        features: &RandomFeatures,
        noise_scale: f64,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        rng: &mut impl Rng,
        threads: usize,
    ) -> Result<Sampled, ExactError> {
        let probabilities = self.probabilities(x.nrows());
        let mut left = rng.random::<f64>();
        let within = |p: &f64| {
            left -= p;
            left < 0.0
        };
        let k = probabilities.iter().position(within).unwrap_or(probabilities.len() - 1);
        self.term(k, features, noise_scale, x, y, threads)
    }

    /// The estimate with term `k`, counted from 0 after the first.
    fn term(
        &self,
        k: usize,
        features: &RandomFeatures,
        noise_scale: f64,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        threads: usize,
    ) -> Result<Sampled, ExactError> {
        let n = x.nrows();
        let counts = self.counts(n);
        let under = |m: Option<&usize>| -> Result<Likelihood, ExactError> {
            match m {
                Some(&m) => Ok(of_features(&features.first(m), noise_scale, x, y)?),
                None => {
                    Ok(Likelihood::exact(&ExactGp::fit(features.kernel(), noise_scale, x, y, threads)?, x))
                }
            }
        };
        let weight = 1.0 / self.probabilities(n)[k];
        let mut likelihood = under(counts.first())?;
        // If the first term already has as many features as rows, the series is the exact kernel alone.
        if !counts.is_empty() {
            likelihood.add(-weight, &under(counts.get(k))?);
            likelihood.add(weight, &under(counts.get(k + 1))?);
        }
        Ok(Sampled { likelihood, features: counts.get(k + 1).copied().unwrap_or(n) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Streams;
    use crate::{Family, Frequencies, Kernel};

    #[test]
    fn terms_end_with_the_exact_kernel() {
        let series = SingleSample { min: 10, step: 20 };
        assert_eq!(series.counts(70), [10, 30, 50]);
        assert_eq!(series.most(70), 50);
        let (p, total) = (series.probabilities(70), 1.0 / 30.0 + 1.0 / 50.0 + 1.0 / 70.0);
        assert_eq!(p.len(), 3);
        assert!((p[0] * total - 1.0 / 30.0).abs() < 1e-15 && (p[2] * total - 1.0 / 70.0).abs() < 1e-15);
    }

    #[test]
    fn the_mean_over_the_terms_is_the_exact_likelihood() {
        let streams = Streams::new(1, &[]);
        let (x, y) = (streams.normals("x", 25, 2), streams.normals("y", 25, 1));
        let (x, y) = (x.view(), y.column(0));
        let kernel = Kernel::new(Family::Rbf, 1.2, &[0.8, 1.5], 2);
        let exact = Likelihood::exact(&ExactGp::fit(&kernel, 0.4, x, y, 1).unwrap(), x);
        for series in [SingleSample { min: 4, step: 6 }, SingleSample { min: 30, step: 2 }] {
            let rng = &mut streams.stream("frequencies");
            let features = RandomFeatures::draw(&kernel, Frequencies::MultivariateT, series.most(25), rng);
            let mut mean = exact.clone();
            mean.add(-1.0, &exact);
            for (k, p) in series.probabilities(25).into_iter().enumerate() {
                mean.add(p, &series.term(k, &features, 0.4, x, y, 1).unwrap().likelihood);
            }
            mean.add(-1.0, &exact);
            let Likelihood { quadratic, log_det, by_mean, gradient } = mean;
            let scales = [quadratic, log_det, by_mean, gradient.noise_scale, gradient.signal_scale];
            for off in scales.into_iter().chain(gradient.length_scale) {
                assert!(off.abs() < 1e-10, "{series:?}: {off}");
            }
        }
    }
}
