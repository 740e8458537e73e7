//! Sums `f_c(x) = sum_j v_jc s^2 k(x, x_j)` over the rows of X at other points, and their gradients, without noise.

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use super::rectangle::{pieces, stripes};
use super::{KernelOperator, TILE};
use crate::KernelMatrix;
use crate::aligned::Aligned;
use crate::simd;
use crate::simd::Real;
use crate::tile::{Identity, Layout, Points, RowWeights, Sampled, Side, Tiles, Transposed, padded, tile_len};

/// Weights of the rows of X, n x s, in the order in which tiles read them: packed once for many products.
#[derive(Debug, Clone)]
pub(crate) struct PackedWeights {
    layout: Layout,
    numbers: Aligned,
}

impl PackedWeights {
    fn blocks(&self) -> Vec<&[f64]> {
        let numbers = &self.numbers.numbers()[..self.layout.len()];
        numbers.chunks(self.layout.block_len().max(1)).collect()
    }
}

/// Sums over some rows of X at a block of points.
struct Sums {
    /// Of `v_j k_j`.
    values: Vec<f64>,
    /// Of `a_j = v_j slope_j`.
    slopes: Vec<f64>,
    /// Of `a_j x_j`: points x d.
    moments: Array2<f64>,
}

/// A block of points and the weights that belong to each.
struct Block<'a> {
    at: &'a Points,
    range: Range<usize>,
    v: ArrayView2<'a, f64>,
    /// Distinct columns of the weights.
    columns: Vec<usize>,
    /// Which of them belongs to each point, padding included.
    of: Vec<usize>,
}

impl<'a> Block<'a> {
    fn new(at: &'a Points, range: Range<usize>, v: ArrayView2<'a, f64>, owner: &[usize]) -> Block<'a> {
        let mut columns = owner[range.clone()].to_vec();
        columns.sort_unstable();
        columns.dedup();
        let place = |owner| columns.binary_search(owner).expect("a column of the block");
        let mut of: Vec<usize> = owner[range.clone()].iter().map(place).collect();
        of.resize(padded(range.len()), 0);
        Block { at, range, v, columns, of }
    }

    /// Copies the weights of some rows, padded with 0.
    fn copy_weights(&self, rows: &Range<usize>, weights: &mut [f64]) {
        for (to, &column) in weights.chunks_exact_mut(padded(rows.len())).zip(&self.columns) {
            let (to, padding) = to.split_at_mut(rows.len());
            to.iter_mut().zip(self.v.slice(s![rows.clone(), column])).for_each(|(to, &from)| *to = from);
            padding.fill(0.0);
        }
    }
}

impl KernelOperator {
    /// Packs weights `v` of the rows of X, n x s.
    pub(crate) fn pack_weights(&self, v: ArrayView2<f64>) -> PackedWeights {
        let layout = Layout::new::<f64>(self.n(), v.ncols(), TILE);
        let mut numbers = Aligned::zeroed::<f64>(layout.len());
        self.pool.install(|| layout.pack::<f64>(v, &mut numbers.numbers_mut()[..layout.len()]));
        PackedWeights { layout, numbers }
    }

    /// `out += K(X*, X) v` for the rows of `x_star` (n* x d), on the calling thread; `out` is n* x s.
    pub(crate) fn add_samples(
        &self,
        x_star: ArrayView2<f64>,
        v: &PackedWeights,
        mut out: ArrayViewMut2<f64>,
    ) {
        if v.layout.len() == 0 {
            return;
        }
        let star = Points::new(x_star, &self.centre, &self.kernel.length_scale);
        let a = Side { points: &star, identity: Identity::Foreign };
        let (b, blocks) = (self.training(), v.blocks());
        for (rows, out) in pieces(star.n(), TILE).iter().zip(out.axis_chunks_iter_mut(Axis(0), TILE)) {
            let result = v.layout.with_rows(rows.len());
            self.memory.with(result.len(), |sums: &mut [f64]| {
                self.with_scratch(|tile: &mut [f64]| {
                    self.multiply_stripe(a, rows, b, &(0..self.n()), &blocks, tile, sums);
                });
                result.unpack(sums, out, |to, sum| *to += sum);
            });
        }
    }

