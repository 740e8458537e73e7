//! Statistics of reports, as pure functions of numbers.
//!
//! The unit of replication is the seed. Timing repeats of one seed are reduced to one number before any of these
//! functions sees them ([`median`] for seconds), and intervals are Student's t over seeds. A percentile bootstrap
//! over so few values covers too rarely (75 % in place of 95 % for three seeds), and repeats in place of seeds say
//! nothing about other systems.
//!
//! Values that are NaN or infinite are missing, never zero. An interval exists from two values on and is printed from
//! three.

#![forbid(unsafe_code)]

mod bold;
pub mod calibration;
mod datasets;
mod distribution;
pub mod ert;
mod estimate;
pub mod gate;
mod growth;
mod holm;
mod paired;
pub mod profile;
pub mod ranking;

pub use bold::{Column, ComparedPair, Marks, Tolerance, bold};
pub use datasets::{over_such_datasets, over_these_datasets};
pub use distribution::{normal_cdf, normal_quantile, t_quantile, t_two_sided_p};
pub use estimate::{
    Estimate, Interval, PRINTED_FROM, estimate, geometric_estimate, geometric_mean, median, ratio,
    sample_variance,
};
pub use growth::{Polynomial, PowerLaw};
pub use holm::{Holm, holm};
pub use paired::{bracket, paired_p, timing_noise, widened};
