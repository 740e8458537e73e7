//! Kernels for authors of learners: Gram matrices, and the derivatives of a function of them.
//!
//! A function of a Gram matrix K has a cotangent G, the matrix of its derivatives by K's entries. A pull-back turns
//! G into the derivatives by the kernel's scales and by the points. Every entry depends on its two points alone, and
//! sums are taken over pieces of fixed size, so results do not depend on the number of threads.

pub(crate) mod correlation;
mod pull_back;
mod tile;

use std::marker::PhantomData;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, ArrayViewMut2, Axis, ShapeBuilder};

use crate::simd::dispatch;
use crate::{Covariance, Workers};
use correlation::{Correlation, by_family};
use tile::{Fill, Strips};

/// Columns of a piece of a Gram matrix, one thread's unit of work.
const COLUMNS: usize = 128;

/// A kernel with its scales: signal_scale^2 k(x / length_scale, z / length_scale).
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// k.
    pub family: Covariance,
    /// Standard deviation of the latent function; a factor of the features if the family is linear.
    pub signal_scale: f64,
    /// One length scale an input, or one for all inputs.
    pub length_scale: Vec<f64>,
}

/// Points for which a pull-back computes derivatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Points {
    /// No points: scales only.
    Neither,
    /// The points of the rows.
    Rows,
    /// The points of the columns.
    Columns,
    /// The points of the rows and those of the columns.
    Both,
}

/// Derivatives by the scales and the points of a Gram matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelGradient {
    /// Derivative by the signal scale.
    pub signal_scale: f64,
    /// Derivatives by the length scales: as many as the kernel has.
    pub length_scale: Array1<f64>,
    /// Derivatives by the points of the rows, in their shape; 0 x 0 unless asked for.
    pub rows: Array2<f64>,
    /// Derivatives by the points of the columns, in their shape; 0 x 0 unless asked for.
    pub columns: Array2<f64>,
}

impl KernelGradient {
    /// Adds the derivatives by the scales of another Gram matrix of the same kernel, and leaves the points alone.
    pub fn add_scales(&mut self, other: &KernelGradient) {
        self.signal_scale += other.signal_scale;
        self.length_scale += &other.length_scale;
    }
}

impl Kernel {
    /// A kernel on inputs that are scaled already, with all scales 1.
    pub fn unit(family: impl Into<Covariance>) -> Kernel {
        Kernel { family: family.into(), signal_scale: 1.0, length_scale: vec![1.0] }
    }

    /// The Gram matrix of the points `rows`, n x d, and `columns`, m x d: n x m, column-major.
    ///
    /// In stationary families equal points have entry signal_scale^2 exactly, and the matrix of one set with
    /// itself is symmetric to the last bit.
    ///
    /// # Panics
    /// If there are no inputs, their numbers differ, or the number of length scales is neither that nor 1.
    pub fn gram(&self, rows: &ArrayRef2<f64>, columns: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        let mut gram = Array2::zeros((rows.nrows(), columns.nrows()).f());
        self.gram_into(rows, columns, &mut gram, workers);
        gram
    }

    /// Writes the Gram matrix into a column-major matrix of its shape. Reusing memory saves up to a third of the time.
    ///
    /// # Panics
    /// If the shapes do not fit, or the matrix is not column-major.
    pub fn gram_into(
        &self,
        rows: &ArrayRef2<f64>,
        columns: &ArrayRef2<f64>,
        gram: &mut ArrayRef2<f64>,
        workers: Workers<'_>,
    ) {
        assert_eq!(gram.dim(), (rows.nrows(), columns.nrows()), "one entry a pair of points");
        let (rows, columns) = (self.scaled(rows), self.scaled(columns));
        assert_eq!(rows.ncols(), columns.ncols(), "the numbers of inputs differ");
        if gram.is_empty() {
            return;
        }
        let strips = Strips::new(&rows);
        let scale = self.signal_scale * self.signal_scale;
        let pieces =
            gram.axis_chunks_iter_mut(Axis(1), COLUMNS).zip(columns.axis_chunks_iter(Axis(0), COLUMNS));
        workers.for_each(pieces, |(out, points)| {
            let linear =
                |mut out: ArrayViewMut2<'_, f64>| general_mat_mul(scale, &rows, &points.t(), 0.0, &mut out);
            let coordinates = points.to_slice().expect("pieces of a row-major array");
            by_family!(self.family, fill(&strips, coordinates, scale, out), linear: linear(out));
        });
    }

