//! Sparse variational Gaussian processes, fitted by stochastic optimisation.
//!
//! See the README beside this crate for parameters, source, cost and limits.

// Not `forbid`: ndarray's `s!` expands to an `allow`.
#![deny(unsafe_code)]

mod bound;
mod panels;

pub use bound::{Gradient, Minibatch, Variational};
