//! `H = s^2 k(X, X) + noise^2 I` in tiles on the threads of this process, without an n x n matrix in memory.

mod cache;
mod cross;
mod gradient;
mod mixed;
mod rectangle;
mod square;

use std::ops::Range;
use std::sync::Arc;

use bytemuck::TransparentWrapper;
use gpbench_numerics::layout::square;
use gpbench_numerics::{LinearOperator, Pool};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};
use rayon::ThreadPool;

use crate::Gradient;
use crate::matrix::evaluated_by_rows_and_back;
use crate::scratch::Scratch;
use crate::threads::{Here, OnPool, inside, thread_pool};
use crate::tile::{Identity, Points, Side, Tiles, tile_len};
use crate::{Arithmetic, Kernel, KernelMatrix, SystemMatrix, blas};
use gpbench_numerics::packed::Layout;
use gpbench_numerics::simd::Real;

use cache::Cache;
use cross::CrossOperator;
use mixed::Mixed;
pub(crate) use rectangle::{pieces, stripes};

/// `H = s^2 k(X, X) + noise^2 I` over the rows of X, in O(n d) memory; each
/// product takes O(n s) more.
///
/// The entry between a training row and itself is exactly `s^2 + noise^2`. A product with all of H uses n^2 entries
/// and evaluates about half of them, since each tile serves both triangles; fewer with
/// [`KernelMatrix::cache_entries`].
#[derive(Debug)]
pub struct KernelOperator {
    kernel: Kernel,
    noise_scale: f64,
    centre: Array1<f64>,
    points: Arc<Points>,
    tiles: Tiles,
    pool: Arc<ThreadPool>,
    /// Memory for tiles.
    scratch: Scratch,
    /// Memory for packed right-hand sides, for sums, and for the tiles of fused products.
    memory: Scratch,
    cache: Cache,
}

impl KernelOperator {
    /// The operator of `kernel` over the rows of `x` (n x d), with a pool of its own.
    ///
    /// # Panics
    /// If the system refuses to start the threads. [`KernelOperator::with_pool`] does not panic.
    pub fn new(kernel: &Kernel, noise_scale: f64, x: ArrayView2<f64>, threads: usize) -> Self {
        let pool = thread_pool(threads).expect("the system starts the threads, as the caller has made sure");
        Self::with_pool(kernel, noise_scale, x, pool)
    }

    /// Does the same as [`KernelOperator::new`] on a given pool.
    pub fn with_pool(kernel: &Kernel, noise_scale: f64, x: ArrayView2<f64>, pool: Arc<ThreadPool>) -> Self {
        blas::start_single_threaded();
        // Distances by products have an error of eps |x|^2, which centring makes small.
        let centre = x.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(x.ncols()));
        let points = Points::new(x, &centre, &kernel.length_scale);
        let tiles = Tiles::new(kernel, noise_scale, points.largest_norm());
        KernelOperator {
            kernel: kernel.clone(),
            noise_scale,
            centre,
            points: Arc::new(points),
            tiles,
            pool,
            scratch: Scratch::default(),
            memory: Scratch::default(),
            cache: Cache::default(),
        }
    }

    /// The pool on which products run.
    pub(crate) fn pool(&self) -> &Arc<ThreadPool> {
        &self.pool
    }

    /// `K(X, X*)` without noise, `n x n*`, from differences of coordinates.
    pub(crate) fn cross_matrix(&self, x_star: ArrayView2<f64>) -> Array2<f64> {
        let star = Points::new(x_star, &self.centre, &self.kernel.length_scale);
        let mut out = Array2::zeros((self.n(), star.n()).f());
        let tiles = Tiles::accurate(&self.kernel, self.noise_scale);
        self.fill(
            &tiles,
            self.training(),
            Side { points: &star, identity: Identity::Foreign },
            out.view_mut(),
        );
        out
    }

    /// The lower triangle of H, from differences of coordinates. The strict upper triangle is arbitrary.
    pub(crate) fn lower_triangle(&self) -> Array2<f64> {
        let n = self.n();
        let tiles = Tiles::accurate(&self.kernel, self.noise_scale);
        let mut out = square(n).expect("memory for a dense matrix");
        let strips = out.axis_chunks_iter_mut(Axis(1), TILE).enumerate();
        OnPool(&self.pool).for_each(strips, |(c, mut strip)| {
            let cols = c * TILE..c * TILE + strip.ncols();
            for start in (cols.start..n).step_by(TILE) {
                let rows = start..n.min(start + TILE);
                let part = strip.slice_mut(s![rows.clone(), ..]);
                let side = self.training();
                self.with_scratch(|tile| tiles.evaluate_dense(side, &rows, side, &cols, tile, part));
            }
        });
        out
    }

    /// Runs `work` on memory for a tile, with arbitrary content.
    fn with_scratch<E: Real, R>(&self, work: impl FnOnce(&mut [E]) -> R) -> R {
        self.scratch.with(tile_len(TILE, TILE), work)
    }

    /// Runs `work` in the pool on the packed blocks of `v` and on memory for `sums` numbers, with arbitrary content.
    fn with_packed<E: Real>(
        &self,
        layout: Layout,
        v: ArrayView2<f64>,
        sums: usize,
        work: impl FnOnce(&[&[E]], &mut [f64]) + Send,
    ) {
        inside(&self.pool, || {
            self.memory.with(layout.len(), |packed| {
                layout.pack(v, packed, &Here);
                let blocks: Vec<&[E]> = packed.chunks(layout.block_len().max(1)).collect();
                self.memory.with(sums, |sums| work(&blocks, sums));
            });
        });
    }

    /// Training rows of a block of tiles.
    fn rows_of_block(&self, block: usize) -> Range<usize> {
        block * TILE..self.n().min((block + 1) * TILE)
    }

    fn training(&self) -> Side<'_> {
        Side { points: &self.points, identity: Identity::Training }
    }

    /// `out = H[idx, :] v`.
    fn multiply_rows<E: Real>(&self, idx: &[usize], v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        let selected = self.points.select(idx);
        let a = Side { points: &selected, identity: Identity::Selected(idx) };
        self.multiply::<E>(a, self.training(), v, out);
    }

    /// `u = H[idx, :] v`, then `f(u)`, then `z += H[idx, :]^T u`.
    fn multiply_rows_fused<E: Real>(
        &self,
        idx: &[usize],
        v: ArrayView2<f64>,
        f: &mut dyn FnMut(ArrayViewMut2<f64>),
        z: ArrayViewMut2<f64>,
    ) {
        let selected = self.points.select(idx);
        let a = Side { points: &selected, identity: Identity::Selected(idx) };
        self.multiply_fused::<E>(a, self.training(), v, f, z);
    }

    /// `y += H[:, idx] u`.
    fn multiply_columns<E: Real>(&self, idx: &[usize], u: ArrayView2<f64>, y: ArrayViewMut2<f64>) {
        let selected = self.points.select(idx);
        let b = Side { points: &selected, identity: Identity::Selected(idx) };
        self.multiply_add::<E>(self.training(), b, u, y);
    }
}

