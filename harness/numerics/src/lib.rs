//! Numerics that the harness and the SDK share, so that each primitive is written once.
//!
//! - [`LinearOperator`]: a matrix that is known by its products, and [`Dense`], one whose entries are stored;
//! - [`Aligned`], [`layout`]: memory of vectors and matrices;
//! - [`simd`]: vectors of numbers for each instruction set;
//! - [`packed`]: products of tiles of a matrix;
//! - [`Pool`]: a pool of threads; [`pieces`]: work in pieces of fixed size;
//! - [`neighbours`]: nearest rows;
//! - [`optimise`]: the optimisers Adam and L-BFGS;
//! - with the feature `blas`, dense linear algebra by the OpenBLAS of the system: `lapack` has safe calls of its
//!   routines, and `factor` has multithreaded Cholesky factors.
//!
//! Results have the same bits on any number of threads: the order of every sum depends on the shapes alone.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod aligned;
mod dense;
mod error;
#[cfg(feature = "blas")]
pub mod factor;
#[cfg(test)]
mod fixtures;
#[cfg(feature = "blas")]
#[allow(unsafe_code)]
pub mod lapack;
pub mod layout;
pub mod neighbours;
mod operator;
pub mod optimise;
pub mod packed;
pub mod pieces;
mod pool;
pub mod simd;
mod sums;

pub use aligned::Aligned;
pub use dense::Dense;
pub use error::{Error, Result};
pub use operator::LinearOperator;
pub use pool::{Alone, Pool};
pub use sums::dot;
