//! Arrays of each kind of model.

use gpbench_record::CovarianceFamily;
use ndarray::Array2;

use super::arrays::{Arrays, Entries, InvalidArray, Reader, Size, invalid_entry};
use super::{Body, Kind, Model, Shape};
use crate::experts::{Combine, Expert, Experts};
use crate::finite::Projection;
use crate::network::{Layer, Network};
use crate::sparse::Variational;
use crate::train::Hyperparameters;
use crate::{Covariance, Kernel, RandomFeatures};

pub(super) fn parse(
    kind: Kind,
    family: CovarianceFamily,
    shape: Shape,
    arrays: &Arrays,
) -> Result<Model, InvalidArray> {
    let mut reader = Reader::new(arrays);
    let model = match kind {
        Kind::Experts => experts(&mut reader, family, shape)?,
        _ => single(&mut reader, kind, family, shape)?,
    };
    reader.finish()?;
    Ok(model)
}

/// A model with one set of hyperparameters.
fn single(
    reader: &mut Reader<'_>,
    kind: Kind,
    family: CovarianceFamily,
    shape: Shape,
) -> Result<Model, InvalidArray> {
    let network = match kind {
        Kind::Gp | Kind::Inducing | Kind::Experts => Network::default(),
        Kind::Features => network(reader, shape.inputs, 0)?,
        Kind::NetworkGp | Kind::NetworkInducing => network(reader, shape.inputs, 1)?,
    };
    let outputs = network.outputs(shape.inputs);
    let noise_scale = reader.number("noise_scale", Entries::Positive)?;
    let mean = reader.number_or("mean", Entries::Finite, 0.0)?;
    let (covariance, length_scale) = covariance(reader, family, outputs)?;
    let signal_scale = match &covariance {
        Covariance::Stationary(kernel) => kernel.signal_scale,
        Covariance::Linear { signal_scale } => *signal_scale,
    };
    let body = match (kind, covariance) {
        (Kind::Inducing | Kind::NetworkInducing, covariance) => inducing(reader, covariance, shape.inputs)?,
        (Kind::Features, Covariance::Stationary(kernel)) => Body::Features(random_features(reader, &kernel)?),
        (_, Covariance::Linear { signal_scale }) => {
            Body::Features(Projection::Linear { signal_scale, outputs })
        }
        (_, Covariance::Stationary(kernel)) => Body::Dense(kernel),
    };
    if let (Kind::Features, Body::Features(projection)) = (kind, &body) {
        check_weights(reader, projection.count())?;
    }
    let hyperparameters = Hyperparameters { noise_scale, signal_scale, length_scale };
    Ok(Model { shape, network, mean, hyperparameters: Some(hyperparameters), body })
}

/// The kernel, and its length scales as they were given. A linear kernel has none; they may be there as ones.
fn covariance(
    reader: &mut Reader<'_>,
    family: CovarianceFamily,
    inputs: usize,
) -> Result<(Covariance, Vec<f64>), InvalidArray> {
    match family {
        CovarianceFamily::Stationary(family) => {
            let signal_scale = reader.number("signal_scale", Entries::Positive)?;
            let length_scale = length_scale(reader, inputs)?;
            let kernel = Kernel::new(family, signal_scale, &length_scale, inputs);
            Ok((Covariance::Stationary(kernel), length_scale))
        }
        CovarianceFamily::Linear => {
            let signal_scale = reader.number_or("signal_scale", Entries::Positive, 1.0)?;
            if reader.has("length_scale") {
                let length_scale = length_scale(reader, inputs)?;
                if let Some(row) = length_scale.iter().position(|&length| length != 1.0) {
                    let wanted = "1, or left out: the linear kernel has no length scales";
                    return Err(invalid_entry("length_scale", (row, 0), length_scale[row], wanted));
                }
            }
            Ok((Covariance::Linear { signal_scale }, Vec::new()))
        }
    }
}

fn length_scale(reader: &mut Reader<'_>, inputs: usize) -> Result<Vec<f64>, InvalidArray> {
    let meaning = "one entry for each input of the kernel, or one for all";
    let any = reader.array("length_scale", Size { rows: None, columns: Some(1), meaning })?;
    let rows = if any.nrows() == 1 { 1 } else { inputs };
    Ok(reader.column("length_scale", rows, meaning, Entries::Positive)?.to_vec())
}

/// `weight_1`, `bias_1`, `weight_2`, ... as far as they go.
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

