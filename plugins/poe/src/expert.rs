//! One expert: an exact Gaussian process on its rows, with hyperparameters of its own.

use gpbench_sdk::likelihood::likelihood;
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::optimise::{Hyperparameters, Optimiser};
use gpbench_sdk::{Error, Family, Result, Scales, Workers, exact};

/// An expert.
#[derive(Debug, Clone)]
pub struct Expert {
    /// Kernel family.
    pub family: Family,
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
    /// Its likelihood at the last step; not a number before the first.
    pub nlml: f64,
    /// Whether it is without a usable likelihood, and left out of the product.
    pub has_failed: bool,
}

impl Expert {
    /// An expert before its first step.
    pub fn new(
        family: Family,
        x: Array2<f64>,
        y: Array1<f64>,
        hyperparameters: Hyperparameters,
        optimiser: Optimiser,
    ) -> Expert {
        let before = hyperparameters.free.clone();
        Expert { family, x, y, hyperparameters, optimiser, before, nlml: f64::NAN, has_failed: false }
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
        self.nlml = nlml;
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
