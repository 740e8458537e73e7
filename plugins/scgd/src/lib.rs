//! tmp

#![deny(unsafe_code)]

mod average;

pub use average::{Average, LogDeterminant};
