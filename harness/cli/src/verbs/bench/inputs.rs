//! Inputs that are drawn for a benchmark, and their kernel.

use gpbench_record::{BenchInputs, Family, Kernel, OriginBase};

/// Standard normal inputs. The distance of two of them is about sqrt(2 d).
pub(super) fn drawn(family: Family, n: usize, d: usize) -> (BenchInputs, Kernel) {
    (BenchInputs::Normal { n, d }, ones(family, (d as f64).sqrt()))
}

/// A kernel with one length scale for all inputs and other scales of 1.
pub(super) fn ones(family: Family, length_scale: f64) -> Kernel {
    Kernel {
        name: family.to_string(),
        family: family.into(),
        signal_scale: 1.0,
        noise_scale: 1.0,
        length_scale: vec![length_scale],
        mean: None,
        origin: OriginBase::Ones.into(),
        network: None,
        start: None,
    }
}
