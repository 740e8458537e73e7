//! The model that `minibatch-gp` begins with: a Gaussian process as a function of free parameters, with the likelihood of
//! some rows and the posterior.

use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::likelihood::likelihood;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2, Axis};
use gpbench_sdk::optimise::{Scale, Transform};
use gpbench_sdk::{Covariance, Fit, Result, Scales, Workers, lapack};

/// Training data, covariance function, and which free parameters there are.
pub(crate) struct Process {
    x: Array2<f64>,
    y: Array1<f64>,
    family: Covariance,
    mean: f64,
    is_shared: bool,
}

impl Process {
    /// Copies from the fit what is needed after it has begun.
    pub(crate) fn new(fit: &Fit<'_>) -> Process {
        let is_shared = fit.has_shared_length_scale();
        let (x, y) = (fit.x().to_owned(), fit.y().to_owned());
        Process { x, y, family: fit.family(), mean: fit.mean(), is_shared }
    }

    /// Starting values of the free parameters: of signal scale, noise scale, and length scales.
    pub(crate) fn start(&self, fit: &Fit<'_>) -> Vec<f64> {
        let inputs = fit.inputs();
        let lengths = if self.is_shared { &inputs.length_scale[..1] } else { inputs.length_scale };
        let first = [inputs.signal_scale, inputs.noise_scale];
        first
            .iter()
            .chain(lengths)
            .zip(kinds())
            .map(|(&scale, of)| Transform::Scale.inverse(of, scale))
            .collect()
    }

    /// The scales that belong to free parameters; one length scale if it is shared.
    fn trained(&self, free: &[f64]) -> (Kernel, f64) {
        let scales: Vec<f64> =
            free.iter().zip(kinds()).map(|(&u, of)| Transform::Scale.scale(of, u)).collect();
        let kernel =
            Kernel { family: self.family, signal_scale: scales[0], length_scale: scales[2..].to_vec() };
        (kernel, scales[1])
    }

    /// The scales in the harness's form: one length scale for each input.
    pub(crate) fn scales(&self, free: &[f64]) -> Scales {
        let (Kernel { signal_scale, mut length_scale, .. }, noise_scale) = self.trained(free);
        if self.is_shared {
            length_scale = vec![length_scale[0]; self.x.ncols()];
        }
        Scales { signal_scale, noise_scale, length_scale, mean: self.mean }
    }

    /// Negative log marginal likelihood per row of these rows, and its derivatives by the free parameters.
    pub(crate) fn objective(
        &self,
        rows: &[usize],
        free: &[f64],
        workers: Workers<'_>,
    ) -> Result<(f64, Vec<f64>)> {
        let (kernel, noise_scale) = self.trained(free);
        let x = self.x.select(Axis(0), rows);
        let likelihood = likelihood(
            covariance(&kernel, noise_scale, x.view(), workers),
            &(self.y.select(Axis(0), rows) - self.mean),
        )?;
        let by_kernel = kernel.pull_back_square(&x, &likelihood.cotangent, false, workers);
        let by_noise = 2.0 * noise_scale * likelihood.cotangent.diag().sum();
        let by_scales = [by_kernel.signal_scale, by_noise].into_iter().chain(by_kernel.length_scale);
        let chain = |((derivative, &u), of)| derivative * Transform::Scale.derivative(of, u);
        Ok((likelihood.nlml, by_scales.zip(free).zip(kinds()).map(chain).collect()))
    }

    /// Mean and variance of y at `x`, by the exact posterior of all training rows.
    pub(crate) fn predict(
        &self,
        x: ArrayView2<'_, f64>,
        free: &[f64],
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        let (kernel, noise_scale) = self.trained(free);
        let mut factor = covariance(&kernel, noise_scale, self.x.view(), workers);
        lapack::cholesky(&mut factor)?;
        let mut weights = (&self.y - self.mean).insert_axis(Axis(1));
        lapack::cholesky_solve(&factor, &mut weights)?;
        let cross = kernel.gram(&self.x, &x, workers);
        let mut solved = cross.clone();
        lapack::cholesky_solve(&factor, &mut solved)?;
        let mean = cross.t().dot(&weights.column(0)) + self.mean;
        let explained = (&cross * &solved).sum_axis(Axis(0));
        let variance = kernel.diagonal(&x) - explained + noise_scale * noise_scale;
        Ok((mean, variance))
    }
}

/// Kinds of the free parameters: signal, noise, then length scales.
fn kinds() -> impl Iterator<Item = Scale> {
    [Scale::Signal, Scale::Noise].into_iter().chain(std::iter::repeat(Scale::Length))
}

/// K + noise_scale^2 I of the rows of `x`.
fn covariance(
    kernel: &Kernel,
    noise_scale: f64,
    x: ArrayView2<'_, f64>,
    workers: Workers<'_>,
) -> Array2<f64> {
    let mut covariance = kernel.gram(&x, &x, workers);
    covariance.diag_mut().map_inplace(|entry| *entry += noise_scale * noise_scale);
    covariance
}
