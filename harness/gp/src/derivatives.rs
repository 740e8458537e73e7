//! Weighted sums over the derivatives of a kernel matrix by all hyperparameters, in one pass.

use std::ops::Range;

use gpbench_numerics::Pool;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::ThreadPool;

use crate::threads::OnPool;
use crate::{Gradient, Kernel, KernelMatrix, KernelOperator, SystemMatrix};

/// Columns of the matrix in one sum. These sums are added in a fixed order.
const COLUMNS: usize = 64;

/// Rows of a column that are processed together: their inputs stay in the cache from one column to the next.
const ROWS: usize = 512;

/// `sum_ij A_ij dH_ij / d theta` for every scale, for a symmetric A (n x n) given by its lower triangle.
pub(crate) fn weighted(op: &KernelOperator, x: ArrayView2<f64>, a: ArrayView2<f64>) -> Gradient {
    let (kernel, n, d) = (op.kernel(), op.n(), op.kernel().d());
    assert_eq!(x.dim(), (n, d), "the inputs are those of the operator");
    let scaled = scaled(kernel, x);
    let total =
        sums_by_block(d, n, op.pool(), |columns| Sums::of_triangle(kernel, scaled.view(), columns, a));
    total.gradient(kernel, op.noise_scale())
}

/// `sum_ij A_ij dK_ij / d theta` for the signal scale and the length scales, for K = K(Z, X) without noise, with
/// Z (m x d) and X (n x d). `weights` returns some columns of A, m x b; it is asked once for each column.
pub(crate) fn weighted_cross(
    kernel: &Kernel,
    z: ArrayView2<f64>,
    x: ArrayView2<f64>,
    pool: &ThreadPool,
    weights: impl Fn(Range<usize>) -> Array2<f64> + Sync,
) -> Gradient {
    let (points, rows) = (scaled(kernel, z), scaled(kernel, x));
    let total = sums_by_block(kernel.d(), x.nrows(), pool, |columns| {
        let a = weights(columns.clone());
        Sums::of_cross(kernel, points.view(), rows.slice(s![.., columns]), a.view())
    });
    total.gradient(kernel, 0.0)
}

/// Inputs (m x d) in units of the length scales, d x m: one input of all rows is contiguous.
fn scaled(kernel: &Kernel, x: ArrayView2<f64>) -> Array2<f64> {
    let lengths = &kernel.length_scale;
    Array2::from_shape_fn((x.ncols(), x.nrows()), |(k, i)| x[(i, k)] / lengths[k])
}

