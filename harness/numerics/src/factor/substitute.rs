//! Solves with a factor.

use ndarray::linalg::general_mat_vec_mul;
use ndarray::{ArrayRef2, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, s};

use super::{SHAPES_FIT, triangle};
use crate::lapack::Number;
use crate::packed::{Layout, TILE, add_product, padded};
use crate::simd::Real;
use crate::{Aligned, Alone, Pool};

/// Right-hand sides in one task.
const COLUMNS: usize = 256;

/// A lower triangle L in square blocks; the last ones may have fewer rows.
pub trait TriangleBlocks<E>: Sync {
    /// Order of L.
    fn n(&self) -> usize;

    /// Rows of a block, a multiple of [`TILE`].
    fn height(&self) -> usize;

    /// Block (k, k), column-major, whose upper triangle has no meaning.
    fn diagonal(&self, k: usize) -> ArrayView2<'_, E>;

    /// `out += L_ij v`, or `out += L_ij^T v`, for the block in row i and column j < i. `v` and `out` are packed in blocks of
    /// [`TILE`] rows.
    fn add_product(&self, block: (usize, usize), transposed: bool, v: &[E], out: &mut [f64]);
}

/// The lower triangle of a column-major matrix.
#[derive(Debug)]
struct Stored<'a>(&'a ArrayRef2<f64>);

impl TriangleBlocks<f64> for Stored<'_> {
    fn n(&self) -> usize {
        self.0.nrows()
    }

    /// High blocks mean less waiting; low ones more tasks for the threads to share out.
    fn height(&self) -> usize {
        match self.n() {
            0..=1024 => TILE,
            1025..=4096 => 2 * TILE,
            _ => 4 * TILE,
        }
    }

    fn diagonal(&self, k: usize) -> ArrayView2<'_, f64> {
        self.block(k, k)
    }

    fn add_product(&self, (i, j): (usize, usize), transposed: bool, v: &[f64], out: &mut [f64]) {
        let block = self.block(i, j);
        let oriented = if transposed { block.reversed_axes() } else { block };
        if v.len() > padded(oriented.ncols()) {
            return add_product(&block, transposed, v, out);
        }
        // One column: copies of tiles would cost more than the product.
        let (v, out) = (ArrayView1::from(v), ArrayViewMut1::from(out));
        let (v, mut out) = (v.slice_move(s![..oriented.ncols()]), out.slice_move(s![..oriented.nrows()]));
        general_mat_vec_mul(1.0, &oriented, &v, 1.0, &mut out);
    }
}

impl Stored<'_> {
    fn block(&self, i: usize, j: usize) -> ArrayView2<'_, f64> {
        let rows = |k: usize| k * self.height()..self.n().min((k + 1) * self.height());
        self.0.slice(s![rows(i), rows(j)])
    }
}

/// Solves L L^T X = B in place of B. L is read twice for up to 256 columns.
///
/// # Panics
/// If the shapes do not fit, or a matrix is not column-major.
pub fn solve(factor: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>, pool: impl Pool) {
    let factor = Stored(factor);
    substitute(&factor, false, b, &pool);
    substitute(&factor, true, b, &pool);
}

/// Solves L X = B in place of B. L is read once for up to 256 columns.
///
/// # Panics
/// As [`solve`].
pub fn solve_lower(factor: &ArrayRef2<f64>, b: &mut ArrayRef2<f64>, pool: impl Pool) {
    substitute(&Stored(factor), false, b, &pool);
}

