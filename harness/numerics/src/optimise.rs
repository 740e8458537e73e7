//! Optimisers of flat vectors of parameters.

mod adam;
mod lbfgs;
mod pieces;

pub use adam::Adam;
pub use lbfgs::{Finish, Lbfgs, LbfgsOptions, Progress};
pub use pieces::in_pieces;
