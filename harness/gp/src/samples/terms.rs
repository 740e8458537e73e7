//! The terms whose sums are the samples: kernel entries with the points, and features of the prior.

use std::ops::Range;

use ndarray::{Array1, ArrayView2, Axis, s};

use crate::kernel::Kernel;
use crate::operator::TILE;
use crate::scratch::Scratch;
use crate::sin_cos::sines_and_cosines;
use crate::threads::Here;
use crate::tile::{Identity, Points, RowWeights, Sampled, Side, Tiles, Waves, angles, tile_len};
use gpbench_numerics::Aligned;
use gpbench_numerics::packed::{Layout, TileProduct, padded};

use super::block::Block;

/// Terms of sums over rows. Every tile has [`TILE`] rows and columns at most.
pub(super) trait Terms: Sync {
    /// The points or frequencies, n x d.
    fn rows(&self) -> &Points;

    /// Points at which samples are evaluated, in the units of the terms.
    fn place(&self, x: ArrayView2<f64>) -> Points;

    /// `out += T v` for the tile of some points `at` and of some rows, with the packed weights of all samples.
    fn add_values(
        &self,
        at: (&Points, &Range<usize>),
        rows: &Range<usize>,
        memory: &Scratch,
        out: &mut [f64],
    );

    /// Adds the terms of some rows to the values at a block of points, and fills the tile with the factors of the rows in
    /// the gradient.
    fn add_sampled(&self, rows: &Range<usize>, block: &Block, memory: &Scratch, out: Sampled<'_>);

    /// The common factor of all sums.
    fn scale(&self) -> f64;
}

/// A matrix of right-hand sides in the order in which tiles read them.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) layout: Layout,
    numbers: Aligned,
}

impl Packed {
    /// Packs `v`, on the caller's rayon pool.
    pub(super) fn new(v: ArrayView2<f64>) -> Packed {
        let layout = Layout::new::<f64>(v.nrows(), v.ncols(), TILE);
        let mut numbers = Aligned::zeroed::<f64>(layout.len());
        layout.pack(v, &mut numbers.numbers_mut::<f64>()[..layout.len()], &Here);
        Packed { layout, numbers }
    }

    /// The rows of a tile.
    pub(super) fn block(&self, rows: &Range<usize>) -> &[f64] {
        let len = self.layout.with_rows(rows.len()).len();
        &self.numbers.numbers()[rows.start / TILE * self.layout.block_len()..][..len]
    }
}

/// Kernel entries with the points.
#[derive(Debug)]
pub(super) struct KernelTerms<'a> {
    kernel: &'a Kernel,
    centre: Array1<f64>,
    points: Points,
    tiles: Tiles,
    v: ArrayView2<'a, f64>,
    packed: Packed,
}

impl<'a> KernelTerms<'a> {
    /// The terms of the points `x` (n x d) with weights `v` (n x s).
    pub(super) fn new(
        kernel: &'a Kernel,
        noise_scale: f64,
        x: ArrayView2<f64>,
        v: ArrayView2<'a, f64>,
    ) -> Self {
        let centre = x.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(x.ncols()));
        let points = Points::new(x, &centre, &kernel.length_scale);
        let tiles = Tiles::new(kernel, noise_scale, points.largest_norm());
        KernelTerms { kernel, centre, points, tiles, v, packed: Packed::new(v) }
    }

    /// The layout of all samples at `points` points.
    pub(super) fn result(&self, points: usize) -> Layout {
        self.packed.layout.with_rows(points)
    }

    /// One length scale per input.
    pub(super) fn length_scale(&self) -> &[f64] {
        &self.kernel.length_scale
    }
}

