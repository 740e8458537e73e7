//! Vectors of real numbers, and the elementary functions of them that kernels need.
//!
//! One trait for `f64` and `f32` uses the operations of [`pulp`]. Functions are compiled once for each instruction
//! set. They must be `inline(always)`, since a function that is not inlined would be compiled for the oldest
//! processor.
//!
//! Multiply-adds are fused if the processor supports this. So the last bits of a result depend on the instruction set,
//! but never on the number of threads or on the position of an entry in a vector.

mod arch;
mod real;
#[cfg(target_arch = "x86_64")]
mod root;
#[cfg(test)]
mod tests;
mod vectors;

pub use arch::{arch, cpu_dispatch};
pub use real::{Lanes, Real, Work};
