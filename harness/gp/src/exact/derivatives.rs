//! Weighted sums over the derivatives of the kernel matrix by all hyperparameters, in one pass.

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rayon::prelude::*;

use crate::{Gradient, Kernel, KernelMatrix, KernelOperator, SystemMatrix};

/// Columns of A in one sum. These sums are added in a fixed order.
const COLUMNS: usize = 64;

/// Rows of a column that are processed together: their inputs stay in the cache from one column to the next.
const ROWS: usize = 512;

/// `sum_ij A_ij dH_ij / d theta` for every scale, for a symmetric A (n x n) given by its lower triangle.
pub(super) fn weighted(op: &KernelOperator, x: ArrayView2<f64>, a: ArrayView2<f64>) -> Gradient {
    let (kernel, n, d) = (op.kernel(), op.n(), op.kernel().d());
    assert_eq!(x.dim(), (n, d), "the inputs are those of the operator");
    let lengths = &kernel.length_scale;
    // d x n, in units of the length scales: one input of all rows is contiguous.
    let scaled = Array2::from_shape_fn((d, n), |(k, i)| x[(i, k)] / lengths[k]);
    let blocks = (0..n.div_ceil(COLUMNS)).into_par_iter().with_max_len(1);
    let sums: Vec<Sums> = op.pool().install(|| {
        blocks
            .map(|block| {
                let columns = block * COLUMNS..n.min((block + 1) * COLUMNS);
                Sums::over(kernel, scaled.view(), columns, a)
            })
            .collect()
    });
    let mut total = Sums::zero(d);
    sums.iter().for_each(|sums| total.add(sums));
    Gradient {
        noise_scale: 2.0 * op.noise_scale() * total.diagonal,
        signal_scale: 2.0 * kernel.signal_scale * total.correlations,
        length_scale: total
            .distances
            .iter()
            .zip(lengths)
            .map(|(sum, l)| kernel.variance() * sum / l)
            .collect(),
    }
}

/// Sums over entries.
struct Sums {
    /// Trace of A.
    diagonal: f64,
    /// `sum_ij A_ij k_ij`, with k the correlation.
    correlations: f64,
    /// `sum_ij A_ij slope_ij D_ijk` for each input k, with D the squared distance in units of its
    /// length scale.
    distances: Array1<f64>,
}

impl Sums {
    fn zero(d: usize) -> Sums {
        Sums { diagonal: 0.0, correlations: 0.0, distances: Array1::zeros(d) }
    }

    /// The sums over some columns; each entry below the diagonal counts twice, for its mirror image too.
    fn over(kernel: &Kernel, scaled: ArrayView2<f64>, columns: Range<usize>, a: ArrayView2<f64>) -> Sums {
        let (d, n) = scaled.dim();
        let mut sums = Sums::zero(d);
        let mut squares = Array2::<f64>::zeros((d, ROWS));
        for start in (columns.start..n).step_by(ROWS) {
            let end = n.min(start + ROWS);
            for j in columns.clone().take_while(|&j| j + 1 < end) {
                let rows = start.max(j + 1)..end;
                let mut squares = squares.slice_mut(s![.., ..rows.len()]);
                for (mut squares, inputs) in squares.rows_mut().into_iter().zip(scaled.rows()) {
                    let here = inputs[j];
                    squares.zip_mut_with(&inputs.slice(s![rows.clone()]), |square, &there| {
                        *square = (here - there) * (here - there);
                    });
                }
                let a = a.slice(s![rows, j]);
                let distances = squares.sum_axis(Axis(0));
                let correlations = a.iter().zip(&distances).map(|(a, &r2)| a * kernel.correlation(r2));
                sums.correlations += 2.0 * correlations.sum::<f64>();
                // Where two rows coincide every D is 0, and the slope may be infinite.
                let slope = |(a, &r2): (&f64, &f64)| if r2 > 0.0 { a * kernel.slope(r2) } else { 0.0 };
                let slopes: Array1<f64> = a.iter().zip(&distances).map(slope).collect();
                sums.distances.scaled_add(2.0, &squares.dot(&slopes));
            }
        }
        // On the diagonal the correlation is 1.
        sums.diagonal = columns.map(|j| a[(j, j)]).sum();
        sums.correlations += sums.diagonal;
        sums
    }

    fn add(&mut self, other: &Sums) {
        self.diagonal += other.diagonal;
        self.correlations += other.correlations;
        self.distances += &other.distances;
    }
}