fn random_features(reader: &mut Reader<'_>, kernel: &Kernel) -> Result<Projection, InvalidArray> {
    let meaning = "a row for each input of the kernel, a column for each pair of a sine and a cosine";
    let size = Size { rows: Some(kernel.d()), columns: None, meaning };
    let frequencies = reader.entries("frequencies", size, Entries::Finite)?;
    Ok(Projection::Random(RandomFeatures::from_omega(kernel, frequencies.to_owned())))
}

/// Checks the learner's own weights of the features, where it puts them. Predictions use the best weights.
fn check_weights(reader: &mut Reader<'_>, features: usize) -> Result<(), InvalidArray> {
    if reader.has("weights") {
        reader.column("weights", features, "one entry for each feature", Entries::Finite)?;
    }
    Ok(())
}

fn inducing(reader: &mut Reader<'_>, covariance: Covariance, inputs: usize) -> Result<Body, InvalidArray> {
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
    if let Some((place, &entry)) = above {
        return Err(invalid_entry("q_root", place, entry, "lower triangular"));
    }
    if let Some(index) = root.diag().iter().position(|&entry| entry == 0.0) {
        return Err(invalid_entry("q_root", (index, index), 0.0, "without zeros on the diagonal"));
    }
    let q = Variational { mean, root: root.to_owned() };
    Ok(Body::Inducing { covariance, z, jitter, q })
}

/// Hyperparameters and rows of the experts in columns. An expert of weight 0 has no part in anything, so its columns may
/// hold anything.
fn experts(reader: &mut Reader<'_>, family: CovarianceFamily, shape: Shape) -> Result<Model, InvalidArray> {
    let CovarianceFamily::Stationary(family) = family else {
        return Err(InvalidArray::new(
            "kind",
            "is that of experts",
            "another: experts have no linear kernel",
        ));
    };
    let each = "a column for each expert";
    let weight = reader.entries(
        "weight",
        Size { rows: Some(1), columns: None, meaning: each },
        Entries::NotNegative,
    )?;
    let count = weight.ncols();
    let used: Vec<usize> = (0..count).filter(|&expert| weight[(0, expert)] > 0.0).collect();
    if used.is_empty() {
        return Err(InvalidArray::new("weight", "is 0 for every expert", "positive for at least one"));
    }
    let is_used = |expert: usize| weight[(0, expert)] > 0.0;
    let mut columns = |name: &str, rows: Option<usize>, meaning: &str, entries: Entries| {
        let array = reader.array(name, Size { rows, columns: Some(count), meaning })?;
        entries.check(name, array, is_used)?;
        Ok::<_, InvalidArray>(array)
    };
    let signal_scale = columns("signal_scale", Some(1), each, Entries::Positive)?;
    let noise_scale = columns("noise_scale", Some(1), each, Entries::Positive)?;
    let meaning = "a row for each input (or one for all), a column for each expert";
    let mut length_scale = columns("length_scale", None, meaning, Entries::Positive)?;
    if length_scale.nrows() != 1 {
        length_scale = columns("length_scale", Some(shape.inputs), meaning, Entries::Positive)?;
    }
    let meaning = "a row for each training row of an expert, a column for each expert";
    let rows = columns("rows", None, meaning, Entries::NotNegative)?;
    for &expert in &used {
        let column = rows.column(expert);
        let wrong = column.iter().position(|&row| row.fract() != 0.0 || row >= shape.rows as f64);
        if let Some(index) = wrong {
            let wanted = format!("a whole number below {}, the number of training rows", shape.rows);
            return Err(invalid_entry("rows", (index, expert), column[index], wanted));
        }
    }
    let zero = Array2::zeros((1, count));
    let size = Size { rows: Some(1), columns: Some(count), meaning: each };
    let mean = if reader.has("mean") { reader.array("mean", size)? } else { &zero };
    Entries::Finite.check("mean", mean, is_used)?;
    let combine = match reader.number("combine", Entries::Finite)? {
        0.0 => Combine::Observed,
        1.0 => Combine::Latent,
        other => {
            return Err(invalid_entry("combine", (0, 0), other, "0 (of y) or 1 (of the latent function)"));
        }
    };
    let expert = |index: usize| Expert {
        kernel: Kernel::new(
            family,
            signal_scale[(0, index)],
            &length_scale.column(index).to_vec(),
            shape.inputs,
        ),
        noise_scale: noise_scale[(0, index)],
        mean: mean[(0, index)],
        rows: rows.column(index).iter().map(|&row| row as usize).collect(),
        weight: weight[(0, index)],
    };
    let experts = Experts { experts: used.into_iter().map(expert).collect(), combine };
    let body = Body::Experts(experts);
    Ok(Model { shape, network: Network::default(), mean: 0.0, hyperparameters: None, body })
}
