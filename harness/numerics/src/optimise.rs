//! Optimisers of flat vectors of parameters, and softplus, by which parameters become positive scales.

mod adam;
mod lbfgs;
mod pieces;
mod softplus;

pub use adam::Adam;
pub use lbfgs::{Finish, Lbfgs, LbfgsOptions, Progress};
pub use pieces::in_pieces;
pub use softplus::{inverse_softplus, sigmoid, softplus};