/// The total of the sums over blocks of `n` columns.
fn sums_by_block(d: usize, n: usize, pool: &ThreadPool, sums: impl Fn(Range<usize>) -> Sums + Sync) -> Sums {
    let found =
        OnPool(pool).map(0..n.div_ceil(COLUMNS), |block| sums(block * COLUMNS..n.min((block + 1) * COLUMNS)));
    let mut total = Sums::zero(d);
    found.iter().for_each(|sums| total.add(sums));
    total
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

    /// The sums over some columns of a square matrix; each entry below the diagonal counts twice, for its mirror
    /// image too.
    fn of_triangle(
        kernel: &Kernel,
        scaled: ArrayView2<f64>,
        columns: Range<usize>,
        a: ArrayView2<f64>,
    ) -> Sums {
        let (d, n) = scaled.dim();
        let mut sums = Sums::zero(d);
        let mut squares = Array2::<f64>::zeros((d, ROWS));
        for start in (columns.start..n).step_by(ROWS) {
            let end = n.min(start + ROWS);
            for j in columns.clone().take_while(|&j| j + 1 < end) {
                let rows = start.max(j + 1)..end;
                let squares = squares.slice_mut(s![.., ..rows.len()]);
                let points = (scaled.column(j), scaled.slice(s![.., rows.clone()]));
                sums.add_column(kernel, points, a.slice(s![rows, j]), 2.0, squares);
            }
        }
        // On the diagonal the correlation is 1.
        sums.diagonal = columns.map(|j| a[(j, j)]).sum();
        sums.correlations += sums.diagonal;
        sums
    }

    /// The sums over the matrix of `points` (d x m) against `rows` (d x b).
    fn of_cross(kernel: &Kernel, points: ArrayView2<f64>, rows: ArrayView2<f64>, a: ArrayView2<f64>) -> Sums {
        let (d, m) = points.dim();
        let mut sums = Sums::zero(d);
        let mut squares = Array2::<f64>::zeros((d, ROWS));
        for start in (0..m).step_by(ROWS) {
            let part = start..m.min(start + ROWS);
            for (here, a) in rows.columns().into_iter().zip(a.columns()) {
                let squares = squares.slice_mut(s![.., ..part.len()]);
                let there = points.slice(s![.., part.clone()]);
                sums.add_column(kernel, (here, there), a.slice(s![part.clone()]), 1.0, squares);
            }
        }
        sums
    }

    /// Adds `count` times the sums over some entries of a column: those of the point `here` (d) with the points
    /// `there` (d x m), with weights `a`. `squares` is memory for m squared differences of each input.
    fn add_column(
        &mut self,
        kernel: &Kernel,
        (here, there): (ArrayView1<f64>, ArrayView2<f64>),
        a: ArrayView1<f64>,
        count: f64,
        mut squares: ArrayViewMut2<f64>,
    ) {
        for ((mut squares, &here), inputs) in squares.rows_mut().into_iter().zip(here).zip(there.rows()) {
            squares.zip_mut_with(&inputs, |square, &there| *square = (here - there) * (here - there));
        }
        let distances = squares.sum_axis(Axis(0));
        let correlations = a.iter().zip(&distances).map(|(a, &r2)| a * kernel.correlation(r2));
        self.correlations += count * correlations.sum::<f64>();
        // Where two points coincide every D is 0, and the slope may be infinite.
        let slope = |(a, &r2): (&f64, &f64)| if r2 > 0.0 { a * kernel.slope(r2) } else { 0.0 };
        let slopes: Array1<f64> = a.iter().zip(&distances).map(slope).collect();
        self.distances.scaled_add(count, &squares.dot(&slopes));
    }

    fn add(&mut self, other: &Sums) {
        self.diagonal += other.diagonal;
        self.correlations += other.correlations;
        self.distances += &other.distances;
    }

    /// The gradient by the scales of a kernel and of noise on the diagonal.
    fn gradient(&self, kernel: &Kernel, noise_scale: f64) -> Gradient {
        let by_length = self.distances.iter().zip(&kernel.length_scale);
        Gradient {
            noise_scale: 2.0 * noise_scale * self.diagonal,
            signal_scale: 2.0 * kernel.signal_scale * self.correlations,
            length_scale: by_length.map(|(sum, length)| kernel.variance() * sum / length).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;
    use crate::seed::Streams;
    use crate::threads::thread_pool;

    #[test]
    fn rectangles_of_several_blocks_agree_with_dense_derivatives() {
        let streams = Streams::new(8, &["derivatives"]);
        let x = streams.normals("x", 2 * COLUMNS + 7, 2);
        let mut z = streams.normals("z", ROWS + 9, 2);
        // A point that is a row, where a Matérn-1/2 kernel is not differentiable.
        z.row_mut(ROWS + 3).assign(&x.row(COLUMNS + 1));
        let weights = streams.normals("weights", z.nrows(), x.nrows());
        let of = |derivative: Array2<f64>| (&weights * &derivative).sum();
        for family in Family::ALL {
            let kernel = Kernel::new(family, 1.4, &[0.7, 2.0], 2);
            let found = |threads: usize| {
                let pool = thread_pool(threads).unwrap();
                weighted_cross(&kernel, z.view(), x.view(), &pool, |columns| {
                    weights.slice(s![.., columns]).to_owned()
                })
            };
            let Gradient { noise_scale, signal_scale, length_scale } = found(1);
            let close = |found: f64, known: f64| assert!((found - known).abs() < 1e-10, "{found} {known}");
            assert_eq!(noise_scale, 0.0);
            close(signal_scale, of(kernel.matrix_by_signal_scale(z.view(), x.view())));
            for (input, found) in length_scale.iter().enumerate() {
                close(*found, of(kernel.matrix_by_length_scale(input, z.view(), x.view())));
            }
            assert_eq!(found(3), Gradient { noise_scale, signal_scale, length_scale });
        }
    }
}
