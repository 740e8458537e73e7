//! Hyperparameters by maximum marginal likelihood, from solutions of linear systems.
//!
//! With `H = s^2 k(X, X) + noise^2 I` and `v = H^-1 y`, the log marginal likelihood has the gradient
//!
//! ```text
//! dL/d theta = (v^T dH/d theta v - tr(H^-1 dH/d theta)) / 2
//! ```
//!
//! (Rasmussen and Williams 2006, equation 5.9). The trace is what costs. It is taken from a Cholesky
//! factor, or estimated from the solutions of further systems ([`estimator`]). [`Adam`] ascends along
//! that gradient in unconstrained parameters, whose softplus are the scales ([`Parameters`]).
//!
//! Targets of the next step are those of the last one under new hyperparameters whenever they are drawn
//! from the same streams: frequencies, weights and noise are drawn in units of the scales, so a prior
//! draw moves with them and stays the same draw. So a solution is a good start for the next one, a
//! *warm start* ([`extrapolate`] takes it a step further).

mod adam;
pub mod estimator;
mod parameters;
mod subset;
mod warm;

pub use adam::{Adam, Schedule};
pub use parameters::{Hyperparameters, Parameters};
pub use subset::SubsetFit;
pub use warm::extrapolate;