    /// The diagonal of the Gram matrix of `points` with themselves.
    ///
    /// # Panics
    /// As [`gram`](Self::gram).
    pub fn diagonal(&self, points: &ArrayRef2<f64>) -> Array1<f64> {
        let scale = self.signal_scale * self.signal_scale;
        match self.family {
            Covariance::Linear => self.scaled(points).map_axis(Axis(1), |row| scale * row.dot(&row)),
            _ => Array1::from_elem(points.nrows(), scale),
        }
    }

    /// Derivatives of a function of `gram(rows, columns)` whose derivatives by the entries are `cotangent`, n x m.
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
        assert_eq!(cotangent.dim(), (rows.nrows(), columns.nrows()), "one derivative an entry");
        pull_back::pull_back(self, rows, columns, cotangent, points, workers)
    }

    /// Derivatives of a function of `gram(points, points)`: `rows` has the derivatives by the points, which are on both
    /// sides, if they are asked for; `columns` is empty. The cotangent need not be symmetric.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn pull_back_square(
        &self,
        points: &ArrayRef2<f64>,
        cotangent: &ArrayRef2<f64>,
        with_points: bool,
        workers: Workers<'_>,
    ) -> KernelGradient {
        let sides = if with_points { Points::Both } else { Points::Neither };
        let mut gradient = self.pull_back(points, points, cotangent, sides, workers);
        gradient.rows += &gradient.columns;
        gradient.columns = Array2::zeros((0, 0));
        gradient
    }

    /// Derivatives of a function of `diagonal(points)`; `rows` has the derivatives by the points, if they are asked for.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn pull_back_diagonal(
        &self,
        points: &ArrayRef2<f64>,
        cotangent: &ArrayRef1<f64>,
        with_points: bool,
    ) -> KernelGradient {
        assert_eq!(cotangent.len(), points.nrows(), "one derivative an entry");
        let scale = self.signal_scale * self.signal_scale;
        let lengths = self.lengths(points.ncols());
        let column = cotangent.view().insert_axis(Axis(1));
        // By the points, divided by their length scales.
        let by_scaled = match self.family {
            Covariance::Linear => 2.0 * scale * &column * &self.scaled(points),
            _ => Array2::zeros(points.dim()),
        };
        let by_length = -(&by_scaled * &self.scaled(points)).sum_axis(Axis(0)) / &lengths;
        let by_signal_variance = match self.family {
            Covariance::Linear => cotangent.dot(&self.scaled(points).map_axis(Axis(1), |row| row.dot(&row))),
            _ => cotangent.sum(),
        };
        KernelGradient {
            signal_scale: 2.0 * self.signal_scale * by_signal_variance,
            length_scale: self.collect_lengths(by_length),
            rows: if with_points { by_scaled / &lengths } else { Array2::zeros((0, 0)) },
            columns: Array2::zeros((0, 0)),
        }
    }

    /// One length scale an input.
    pub(crate) fn lengths(&self, inputs: usize) -> Array1<f64> {
        assert!(inputs > 0, "a kernel needs at least one input");
        match self.length_scale[..] {
            [shared] => Array1::from_elem(inputs, shared),
            _ => {
                assert_eq!(self.length_scale.len(), inputs, "one length scale an input, or one for all");
                Array1::from(self.length_scale.clone())
            }
        }
    }

    /// Derivatives by the length scales, from one derivative an input.
    pub(crate) fn collect_lengths(&self, by_input: Array1<f64>) -> Array1<f64> {
        if self.length_scale.len() == 1 { Array1::from_elem(1, by_input.sum()) } else { by_input }
    }

    /// Points divided by their length scales, row-major.
    pub(crate) fn scaled(&self, points: &ArrayRef2<f64>) -> Array2<f64> {
        let mut scaled = Array2::zeros(points.dim());
        scaled.assign(points);
        scaled /= &self.lengths(points.ncols());
        scaled
    }
}

/// Evaluates the entries of a piece of a stationary Gram matrix, whole columns of it.
fn fill<C: Correlation>(rows: &Strips, points: &[f64], scale: f64, out: ArrayViewMut2<'_, f64>) {
    dispatch(Fill::<C> { rows, points, scale, out, family: PhantomData });
}

#[cfg(test)]
mod tests;
