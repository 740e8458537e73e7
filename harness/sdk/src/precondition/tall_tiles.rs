//! Products of a tall matrix with few right-hand sides.

use gpbench_numerics::packed::{Layout, TILE, Tiled};
use gpbench_numerics::simd::Real;
use gpbench_numerics::{Aligned, Alone};
use ndarray::{Array2, ArrayRef2, ArrayView2, Axis, ShapeBuilder};

use super::products::piece_rows;
use crate::Workers;

/// Rows of the result in one task.
const ROWS: usize = 2 * TILE;

/// V, n x k, in blocks of columns, each in tiles.
#[derive(Debug, Clone)]
pub(super) struct TallTiles<E> {
    blocks: Vec<Tiled<E>>,
    n: usize,
}

impl TallTiles<f64> {
    /// The columns of V, in place of a contiguous, column-major array whose memory is freed a few blocks at a time.
    pub(super) fn new(v: Array2<f64>, workers: Workers<'_>) -> TallTiles<f64> {
        let (n, k) = v.dim();
        assert!(v.t().is_standard_layout(), "a column-major matrix");
        let (mut columns, first) = v.into_raw_vec_and_offset();
        columns.drain(..first.unwrap_or(0));
        columns.truncate(n * k);
        // The last columns first.
        let mut groups = Vec::new();
        let together = workers.threads().max(1) * TILE;
        for start in (0..k).step_by(together).rev() {
            groups.push(workers.map(columns[start * n..].chunks((n * TILE).max(1)), |columns| {
                let shape = (n, columns.len() / n);
                Tiled::new(&ArrayView2::from_shape(shape.f(), columns).expect("whole columns"))
            }));
            columns.truncate(start * n);
            columns.shrink_to_fit();
        }
        TallTiles { blocks: groups.into_iter().rev().flatten().collect(), n }
    }
}

impl<E: Real> TallTiles<E> {
    /// The numbers that `of` returns for the entries, in place of these.
    pub(super) fn map<F: Real>(self, of: impl Fn(E) -> F + Sync, workers: Workers<'_>) -> TallTiles<F> {
        TallTiles { blocks: workers.map(self.blocks, |block| block.map(&of)), n: self.n }
    }

    /// k.
    pub(super) fn rank(&self) -> usize {
        self.blocks.iter().map(|block| block.shape().1).sum()
    }

    /// `scale (r - V V^T r)`, for r of n rows. Sums are doubles.
    pub(super) fn subtract_projection(
        &self,
        r: &ArrayRef2<f64>,
        scale: f64,
        workers: Workers<'_>,
    ) -> Array2<f64> {
        let layout = Layout::new::<E>(self.n, r.ncols(), TILE);
        let mut packed = Aligned::zeroed::<E>(layout.len());
        layout.pack(r.view(), &mut packed.numbers_mut::<E>()[..layout.len()], &workers);
        let coefficients = self.coefficients(packed.numbers(), layout, workers);
        drop(packed);
        let of_rank = layout.with_rows(self.rank());

        let mut product = Array2::zeros(r.dim().f());
        let pieces = product.axis_chunks_iter_mut(Axis(0), ROWS).zip(r.axis_chunks_iter(Axis(0), ROWS));
        workers.for_each(pieces.enumerate(), |(piece, (mut product, r))| {
            let rows = piece * ROWS..piece * ROWS + r.nrows();
            let layout = layout.with_rows(r.nrows());
            let mut memory = Aligned::zeroed::<f64>(layout.len());
            let sums = &mut memory.numbers_mut()[..layout.len()];
            let coefficients = coefficients.numbers()[..of_rank.len()].chunks(layout.block_len().max(1));
            for (block, coefficients) in self.blocks.iter().zip(coefficients) {
                block.add_product((rows.clone(), 0..block.shape().1), false, coefficients, sums);
            }
            product.assign(&r);
            layout.unpack(sums, product.view_mut(), |r: &mut f64, sum| *r = scale * (*r - sum), &Alone);
        });
        product
    }

    /// V^T r, packed.
    fn coefficients(&self, packed: &[E], layout: Layout, workers: Workers<'_>) -> Aligned {
        let of_rank = layout.with_rows(self.rank());
        let rows = piece_rows(self.n, self.blocks.len()).next_multiple_of(TILE);
        let mut memory = Aligned::zeroed::<f64>(self.n.div_ceil(rows) * of_rank.len());
        let sums = memory.numbers_mut::<f64>().chunks_exact_mut(of_rank.len().max(1));
        let tasks = sums.enumerate().flat_map(|(piece, sums)| {
            let blocks = self.blocks.iter().zip(sums.chunks_mut(of_rank.block_len().max(1)));
            blocks.map(move |(block, sums)| (piece * rows, block, sums))
        });
        workers.for_each(tasks, |(first, block, sums)| {
            let last = self.n.min(first + rows);
            let width = layout.block_len() / TILE;
            let r = &packed[first * width..layout.with_rows(last).len()];
            block.add_product((first..last, 0..block.shape().1), true, r, sums);
        });
        let mut pieces = memory.numbers_mut::<f64>().chunks_exact_mut(of_rank.len().max(1));
        let mut total = Aligned::zeroed::<E>(of_rank.len());
        if let Some(first) = pieces.next() {
            pieces.for_each(|piece| first.iter_mut().zip(piece).for_each(|(sum, part)| *sum += *part));
            total.numbers_mut::<E>().iter_mut().zip(first).for_each(|(to, sum)| *to = E::from_f64(*sum));
        }
        total
    }
}
