//! The objective of a step: the mean of the likelihoods of its groups.

use gpbench_sdk::likelihood::groups;
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::optimise::Hyperparameters;
use gpbench_sdk::{Covariance, Result, Scales, Workers};

/// The mean over groups of their negative log marginal likelihoods per row, and its derivatives by the free
/// parameters. `data` is the inputs, n x d, the targets, and the groups, groups x k.
///
/// With a `signal_factor` the derivative by the signal scale is multiplied by k / log k: Chen et al. divide by log k
/// where the others are divided by k.
///
/// # Errors
/// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite).
pub fn objective(
    at: &Hyperparameters,
    family: impl Into<Covariance>,
    data: (&Array2<f64>, &Array1<f64>, &Array2<usize>),
    signal_factor: bool,
    workers: Workers<'_>,
) -> Result<(f64, Vec<f64>)> {
    let (x, y, members) = data;
    let by = groups(&at.kernel(family), at.noise_scale(), x, &(y - at.mean()), members, workers)?;
    let k = members.ncols() as f64;
    let factor = if signal_factor && k > 1.0 { k / k.ln() } else { 1.0 };
    let scales = Scales {
        signal_scale: factor * by.signal_scale,
        noise_scale: by.noise_scale,
        length_scale: by.length_scale.to_vec(),
        mean: by.mean,
    };
    Ok((by.nlml, at.chain(&scales)))
}
