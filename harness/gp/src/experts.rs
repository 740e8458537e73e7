//! Exact Gaussian processes on subsets of the rows, combined as a generalised product of experts (Cao and Fleet 2014).
//!
//! With the mean m_e and variance v_e of expert e and its weight w_e, which is 1/K where all K weights are equal:
//!
//! ```text
//! 1 / v = sum of w_e / v_e,   mean = v sum of w_e m_e / v_e
//! ```
//!
//! Far from all data every expert returns to its prior, and with weights of sum 1 so does the product.

use std::sync::Arc;

use gpbench_numerics::Pool;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis, Zip};
use rayon::ThreadPool;

use crate::Kernel;
use crate::NotPositiveDefinite;
use crate::exact::ExactGp;
use crate::threads::OnPool;

/// One expert.
#[derive(Debug, Clone, PartialEq)]
pub struct Expert {
    /// Covariance function.
    pub kernel: Kernel,
    /// Standard deviation of the observation noise.
    pub noise_scale: f64,
    /// Constant prior mean.
    pub mean: f64,
    /// Its training rows, at least one.
    pub rows: Vec<usize>,
    /// Exponent in the product, positive.
    pub weight: f64,
}

/// Which variances are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// Variances of y.
    Observed,
    /// Variances of the latent function; the weighted mean of the noise variances is then added to the result.
    Latent,
}

/// Experts of one product, at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Experts {
    /// The experts.
    pub experts: Vec<Expert>,
    /// Which variances are combined.
    pub combine: Combine,
}

/// An expert whose kernel matrix is singular in double precision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expert {expert}: {error}")]
pub struct SingularExpert {
    /// Index of the expert in [`Experts::experts`], from 0.
    pub expert: usize,
    /// The error of the factorisation.
    pub error: NotPositiveDefinite,
}

/// Experts whose matrices are in memory at once.
const TOGETHER: usize = 16;

impl Experts {
    /// Mean and variance of y at the rows of `x_star`, conditioned on the rows of `x` with targets `y`.
    ///
    /// # Errors
    /// [`SingularExpert`].
    pub fn predict(
        &self,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        x_star: ArrayView2<f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<(Array1<f64>, Array1<f64>), SingularExpert> {
        let mut precision = Array1::<f64>::zeros(x_star.nrows());
        let mut mean = precision.clone();
        self.for_each(
            x,
            y,
            pool,
            |gp| gp.predict(x_star),
            |expert, (expert_mean, latent)| {
                // Rounding can make a variance 0, which must not become an infinite precision.
                let least = f64::EPSILON * expert.kernel.variance();
                let noise = self.combined_noise(expert);
                Zip::from(&mut precision).and(&mut mean).and(&expert_mean).and(&latent).for_each(
                    |precision, mean, expert_mean, latent| {
                        let share = expert.weight / (latent.max(least) + noise);
                        *precision += share;
                        *mean += share * (expert_mean + expert.mean);
                    },
                );
            },
        )?;
        mean /= &precision;
        Ok((mean, precision.mapv(f64::recip) + self.added_noise()))
    }

    /// Negative log marginal likelihood of a row, the mean over the rows of all experts, with all constants.
    ///
    /// # Errors
    /// [`SingularExpert`].
    pub fn nlml(
        &self,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<f64, SingularExpert> {
        let (mut sum, mut rows) = (0.0, 0);
        self.for_each(
            x,
            y,
            pool,
            |gp| gp.log_marginal_likelihood,
            |expert, log_likelihood| {
                sum -= log_likelihood;
                rows += expert.rows.len();
            },
        )?;
        Ok(sum / rows as f64)
    }

    /// Whether there is a single expert, of weight 1 and with each of the `n` training rows once: the exact process.
    pub(crate) fn is_exact(&self, n: usize) -> bool {
        let [expert] = self.experts.as_slice() else { return false };
        let mut is_seen = vec![false; n];
        let is_whole = expert.weight == 1.0 && expert.rows.len() == n;
        is_whole && expert.rows.iter().all(|&row| !std::mem::replace(&mut is_seen[row], true))
    }

    /// Fits the experts, a few at a time: `ask` runs on the pool, `take` in the order of the experts.
    fn for_each<T: Send>(
        &self,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        pool: &Arc<ThreadPool>,
        ask: impl Fn(&ExactGp) -> T + Sync,
        mut take: impl FnMut(&Expert, T),
    ) -> Result<(), SingularExpert> {
        for (part, experts) in self.experts.chunks(TOGETHER).enumerate() {
            let answers = OnPool(pool).map(experts, |expert| Ok(ask(&expert.fit(x, y, pool)?)));
            for (index, (expert, answer)) in experts.iter().zip(answers).enumerate() {
                let number = part * TOGETHER + index;
                take(expert, answer.map_err(|error| SingularExpert { expert: number, error })?);
            }
        }
        Ok(())
    }

    /// The noise variance that the variance of an expert includes.
    fn combined_noise(&self, expert: &Expert) -> f64 {
        match self.combine {
            Combine::Observed => expert.noise_scale.powi(2),
            Combine::Latent => 0.0,
        }
    }

    /// The noise variance that is added to the combined variance.
    fn added_noise(&self) -> f64 {
        match self.combine {
            Combine::Observed => 0.0,
            Combine::Latent => {
                let weights: f64 = self.experts.iter().map(|expert| expert.weight).sum();
                let weighted = |expert: &Expert| expert.weight * expert.noise_scale.powi(2);
                self.experts.iter().map(weighted).sum::<f64>() / weights
            }
        }
    }
}

impl Expert {
    fn fit(
        &self,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<ExactGp, NotPositiveDefinite> {
        let (x, y) = (x.select(Axis(0), &self.rows), y.select(Axis(0), &self.rows) - self.mean);
        ExactGp::fit_on(&self.kernel, self.noise_scale, x.view(), y.view(), pool)
    }
}
