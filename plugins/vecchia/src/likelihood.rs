//! Vecchia's likelihood: the product of the likelihoods of rows, each given its neighbours among the rows before it.

use std::collections::BTreeMap;

use gpbench_sdk::likelihood::conditionals;
use gpbench_sdk::ndarray::{Array1, Array2, s};
use gpbench_sdk::neighbours::Earlier;
use gpbench_sdk::{Result, Scales, Workers};

use crate::{Data, LogLikelihood, Process};

/// Rows that are evaluated together.
const ROWS: usize = 32_768;

/// The sum over the rows at `positions` of their log likelihoods, each given its neighbours, with observations
/// conditioned on observations; and its derivatives. `variance` and `error` are in the order of `positions`.
///
/// # Errors
/// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite).
pub fn log_likelihood(
    at: &Process,
    data: &Data,
    neighbours: &Earlier,
    positions: &[usize],
    workers: Workers<'_>,
) -> Result<LogLikelihood> {
    let (kernel, noise_scale) = (at.kernel(), at.noise_scale());
    let y = &data.ordered_y - at.mean();
    let mut sum = LogLikelihood {
        value: 0.0,
        by: Scales {
            signal_scale: 0.0,
            noise_scale: 0.0,
            length_scale: vec![0.0; kernel.length_scale.len()],
            mean: 0.0,
        },
        by_points: Array2::zeros((0, data.x.ncols())),
        variance: Array1::zeros(positions.len()),
        error: Array1::zeros(positions.len()),
    };
    for (size, places) in by_size(neighbours, positions) {
        // Rows with few neighbours are among the first ones, and so are these.
        let last = if size < neighbours.most() { size + 1 } else { data.n() };
        let (x, y) = (data.ordered_x.slice(s![..last, ..]), y.slice(s![..last]));
        for places in places.chunks(ROWS) {
            let members = Array2::from_shape_fn((places.len(), size + 1), |(group, member)| {
                let position = positions[places[group]];
                neighbours.of(position).get(member).copied().unwrap_or(position)
            });
            let found = conditionals(&kernel, noise_scale, &x, &y, &members, workers)?;
            sum.value += found.log_likelihood;
            sum.by.signal_scale += found.signal_scale;
            sum.by.noise_scale += found.noise_scale;
            sum.by.mean += found.mean;
            let lengths = sum.by.length_scale.iter_mut().zip(&found.length_scale);
            lengths.for_each(|(sum, by)| *sum += by);
            for (index, &place) in places.iter().enumerate() {
                sum.variance[place] = found.variance[index];
                sum.error[place] = found.error[index];
            }
        }
    }
    Ok(sum)
}

/// Indices into `positions` by the number of neighbours there.
fn by_size(neighbours: &Earlier, positions: &[usize]) -> BTreeMap<usize, Vec<usize>> {
    let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, &position) in positions.iter().enumerate() {
        places.entry(neighbours.of(position).len()).or_default().push(place);
    }
    places
}
