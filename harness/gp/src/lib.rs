//! Gaussian-process numerics for iterative solvers.
//!
//! A benchmark uses this crate to build a linear system `H V = B` with `H = s^2 k(X, X) + noise^2 I`, and to verify
//! its solutions:
//!
//! - [`Kernel`]: the covariance functions, one length scale per input;
//! - [`KernelMatrix`], [`SystemMatrix`]: the matrix of a system, accessed only through its products
//!   ([`LinearOperator`](gpbench_numerics::LinearOperator));
//! - [`KernelOperator`]: `H` in tiles on the threads of this process, in O(n (d + s)) memory;
//! - [`inducing`]: selection of inducing points Z;
//! - [`UniqueInputs`], [`CollapsedOperator`]: a smaller equivalent system where inputs repeat;
//! - [`RandomFeatures`] and [`pathwise`]: prior draws and posterior samples;
//! - [`PosteriorSamples`]: the same samples as functions, with gradients;
//! - [`GrowingDraw`]: exact prior draws at points given in turn;
//! - [`exact`]: the same results through a dense Cholesky factor;
//! - [`metrics`]: residuals, errors, likelihoods;
//! - [`spectrum`]: eigenvalues and spectral basis functions;
//! - [`thompson`]: points where posterior samples are large;
//! - [`train`]: gradients of the marginal likelihood and gradient ascent; [`lanczos`]: log-determinants;
//! - [`cglb`]: a lower bound on the marginal likelihood from inducing points and an approximate solution;
//! - [`model`]: predictions and likelihoods of learners' models, by [`network`], [`finite`], [`sparse`],
//!   [`experts`], [`neighbours`] and [`actions`];
//! - [`likelihood`]: estimates of the marginal likelihood, truncated or randomised;
//! - [`TileParts`]: the work on one tile in parts, for timing;
//! - [`seed`]: random streams keyed by name;
//! - [`blas`]: the thread count of OpenBLAS.
//!
//! Shapes: `n` rows, `d` inputs, `s` right-hand sides. Inputs are row-major
//! `n x d`; blocks of right-hand sides are column-major (`.f()`) `n x s`.
//! Hyperparameters are scales (standard deviations), never variances.
//!
//! Results have the same bits on any number of threads: the order of every sum depends on the shapes alone.
#![deny(unsafe_code)]

pub mod actions;
#[allow(unsafe_code)]
pub mod blas;
pub mod cglb;
mod collapse;
mod covariance;
mod derivatives;
pub mod exact;
pub mod experts;
mod features;
pub mod finite;
#[cfg(test)]
mod fixtures;
mod gradient;
mod growing_draw;
pub mod inducing;
pub mod iterative;
mod kernel;
pub mod lanczos;
pub mod likelihood;
pub mod low_rank;
mod matrix;
pub mod metrics;
pub mod model;
pub mod neighbours;
pub mod network;
mod operator;
pub mod pathwise;
mod pivoted;
mod samples;
mod scratch;
pub mod seed;
mod sin_cos;
mod singular;
pub mod sparse;
pub mod spectrum;
pub mod thompson;
mod threads;
mod tile;
pub mod train;

pub use collapse::{CollapsedOperator, UniqueInputs};
pub use covariance::{CovarianceFunction, Linear};
pub use features::{FeatureRows, RandomFeatures};
pub use gpbench_numerics::simd::cpu_dispatch;
pub use gpbench_record::{Arithmetic, Frequencies};
pub use gradient::Gradient;
pub use growing_draw::GrowingDraw;
pub use kernel::{Family, Kernel};
pub use matrix::{KernelMatrix, SystemMatrix};
pub use operator::KernelOperator;
pub use samples::PosteriorSamples;
pub use singular::NotPositiveDefinite;
pub use threads::{ThreadsRefused, thread_pool};
pub use tile::{TileParts, tile_parts};
