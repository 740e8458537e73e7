//! Products with a rectangular part of the kernel matrix, and dense parts of it.
//!
//! The rows of the result are cut into tiles that run in parallel. Where these are too few to occupy a machine, the
//! columns are cut too, into stripes whose sums are added in order. The number of stripes depends on the shape alone,
//! never on the number of threads.

use std::mem;
use std::ops::Range;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};

use super::{KernelOperator, TILE};
use crate::matrix::FUSED_ENTRIES;
use crate::threads::{Here, OnPool};
use crate::tile::{Identity, Points, Side, Tiles, tile_len};
use gpbench_numerics::Pool;
use gpbench_numerics::packed::{Layout, TileProduct, padded};
use gpbench_numerics::simd::Real;

/// Minimum number of tasks of a product, where its shape allows this number.
const TASKS: usize = 32;

impl KernelOperator {
    /// `out = H[a, b] v` with tiles of numbers `E`.
    pub(super) fn multiply<E: Real>(
        &self,
        a: Side<'_>,
        b: Side<'_>,
        v: ArrayView2<f64>,
        mut out: ArrayViewMut2<f64>,
    ) {
        out.fill(0.0);
        self.multiply_add::<E>(a, b, v, out);
    }

    /// `y += H[a, b] v`.
    pub(super) fn multiply_add<E: Real>(
        &self,
        a: Side<'_>,
        b: Side<'_>,
        v: ArrayView2<f64>,
        y: ArrayViewMut2<f64>,
    ) {
        assert_eq!(v.nrows(), b.points.n(), "as many rows as the kernel matrix has columns");
        assert_eq!(y.dim(), (a.points.n(), v.ncols()), "as many rows as the kernel matrix has");
        if v.is_empty() || y.is_empty() {
            return;
        }
        let layout = Layout::new::<E>(v.nrows(), v.ncols(), TILE);
        let row_tiles = pieces(a.points.n(), TILE);
        let stripes = stripes(b.points.n(), row_tiles.len());
        let result = layout.with_rows(a.points.n());
        self.with_packed(layout, v, stripes.len() * result.len(), |v: &[&[E]], sums| {
            // One sum for each stripe, so that stripes run in parallel.
            let tasks = sums.chunks_mut(result.len()).zip(&stripes).flat_map(|(sums, stripe)| {
                let blocks = sums.chunks_mut(result.block_len());
                blocks.zip(&row_tiles).map(move |(out, rows)| (rows, stripe, out))
            });
            Here.for_each(tasks, |(rows, stripe, out)| {
                self.with_scratch(|tile: &mut [E]| self.multiply_stripe(a, rows, b, stripe, v, tile, out));
            });
            result.unpack(sums, y, |to, sum| *to += sum, &Here);
        });
    }

    #[expect(clippy::too_many_arguments, reason = "both sides of the tiles and the right-hand sides")]
    fn multiply_stripe<E: Real>(
        &self,
        a: Side<'_>,
        rows: &Range<usize>,
        b: Side<'_>,
        stripe: &Range<usize>,
        v: &[&[E]],
        tile: &mut [E],
        out: &mut [f64],
    ) {
        out.fill(0.0);
        for start in stripe.clone().step_by(TILE) {
            let cols = start..stripe.end.min(start + TILE);
            self.tiles.evaluate(a, rows, b, &cols, tile);
            let tile = &tile[..tile_len(rows.len(), cols.len())];
            let (rows, cols) = (padded(rows.len()), padded(cols.len()));
            TileProduct { transposed: false, tile, rows, cols, v: v[start / TILE], out }.add();
        }
    }

    /// `out = H[a, b]` in parallel tiles.
    pub(super) fn fill(&self, tiles: &Tiles, a: Side<'_>, b: Side<'_>, mut out: ArrayViewMut2<f64>) {
        assert_eq!(out.dim(), (a.points.n(), b.points.n()), "the block has the shape of its indices");
        let strips = out.axis_chunks_iter_mut(Axis(1), TILE).enumerate();
        let parts = strips.flat_map(|(c, strip)| split_rows(strip).into_iter().map(move |part| (c, part)));
        OnPool(&self.pool).for_each(parts, |(c, (rows, part))| {
            let cols = c * TILE..c * TILE + part.ncols();
            self.with_scratch(|tile| tiles.evaluate_dense(a, &rows, b, &cols, tile, part));
        });
    }

    /// `K(X*, b) v`, without noise.
    pub(super) fn multiply_foreign(
        &self,
        x_star: ArrayView2<f64>,
        b: Side<'_>,
        v: ArrayView2<f64>,
    ) -> Array2<f64> {
        let star = Points::new(x_star, &self.centre, &self.kernel.length_scale);
        let mut out = Array2::zeros((star.n(), v.ncols()).f());
        self.multiply::<f64>(Side { points: &star, identity: Identity::Foreign }, b, v, out.view_mut());
        out
    }

