//! Nearest neighbours of every row among the rows before it.
//!
//! Blocks of rows are searched one after the other: rows before the block by a tree, to which each block is added
//! when it is done, and rows of the block itself one by one.

use std::cell::Cell;
use std::ops::Range;

use ndarray::{Array2, ArrayRef2, ArrayViewMut2, Axis};

use super::{FINITE, LEAF, Tree, check, rows, squared_distance};
use crate::{Pool, Result};

/// Rows that are added to the tree together.
const BLOCK: usize = 1024;

/// Rows whose neighbours are found together.
const ROWS: usize = 32;

/// The neighbours of every row among the rows before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// n x m; row i has min(i, m) neighbours, and then zeros.
    neighbours: Array2<usize>,
    /// Distances that were computed, to points and to boxes of the tree.
    pub distances: usize,
}

impl Earlier {
    /// Neighbours that are found otherwise: `of` gives, for each row of a range, the `min(i, m)` ones of row i, in
    /// any order.
    pub fn from_fn(
        n: usize,
        m: usize,
        pool: impl Pool,
        of: impl Fn(Range<usize>) -> Vec<Vec<usize>> + Sync,
    ) -> Earlier {
        let mut neighbours = Array2::zeros((n, m.min(n.saturating_sub(1))));
        pool.for_each(neighbours.axis_chunks_iter_mut(Axis(0), ROWS).enumerate(), |(piece, mut rows)| {
            let first = piece * ROWS;
            let found = of(first..first + rows.nrows());
            for (mut row, mut found) in rows.outer_iter_mut().zip(found) {
                found.sort_unstable();
                row.iter_mut().zip(found).for_each(|(entry, found)| *entry = found);
            }
        });
        Earlier { neighbours, distances: 0 }
    }

    /// Neighbours of row i, in ascending order: `min(i, m)` of them.
    pub fn of(&self, i: usize) -> &[usize] {
        let m = self.neighbours.ncols();
        let all = self.neighbours.as_slice().expect("made row-major");
        &all[i * m..i * m + m.min(i)]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.neighbours.nrows()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Most neighbours of a row.
    pub fn most(&self) -> usize {
        self.neighbours.ncols()
    }

    /// Whether two searches have found the same.
    pub fn is_same(&self, other: &Earlier) -> bool {
        self.neighbours == other.neighbours
    }
}

/// Finds the `m` nearest earlier rows of each row of `points`, n x d, row-major; of equally near ones the earlier.
///
/// # Errors
/// [`Error::NotPositiveDefinite`](crate::Error::NotPositiveDefinite) if the points are too large to compute with.
///
/// # Panics
/// If they are not row-major.
pub fn earlier(points: &ArrayRef2<f64>, m: usize, pool: impl Pool) -> Result<Earlier> {
    let (n, d) = points.dim();
    let m = m.min(n.saturating_sub(1));
    check(points)?;
    let rows = rows(points);
    let mut neighbours = Array2::zeros((n, m));
    let mut tree = Tree::with_capacity(d, LEAF);
    let mut distances = 0;
    if m == 0 {
        return Ok(Earlier { neighbours, distances });
    }
    for (block, mut found) in neighbours.axis_chunks_iter_mut(Axis(0), BLOCK).enumerate() {
        let start = block * BLOCK;
        let mut counts = vec![0; found.nrows().div_ceil(ROWS)];
        let search = Search { tree: &tree, rows: &rows, start };
        let pieces = found.axis_chunks_iter_mut(Axis(0), ROWS).zip(&mut counts).enumerate();
        pool.for_each(pieces, |(piece, (found, count))| {
            *count = search.piece(start + piece * ROWS, found);
        });
        distances += counts.iter().sum::<usize>();
        for (index, row) in rows.iter().enumerate().skip(start).take(BLOCK) {
            tree.add(*row, index).expect(FINITE);
        }
    }
    Ok(Earlier { neighbours, distances })
}

/// A search of the rows of one block.
struct Search<'a, 'p> {
    /// The rows before the block.
    tree: &'a Tree<'p>,
    rows: &'a [&'p [f64]],
    /// The first row of the block.
    start: usize,
}

