//! A process with a stationary kernel, on the inputs or on the outputs of a network, whose parameters are learned.

use std::sync::OnceLock;

use gpbench_sdk::exact::{self, Posterior};
use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, Axis};
use gpbench_sdk::network::{Mlp, Pass};
use gpbench_sdk::optimise::{Hyperparameters, Optimiser, Transform};
use gpbench_sdk::{Covariance, Fit, Model, Result, Saved, Scales, Workers};

use crate::BatchLikelihood;

/// Index of log s^2 among the free hyperparameters.
const NOISE: usize = 1;

/// The training data and all parameters: those of the network, and the logarithms of signal variance, noise variance and
/// length scales (with a network, one for all its outputs).
#[derive(Debug)]
pub struct Exact {
    family: Covariance,
    x: Array2<f64>,
    y: Array1<f64>,
    network: Option<Mlp>,
    /// Parameters of the network; none without one.
    layers: Vec<f64>,
    hyperparameters: Hyperparameters,
    /// Least log s^2.
    floor: f64,
    /// Posterior from all rows for the present parameters.
    posterior: OnceLock<Posterior>,
}

impl Exact {
    /// The process of a fit before the first step.
    pub fn new(fit: &Fit<'_>, noise_floor: f64) -> Result<Exact> {
        let network = fit.network().map(|network| Mlp::new(fit.d(), &network.widths)).transpose()?;
        let layers = network.as_ref().map_or(Vec::new(), |network| network.start(fit.seed()));
        let (inputs, floor) = (fit.inputs(), noise_floor.ln());
        let start = Scales {
            signal_scale: inputs.signal_scale,
            noise_scale: inputs.noise_scale.max(noise_floor.sqrt()),
            length_scale: inputs.length_scale.to_vec(),
            mean: fit.mean(),
        };
        let shared = fit.has_shared_length_scale() || network.is_some();
        let hyperparameters = Hyperparameters::new(&start, Transform::Logarithm, shared, fit.trains_mean())?;
        let (x, y) = (fit.x().as_standard_layout().into_owned(), fit.y().to_owned());
        let (family, posterior) = (fit.family(), OnceLock::new());
        Ok(Exact { family, x, y, network, layers, hyperparameters, floor, posterior })
    }

    /// Number of parameters.
    pub fn n_parameters(&self) -> usize {
        self.layers.len() + self.hyperparameters.free.len()
    }

    /// Number of outputs of the network; 0 without a network.
    pub fn outputs(&self) -> usize {
        self.network.as_ref().map_or(0, Mlp::outputs)
    }

    /// The kernel's inputs for some rows: their inputs, or the network's outputs.
    fn points(&self, x: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        match &self.network {
            Some(network) => network.features(&self.layers, x, workers),
            None => x.to_owned(),
        }
    }

    /// The likelihood of a batch per row, its gradient by all parameters, and the batch's forward pass through the network.
    pub fn gradient(&self, rows: &[usize], workers: Workers<'_>) -> Result<(f64, Vec<f64>, Option<Pass>)> {
        let x = self.x.select(Axis(0), rows);
        let pass = self.network.as_ref().map(|network| network.forward(&self.layers, &x, workers));
        let points = pass.as_ref().map_or(x.view(), Pass::features);
        let hyperparameters = &self.hyperparameters;
        let kernel = hyperparameters.kernel(self.family);
        let (noise_scale, mean) = (hyperparameters.noise_scale(), hyperparameters.mean());
        let targets: Array1<f64> = rows.iter().map(|&row| self.y[row] - mean).collect();
        let (variance, with_points) = (noise_scale.powi(2), pass.is_some());
        let (batch, by) =
            BatchLikelihood::of_points(&kernel, &points, &targets, variance, with_points, workers)?;
        let mut gradient = vec![0.0; self.layers.len()];
        if let Some((network, pass)) = self.network.as_ref().zip(pass.as_ref()) {
            network.backward(&self.layers, pass, &by.rows, &mut gradient, workers);
        }
        gradient.extend(hyperparameters.chain(&Scales {
            signal_scale: by.signal_scale,
            noise_scale: 2.0 * noise_scale * batch.by_noise_variance,
            length_scale: by.length_scale.to_vec(),
            mean: batch.by_mean,
        }));
        Ok((batch.nlml, gradient, pass))
    }

    /// One step down along a gradient, with the noise variance kept above its floor.
    pub fn descend(&mut self, gradient: &[f64], optimiser: &mut Optimiser, learning_rate: f64) {
        let mut parameters = self.parameters();
        optimiser.descend(&mut parameters, gradient, learning_rate);
        self.set(&parameters);
    }

    /// All parameters, the network's first.
    fn parameters(&self) -> Vec<f64> {
        self.layers.iter().chain(&self.hyperparameters.free).copied().collect()
    }

    fn set(&mut self, parameters: &[f64]) {
        let (layers, free) = parameters.split_at(self.layers.len());
        self.layers.copy_from_slice(layers);
        self.hyperparameters.free.copy_from_slice(free);
        self.hyperparameters.free[NOISE] = self.hyperparameters.free[NOISE].max(self.floor);
        self.posterior = OnceLock::new();
    }

    /// The posterior from all rows, computed once for the present parameters.
    fn posterior(&self, workers: Workers<'_>) -> Result<&Posterior> {
        if self.posterior.get().is_none() {
            exact::check_rows(self.x.nrows())?;
            let hyperparameters = &self.hyperparameters;
            let (noise_scale, mean) = (hyperparameters.noise_scale(), hyperparameters.mean());
            let (kernel, points) = (hyperparameters.kernel(self.family), self.points(&self.x, workers));
            let posterior = Posterior::new(kernel, noise_scale, mean, points.view(), &self.y, workers)?;
            let _ = self.posterior.set(posterior);
        }
        Ok(self.posterior.get().expect("filled above"))
    }

    /// Means and variances of y at the rows of `x`.
    pub fn predict(&self, x: &ArrayRef2<f64>, workers: Workers<'_>) -> Result<(Array1<f64>, Array1<f64>)> {
        let (mean, latent) = self.posterior(workers)?.predict(&self.points(x, workers), workers);
        Ok((mean, latent + self.hyperparameters.noise_scale().powi(2)))
    }

    /// The model that was learned.
    pub fn model(&self) -> Model {
        let model = Model::gp(&self.hyperparameters.scales());
        let Some(network) = &self.network else { return model };
        let layer = |index| (network.weight(&self.layers, index), network.bias(&self.layers, index));
        model.on_network((0..network.layers()).map(layer))
    }

    /// Saves the parameters. The rest follows from the fit.
    pub fn save(&self, saved: &mut Saved) {
        saved.put_list("parameters", &self.parameters());
    }

    /// Loads saved parameters.
    pub fn load(&mut self, saved: &Saved) -> Result<()> {
        let parameters = saved.get_shaped("parameters", (self.n_parameters(), 1))?;
        self.set(&parameters.into_iter().collect::<Vec<f64>>());
        Ok(())
    }
}
