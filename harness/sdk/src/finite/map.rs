//! Feature maps: a network or none, then the features of a linear kernel or random ones of an RBF kernel.

use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, Axis};

use crate::network::{Mlp, Pass};
use crate::random_features::{self, RandomFeatures};
use crate::{Error, Result, Workers};

/// A differentiable map from inputs to D features.
///
/// Its parameters are one flat vector: the network's, then, with random features, the logarithms of the length scales and of
/// the signal variance. With a network there is one length scale. Where a function takes parameters, others may
/// follow them.
#[derive(Debug, Clone)]
pub struct FeatureMap {
    inputs: usize,
    network: Option<Mlp>,
    random: Option<Random>,
}

/// Random features behind the network.
#[derive(Debug, Clone)]
struct Random {
    features: RandomFeatures,
    /// Length scales: 1, or one an input.
    lengths: usize,
}

/// The features of a batch, with what [`FeatureMap::pull_back`] needs.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// The network's pass.
    pass: Option<Pass>,
    /// Inputs divided by their length scales, where there is no network.
    scaled: Option<Array2<f64>>,
    random: Option<random_features::Evaluated>,
}

impl Evaluated {
    /// The features, b x D.
    pub fn features(&self) -> ArrayView2<'_, f64> {
        match (&self.random, &self.pass, &self.scaled) {
            (Some(random), _, _) => random.features(),
            (None, Some(pass), _) => pass.features(),
            (None, None, Some(scaled)) => scaled.view(),
            (None, None, None) => unreachable!("either the network's pass or the scaled inputs exist"),
        }
    }

    /// Outputs of the network, b x its width; none without a network.
    pub fn outputs(&self) -> Option<ArrayView2<'_, f64>> {
        self.pass.as_ref().map(Pass::features)
    }
}