impl Search<'_, '_> {
    /// Fills the neighbours of the rows from `first` on. Returns the number of distances.
    fn piece(&self, first: usize, mut found: ArrayViewMut2<'_, usize>) -> usize {
        let count = Cell::new(0);
        let distance = |a: &[f64], b: &[f64]| {
            count.set(count.get() + 1);
            squared_distance(a, b)
        };
        let m = found.ncols();
        for (index, mut found) in found.outer_iter_mut().enumerate() {
            let row = first + index;
            let mut near = self.before_the_block(row, m, &distance);
            near.extend((self.start..row).map(|other| (distance(self.rows[row], self.rows[other]), other)));
            let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            if near.len() > m {
                near.select_nth_unstable_by(m - 1, order);
                near.truncate(m);
            }
            near.sort_unstable_by_key(|&(_, other)| other);
            found.iter_mut().zip(near).for_each(|(entry, (_, other))| *entry = other);
        }
        count.get()
    }

    /// Rows before the block, of which the `m` nearest of `row` are some.
    fn before_the_block(
        &self,
        row: usize,
        m: usize,
        distance: &impl Fn(&[f64], &[f64]) -> f64,
    ) -> Vec<(f64, usize)> {
        let found = self.tree.nearest(self.rows[row], m + 1, distance).expect(FINITE);
        // The tree prefers none of equally near rows: where the last one is not farther than the one before, all are
        // compared.
        if found.len() > m && found[m].0 <= found[m - 1].0 {
            let all = self.rows[..self.start].iter().enumerate();
            return all.map(|(other, point)| (distance(self.rows[row], point), other)).collect();
        }
        found.into_iter().take(m).map(|(square, other)| (square, *other)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::uniform;
    use crate::neighbours::smallest;
    use crate::pool::{Alone, Threads};

    /// The neighbours of a row, by definition.
    fn by_definition(x: &Array2<f64>, i: usize, m: usize) -> Vec<usize> {
        let row = x.row(i).to_vec();
        let mut found = smallest((0..i).map(|j| squared_distance(&row, &x.row(j).to_vec())), m);
        found.sort_unstable();
        found
    }

    #[test]
    fn neighbours_are_the_nearest_of_the_rows_before() {
        for (d, m) in [(1, 1), (3, 8), (7, 30)] {
            let x = uniform(2500, d, 4);
            let found = earlier(&x, m, Alone).unwrap();
            assert!((0..2500).step_by(7).all(|i| found.of(i) == by_definition(&x, i, m)), "{d} inputs");
            assert!(found.distances < 2500 * 2500, "{}", found.distances);
        }
    }

    #[test]
    fn of_equally_near_rows_the_earlier_are_found() {
        // Points of a grid of 5 x 5, each 100 times.
        let x = Array2::from_shape_fn((2500, 2), |(i, j)| ((7 * i / if j == 0 { 1 } else { 5 }) % 5) as f64);
        let found = earlier(&x, 6, Threads(3)).unwrap();
        assert!((0..2500).step_by(3).all(|i| found.of(i) == by_definition(&x, i, 6)));
    }

    #[test]
    fn threads_find_the_same() {
        let x = uniform(1500, 4, 5);
        assert_eq!(earlier(&x, 10, Alone).unwrap(), earlier(&x, 10, Threads(3)).unwrap());
    }

    #[test]
    fn few_rows_and_no_neighbours() {
        let x = uniform(4, 2, 6);
        let found = earlier(&x, 9, Alone).unwrap();
        assert_eq!((found.most(), found.len()), (3, 4));
        assert_eq!((found.of(0), found.of(3)), (&[][..], &[0, 1, 2][..]));
        assert!(earlier(&x, 0, Alone).unwrap().of(3).is_empty());
        assert_eq!(earlier(&uniform(1, 2, 6), 9, Alone).unwrap().of(0), [0; 0]);
        let same = Earlier::from_fn(4, 9, Alone, |rows| rows.map(|i| (0..i).rev().collect()).collect());
        assert!(same.is_same(&found));
    }
}
