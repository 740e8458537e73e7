//! Arrays of each kind of model.

mod actions;
mod experts;

use gpbench_record::{Covariance, ModelKind};
use ndarray::Array2;

use super::arrays::{Arrays, Entries, InvalidArray, Reader, Size, invalid_entry};
use super::{Body, DENSE_ROWS, Model, Shape};
use crate::covariance::Linear;
use crate::finite::OutputFeatures;
use crate::neighbours::{InducingPoints, Neighbours};
use crate::network::{Layer, Network};
use crate::sparse::Variational;
use crate::train::Hyperparameters;
use crate::{CovarianceFunction, Kernel, RandomFeatures};

pub(super) fn parse(
    kind: ModelKind,
    family: Covariance,
    shape: Shape,
    arrays: &Arrays,
) -> Result<Model, InvalidArray> {
    let mut reader = Reader::new(arrays);
    let model = match kind {
        ModelKind::Experts => {
            let body = Body::Experts(experts::read(&mut reader, family, shape)?);
            let network = Network::default();
            model(shape, network, 0.0, None, body)
        }
        _ => single(&mut reader, kind, family, shape)?,
    };
    reader.finish()?;
    Ok(model)
}

/// A model with the defaults of what is not in its arrays.
fn model(
    shape: Shape,
    network: Network,
    mean: f64,
    hyperparameters: Option<Hyperparameters>,
    body: Body,
) -> Model {
    Model { shape, dense_rows: DENSE_ROWS, variance_rank: None, network, mean, hyperparameters, body }
}

/// A model with one set of hyperparameters.
fn single(
    reader: &mut Reader<'_>,
    kind: ModelKind,
    family: Covariance,
    shape: Shape,
) -> Result<Model, InvalidArray> {
    let network = match kind {
        ModelKind::Gp
        | ModelKind::Inducing
        | ModelKind::Experts
        | ModelKind::Neighbours
        | ModelKind::Actions => Network::default(),
        ModelKind::Features => network(reader, shape.inputs, 0)?,
        ModelKind::NetworkGp | ModelKind::NetworkInducing => network(reader, shape.inputs, 1)?,
    };
    let outputs = network.outputs(shape.inputs);
    let noise_scale = reader.number("noise_scale", Entries::Positive)?;
    let mean = reader.number_or("mean", Entries::Finite, 0.0)?;
    let (signal_scale, length_scale) = scales(reader, family, outputs)?;
    let body = match (kind, covariance_function(family, signal_scale, &length_scale, outputs)) {
        (ModelKind::Inducing | ModelKind::NetworkInducing, covariance) => {
            let (z, jitter, q) = inducing(reader, shape.inputs)?;
            Body::Inducing { covariance, z, jitter, q }
        }
        (ModelKind::Neighbours, covariance) => Body::Neighbours(neighbours(reader, covariance, shape)?),
        (ModelKind::Actions, covariance) => Body::Actions(actions::read(reader, covariance, shape.rows)?),
        (ModelKind::Features, CovarianceFunction::Stationary(kernel)) => {
            Body::Features(random_features(reader, &kernel)?)
        }
        (_, CovarianceFunction::Linear(linear)) => Body::Features(OutputFeatures::Linear(linear)),
        (_, CovarianceFunction::Stationary(kernel)) => Body::Dense(kernel),
    };
    if let (ModelKind::Features, Body::Features(projection)) = (kind, &body) {
        check_weights(reader, projection.count())?;
    }
    let hyperparameters = Some(Hyperparameters { noise_scale, signal_scale, length_scale });
    Ok(model(shape, network, mean, hyperparameters, body))
}

/// Signal scale and length scales. A linear kernel may omit them; the defaults are 1 and an empty list.
fn scales(
    reader: &mut Reader<'_>,
    family: Covariance,
    inputs: usize,
) -> Result<(f64, Vec<f64>), InvalidArray> {
    let is_linear = family == Covariance::Linear;
    let signal_scale = match is_linear {
        true => reader.number_or("signal_scale", Entries::Positive, 1.0)?,
        false => reader.number("signal_scale", Entries::Positive)?,
    };
    if is_linear && !reader.has("length_scale") {
        return Ok((signal_scale, Vec::new()));
    }
    let meaning = "one entry for each input of the kernel, or one for all";
    let size = Size { rows: Some(reader.rows_or_one("length_scale", inputs)), columns: Some(1), meaning };
    let length_scale = reader.entries("length_scale", size, Entries::Positive)?;
    Ok((signal_scale, length_scale.column(0).to_vec()))
}

