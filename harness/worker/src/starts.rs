//! Hyperparameters from the data: those that a case begins with where the spec asks for them, and a check of others
//! against them.
//!
//! Starts depend on the rows, the family and the scales that the spec gives, and on no seed, so that all cases on the
//! same rows begin alike, and their exact reference too. They are made before a case begins, while no clock runs.

use gpbench_gp::train::{DataStarts, GivenScales, Hyperparameters, StartSample};
use gpbench_record::{DataStart, Kernel, Metrics, OriginBase, Scale, Source, names};

use crate::failure::CaseError;
use crate::kernel::kernel;
use crate::rows::Rows;

/// A kernel with the numbers that the rows give; the kernel itself where its numbers are known. With `shared`, all
/// inputs have one length scale.
///
/// # Errors
/// Where a scale that the spec gives is not one of a kernel, or the threads cannot be started.
pub(crate) fn resolved(of: &Kernel, shared: bool, rows: &Rows, threads: usize) -> Result<Kernel, CaseError> {
    let Some(DataStart { restarts, keep }) = &of.start else { return Ok(of.clone()) };
    let kept = |scale: Scale| keep.contains(&scale);
    let given = GivenScales {
        noise_scale: kept(Scale::NoiseScale).then_some(of.noise_scale),
        signal_scale: kept(Scale::SignalScale).then_some(of.signal_scale),
        length_scale: kept(Scale::LengthScale).then(|| of.length_scale.clone()),
    };
    let sample = sample(of, shared, *restarts, given, rows, threads)?;
    let Hyperparameters { noise_scale, signal_scale, length_scale } = sample.chosen().clone();
    Ok(Kernel { noise_scale, signal_scale, length_scale, start: None, ..of.clone() })
}

/// Compares the hyperparameters of a kernel, which are given, trained or learned, with starts from the rows:
/// `below_start`. Empty for data that were drawn with known hyperparameters, unless these were trained or learned, and
/// for kernels that are not on the inputs.
///
/// # Errors
/// Where the threads cannot be started.
pub(crate) fn compared(of: &Kernel, rows: &Rows, threads: usize) -> Result<Metrics, CaseError> {
    let is_drawn = !matches!(rows.dataset.source, Source::Registry { .. } | Source::File { .. });
    let mut found = Metrics::default();
    // A learner may give any numbers.
    if kernel(of, rows.d()).is_err() || (is_drawn && of.origin.base != OriginBase::Trained) {
        return Ok(found);
    }
    let sample = sample(of, false, DataStart::RESTARTS, GivenScales::default(), rows, threads)?;
    let (noise_scale, signal_scale, length_scale) =
        (of.noise_scale, of.signal_scale, of.length_scale.clone());
    let own = sample.likelihood(&Hyperparameters { noise_scale, signal_scale, length_scale });
    if let (Some((_, best)), Some(own)) = (sample.best(), own) {
        found.insert(names::BELOW_START, best - own);
    }
    Ok(found)
}

/// Starts for a kernel on the training rows, less its prior mean.
fn sample(
    of: &Kernel,
    shared_length_scale: bool,
    starts: usize,
    given: GivenScales,
    rows: &Rows,
    threads: usize,
) -> Result<StartSample, CaseError> {
    let family = kernel(of, rows.d())?.family;
    let data = rows.subtract_mean(of);
    let wanted = DataStarts { family, starts, shared_length_scale, given };
    let rng = &mut Rows { seed: 0, ..rows.clone() }.streams(of.family).stream("starts");
    Ok(wanted.sample(data.x_train.view(), data.y_train.view(), rng, threads)?)
}