impl Terms for KernelTerms<'_> {
    fn rows(&self) -> &Points {
        &self.points
    }

    fn place(&self, x: ArrayView2<f64>) -> Points {
        Points::new(x, &self.centre, &self.kernel.length_scale)
    }

    fn add_values(
        &self,
        at: (&Points, &Range<usize>),
        rows: &Range<usize>,
        memory: &Scratch,
        out: &mut [f64],
    ) {
        let side = |points| Side { points, identity: Identity::Foreign };
        memory.with(tile_len(TILE, TILE), |tile: &mut [f64]| {
            self.tiles.evaluate(side(at.0), at.1, side(&self.points), rows, tile);
            add_product(tile, at.1, rows, &self.packed, out);
        });
    }

    fn add_sampled(&self, rows: &Range<usize>, block: &Block, memory: &Scratch, out: Sampled<'_>) {
        memory.with(tile_len(TILE, TILE), |weights: &mut [f64]| {
            block.copy_weights(self.v.slice(s![rows.clone(), ..]), weights);
            let weights = RowWeights { distinct: weights, of: &block.of };
            self.tiles.add_sampled((&self.points, rows), (block.kernel, &block.range), weights, out);
        });
    }

    fn scale(&self) -> f64 {
        self.kernel.variance()
    }
}

/// Sines and cosines of random features.
#[derive(Debug)]
pub(super) struct PriorTerms<'a> {
    kernel: &'a Kernel,
    frequencies: Points,
    w: ArrayView2<'a, f64>,
    sines: Packed,
    cosines: Packed,
}

impl<'a> PriorTerms<'a> {
    /// The terms of features with frequencies `omega` (d x m/2) and weights `w` (m x s).
    pub(super) fn new(kernel: &'a Kernel, omega: ArrayView2<f64>, w: ArrayView2<'a, f64>) -> Self {
        let d = omega.nrows();
        let frequencies = Points::new(omega.t(), &Array1::zeros(d), &vec![1.0; d]);
        let (sines, cosines) = w.split_at(Axis(0), omega.ncols());
        let (sines, cosines) = (Packed::new(sines), Packed::new(cosines));
        PriorTerms { kernel, frequencies, w, sines, cosines }
    }
}

impl Terms for PriorTerms<'_> {
    fn rows(&self) -> &Points {
        &self.frequencies
    }

    fn place(&self, x: ArrayView2<f64>) -> Points {
        Points::new(x, &Array1::zeros(x.ncols()), &self.kernel.length_scale)
    }

    fn add_values(
        &self,
        at: (&Points, &Range<usize>),
        rows: &Range<usize>,
        memory: &Scratch,
        out: &mut [f64],
    ) {
        let len = tile_len(at.1.len(), rows.len());
        memory.with(2 * len, |tiles: &mut [f64]| {
            let (sines, cosines) = tiles.split_at_mut(len);
            angles(at, (&self.frequencies, rows), sines);
            sines_and_cosines(sines, cosines, self.scale());
            add_product(sines, at.1, rows, &self.sines, out);
            add_product(cosines, at.1, rows, &self.cosines, out);
        });
    }

    fn add_sampled(&self, rows: &Range<usize>, block: &Block, memory: &Scratch, out: Sampled<'_>) {
        let pairs = self.frequencies.n();
        let (len, of_weights) = (tile_len(rows.len(), block.range.len()), block.weights_len(rows.len()));
        memory.with(len + 2 * of_weights, |memory: &mut [f64]| {
            let (cosine, weights) = memory.split_at_mut(len);
            let (sines, cosines) = weights.split_at_mut(of_weights);
            block.copy_weights(self.w.slice(s![rows.clone(), ..]), sines);
            block.copy_weights(self.w.slice(s![pairs + rows.start..pairs + rows.end, ..]), cosines);
            let tile = &mut out.tile[..len];
            angles((&self.frequencies, rows), (block.prior, &block.range), tile);
            sines_and_cosines(tile, cosine, 1.0);
            let sines = RowWeights { distinct: sines, of: &block.of };
            Waves { rows: rows.len(), cols: block.range.len(), sines, cosines, cosine }.add(out);
        });
    }

    fn scale(&self) -> f64 {
        self.kernel.signal_scale / (self.frequencies.n() as f64).sqrt()
    }
}

/// `out += tile v` for the weights of some rows, the columns of the tile.
fn add_product(tile: &[f64], at: &Range<usize>, rows: &Range<usize>, v: &Packed, out: &mut [f64]) {
    let tile = &tile[..tile_len(at.len(), rows.len())];
    let v = v.block(rows);
    let (rows, cols) = (padded(at.len()), padded(rows.len()));
    TileProduct { transposed: false, tile, rows, cols, v, out }.add();
}
