//! A process with finitely many features whose parameters are learned.

use std::ops::Range;
use std::sync::OnceLock;

use ndarray::{Array1, Array2, ArrayRef2, ArrayView1, ArrayView2, Axis, aview1, s};

use super::{Evaluated, FeatureMap, Moments, Objective, Posterior};
use crate::network::Mlp;
use crate::optimise::Optimiser;
use crate::random_features::RandomFeatures;
use crate::{Covariance, Error, Family, Fit, Model, Result, Saved, Workers, model};

/// Seed of the frequencies relative to that of the network, so that the two draw from streams of their own.
const FREQUENCIES: u64 = 0x9e37_79b9_7f4a_7c15;

/// Options of a [`Process`], beside the fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Random features where the kernel has infinitely many features and there is no network to say how many.
    pub features: usize,
    /// Whether the weights w are parameters. Predictions never use them.
    pub has_weights: bool,
    /// Least noise variance.
    pub noise_floor: f64,
}

/// A process with features of a network, of a network followed by random features, or of the inputs: the training data and
/// all parameters, as one flat vector for an optimiser:
///
/// ```text
/// parameters of the feature map, weights w, log s^2, constant mean
/// ```
///
/// The weights and the mean are there only if they are trained. Predictions use the posterior mean of the weights from
/// all rows, F^-1 Phi^T r.
#[derive(Debug)]
pub struct Process {
    map: FeatureMap,
    x: Array2<f64>,
    y: Array1<f64>,
    parameters: Vec<f64>,
    /// Number of weights among the parameters.
    weights: usize,
    /// The mean, if it is not trained.
    fixed_mean: Option<f64>,
    /// Least log s^2.
    floor: f64,
    /// Posterior from all rows for the present parameters.
    posterior: OnceLock<Posterior>,
}

/// Some rows with their features.
#[derive(Debug, Clone)]
pub struct Batch {
    evaluated: Evaluated,
    targets: Array1<f64>,
}

impl Batch {
    /// The features, b x D.
    pub fn features(&self) -> ArrayView2<'_, f64> {
        self.evaluated.features()
    }

    /// The targets without the mean, b.
    pub fn targets(&self) -> &Array1<f64> {
        &self.targets
    }

    /// The features with the intermediate results of their evaluation.
    pub fn evaluated(&self) -> &Evaluated {
        &self.evaluated
    }
}

impl Process {
    /// The process of a fit before the first step: a drawn network, the scales of the fit, w = 0.
    ///
    /// # Errors
    /// [`Unsupported`](Error::Unsupported) for a stationary family other than the RBF kernel.
    pub fn new(fit: &Fit<'_>, options: Options) -> Result<Process> {
        let network = fit.network().map(|network| Mlp::new(fit.d(), &network.widths)).transpose()?;
        let width = network.as_ref().map_or(fit.d(), Mlp::outputs);
        let count = fit.network().map_or(options.features, |network| network.random.unwrap_or(0));
        let random = match fit.family() {
            Covariance::Linear => None,
            Covariance::Stationary(Family::Rbf) => {
                Some(RandomFeatures::new(width, count, fit.seed() ^ FREQUENCIES)?)
            }
            Covariance::Stationary(other) => {
                let text = format!("random features of the kernel family {other:?}: only of the RBF kernel");
                return Err(Error::Unsupported(text));
            }
        };
        let map = FeatureMap::new(fit.d(), network, random, fit.has_shared_length_scale())?;
        let inputs = fit.inputs();
        let weights = if options.has_weights { map.dimension() } else { 0 };
        let floor = options.noise_floor.ln();
        let mut parameters = map.start(fit.seed(), inputs.signal_scale, inputs.length_scale);
        parameters.extend(std::iter::repeat_n(0.0, weights));
        parameters.push((2.0 * inputs.noise_scale.ln()).max(floor));
        let fixed_mean = if fit.trains_mean() { None } else { Some(fit.mean()) };
        parameters.extend(fit.trains_mean().then_some(fit.mean()));
        let (x, y) = (fit.x().as_standard_layout().into_owned(), fit.y().to_owned());
        Ok(Process { map, x, y, parameters, weights, fixed_mean, floor, posterior: OnceLock::new() })
    }

    /// The feature map.
    pub fn map(&self) -> &FeatureMap {
        &self.map
    }

    /// Number of training rows n.
    pub fn n(&self) -> usize {
        self.y.len()
    }

    /// Number of parameters.
    pub fn n_parameters(&self) -> usize {
        self.parameters.len()
    }

    /// Number of outputs of the network; 0 without a network.
    pub fn outputs(&self) -> usize {
        self.map.network().map_or(0, Mlp::outputs)
    }

