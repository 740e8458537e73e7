//! Derivatives by every hyperparameter in one pass over the kernel's entries.
//!
//! For `G = U W^T` it computes `sum_ij G_ij dH_ij / d theta` for the noise scale, the signal scale and all length
//! scales together, at about the cost of one product: each weight G_ij takes as many multiply-adds as an entry of a
//! product, and sums of squared differences expand. With `M_ij = G_ij slope_ij` and inputs in units of the length
//! scales,
//!
//! ```text
//! sum_ij M_ij (x_ik - x_jk)^2 = sum_i x_ik^2 (row and column sums of M)_i - 2 (X^T M X)_kk
//! ```
//!
//! with an error of about `eps |x|^2` of the larger sums, which is small because inputs are centred. One triangle of
//! tiles is enough, with the weight `u_i.w_j + u_j.w_i`.
//!
//! In single precision, no sum has more terms than a tile has rows or columns; sums over tiles are double.

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayView2, s};

use super::{KernelOperator, TILE};
use crate::Gradient;
use crate::KernelMatrix;
use crate::threads::{Here, inside};
use crate::tile::{Factors, Weighed};
use gpbench_numerics::packed::{Layout, TileProduct, padded};
use gpbench_numerics::simd::Real;
use gpbench_numerics::{Aligned, Pool};

/// Sums over some of the entries.
struct Sums {
    /// Sum of `G_ij k_ij`.
    correlations: f64,
    /// Sum of `M_ij (x_ik - x_jk)^2` for each input k.
    distances: Array1<f64>,
}

impl KernelOperator {
    /// [`SystemMatrix::gradient`](crate::SystemMatrix::gradient) in `4 n s` numbers of memory and one pass over one
    /// triangle of K.
    pub(super) fn weighted_derivatives<E: Real>(&self, u: ArrayView2<f64>, w: ArrayView2<f64>) -> Gradient {
        assert_eq!(u.nrows(), self.n(), "factors have n rows");
        assert_eq!(u.dim(), w.dim(), "both factors have the same shape");
        let layout = Layout::new::<E>(self.n(), self.points.d(), TILE);
        let packed = Factors::<E>::len(self.n(), u.ncols());
        let in_blocks = |memory: &mut [E]| -> Vec<Sums> {
            let (inputs, factors) = memory.split_at_mut(layout.len());
            let (strips, groups) = factors.split_at_mut(packed);
            layout.pack(self.points.scaled().view(), inputs, &Here);
            let inputs: Vec<&[E]> = inputs.chunks(layout.block_len()).collect();
            let factors = Factors::new(u, w, strips, groups);
            let blocks = 0..self.n().div_ceil(TILE);
            Here.map(blocks, |block| self.gradient_of_block(block, &factors, layout, &inputs))
        };
        let sums = inside(&self.pool, || self.memory.with(layout.len() + 2 * packed, in_blocks));
        let (mut correlations, mut distances) = (0.0, Array1::<f64>::zeros(self.points.d()));
        for sums in sums {
            correlations += sums.correlations;
            distances += &sums.distances;
        }
        let kernel = &self.kernel;
        let diagonal: f64 = u.columns().into_iter().zip(w.columns()).map(|(u, w)| u.dot(&w)).sum();
        let by_length = distances.iter().zip(&kernel.length_scale);
        Gradient {
            noise_scale: 2.0 * self.noise_scale * diagonal,
            signal_scale: 2.0 * kernel.signal_scale * correlations,
            length_scale: by_length.map(|(sum, length)| kernel.variance() * sum / length).collect(),
        }
    }

    /// The contribution of tiles (block, j) for all j from `block` on.
    fn gradient_of_block<E: Real>(
        &self,
        block: usize,
        factors: &Factors<E>,
        layout: Layout,
        inputs: &[&[E]],
    ) -> Sums {
        let rows = self.rows_of_block(block);
        let mut sums = Sums { correlations: 0.0, distances: Array1::zeros(self.points.d()) };
        let mut row_sums = Aligned::zeroed::<E>(padded(rows.len()));
        let mut column_sums = Aligned::zeroed::<E>(TILE);
        // Sums over tiles, where `E` is single.
        let mut totals = vec![0.0; rows.len()];
        let of_rows = layout.with_rows(rows.len());
        let mut product = Aligned::zeroed::<f64>(of_rows.len());
        for (j, &v) in inputs.iter().enumerate().skip(block) {
            let cols = self.rows_of_block(j);
            // A tile on the diagonal contains both triangles, and each weight both orders of the factors.
            let share = if j == block { 0.5 } else { 1.0 };
            self.with_scratch(|tile: &mut [E]| {
                let (row_sums, column_sums) = (row_sums.numbers_mut(), column_sums.numbers_mut());
                let out = Weighed { tile, row_sums, column_sums };
                sums.correlations += share * self.tiles.weigh(&self.points, &rows, &cols, factors, out);
                let (height, width) = (padded(rows.len()), padded(cols.len()));
                let tile = &tile[..height * width];
                let out = &mut product.numbers_mut()[..of_rows.len()];
                TileProduct { transposed: false, tile, rows: height, cols: width, v, out }.add();
            });
            self.add_squares(&mut sums.distances, share, &cols, column_sums.numbers::<E>());
            if j == block {
                // At this point the sums contain only the tile on the diagonal.
                let row_sums = row_sums.numbers_mut::<E>();
                row_sums.iter_mut().for_each(|value| *value = E::from_f64(0.5 * value.to_f64()));
                product.numbers_mut::<f64>().iter_mut().for_each(|value| *value *= 0.5);
            }
            if size_of::<E>() < size_of::<f64>() {
                move_sums(row_sums.numbers_mut::<E>(), &mut totals);
            }
        }
        move_sums(row_sums.numbers_mut::<E>(), &mut totals);
        self.add_squares(&mut sums.distances, 1.0, &rows, &totals);
        let mut mx = Array2::zeros((rows.len(), self.points.d()));
        of_rows.unpack(&product.numbers()[..of_rows.len()], mx.view_mut(), |to, value| *to = value, &Here);
        let x = self.points.scaled().slice(s![rows, ..]);
        for ((sum, x), mx) in sums.distances.iter_mut().zip(x.columns()).zip(mx.columns()) {
            *sum -= 2.0 * x.dot(&mx);
        }
        sums
    }

    /// `sums_k += share * sum_i x_ik^2 weight_i` over the rows of `range`.
    fn add_squares<E: Real>(&self, sums: &mut Array1<f64>, share: f64, range: &Range<usize>, weights: &[E]) {
        let x = self.points.scaled().slice(s![range.clone(), ..]);
        for (sum, x) in sums.iter_mut().zip(x.columns()) {
            *sum += share * x.iter().zip(weights).map(|(x, weight)| x * x * weight.to_f64()).sum::<f64>();
        }
    }
}

/// Adds sums to their totals and resets them to 0.
fn move_sums<E: Real>(sums: &mut [E], totals: &mut [f64]) {
    for (sum, total) in sums.iter_mut().zip(totals) {
        *total += sum.to_f64();
        *sum = E::from_f64(0.0);
    }
}
