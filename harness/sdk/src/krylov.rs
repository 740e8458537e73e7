//! Block conjugate gradients, for solvers that differ in their preconditioner.
//!
//! O'Leary 1980 for the method; Dubrulle 2001, BCGrQ, for the form in which a QR factorisation of the residual
//! block replaces it, so that columns that become dependent can be dropped. Here the factorisation is
//! orthonormal in the preconditioner's inner product.

mod iteration;
mod orthonormal;
mod space;

pub use iteration::BlockIteration;