impl LinearOperator for KernelOperator {
    fn shape(&self) -> (usize, usize) {
        (self.points.n(), self.points.n())
    }

    fn apply(&self, v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.multiply_symmetric::<f64>(v, out);
    }

    fn evaluated_by_apply(&self) -> f64 {
        // One triangle and the whole tiles on the diagonal.
        let (whole, rest) = ((self.n() / TILE) as f64, (self.n() % TILE) as f64);
        let diagonal = whole * (TILE * TILE) as f64 + rest * rest;
        0.5 * ((self.n() as f64).powi(2) + diagonal)
    }

    fn rows(&self, idx: &[usize], v: ArrayView2<f64>, out: ArrayViewMut2<f64>) {
        self.multiply_rows::<f64>(idx, v, out);
    }

    fn rows_and_back(
        &self,
        idx: &[usize],
        v: ArrayView2<f64>,
        f: &mut dyn FnMut(ArrayViewMut2<f64>),
        z: ArrayViewMut2<f64>,
    ) {
        self.multiply_rows_fused::<f64>(idx, v, f, z);
    }

    fn evaluated_by_rows_and_back(&self, rows: usize) -> f64 {
        evaluated_by_rows_and_back(rows, self.shape().1)
    }

    fn columns(&self, idx: &[usize], u: ArrayView2<f64>, y: ArrayViewMut2<f64>) {
        self.multiply_columns::<f64>(idx, u, y);
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<f64>) {
        let (left, right) = (self.points.select(rows), self.points.select(cols));
        let a = Side { points: &left, identity: Identity::Selected(rows) };
        let b = Side { points: &right, identity: Identity::Selected(cols) };
        self.fill(&self.tiles, a, b, out);
    }

    fn diagonal(&self) -> Option<Array1<f64>> {
        Some(Array1::from_elem(self.points.n(), self.tiles.diagonal()))
    }

    fn mixed(&self) -> Option<&dyn LinearOperator> {
        Some(Mixed::wrap_ref(self))
    }

    fn entries_found(&self) -> f64 {
        self.cache.found() as f64
    }
}

impl KernelMatrix for KernelOperator {
    fn cross(&self, x_star: ArrayView2<f64>, v: ArrayView2<f64>) -> Array2<f64> {
        self.multiply_foreign(x_star, self.training(), v)
    }

    fn cache_entries(&mut self, bytes: usize) {
        self.cache = Cache::new(bytes);
    }

    fn cached_bytes(&self) -> usize {
        self.cache.bytes()
    }
}

impl SystemMatrix for KernelOperator {
    fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    fn noise_scale(&self) -> f64 {
        self.noise_scale
    }

    fn gradient(&self, u: ArrayView2<f64>, w: ArrayView2<f64>, precision: Arithmetic) -> Gradient {
        match precision {
            Arithmetic::F64 => self.weighted_derivatives::<f64>(u, w),
            Arithmetic::Mixed => self.weighted_derivatives::<f32>(u, w),
        }
    }

    fn between(&self, z: ArrayView2<f64>) -> Box<dyn KernelMatrix> {
        Box::new(CrossOperator::new(self, z))
    }

    fn over(&self, x: ArrayView2<f64>) -> Box<dyn KernelMatrix> {
        Box::new(KernelOperator::with_pool(&self.kernel, 0.0, x, self.pool.clone()))
    }
}

/// Rows and columns of a tile. With 128 KiB, it stays in a core's own cache between its evaluation and its products,
/// together with the right-hand sides and sums of these.
pub(crate) const TILE: usize = 128;

#[cfg(test)]
mod tests;
