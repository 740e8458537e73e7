//! Numerics that the harness and the SDK share, so that each primitive is written once.
//!
//! - [`LinearOperator`]: a matrix that is known by its products;
//! - [`Aligned`], [`layout`]: memory of vectors and matrices;
//! - [`simd`]: vectors of numbers for each instruction set.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod aligned;
pub mod layout;
mod operator;
pub mod simd;

pub use aligned::Aligned;
pub use operator::LinearOperator;