    /// The weights w, D; empty if they are no parameters.
    pub fn weights(&self) -> ArrayView1<'_, f64> {
        let start = self.map.n_parameters();
        aview1(&self.parameters[start..start + self.weights])
    }

    /// The noise variance s^2.
    pub fn noise_variance(&self) -> f64 {
        self.parameters[self.noise_index()].exp()
    }

    /// Index of log s^2 among the parameters.
    fn noise_index(&self) -> usize {
        self.map.n_parameters() + self.weights
    }

    /// The constant mean.
    pub fn mean(&self) -> f64 {
        self.fixed_mean.unwrap_or_else(|| self.parameters[self.noise_index() + 1])
    }

    /// Computes the features of rows.
    pub fn batch(&self, rows: &[usize], workers: Workers<'_>) -> Batch {
        let x = self.x.select(Axis(0), rows);
        let evaluated = self.map.evaluate(&self.parameters, &x, workers);
        let mean = self.mean();
        Batch { evaluated, targets: rows.iter().map(|&row| self.y[row] - mean).collect() }
    }

    /// The part of the likelihood that is a sum over rows, see [`Objective::of_rows`].
    pub fn objective(&self, batch: &Batch) -> Objective {
        let (features, weights) = (batch.features(), self.weights());
        Objective::of_rows(self.n(), &features, &batch.targets, &weights, self.noise_variance())
    }

    /// The gradient by all parameters.
    pub fn gradient(&self, batch: &Batch, objective: &Objective, workers: Workers<'_>) -> Vec<f64> {
        let mut gradient = vec![0.0; self.parameters.len()];
        let (by_map, rest) = gradient.split_at_mut(self.map.n_parameters());
        let (by_weights, scalars) = rest.split_at_mut(self.weights);
        self.map.pull_back(&self.parameters, &batch.evaluated, &objective.by_features, by_map, workers);
        by_weights.iter_mut().zip(&objective.by_weights).for_each(|(entry, by)| *entry = *by);
        let scalars_by = [objective.by_noise_variance * self.noise_variance(), objective.by_mean];
        scalars.iter_mut().zip(scalars_by).for_each(|(entry, by)| *entry = by);
        gradient
    }

    /// One step down along the gradient of an objective, with the noise variance kept above its floor. False, without
    /// a step, if the objective or its gradient is not finite.
    #[must_use]
    pub fn descend(
        &mut self,
        batch: &Batch,
        objective: &Objective,
        optimiser: &mut Optimiser,
        learning_rate: f64,
        workers: Workers<'_>,
    ) -> bool {
        let gradient = self.gradient(batch, objective, workers);
        if !objective.value.is_finite() || gradient.iter().any(|entry| !entry.is_finite()) {
            return false;
        }
        optimiser.descend(&mut self.parameters, &gradient, learning_rate);
        let noise = self.noise_index();
        self.parameters[noise] = self.parameters[noise].max(self.floor);
        self.posterior = OnceLock::new();
        true
    }

    /// Phi^T Phi and Phi^T r of all rows.
    pub fn moments(&self, workers: Workers<'_>) -> Moments {
        let features = |rows: Range<usize>| {
            self.map.features(&self.parameters, &self.x.slice(s![rows, ..]), Workers::new(1))
        };
        let targets = &self.y - self.mean();
        Moments::new(&targets, self.map.dimension(), features, workers)
    }

    /// The posterior of the weights from all rows, computed once for the present parameters.
    fn posterior(&self, workers: Workers<'_>) -> Result<&Posterior> {
        if self.posterior.get().is_none() {
            let posterior = Posterior::new(&self.moments(workers), self.noise_variance())?;
            // The cell is empty, as checked above.
            let _ = self.posterior.set(posterior);
        }
        Ok(self.posterior.get().expect("filled above"))
    }

    /// Means and variances of y at the rows of `x`.
    pub fn predict(&self, x: &ArrayRef2<f64>, workers: Workers<'_>) -> Result<(Array1<f64>, Array1<f64>)> {
        let posterior = self.posterior(workers)?;
        let features = self.map.features(&self.parameters, x, workers);
        let (mean, variance) = posterior.predict(&features)?;
        Ok((mean + self.mean(), variance))
    }

    /// The model that was learned.
    pub fn model(&self) -> Model {
        let scales = self.map.scales(&self.parameters);
        let random = self.map.random().zip(scales.as_ref()).map(|(random, (signal_scale, lengths))| {
            let frequencies = random.frequencies();
            model::RandomFeatures { signal_scale: *signal_scale, length_scale: lengths[0], frequencies }
        });
        let column = |values: &[f64]| Array2::from_shape_fn((values.len(), 1), |(i, _)| values[i]);
        let mut model = Model::features(self.noise_variance().sqrt(), random);
        if let Some((_, lengths)) = scales {
            model = model.with("length_scale", column(&lengths).view());
        }
        if self.mean() != 0.0 {
            model = model.with("mean", column(&[self.mean()]).view());
        }
        let Some(network) = self.map.network() else { return model };
        let parameters = self.map.network_parameters(&self.parameters);
        let layer = |index| (network.weight(parameters, index), network.bias(parameters, index));
        model.on_network((0..network.layers()).map(layer))
    }

    /// Saves the parameters. The rest follows from the fit.
    pub fn save(&self, saved: &mut Saved) {
        saved.put_list("parameters", &self.parameters);
    }

    /// Loads saved parameters.
    pub fn load(&mut self, saved: &Saved) -> Result<()> {
        self.parameters = saved.get_shaped("parameters", (self.parameters.len(), 1))?.into_iter().collect();
        self.posterior = OnceLock::new();
        Ok(())
    }
}
