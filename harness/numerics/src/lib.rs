//! Numerics that the harness and the SDK share, so that each primitive is written once.
//!
//! - [`LinearOperator`]: a matrix that is known by its products.

#![deny(unsafe_code)]

mod operator;

pub use operator::LinearOperator;
