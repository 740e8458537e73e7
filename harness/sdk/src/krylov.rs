//! Block Krylov spaces: what block conjugate gradients are made of.
//!
//! O'Leary 1980 for the method; Dubrulle 2001, BCGrQ, for the form in which an orthonormal basis stands for the
//! residual block, so that columns that become dependent can be dropped.

mod orthonormal;
mod space;

pub use space::{Space, Step};
