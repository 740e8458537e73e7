//! Right-hand sides in the order in which tiles read them, and results likewise.
//!
//! Blocks of consecutive rows; in each, panels of a few vectors of right-hand
//! sides; in each, row after row. A few right-hand sides that would leave most of
//! a vector empty stand alone at the end of a block, one after the other.

use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};
use pulp::Simd;
use rayon::prelude::*;

use super::points::padded;
use super::product::PANEL;
use crate::aligned::Aligned;
use crate::simd::{self, Lanes, Real, Work};

/// The shape of packed right-hand sides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    n: usize,
    s: usize,
    /// Rows of a block.
    block: usize,
    /// Numbers in a row, those made up included.
    width: usize,
    /// Numbers in a row of all panels.
    in_panels: usize,
    /// Numbers in a row of a panel, at most.
    panel: usize,
}

/// Asks for the numbers in a vector.
pub(super) struct CountLanes;

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
    pub(crate) fn new<E: Real>(n: usize, s: usize, block: usize) -> Layout {
        Layout::with_lanes(n, s, block, E::dispatch(simd::arch(), CountLanes))
    }

    /// The same for vectors of `lanes` numbers.
    pub(crate) fn with_lanes(n: usize, s: usize, block: usize, lanes: usize) -> Layout {
        let alone = alone(s, lanes);
        let in_panels = (s - alone).next_multiple_of(lanes);
        Layout { n, s, block, width: in_panels + alone, in_panels, panel: PANEL * lanes }
    }

    /// The same right-hand sides, for other rows.
    pub(crate) fn with_rows(self, n: usize) -> Layout {
        Layout { n, ..self }
    }

    /// Rows, those made up not among them.
    pub(crate) fn rows(self) -> usize {
        self.n
    }

    /// Numbers in all.
    pub(crate) fn len(self) -> usize {
        padded(self.n) * self.width
    }

    /// Numbers of a whole block.
    pub(crate) fn block_len(self) -> usize {
        self.block * self.width
    }

    /// Packs `v` (n x s).
    pub(crate) fn pack<E: Real>(self, v: ArrayView2<f64>) -> Aligned {
        assert_eq!(v.dim(), (self.n, self.s), "right-hand sides have the shape of their layout");
        let mut packed = Aligned::zeroed::<E>(self.len());
        if self.len() > 0 {
            let blocks = packed.numbers_mut::<E>()[..self.len()].par_chunks_mut(self.block_len()).enumerate();
            blocks.for_each(|(b, to)| {
                let start = b * self.block;
                let rows = self.n.min(start + self.block) - start;
                for (c, from) in v.slice(s![start..start + rows, ..]).axis_iter(Axis(1)).enumerate() {
                    let (first, step) = self.column(rows, c);
                    for (to, &from) in to[first..].iter_mut().step_by(step).zip(from) {
                        *to = E::from_f64(from);
                    }
                }
            });
        }
        packed
    }

    /// Hands each number of a packed result to `put`, with its place in `out`.
    pub(crate) fn unpack(self, packed: &[f64], out: ArrayViewMut2<f64>, put: impl Fn(&mut f64, f64) + Sync) {
        let mut out = out;
        if self.len() == 0 {
            return;
        }
        let blocks: Vec<_> = out.axis_chunks_iter_mut(Axis(0), self.block).collect();
        blocks.into_par_iter().zip(packed[..self.len()].par_chunks(self.block_len())).for_each(
            |(mut out, from)| {
                let rows = out.nrows();
                for (c, to) in out.axis_iter_mut(Axis(1)).enumerate() {
                    let (first, step) = self.column(rows, c);
                    for (to, &from) in to.into_iter().zip(from[first..].iter().step_by(step)) {
                        put(to, from);
                    }
                }
            },
        );
    }

    /// Where right-hand side `c` begins inside a block of `rows` rows, and the step from row to row.
    fn column(self, rows: usize, c: usize) -> (usize, usize) {
        if c >= self.in_panels {
            return (padded(rows) * c, 1);
        }
        let first = c / self.panel * self.panel;
        (padded(rows) * first + c - first, self.panel.min(self.in_panels - first))
    }
}

/// How many of `s` right-hand sides stand alone: those of the last vector, if it would be less than a third full.
pub(super) fn alone(s: usize, lanes: usize) -> usize {
    let last = s % lanes;
    if 3 * last < lanes { last } else { 0 }
}
