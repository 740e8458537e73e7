//! Hyperparameters by maximum marginal likelihood, from solutions of linear systems.
//!
//! With `H = s^2 k(X, X) + noise^2 I` and `v = H^-1 y`, the log marginal likelihood has the gradient
//!
//! ```text
//! dL/d theta = (v^T dH/d theta v - tr(H^-1 dH/d theta)) / 2
//! ```
//!
//! (Rasmussen and Williams 2006, equation 5.9). The trace is the expensive part. It is computed from a Cholesky
//! factor, or estimated from the solutions of further systems ([`estimator`]). [`Adam`] ascends along that gradient
//! in unconstrained parameters, whose softplus are the scales ([`Parameters`]). [`OptimumSearch`] finds the greatest
//! exact likelihood, with which such paths are compared.
//!
//! Frequencies, weights and noise are drawn in units of the scales, so right-hand sides from the same random
//! streams change continuously with the hyperparameters. The solution of one step is then a good initial iterate
//! for the next, a *warm start* ([`extrapolate`] uses the last two solutions).

mod data_start;
pub mod estimator;
mod optimum;
mod parameters;
mod schedule;
mod subset;
mod warm;

pub use data_start::{DataStarts, GivenScales, StartSample};
pub use gpbench_numerics::optimise::Adam;
pub use optimum::{FoundOptimum, OptimumSearch, spread_starts};
pub use parameters::{Hyperparameters, Parameters};
pub use schedule::Schedule;
pub use subset::{SubsetFit, SubsetFitted};
pub use warm::extrapolate;
