//! The numbers of a kernel on one data set.

use std::ops::RangeInclusive;

use gpbench_record::OriginBase;

use crate::error::Mistakes;
use crate::source::Location;

/// Scales that every kernel takes: no square of one, or of a quotient of two, overflows or underflows.
const SCALES: RangeInclusive<f64> = 1e-100..=1e100;

/// The numbers of a base, before those of the spec replace some, or all numbers of a kernel.
pub(super) struct Numbers {
    pub(super) signal_scale: f64,
    pub(super) noise_scale: f64,
    pub(super) length_scale: Vec<f64>,
    pub(super) origin: OriginBase,
}

impl Numbers {
    /// Scales of 1.
    pub(super) fn ones(origin: OriginBase) -> Numbers {
        Numbers { signal_scale: 1.0, noise_scale: 1.0, length_scale: vec![1.0], origin }
    }

    /// Whether all scales on data set `dataset` are within the limits; reports one that is not. One that is not positive has
    /// been reported.
    pub(super) fn check_scales(&self, dataset: &str, at: &Location, mistakes: &mut Mistakes) -> Option<()> {
        let of_length = self.length_scale.iter().map(|length| ("length_scale", length));
        let single = [("signal_scale", &self.signal_scale), ("noise_scale", &self.noise_scale)];
        let mut scales = single.into_iter().chain(of_length);
        let Some((key, scale)) = scales.find(|(_, scale)| **scale > 0.0 && !SCALES.contains(scale)) else {
            return Some(());
        };
        let hint = format!("scales lie between {:e} and {:e}", SCALES.start(), SCALES.end());
        mistakes.add(at, format!("`{key}` on data set `{dataset}` is {scale:e}"), hint);
        None
    }
}
