//! One expert: an exact Gaussian process on its rows, with hyperparameters of its own.

use gpbench_sdk::likelihood::likelihood;
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::optimise::{Hyperparameters, Optimiser};
use gpbench_sdk::{Covariance, Error, Result, Scales, Workers, exact};

/// An expert.
#[derive(Debug, Clone)]
pub struct ExactExpert {
    /// Covariance function.
    pub family: Covariance,
    /// Inputs of its rows.
    pub x: Array2<f64>,
    /// Targets of its rows.
    pub y: Array1<f64>,
    /// Its hyperparameters, with which it had a likelihood or has not been tried yet.
    pub hyperparameters: Hyperparameters,
    /// Its optimiser.
    pub optimiser: Optimiser,
    /// The free parameters before the last step.
    pub before: Vec<f64>,
    /// Its likelihood at the last step; none before the first.
    pub nlml: Option<f64>,
    /// Whether it is without a usable likelihood, and left out of the product.
    pub has_failed: bool,
}

impl ExactExpert {
    /// An expert before its first step.
    pub fn new(
        family: impl Into<Covariance>,
        x: Array2<f64>,
        y: Array1<f64>,
        hyperparameters: Hyperparameters,
        optimiser: Optimiser,
    ) -> ExactExpert {
        let before = hyperparameters.free.clone();
        let family = family.into();
        ExactExpert { family, x, y, hyperparameters, optimiser, before, nlml: None, has_failed: false }
    }

    /// Negative log marginal likelihood per row, and its derivatives by the free parameters.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](Error::NotPositiveDefinite).
    pub fn gradient(&self, workers: Workers<'_>) -> Result<(f64, Vec<f64>)> {
        let at = &self.hyperparameters;
        let (kernel, noise_scale) = (at.kernel(self.family), at.noise_scale());
        let mut covariance = kernel.gram(&self.x, &self.x, workers);
        covariance.diag_mut().mapv_inplace(|entry| entry + noise_scale.powi(2));
        let likelihood = likelihood(covariance, &(&self.y - at.mean()))?;
        let by = kernel.pull_back_square(&self.x, &likelihood.cotangent, false, workers);
        let scales = Scales {
            signal_scale: by.signal_scale,
            noise_scale: 2.0 * noise_scale * likelihood.cotangent.diag().sum(),
            length_scale: by.length_scale.to_vec(),
            mean: -likelihood.weights.sum() / self.y.len() as f64,
        };
        Ok((likelihood.nlml, at.chain(&scales)))
    }

    /// Takes a step. An expert without a finite likelihood, or whose scales vanish or overflow, has failed. It keeps
    /// the last parameters with a likelihood and takes no further steps.
    pub fn step(&mut self, learning_rate: f64, workers: Workers<'_>) -> Result<()> {
        if self.has_failed {
            return Ok(());
        }
        let (nlml, gradient) = match self.gradient(workers) {
            Err(Error::NotPositiveDefinite { .. }) => (f64::NAN, Vec::new()),
            other => other?,
        };
        if !nlml.is_finite() || !gradient.iter().all(|by| by.is_finite()) {
            self.fail();
            return Ok(());
        }
        self.nlml = Some(nlml);
        self.before.clone_from(&self.hyperparameters.free);
        self.optimiser.descend(&mut self.hyperparameters.free, &gradient, learning_rate);
        if !self.hyperparameters.is_sound() {
            self.fail();
        }
        Ok(())
    }

    /// Goes back to the last parameters with a likelihood.
    fn fail(&mut self) {
        self.has_failed = true;
        self.hyperparameters.free.clone_from(&self.before);
    }

    /// The expert, conditioned on its rows.
    ///
    /// # Errors
    /// As [`gradient`](Self::gradient).
    pub fn posterior(&self, workers: Workers<'_>) -> Result<exact::Posterior> {
        let at = &self.hyperparameters;
        let kernel = at.kernel(self.family);
        exact::Posterior::new(kernel, at.noise_scale(), at.mean(), self.x.view(), &self.y, workers)
    }
}

#[cfg(test)]
mod tests {
    use gpbench_sdk::Family;
    use gpbench_sdk::optimise::{Method, Transform};
    use gpbench_testing::scattered;

    use super::*;

    fn expert(family: Family, share: f64) -> ExactExpert {
        let x = Array2::from_shape_fn((50, 2), |(i, j)| scattered(i, j));
        let y = Array1::from_shape_fn(50, |i| share * ((3.0 * x[[i, 0]]).sin() + 0.3 * scattered(i, 8)));
        let start = Scales {
            signal_scale: 1.3 * share,
            noise_scale: 0.4 * share,
            length_scale: vec![0.6, 1.5],
            mean: 0.1 * share,
        };
        let start = Hyperparameters::new(&start, Transform::Variance, false, true).unwrap();
        let optimiser = Optimiser::new(Method::Adam, start.free.len());
        ExactExpert::new(family, x, y, start, optimiser)
    }

    #[test]
    fn gradients_agree_with_differences() {
        for family in [Family::Rbf, Family::Matern12, Family::Matern32, Family::Matern52] {
            let expert = expert(family, 1.0);
            let (_, gradient) = expert.gradient(Workers::new(1)).unwrap();
            for (i, by) in gradient.into_iter().enumerate() {
                let at = |h: f64| {
                    let mut moved = expert.clone();
                    moved.hyperparameters.free[i] += h;
                    moved.gradient(Workers::new(1)).unwrap().0
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((by - difference).abs() < 1e-8, "{family:?}, {i}: {by} against {difference}");
            }
        }
    }

    #[test]
    fn half_the_targets_and_scales_have_less_by_the_logarithm_of_two() {
        let [one, half] = [1.0, 0.5].map(|share| expert(Family::Rbf, share).gradient(Workers::new(1)));
        assert!((one.unwrap().0 - half.unwrap().0 - std::f64::consts::LN_2).abs() < 1e-12);
    }

    #[test]
    fn an_expert_that_fails_keeps_its_last_parameters_with_a_likelihood() {
        let mut expert = expert(Family::Rbf, 1.0);
        expert.step(0.1, Workers::new(1)).unwrap();
        let (before, nlml) = (expert.before.clone(), expert.nlml);
        assert_ne!(before, expert.hyperparameters.free);
        expert.y[3] = f64::INFINITY;
        expert.step(0.1, Workers::new(1)).unwrap();
        assert!(expert.has_failed);
        assert_eq!((&expert.hyperparameters.free, expert.nlml), (&before, nlml));
        expert.step(0.1, Workers::new(1)).unwrap();
        assert_eq!(expert.hyperparameters.free, before);
    }
}
