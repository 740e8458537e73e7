//! Exact solves on blocks of rows, which update the residual: the steps of alternating projections.
//!
//! The rows are split into blocks, and A between the rows of each is factorised once. A projection
//! solves the system exactly on one block and leaves all other entries of the iterate. Of all changes on these rows,
//! it reduces the error in A's norm the most. It uses the block's columns of A, which also update the residual, so
//! that its norms are known at every step without further entries.
//!
//! Lin, Padhy, Mlodozeniec, Antoran and Hernandez-Lobato 2024, Algorithm 2.

mod blocks;
mod residual;

pub use blocks::{Blocks, Partition};
pub use residual::{Projection, Residual};
