//! Speed of the parts of the work on one tile of a kernel matrix.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

use crate::Arithmetic;

words! {
    /// A part of the work on one tile of H, for the Matérn-3/2 family with distances from products of coordinates.
    pub enum TilePart {
        /// The entries: distances, square roots, and the correlation with its exponential.
        Entries = "entries",
        /// The same without square roots: the correlation of the squared distance.
        NoRoot = "entries without square root",
        /// The same without the correlation: distances and square roots.
        NoExponential = "entries without exponential",
        /// Squared distances alone.
        Distances = "squared distances",
        /// The product of the tile with packed right-hand sides.
        Forward = "product",
        /// The transposed product.
        Transposed = "transposed product",
        /// Packing the right-hand sides of the tile's columns, which a product does once for a whole column of tiles.
        Pack = "packing",
        /// Multiply-adds in registers: what the processor does at most.
        Peak = "multiply-adds in registers",
    }
}

/// Speed of the parts of the work on one tile, compared with dgemm, or with sgemm in mixed precision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TileTiming {
    /// Rows and columns of the tile.
    pub tile: usize,
    /// Inputs.
    pub d: usize,
    /// Right-hand sides, s.
    pub rhs: usize,
    /// Arithmetic of the tile.
    pub precision: Arithmetic,
    /// Threads, each of which works on a tile of its own.
    pub threads: usize,
    /// 10^9 floating-point operations a second of dgemm or sgemm on square matrices, with as many threads.
    pub gemm_gflops: f64,
    /// The parts, in the order of [`TilePart::ALL`].
    pub parts: Vec<PartTiming>,
}

/// Speed of one part of the work on a tile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PartTiming {
    /// The part.
    pub part: TilePart,
    /// Median nanoseconds of one thread for each entry of the tile.
    pub nanoseconds: f64,
    /// 10^9 floating-point operations a second of all threads, at 2 d an entry for distances and 2 s for products;
    /// nothing else is counted, and nothing of packing.
    pub gflops: f64,
    /// `gflops` over `gemm_gflops`.
    pub ratio: f64,
}
