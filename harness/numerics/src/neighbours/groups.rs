//! Nearest neighbours of every row.

use std::cell::Cell;

use ndarray::{Array2, ArrayRef2, ArrayViewMut2, Axis};

use super::{FINITE, LEAF, Tree, check, rows, squared_distance};
use crate::{Pool, Result};

/// Rows whose neighbours are found together.
const ROWS: usize = 128;

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Groups of all rows: row i has row i itself and then its k - 1 nearest others, the nearest first; n x k.
    pub groups: Array2<usize>,
    /// Distances that were computed, to points and to boxes of the tree.
    pub distances: usize,
}

/// Finds the `k - 1` nearest other rows of each row of `points`, n x d, row-major.
///
/// Which of several rows at equal distances are found depends on the points alone, not on the number of threads.
///
/// # Errors
/// [`Error::NotPositiveDefinite`](crate::Error::NotPositiveDefinite) if the points are too large to compute with.
///
/// # Panics
/// If they are not row-major.
pub fn groups(points: &ArrayRef2<f64>, k: usize, pool: impl Pool) -> Result<Groups> {
    let (n, d) = points.dim();
    let k = k.min(n);
    check(points)?;
    let rows = rows(points);
    let mut tree = Tree::with_capacity(d, LEAF);
    for (index, row) in rows.iter().enumerate() {
        tree.add(*row, index).expect(FINITE);
    }
    let mut groups = Array2::zeros((n, k));
    let mut counts = vec![0; n.div_ceil(ROWS)];
    let pieces =
        groups.axis_chunks_iter_mut(Axis(0), ROWS).zip(rows.chunks(ROWS)).zip(&mut counts).enumerate();
    pool.for_each(pieces, |(piece, ((groups, rows), count))| {
        *count = search(&tree, rows, piece * ROWS, groups);
    });
    Ok(Groups { groups, distances: counts.iter().sum() })
}

/// Fills the groups of the rows from `first` on. Returns the number of distances.
fn search(tree: &Tree<'_>, rows: &[&[f64]], first: usize, mut groups: ArrayViewMut2<'_, usize>) -> usize {
    let (count, k) = (Cell::new(0), groups.ncols());
    let distance = |a: &[f64], b: &[f64]| {
        count.set(count.get() + 1);
        squared_distance(a, b)
    };
    for (index, (row, mut group)) in rows.iter().zip(groups.outer_iter_mut()).enumerate() {
        let centre = first + index;
        let found = tree.nearest(row, k, &distance).expect(FINITE);
        // A row with more than k equals may be missing among its own neighbours.
        let others = found.iter().map(|(_, other)| **other).filter(|&other| other != centre);
        group.iter_mut().zip(std::iter::once(centre).chain(others)).for_each(|(entry, row)| *entry = row);
    }
    count.get()
}

#[cfg(test)]
mod tests {
    use ndarray::Array1;

    use super::*;
    use crate::fixtures::uniform;
    use crate::pool::{Alone, Threads};

    /// Squared distances from row i to all rows, by definition.
    fn distances(x: &Array2<f64>, i: usize) -> Array1<f64> {
        (x - &x.row(i)).map_axis(Axis(1), |gap| gap.dot(&gap))
    }

    #[test]
    fn neighbours_are_the_nearest() {
        for d in [1, 3, 7, 8] {
            let x = uniform(300, d, 1);
            let found = groups(&x, 16, Alone).unwrap();
            assert_eq!(found.groups.dim(), (300, 16));
            for (i, group) in found.groups.outer_iter().enumerate() {
                assert_eq!(group[0], i);
                let to = distances(&x, i);
                let got: Vec<f64> = group.iter().map(|&j| to[j]).collect();
                let mut all = to.to_vec();
                all.sort_by(f64::total_cmp);
                got.iter().zip(&all).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{got:?}"));
            }
        }
    }

    #[test]
    fn threads_find_the_same() {
        let x = uniform(700, 5, 2);
        let (one, three) = (groups(&x, 16, Alone).unwrap(), groups(&x, 16, Threads(3)).unwrap());
        assert_eq!(one, three);
        assert!(one.distances < 700 * 700, "{}", one.distances);
    }

    #[test]
    fn repeated_rows_keep_their_centre_and_repeat_no_row() {
        let x = Array2::from_shape_fn((90, 2), |(i, _)| (i / 45) as f64);
        let found = groups(&x, 16, Alone).unwrap();
        for (i, group) in found.groups.outer_iter().enumerate() {
            assert_eq!(group[0], i);
            let mut rows = group.to_vec();
            rows.sort_unstable();
            rows.dedup();
            assert_eq!(rows.len(), 16);
            assert!(rows.iter().all(|row| row / 45 == i / 45), "{rows:?}");
        }
    }

    #[test]
    fn a_group_is_at_most_all_rows() {
        assert_eq!(groups(&uniform(5, 2, 3), 16, Alone).unwrap().groups.dim(), (5, 5));
        assert_eq!(groups(&uniform(1, 1, 3), 16, Alone).unwrap().groups[[0, 0]], 0);
    }
}
