//! Right-hand sides and results in the order in which tiles read them.
//!
//! Rows are cut into blocks; each block into panels of one or two vectors of right-hand sides; each panel is stored
//! row by row. The last right-hand sides of a block, if they would leave most of a vector empty, are stored
//! separately, one after the other.

use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};
use pulp::Simd;

use super::padded;
use crate::Pool;
use crate::simd::{self, Lanes, Real, Work};

/// Largest number of vectors of a panel.
pub(super) const PANEL: usize = 2;

/// Rows of a panel that are copied column by column, while they stay in the first-level cache.
const ROWS: usize = 64;

/// The shape of packed right-hand sides.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    n: usize,
    s: usize,
    /// Rows of a block.
    block: usize,
    /// Numbers in a row, padding included.
    width: usize,
    /// Numbers in a row of all panels together.
    in_panels: usize,
    /// Largest number of numbers in a row of a panel.
    panel: usize,
}

/// Returns the number of lanes of a vector.
#[derive(Debug)]
pub struct CountLanes;

impl<E: Real> Work<E> for CountLanes {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> usize
    where
        E: Lanes<S>,
    {
        E::LANES
    }
}

impl Layout {
    /// `n x s` for tiles of numbers `E` with blocks of `block` rows.
    pub fn new<E: Real>(n: usize, s: usize, block: usize) -> Layout {
        Layout::with_lanes(n, s, block, E::dispatch(simd::arch(), CountLanes))
    }

    /// Like [`Self::new`], for vectors of `lanes` numbers.
    pub fn with_lanes(n: usize, s: usize, block: usize, lanes: usize) -> Layout {
        let separate = separate(s, lanes);
        let in_panels = (s - separate).next_multiple_of(lanes);
        Layout { n, s, block, width: in_panels + separate, in_panels, panel: PANEL * lanes }
    }

    /// The layout of the same number of right-hand sides with `n` rows.
    pub fn with_rows(self, n: usize) -> Layout {
        Layout { n, ..self }
    }

    /// Rows, without padding.
    pub fn rows(self) -> usize {
        self.n
    }

    /// Numbers in total, padding included.
    pub fn len(self) -> usize {
        padded(self.n) * self.width
    }

    /// Whether there are no numbers.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Numbers of a whole block.
    pub fn block_len(self) -> usize {
        self.block * self.width
    }

    /// Packs `v` (n x s) into [`Self::len`] numbers; padding is 0.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn pack<F: Real, E: Real>(self, v: ArrayView2<F>, packed: &mut [E], pool: &impl Pool) {
        assert_eq!(v.dim(), (self.n, self.s), "right-hand sides have the shape of their layout");
        assert_eq!(packed.len(), self.len(), "as many numbers as the layout has");
        if packed.is_empty() {
            return;
        }
        pool.for_each(packed.chunks_mut(self.block_len()).enumerate(), |(b, to)| {
            let start = b * self.block;
            let rows = self.n.min(start + self.block) - start;
            for (first, width) in self.panels() {
                let columns = v.slice(s![start..start + rows, first..self.s.min(first + width)]);
                let panel = &mut to[padded(rows) * first..][..padded(rows) * width];
                let (panel, padding) = panel.split_at_mut(rows * width);
                pack_panel(columns, panel, width);
                padding.fill(E::from_f64(0.0));
            }
        });
    }

    /// Calls `put` with each number of some packed results, one result after the other, and its position in `out`.
    pub fn unpack<F: Send>(
        self,
        results: &[f64],
        mut out: ArrayViewMut2<F>,
        put: impl Fn(&mut F, f64) + Sync,
        pool: &impl Pool,
    ) {
        if self.is_empty() {
            return;
        }
        let mut tasks = Vec::new();
        for (b, mut rest) in out.axis_chunks_iter_mut(Axis(0), self.block).enumerate() {
            for (first, width) in self.panels() {
                let (columns, others) = rest.split_at(Axis(1), width.min(self.s - first));
                tasks.push((b, first, width, columns));
                rest = others;
            }
        }
        pool.for_each(tasks, |(b, first, width, mut columns)| {
            let rows = columns.nrows();
            for result in results.chunks_exact(self.len()) {
                let block = &result[b * self.block_len()..];
                let panel = &block[padded(rows) * first..][..rows * width];
                unpack_panel(panel, width, columns.view_mut(), &put);
            }
        });
    }

    /// First right-hand side and numbers in a row of each panel, and of each right-hand side stored separately.
    fn panels(self) -> impl Iterator<Item = (usize, usize)> {
        let wide = (0..self.in_panels).step_by(self.panel);
        let wide = wide.map(move |first| (first, self.panel.min(self.in_panels - first)));
        wide.chain((self.in_panels..self.width).map(|column| (column, 1)))
    }
}

/// Fills a panel, whose rows have `width` numbers, with columns; numbers beyond these are 0.
fn pack_panel<F: Real, E: Real>(columns: ArrayView2<F>, panel: &mut [E], width: usize) {
    let used = columns.ncols();
    for (rows, columns) in panel.chunks_mut(ROWS * width).zip(columns.axis_chunks_iter(Axis(0), ROWS)) {
        for (c, column) in columns.columns().into_iter().enumerate() {
            let places = rows.chunks_exact_mut(width).map(|row| &mut row[c]);
            // The loop over a slice takes fewer instructions.
            match column.to_slice() {
                Some(column) => places.zip(column).for_each(|(to, &from)| *to = E::from_f64(from.to_f64())),
                None => places.zip(column).for_each(|(to, &from)| *to = E::from_f64(from.to_f64())),
            }
        }
        if used < width {
            rows.chunks_exact_mut(width).for_each(|row| row[used..].fill(E::from_f64(0.0)));
        }
    }
}

/// Calls `put` with each number of a panel, whose rows have `width` numbers, and its position in `columns`.
fn unpack_panel<F>(panel: &[f64], width: usize, mut columns: ArrayViewMut2<F>, put: &impl Fn(&mut F, f64)) {
    for (rows, mut columns) in panel.chunks(ROWS * width).zip(columns.axis_chunks_iter_mut(Axis(0), ROWS)) {
        for (c, mut column) in columns.columns_mut().into_iter().enumerate() {
            let numbers = rows.chunks_exact(width).map(|row| row[c]);
            match column.as_slice_mut() {
                Some(column) => column.iter_mut().zip(numbers).for_each(|(to, from)| put(to, from)),
                None => column.iter_mut().zip(numbers).for_each(|(to, from)| put(to, from)),
            }
        }
    }
}

/// Number of the `s` right-hand sides that are stored separately: those of the last vector, if less than a third of it
/// would be used.
pub(super) fn separate(s: usize, lanes: usize) -> usize {
    let last = s % lanes;
    if 3 * last < lanes { last } else { 0 }
}
