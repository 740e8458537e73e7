//! Scales and inducing points as an optimiser moves them.

use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array2, ArrayView2};
use gpbench_sdk::optimise::Hyperparameters;
use gpbench_sdk::{Covariance, Error, Fit, Result, Scales};

use crate::{LogLikelihood, VecchiaParams};

/// A Gaussian process with a noise that has a floor, and inducing points, of which there may be none.
///
/// With the noise variance v of the free parameters, that of the process is v + floor.
#[derive(Debug, Clone)]
pub struct Process {
    family: Covariance,
    hyperparameters: Hyperparameters,
    /// Least noise variance.
    floor: f64,
    /// Inducing points, M x d.
    points: Array2<f64>,
    moves_points: bool,
    /// Share of the signal variance that is added to the diagonal of the points' covariance.
    jitter: f64,
}

impl Process {
    /// Starts where the fit says, without inducing points.
    ///
    /// # Errors
    /// A starting scale is not positive and finite; the kernel is linear.
    pub fn new(fit: &Fit<'_>, params: &VecchiaParams) -> Result<Process> {
        if fit.family() == Covariance::Linear {
            return Err(Error::Unsupported("vecchia needs a stationary kernel, not a linear one".into()));
        }
        let inputs = fit.inputs();
        let start = Scales {
            signal_scale: inputs.signal_scale,
            noise_scale: inputs.noise_scale,
            length_scale: inputs.length_scale.to_vec(),
            mean: fit.mean(),
        };
        let floor = params.noise_floor * fit.y().var(0.0);
        Process::start(
            &start,
            fit.family(),
            floor,
            params,
            (fit.has_shared_length_scale(), fit.trains_mean()),
        )
    }

    /// Starts from `start`, with a least noise variance of `floor`, or half of the start's. The last argument says
    /// whether all inputs have one length scale, and whether the mean is trained.
    ///
    /// # Errors
    /// A starting scale is not positive and finite.
    pub fn start(
        start: &Scales,
        family: impl Into<Covariance>,
        floor: f64,
        params: &VecchiaParams,
        (is_shared, trains_mean): (bool, bool),
    ) -> Result<Process> {
        let variance = start.noise_scale.powi(2);
        // `min` ignores a floor that is not a number, of targets that are none.
        let floor = floor.min(variance / 2.0);
        let above = Scales { noise_scale: (variance - floor).sqrt(), ..start.clone() };
        Ok(Process {
            family: family.into(),
            hyperparameters: Hyperparameters::new(&above, params.transform, is_shared, trains_mean)?,
            floor,
            points: Array2::zeros((0, start.length_scale.len())),
            moves_points: params.move_points,
            jitter: params.jitter,
        })
    }

    /// Sets the inducing points.
    pub fn set_points(&mut self, points: ArrayView2<'_, f64>) {
        let mut row_major = Array2::zeros(points.dim());
        row_major.assign(&points);
        self.points = row_major;
    }

    /// Inducing points, M x d.
    pub fn points(&self) -> &Array2<f64> {
        &self.points
    }

    /// Whether there are inducing points.
    pub fn has_points(&self) -> bool {
        self.points.nrows() > 0
    }

    /// Number added to the diagonal of the points' covariance.
    pub fn jitter(&self) -> f64 {
        self.jitter * self.hyperparameters.signal_scale().powi(2)
    }

    /// The same as a share of the signal variance.
    pub fn relative_jitter(&self) -> f64 {
        self.jitter
    }

    /// All free parameters: those of the scales, and the points if they move, row after row.
    pub fn parameters(&self) -> Vec<f64> {
        let points = self.points.iter().filter(|_| self.moves_points);
        self.hyperparameters.free.iter().chain(points).copied().collect()
    }

    /// Sets all free parameters.
    ///
    /// # Panics
    /// If their number differs.
    pub fn set(&mut self, parameters: &[f64]) {
        let (free, points) = parameters.split_at(self.hyperparameters.free.len());
        self.hyperparameters.free.copy_from_slice(free);
        let count = if self.moves_points { self.points.len() } else { 0 };
        assert_eq!(points.len(), count, "a coordinate for each of the points that move");
        self.points.iter_mut().zip(points).for_each(|(entry, &value)| *entry = value);
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.hyperparameters.kernel(self.family)
    }

    /// Standard deviation of the noise.
    pub fn noise_scale(&self) -> f64 {
        (self.hyperparameters.noise_scale().powi(2) + self.floor).sqrt()
    }

    /// Constant prior mean.
    pub fn mean(&self) -> f64 {
        self.hyperparameters.mean()
    }

    /// The scales, with one length scale for each input.
    pub fn scales(&self) -> Scales {
        Scales { noise_scale: self.noise_scale(), ..self.hyperparameters.scales() }
    }

    /// Least standard deviation of the noise.
    pub fn noise_floor(&self) -> f64 {
        self.floor.sqrt()
    }

    /// Whether the noise variance is within a tenth of its floor.
    pub fn is_at_floor(&self) -> bool {
        self.noise_scale().powi(2) <= 1.1 * self.floor
    }

    /// Whether all scales are positive, and all parameters finite.
    pub fn is_sound(&self) -> bool {
        self.hyperparameters.is_sound() && self.points.iter().all(|entry| entry.is_finite())
    }

    /// Derivatives by the free parameters.
    pub fn chain(&self, evaluation: &LogLikelihood) -> Vec<f64> {
        let by = &evaluation.by;
        let by_free_noise = by.noise_scale * self.hyperparameters.noise_scale() / self.noise_scale();
        let mut gradient = self.hyperparameters.chain(&Scales { noise_scale: by_free_noise, ..by.clone() });
        if self.moves_points {
            gradient.extend(evaluation.by_points.iter());
        }
        gradient
    }
}
