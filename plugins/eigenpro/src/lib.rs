//! EigenPro 2: stochastic gradient descent in which the leading eigenvectors of the kernel matrix are damped, so that
//! large batches permit long steps.
//!
//! See the README beside this crate for parameters, source, cost and limits.

#![forbid(unsafe_code)]

mod descent;
mod params;
mod preconditioner;
mod solver;
mod spectrum;

pub use descent::EigenDescent;
pub use params::EigenProParams;
pub use preconditioner::EigenPreconditioner;
pub use solver::EigenPro;
pub use spectrum::SubsetSpectrum;

gpbench_sdk::export_plugin! { name: "eigenpro", solvers: [EigenPro] }
