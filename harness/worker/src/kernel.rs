//! Conversion of covariance functions from a case to the numerics.

use gpbench_gp::Kernel;
use gpbench_record as record;
use thiserror::Error;

/// Error of hyperparameters that are invalid for any kernel.
#[derive(Debug, Error)]
#[error("kernel `{name}`: {what}")]
pub struct KernelError {
    /// Kernel.
    pub name: String,
    /// What is wrong.
    pub what: String,
}

/// The covariance function over `d` inputs.
///
/// # Errors
/// Where a scale is not positive, too small or too large, or the number of length scales is wrong.
pub fn kernel(kernel: &record::Kernel, d: usize) -> Result<Kernel, KernelError> {
    let record::Kernel { name, family, signal_scale, noise_scale, length_scale, network, .. } = kernel;
    let wrong = |what: String| KernelError { name: name.clone(), what };
    let Some(family) = family.stationary().filter(|_| network.is_none()) else {
        return Err(wrong("linear kernels and networks are for learners alone".to_owned()));
    };
    if length_scale.len() != 1 && length_scale.len() != d {
        return Err(wrong(format!("{} length scales for {d} inputs", length_scale.len())));
    }
    // Within these limits, no square of a scale or of a scaled distance overflows or underflows.
    let positive = |what: &str, value: f64| match value {
        1e-100..=1e100 => Ok(()),
        _ if value > 0.0 => Err(wrong(format!("{what} {value:e} is not between 1e-100 and 1e100"))),
        _ => Err(wrong(format!("{what} {value} is not positive"))),
    };
    positive("signal_scale", *signal_scale)?;
    positive("noise_scale", *noise_scale)?;
    length_scale.iter().try_for_each(|&length| positive("length_scale", length))?;
    Ok(Kernel::new(family, *signal_scale, length_scale, d))
}
