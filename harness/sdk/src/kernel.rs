//! Kernels for authors of learners: Gram matrices, and the derivatives of a function of them.
//!
//! A function of a Gram matrix K has a cotangent G, the matrix of its derivatives by K's entries. A pull-back turns
//! G into the derivatives by the kernel's scales and by the points. Every entry depends on its two points alone, and
//! sums are taken over pieces of fixed size, so results do not depend on the number of threads.

use std::ops::AddAssign;

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2};

use crate::{Family, Workers};

/// A kernel with its scales: signal_scale^2 k(x / length_scale, z / length_scale).
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Family of k; [`Family::Linear`] is the inner product.
    pub family: Family,
    /// Standard deviation of the latent function; a factor of the features if the family is linear.
    pub signal_scale: f64,
    /// One length scale an input, or one for all inputs.
    pub length_scale: Vec<f64>,
}

/// Which points a pull-back gives derivatives for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Points {
    /// Those of neither side: scales only.
    Neither,
    /// Those of the rows.
    Rows,
    /// Those of the columns.
    Columns,
    /// Those of the rows and those of the columns.
    Both,
}

/// Derivatives by what a Gram matrix is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelGradient {
    /// By the signal scale.
    pub signal_scale: f64,
    /// By the length scales: as many as the kernel has.
    pub length_scale: Array1<f64>,
    /// By the points of the rows, in their shape; 0 x 0 unless asked for.
    pub rows: Array2<f64>,
    /// By the points of the columns, in their shape; 0 x 0 unless asked for.
    pub columns: Array2<f64>,
}

impl KernelGradient {
    /// Adds the derivatives by the scales of another Gram matrix of the same kernel, and leaves the points alone.
    pub fn add_scales(&mut self, other: &KernelGradient) {
        self.signal_scale.add_assign(other.signal_scale);
        self.length_scale.add_assign(&other.length_scale);
    }
}

impl Kernel {
    /// A kernel on inputs that are scaled already, with all scales 1.
    pub fn unit(family: Family) -> Kernel {
        Kernel { family, signal_scale: 1.0, length_scale: vec![1.0] }
    }

    /// The Gram matrix of the points `rows`, n x d, and `columns`, m x d: n x m, column-major.
    ///
    /// Equal points have the same entry to the last bit, so that the matrix of one set with itself is symmetric and
    /// has a constant diagonal if the family is stationary.
    ///
    /// # Panics
    /// If the numbers of inputs differ, or the number of length scales is neither that nor 1.
    pub fn gram(&self, rows: &ArrayRef2<f64>, columns: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        todo!()
    }

    /// The diagonal of the Gram matrix of `points` with themselves.
    pub fn diagonal(&self, points: &ArrayRef2<f64>) -> Array1<f64> {
        todo!()
    }

    /// Derivatives of a function of `gram(rows, columns)` whose derivatives by the entries are `cotangent`, n x m. A
    /// column-major cotangent is the fastest.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn pull_back(
        &self,
        rows: &ArrayRef2<f64>,
        columns: &ArrayRef2<f64>,
        cotangent: &ArrayRef2<f64>,
        points: Points,
        workers: Workers<'_>,
    ) -> KernelGradient {
        todo!()
    }

    /// The same for `gram(points, points)`: `rows` then has the derivatives by the points, which stand on both
    /// sides, and `columns` is empty. The cotangent need not be symmetric.
    pub fn pull_back_square(
        &self,
        points: &ArrayRef2<f64>,
        cotangent: &ArrayRef2<f64>,
        with_points: bool,
        workers: Workers<'_>,
    ) -> KernelGradient {
        todo!()
    }

    /// The same for `diagonal(points)`; `rows` has the derivatives by the points, unless asked for nothing but scales.
    pub fn pull_back_diagonal(
        &self,
        points: &ArrayRef2<f64>,
        cotangent: &ArrayRef1<f64>,
        with_points: bool,
    ) -> KernelGradient {
        todo!()
    }
}