/// Solves L X = B, or L^T X = B from the last block on, in place of B, which is column-major.
///
/// Right-looking: while one thread solves for the next block of rows of X, the others add the products of the last one to
/// sums for all other rows, which are subtracted from B at last. Sums are doubles.
///
/// # Panics
/// If the shapes do not fit, or a matrix is not column-major.
pub fn substitute<E: Real + Number>(
    factor: &impl TriangleBlocks<E>,
    transposed: bool,
    b: &mut ArrayRef2<E>,
    pool: &impl Pool,
) {
    assert_eq!(b.nrows(), factor.n(), "as many rows as the factor");
    if b.is_empty() {
        return;
    }
    let columns = b.axis_chunks_iter(Axis(1), COLUMNS);
    let mut memory: Vec<Memory> = columns.map(|b| Memory::new::<E>(b.dim())).collect();
    let columns = b.axis_chunks_iter_mut(Axis(1), COLUMNS).zip(&mut memory);
    let mut groups: Vec<Vec<Part<'_, E>>> =
        columns.map(|(b, memory)| memory.parts(b, factor.height())).collect();
    if transposed {
        groups.iter_mut().for_each(|parts| parts.reverse());
    }
    pool.for_each(groups.iter_mut().filter_map(|parts| parts.first_mut()), |first| {
        first.solve(&factor.diagonal(first.block), transposed);
    });
    for known in 1..factor.n().div_ceil(factor.height()) {
        let tasks = groups.iter_mut().flat_map(|parts| {
            let (solved, rest) = parts.split_at_mut(known);
            let last: &Part<'_, E> = &solved[known - 1];
            rest.iter_mut().enumerate().map(move |(index, part)| (index == 0, part, last))
        });
        pool.for_each(tasks, |(is_next, part, last)| {
            let place = if transposed { (last.block, part.block) } else { (part.block, last.block) };
            factor.add_product(place, transposed, last.packed, part.sums);
            if is_next {
                part.solve(&factor.diagonal(part.block), transposed);
            }
        });
    }
}

/// Sums and solved rows of a group of columns.
struct Memory {
    layout: Layout,
    sums: Aligned,
    packed: Aligned,
}

impl Memory {
    fn new<E: Real>((n, columns): (usize, usize)) -> Memory {
        let layout = Layout::new::<E>(n, columns, TILE);
        Memory {
            layout,
            sums: Aligned::zeroed::<f64>(layout.len()),
            packed: Aligned::zeroed::<E>(layout.len()),
        }
    }

    /// The blocks of rows of `b`.
    fn parts<'a, E: Real>(&'a mut self, b: ArrayViewMut2<'a, E>, height: usize) -> Vec<Part<'a, E>> {
        let layout = self.layout;
        let numbers = height / TILE * layout.block_len();
        let sums = self.sums.numbers_mut()[..layout.len()].chunks_mut(numbers);
        let packed = self.packed.numbers_mut()[..layout.len()].chunks_mut(numbers);
        let mut rest = b;
        let mut parts = Vec::new();
        for (block, (sums, packed)) in sums.zip(packed).enumerate() {
            let rows = height.min(rest.nrows());
            let (b, others) = rest.split_at(Axis(0), rows);
            parts.push(Part { block, layout: layout.with_rows(b.nrows()), b, sums, packed });
            rest = others;
        }
        parts
    }
}

/// A block of rows of some columns.
struct Part<'a, E> {
    block: usize,
    layout: Layout,
    /// B, or X where it is solved for.
    b: ArrayViewMut2<'a, E>,
    /// What is subtracted from B, packed.
    sums: &'a mut [f64],
    /// X, packed.
    packed: &'a mut [E],
}

impl<E: Real + Number> Part<'_, E> {
    /// Solves for these rows of X, tile by tile.
    fn solve(&mut self, diagonal: &ArrayRef2<E>, transposed: bool) {
        let (rows, width) = (self.layout.rows(), self.layout.block_len() / TILE);
        let mut starts: Vec<usize> = (0..rows).step_by(TILE).collect();
        if transposed {
            starts.reverse();
        }
        for start in starts {
            let end = rows.min(start + TILE);
            let layout = self.layout.with_rows(end - start);
            let mut x = self.b.slice_mut(s![start..end, ..]);
            let (before, rest) = self.sums.split_at_mut(start * width);
            let (sums, after) = rest.split_at_mut(layout.len());
            let subtract = |b: &mut E, sum: f64| *b = E::from_f64(b.to_f64() - sum);
            layout.unpack(sums, x.view_mut(), subtract, &Alone);
            let tile = diagonal.slice(s![start..end, start..end]);
            let solved = if transposed {
                triangle::solve_transposed(&tile, &mut x)
            } else {
                triangle::solve(&tile, &mut x)
            };
            solved.expect(SHAPES_FIT);
            let packed = &mut self.packed[start * width..][..layout.len()];
            layout.pack(x.view(), packed, &Alone);
            if transposed {
                add_product(&diagonal.slice(s![start..end, ..start]), true, packed, before);
            } else {
                add_product(&diagonal.slice(s![end.., start..end]), false, packed, after);
            }
        }
    }
}
