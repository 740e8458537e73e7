//! Weighted sums over the derivatives of the kernel matrix, for all hyperparameters in one pass.

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use crate::exact::Gradient;
use crate::{KernelOperator, LinearOperator};

/// Rows that are weighted at once. Sums go over blocks of these in a fixed order.
const ROWS: usize = 64;

/// `sum_ij A_ij dH_ij / d theta` for every scale, with the rows of A (n x n) filled in by `weights`.
pub(super) fn weighted(
    op: &KernelOperator,
    x: ArrayView2<f64>,
    weights: impl Fn(Range<usize>, ArrayViewMut2<f64>) + Sync,
) -> Gradient {
    let (kernel, n, d) = (op.kernel(), op.n(), op.kernel().d());
    assert_eq!(x.dim(), (n, d), "the inputs are those of the operator");
    let lengths = &kernel.length_scale;
    // d x n, in units of the length scales: one input of all rows is contiguous.
    let scaled = Array2::from_shape_fn((d, n), |(k, i)| x[(i, k)] / lengths[k]);
    let blocks = (0..n.div_ceil(ROWS)).into_par_iter().with_max_len(1);
    let sums: Vec<Sums> = op.pool().install(|| {
        blocks
            .map(|block| {
                let rows = block * ROWS..n.min((block + 1) * ROWS);
                let mut a = Array2::zeros((rows.len(), n));
                weights(rows.clone(), a.view_mut());
                Sums::over(op, scaled.view(), rows, a.view())
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

/// What one pass over the entries collects.
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

    fn over(op: &KernelOperator, scaled: ArrayView2<f64>, rows: Range<usize>, a: ArrayView2<f64>) -> Sums {
        let (d, n) = scaled.dim();
        let family = op.kernel().family;
        let mut sums = Sums::zero(d);
        let mut squares = Array2::<f64>::zeros((d, n));
        for (i, a) in rows.zip(a.rows()) {
            for (mut squares, inputs) in squares.rows_mut().into_iter().zip(scaled.rows()) {
                let here = inputs[i];
                squares.zip_mut_with(&inputs, |square, &there| *square = (here - there) * (here - there));
            }
            let distances = squares.sum_axis(Axis(0));
            sums.diagonal += a[i];
            sums.correlations +=
                a.iter().zip(&distances).map(|(a, &r2)| a * family.correlation(r2)).sum::<f64>();
            // Where two rows coincide every D is 0, whatever the slope.
            let slope = |(a, &r2): (&f64, &f64)| if r2 > 0.0 { a * family.slope(r2) } else { 0.0 };
            let slopes: Array1<f64> = a.iter().zip(&distances).map(slope).collect();
            sums.distances += &squares.dot(&slopes);
        }
        sums
    }

    fn add(&mut self, other: &Sums) {
        self.diagonal += other.diagonal;
        self.correlations += other.correlations;
        self.distances += &other.distances;
    }
}