impl FeatureMap {
    /// The map of `inputs` inputs through a network, if there is one, and random features, if there are any. `shared`: one
    /// length scale serves all inputs; with a network it does in any case.
    ///
    /// # Errors
    /// If the widths of the inputs, the network and the random features do not fit.
    pub fn new(
        inputs: usize,
        network: Option<Mlp>,
        random: Option<RandomFeatures>,
        shared: bool,
    ) -> Result<FeatureMap> {
        let width = network.as_ref().map_or(inputs, Mlp::outputs);
        let fits = |random: &RandomFeatures| random.frequencies().nrows() == width;
        if network.as_ref().is_some_and(|network| network.inputs() != inputs)
            || !random.as_ref().is_none_or(fits)
        {
            let text = format!("a feature map of {inputs} inputs whose parts are of other widths");
            return Err(Error::InvalidArgument(text));
        }
        let lengths = if shared || network.is_some() { 1 } else { inputs };
        let random = random.map(|features| Random { features, lengths });
        Ok(FeatureMap { inputs, network, random })
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of features D.
    pub fn dimension(&self) -> usize {
        let width = self.network.as_ref().map_or(self.inputs, Mlp::outputs);
        self.random.as_ref().map_or(width, |random| random.features.count())
    }

    /// The network.
    pub fn network(&self) -> Option<&Mlp> {
        self.network.as_ref()
    }

    /// The random features.
    pub fn random(&self) -> Option<&RandomFeatures> {
        self.random.as_ref().map(|random| &random.features)
    }

    /// Length of the parameter vector.
    pub fn n_parameters(&self) -> usize {
        let network = self.network.as_ref().map_or(0, Mlp::n_parameters);
        network + self.random.as_ref().map_or(0, |random| random.lengths + 1)
    }

    /// Parameters to start from: the network's drawn with `seed`, and these scales. Of several length scales a map with
    /// one takes the geometric mean.
    pub fn start(&self, seed: u64, signal_scale: f64, length_scale: &[f64]) -> Vec<f64> {
        let mut parameters = self.network.as_ref().map_or(Vec::new(), |network| network.start(seed));
        if let Some(random) = &self.random {
            let logarithms: Vec<f64> = length_scale.iter().map(|length| length.ln()).collect();
            if random.lengths == logarithms.len() {
                parameters.extend(logarithms);
            } else {
                let mean = logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64;
                parameters.extend(std::iter::repeat_n(mean, random.lengths));
            }
            parameters.push(2.0 * signal_scale.ln());
        }
        parameters
    }

    /// The network's part of the parameters.
    pub fn network_parameters<'p>(&self, parameters: &'p [f64]) -> &'p [f64] {
        self.split(parameters).0
    }

    /// Signal scale and length scales; none without random features.
    pub fn scales(&self, parameters: &[f64]) -> Option<(f64, Vec<f64>)> {
        self.random.as_ref()?;
        let (log_variance, log_lengths) = self.split(parameters).1.split_last()?;
        Some(((0.5 * log_variance).exp(), log_lengths.iter().map(|log| log.exp()).collect()))
    }

    /// The parameters of the network, and those of the random features.
    fn split<'p>(&self, parameters: &'p [f64]) -> (&'p [f64], &'p [f64]) {
        parameters[..self.n_parameters()].split_at(self.network.as_ref().map_or(0, Mlp::n_parameters))
    }

    /// The features of the rows of `x`, b x inputs.
    pub fn evaluate(&self, parameters: &[f64], x: &ArrayRef2<f64>, workers: Workers<'_>) -> Evaluated {
        let network = self.network_parameters(parameters);
        let pass = self.network.as_ref().map(|map| map.forward(network, x, workers));
        let Some((random, (signal_scale, lengths))) = self.random.as_ref().zip(self.scales(parameters))
        else {
            let scaled = if pass.is_none() { Some(x.to_owned()) } else { None };
            return Evaluated { pass, scaled, random: None };
        };
        let (scaled, random) = match &pass {
            Some(pass) => {
                let points = pass.features();
                (None, random.features.evaluate(&points, signal_scale, lengths[0], workers))
            }
            None => {
                let scaled = x.to_owned() / Array1::from(lengths);
                let random = random.features.evaluate(&scaled, signal_scale, 1.0, workers);
                (Some(scaled), random)
            }
        };
        Evaluated { pass, scaled, random: Some(random) }
    }

    /// The features alone, b x D.
    pub fn features(&self, parameters: &[f64], x: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        match (&self.network, &self.random) {
            (Some(network), None) => network.features(self.network_parameters(parameters), x, workers),
            _ => self.evaluate(parameters, x, workers).features().to_owned(),
        }
    }

    /// Adds the derivatives by the parameters to `gradient`, where those by the features are `cotangent`, b x D.
    pub fn pull_back(
        &self,
        parameters: &[f64],
        evaluated: &Evaluated,
        cotangent: &ArrayRef2<f64>,
        gradient: &mut [f64],
        workers: Workers<'_>,
    ) {
        let (network_parameters, _) = self.split(parameters);
        let (by_network, by_scales) = gradient.split_at_mut(network_parameters.len());
        let mut points = None;
        if let Some((random, evaluated_random)) = self.random.as_ref().zip(evaluated.random.as_ref())
            && let Some((by_log_variance, by_log_lengths)) = by_scales.split_last_mut()
        {
            let pulled = random.features.pull_back(evaluated_random, cotangent, workers);
            *by_log_variance += 0.5 * pulled.log_signal_scale;
            match &evaluated.scaled {
                Some(scaled) if random.lengths > 1 => {
                    // A point is x / length: its derivative by the length's logarithm is minus itself.
                    let by_lengths = (&pulled.points * scaled).sum_axis(Axis(0));
                    by_log_lengths.iter_mut().zip(by_lengths).for_each(|(sum, by)| *sum -= by);
                }
                _ => by_log_lengths[0] += pulled.log_length_scale,
            }
            points = Some(pulled.points);
        }
        if let Some((network, pass)) = self.network.as_ref().zip(evaluated.pass.as_ref()) {
            let cotangent = points.as_deref().unwrap_or(cotangent);
            network.backward(network_parameters, pass, cotangent, by_network, workers);
        }
    }
}
