//! Gaussian processes whose kernel has finitely many features, k(x, x') = phi(x)^T phi(x').
//!
//! With Phi the features of all n rows, n x D, F = Phi^T Phi + s^2 I of order D, and s^2 the noise variance, the
//! likelihood of H = Phi Phi^T + s^2 I needs nothing of order n:
//!
//! ```text
//! y^T H^-1 y = min over w of |Phi w - y|^2 / s^2 + |w|^2,   at w = F^-1 Phi^T y
//! log|H|     = log|F| + (n - D) log s^2
//! ```
//!
//! Shoham and Avron 2025, *Unbiased Stochastic Optimization for Gaussian Processes on Finite Dimensional RKHS*.
//!
//! A learner keeps a [`Process`]. In a step it takes a [`Batch`] through the [`FeatureMap`], computes an
//! [`Objective`] of its features, and descends. [`Moments`] and [`Posterior`] give predictions from all rows.

mod map;
mod objective;
mod passes;
mod posterior;
mod process;

pub use map::{Evaluated, FeatureMap};
pub use objective::Objective;
pub use passes::{EndedPass, Passes};
pub use posterior::{Moments, Posterior};
pub use process::{Batch, Options, Process};
