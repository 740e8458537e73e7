//! Optimisers of flat vectors of parameters.

mod adam;
mod pieces;

pub use adam::Adam;
pub use pieces::in_pieces;