    /// `u = H[a, b] v`, then `f(u)`, then `z += H[a, b]^T u`.
    pub(super) fn multiply_fused<E: Real>(
        &self,
        a: Side<'_>,
        b: Side<'_>,
        v: ArrayView2<f64>,
        f: &mut dyn FnMut(ArrayViewMut2<f64>),
        z: ArrayViewMut2<f64>,
    ) {
        let (rows, columns) = (a.points.n(), b.points.n());
        let mut u = Array2::zeros((rows, v.ncols()).f());
        if rows.saturating_mul(columns) > FUSED_ENTRIES {
            self.multiply::<E>(a, b, v, u.view_mut());
            f(u.view_mut());
            self.multiply_add::<E>(b, a, u.view(), z);
            return;
        }
        self.memory.with(tile_len(rows, columns), |stored: &mut [E]| {
            self.fill_and_multiply(a, b, v, stored, u.view_mut());
            f(u.view_mut());
            self.multiply_stored_transposed(stored, u.view(), z);
        });
    }

    /// `stored = H[a, b]`, tile by tile, and `out = stored v`: each tile is used while it is in the processor's
    /// cache.
    fn fill_and_multiply<E: Real>(
        &self,
        a: Side<'_>,
        b: Side<'_>,
        v: ArrayView2<f64>,
        stored: &mut [E],
        out: ArrayViewMut2<f64>,
    ) {
        let layout = Layout::new::<E>(v.nrows(), v.ncols(), TILE);
        let (result, rows) = (layout.with_rows(a.points.n()), pieces(a.points.n(), TILE));
        let width = stripe_width(b.points.n(), 1);
        let stripes = b.points.n().div_ceil(width);
        self.with_packed(layout, v, stripes * result.len(), |v: &[&[E]], sums| {
            let columns: Vec<_> = stored.chunks_mut(padded(a.points.n()) * TILE).zip(v).collect();
            let mut columns = columns.into_iter().enumerate();
            let stripes: Vec<Vec<_>> =
                (0..stripes).map(|_| columns.by_ref().take(width / TILE).collect()).collect();
            let sums_of_stripes = sums.chunks_mut(result.len().max(1));
            Here.for_each(stripes.into_iter().zip(sums_of_stripes), |(stripe, sums)| {
                sums.fill(0.0);
                for (c, (mut strip, v)) in stripe {
                    let cols = c * TILE..b.points.n().min((c + 1) * TILE);
                    for (rows, out) in rows.iter().zip(sums.chunks_mut(result.block_len())) {
                        let tile;
                        (tile, strip) = mem::take(&mut strip).split_at_mut(tile_len(rows.len(), cols.len()));
                        self.tiles.evaluate(a, rows, b, &cols, tile);
                        let (rows, cols) = (padded(rows.len()), padded(cols.len()));
                        TileProduct { transposed: false, tile, rows, cols, v, out }.add();
                    }
                }
            });
            result.unpack(sums, out, |to, sum| *to += sum, &Here);
        });
    }

    /// `z += stored^T u`.
    fn multiply_stored_transposed<E: Real>(&self, stored: &[E], u: ArrayView2<f64>, z: ArrayViewMut2<f64>) {
        let layout = Layout::new::<E>(u.nrows(), u.ncols(), TILE);
        let result = layout.with_rows(z.nrows());
        self.with_packed(layout, u, result.len(), |u: &[&[E]], sums| {
            let strips = stored.chunks(padded(layout.rows()) * TILE);
            Here.for_each(strips.zip(sums.chunks_mut(result.block_len().max(1))), |(strip, out)| {
                out.fill(0.0);
                let cols = strip.len() / padded(layout.rows());
                for (tile, v) in strip.chunks(TILE * cols).zip(u) {
                    let rows = tile.len() / cols;
                    TileProduct { transposed: true, tile, rows, cols, v, out }.add();
                }
            });
            result.unpack(sums, z, |to, sum| *to += sum, &Here);
        });
    }
}

/// `0..n` in pieces of `size`, the last one shorter.
pub(crate) fn pieces(n: usize, size: usize) -> Vec<Range<usize>> {
    (0..n).step_by(size).map(|start| start..n.min(start + size)).collect()
}

/// Stripes of columns for about [`TASKS`] tasks.
pub(crate) fn stripes(columns: usize, row_tiles: usize) -> Vec<Range<usize>> {
    pieces(columns, stripe_width(columns, row_tiles))
}

/// Columns of a stripe: whole tiles.
fn stripe_width(columns: usize, row_tiles: usize) -> usize {
    let wanted = TASKS.div_ceil(row_tiles.max(1));
    columns.div_ceil(TILE).div_ceil(wanted).max(1) * TILE
}

/// Cuts a strip of columns into pieces of [`TILE`] rows, each with its range of rows.
fn split_rows(strip: ArrayViewMut2<'_, f64>) -> Vec<(Range<usize>, ArrayViewMut2<'_, f64>)> {
    let mut parts = Vec::new();
    let mut rest = strip;
    let mut start = 0;
    while rest.nrows() > TILE {
        let (head, tail) = rest.split_at(Axis(0), TILE);
        parts.push((start..start + TILE, head));
        start += TILE;
        rest = tail;
    }
    parts.push((start..start + rest.nrows(), rest));
    parts
}