fn covariance_function(
    family: Covariance,
    signal_scale: f64,
    length_scale: &[f64],
    inputs: usize,
) -> CovarianceFunction {
    match (family, length_scale) {
        (Covariance::Stationary(family), _) => {
            CovarianceFunction::Stationary(Kernel::new(family, signal_scale, length_scale, inputs))
        }
        (Covariance::Linear, []) => CovarianceFunction::Linear(Linear::new(signal_scale, &[1.0], inputs)),
        (Covariance::Linear, _) => {
            CovarianceFunction::Linear(Linear::new(signal_scale, length_scale, inputs))
        }
    }
}

/// The network of the layers `weight_1`, `bias_1`, `weight_2`, ... that exist.
fn network(reader: &mut Reader<'_>, inputs: usize, least: usize) -> Result<Network, InvalidArray> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut width = inputs;
    while layers.len() < least || reader.has(&format!("weight_{}", layers.len() + 1)) {
        let number = layers.len() + 1;
        let meaning = "a row for each output, a column for each input of the layer";
        let size = Size { rows: None, columns: Some(width), meaning };
        let weight = reader.entries(&format!("weight_{number}"), size, Entries::Finite)?.to_owned();
        width = weight.nrows();
        let meaning = "one entry for each output of the layer";
        let bias = reader.column(&format!("bias_{number}"), width, meaning, Entries::Finite)?;
        layers.push(Layer { weight, bias });
    }
    Ok(Network::new(layers))
}

fn random_features(reader: &mut Reader<'_>, kernel: &Kernel) -> Result<OutputFeatures, InvalidArray> {
    let meaning = "a row for each input of the kernel, a column for each pair of a sine and a cosine";
    let size = Size { rows: Some(kernel.d()), columns: None, meaning };
    let frequencies = reader.entries("frequencies", size, Entries::Finite)?;
    Ok(OutputFeatures::Random(RandomFeatures::from_omega(kernel, frequencies.to_owned())))
}

/// Checks the learner's own weights of the features, if it supplies them. Predictions use the optimal weights instead.
fn check_weights(reader: &mut Reader<'_>, features: usize) -> Result<(), InvalidArray> {
    if reader.has("weights") {
        reader.column("weights", features, "one entry for each feature", Entries::Finite)?;
    }
    Ok(())
}

/// The number of neighbours, and inducing points if there are any.
fn neighbours(
    reader: &mut Reader<'_>,
    covariance: CovarianceFunction,
    shape: Shape,
) -> Result<Neighbours, InvalidArray> {
    let CovarianceFunction::Stationary(kernel) = &covariance else {
        let wanted = "another: neighbours have no linear kernel";
        return Err(InvalidArray::new("kind", "is that of neighbours", wanted));
    };
    let count = reader.number("neighbours", Entries::NotNegative)?;
    if count.fract() != 0.0 {
        return Err(InvalidArray::new("neighbours", format!("is {count}"), "a whole number"));
    }
    let inducing = match reader.has("z") {
        true => {
            let (z, jitter, q) = inducing(reader, shape.inputs)?;
            Some(InducingPoints { covariance: covariance.clone(), z, jitter, q })
        }
        false => None,
    };
    Ok(Neighbours { kernel: kernel.clone(), count: count as usize, inducing })
}

/// Inducing points, their jitter, and their distribution.
fn inducing(reader: &mut Reader<'_>, inputs: usize) -> Result<(Array2<f64>, f64, Variational), InvalidArray> {
    let meaning = "a row for each inducing point, a column for each input";
    let size = Size { rows: None, columns: Some(inputs), meaning };
    let z = reader.entries("z", size, Entries::Finite)?.to_owned();
    let jitter = reader.number("jitter", Entries::NotNegative)?;
    let meaning = "one entry for each inducing point";
    let mean = reader.column("q_mean", z.nrows(), meaning, Entries::Finite)?;
    let meaning = "a row and a column for each inducing point";
    let size = Size { rows: Some(z.nrows()), columns: Some(z.nrows()), meaning };
    let root = reader.entries("q_root", size, Entries::Finite)?;
    let above = root.indexed_iter().find(|&((row, column), &entry)| row < column && entry != 0.0);
    if let Some((place, _)) = above {
        return Err(invalid_entry("q_root", root, place, "lower triangular"));
    }
    if let Some(index) = root.diag().iter().position(|&entry| entry == 0.0) {
        let error = invalid_entry("q_root", root, (index, index), "without zeros on the diagonal");
        return Err(error.of_divergence());
    }
    Ok((z, jitter, Variational { mean, root: root.to_owned() }))
}