    /// `f_c` and its gradient at the rows of `x_star` (n* x d), for the column `c = owner[i]` of the weights `v` (n x s)
    /// at row i: n* and n* x d numbers, in one pass over K(X, X*).
    ///
    /// Fewer distinct columns among neighbouring rows are faster. Where a row of `x_star` is within 1e-6 length scales
    /// of a row of X, the Matérn-1/2 correlation, which has no gradient at 0, adds one that falls to 0.
    pub(crate) fn sample_gradients(
        &self,
        x_star: ArrayView2<f64>,
        v: ArrayView2<f64>,
        owner: &[usize],
    ) -> (Array1<f64>, Array2<f64>) {
        assert_eq!(v.nrows(), self.n(), "one row of weights per row of X");
        let star = Points::new(x_star, &self.centre, &self.kernel.length_scale);
        let layout = Layout::new::<f64>(self.n(), star.d(), TILE);
        let ranges = pieces(star.n(), TILE);
        let stripes = stripes(self.n(), ranges.len());
        let blocks: Vec<Block> = ranges.into_iter().map(|range| Block::new(&star, range, v, owner)).collect();
        let tasks: Vec<_> = blocks.iter().flat_map(|block| stripes.iter().map(move |s| (block, s))).collect();
        let mut sums = Vec::new();
        self.with_packed(layout, self.points.scaled().view(), 0, |inputs: &[&[f64]], _| {
            let tasks = tasks.into_par_iter().with_max_len(1);
            tasks
                .map(|(block, stripe)| self.sums_of(block, stripe, layout, inputs))
                .collect_into_vec(&mut sums);
        });
        let (mut values, mut gradients) = (Array1::zeros(star.n()), Array2::zeros(x_star.dim()));
        for (block, sums) in blocks.iter().zip(sums.chunks(stripes.len().max(1))) {
            let rows = s![block.range.clone()];
            let mut gradients = gradients.slice_mut(s![block.range.clone(), ..]);
            self.add_up(
                sums,
                star.scaled().slice(s![block.range.clone(), ..]),
                values.slice_mut(rows),
                &mut gradients,
            );
        }
        (values, gradients)
    }

    /// The sums over the rows of a stripe, tile by tile.
    fn sums_of(&self, block: &Block, stripe: &Range<usize>, layout: Layout, inputs: &[&[f64]]) -> Sums {
        let cols = &block.range;
        let [mut values, mut slopes] = [(); 2].map(|()| Aligned::zeroed::<f64>(Tiles::sums_len(cols.len())));
        let [values, slopes] =
            [&mut values, &mut slopes].map(|sums| &mut sums.numbers_mut()[..Tiles::sums_len(cols.len())]);
        let of_block = layout.with_rows(cols.len());
        let mut product = Aligned::zeroed::<f64>(of_block.len());
        let product = &mut product.numbers_mut()[..of_block.len()];
        self.with_scratch(|tile: &mut [f64]| {
            self.with_scratch(|weights: &mut [f64]| {
                for start in stripe.clone().step_by(TILE) {
                    let rows = start..stripe.end.min(start + TILE);
                    block.copy_weights(&rows, weights);
                    let of_rows = RowWeights { columns: weights, of: &block.of };
                    let out = Sampled { tile: &mut *tile, values: &mut *values, slopes: &mut *slopes };
                    self.tiles.add_sampled((&self.points, &rows), (block.at, cols), of_rows, out);
                    let tile = &tile[..tile_len(rows.len(), cols.len())];
                    let (v, out) = (inputs[start / TILE], &mut *product);
                    let (rows, cols) = (padded(rows.len()), padded(cols.len()));
                    f64::dispatch(simd::arch(), Transposed { tile, rows, cols, v, out });
                }
            });
        });
        let mut moments = Array2::zeros((cols.len(), block.at.d()));
        of_block.unpack(product, moments.view_mut(), |to, sum| *to = sum);
        Sums { values: Tiles::sums(values).collect(), slopes: Tiles::sums(slopes).collect(), moments }
    }

    /// Values and gradients at points `x`, in units of the length scales, from the sums of all stripes in their order.
    fn add_up(
        &self,
        sums: &[Sums],
        x: ArrayView2<f64>,
        mut values: ndarray::ArrayViewMut1<f64>,
        gradients: &mut ArrayViewMut2<f64>,
    ) {
        let variance = self.kernel.variance();
        for (i, (value, mut gradient)) in values.iter_mut().zip(gradients.rows_mut()).enumerate() {
            *value = variance * sums.iter().map(|sums| sums.values[i]).sum::<f64>();
            let slopes: f64 = sums.iter().map(|sums| sums.slopes[i]).sum();
            for (k, (gradient, length)) in gradient.iter_mut().zip(&self.kernel.length_scale).enumerate() {
                let moment: f64 = sums.iter().map(|sums| sums.moments[(i, k)]).sum();
                *gradient = variance * (moment - x[(i, k)] * slopes) / length;
            }
        }
    }
}
