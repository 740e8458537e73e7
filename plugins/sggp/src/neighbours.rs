//! Nearest neighbours of every row.
//!
//! Neighbours are exact, from a k-d tree. On the UCI sets, with up to 26 inputs, it takes from a quarter of the time of all
//! n^2 distances by matrix products to 1.3 times as much; only where inputs are independent noise is it several times slower.

use std::cell::Cell;

use gpbench_sdk::ndarray::{Array2, ArrayRef2, ArrayViewMut2, Axis};
use gpbench_sdk::{Error, Result, Workers};
use kdtree::KdTree;

/// Points in a leaf of the tree. In many dimensions many leaves are visited, so that large ones are fast.
const LEAF: usize = 64;

/// Rows whose neighbours are found together.
const ROWS: usize = 128;

/// Largest coordinate whose squares can be summed.
const LARGEST: f64 = 1e150;

/// Result of a search.
pub struct Neighbours {
    /// Groups of all rows: row i has row i itself and then its k - 1 nearest others, the nearest first; n x k.
    pub groups: Array2<usize>,
    /// Distances that were computed, to points and to boxes of the tree.
    pub distances: usize,
}

/// Finds the `k - 1` nearest other rows of each row of x / `length_scale`.
///
/// Which of several rows at equal distances are found depends on the inputs alone, not on the number of threads.
///
/// # Errors
/// [`Error::NotPositiveDefinite`] if the scaled inputs are too large to compute with: the length scales have diverged.
pub fn nearest(
    x: &ArrayRef2<f64>,
    length_scale: &[f64],
    k: usize,
    workers: Workers<'_>,
) -> Result<Neighbours> {
    let (n, d) = x.dim();
    let k = k.min(n);
    let scaled = Array2::from_shape_fn((n, d), |(i, j)| x[[i, j]] / length_scale[j % length_scale.len()]);
    if !scaled.iter().all(|entry| entry.abs() < LARGEST) {
        return Err(Error::NotPositiveDefinite { minor: 1 });
    }
    let rows: Vec<&[f64]> = scaled
        .outer_iter()
        .map(|row| row.to_slice().expect("rows of a row-major array are slices"))
        .collect();
    let mut tree = KdTree::with_capacity(d, LEAF);
    for (index, row) in rows.iter().enumerate() {
        tree.add(*row, index).expect(FINITE);
    }
    let mut groups = Array2::zeros((n, k));
    let mut counts = vec![0; n.div_ceil(ROWS)];
    let pieces =
        groups.axis_chunks_iter_mut(Axis(0), ROWS).zip(rows.chunks(ROWS)).zip(&mut counts).enumerate();
    workers.for_each(pieces, |(piece, ((groups, rows), count))| {
        *count = search(&tree, rows, piece * ROWS, groups);
    });
    Ok(Neighbours { groups, distances: counts.iter().sum() })
}

/// Fills the groups of the rows from `first` on. Returns the number of distances.
fn search(
    tree: &KdTree<f64, usize, &[f64]>,
    rows: &[&[f64]],
    first: usize,
    mut groups: ArrayViewMut2<'_, usize>,
) -> usize {
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

const FINITE: &str = "inputs are finite and have d columns";

/// |a - b|^2, summed in four parts so that it vectorises.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    for (a, b) in a.iter().zip(b) {
        (0..4).for_each(|lane| sums[lane] += (a[lane] - b[lane]).powi(2));
    }
    for (sum, (a, b)) in sums.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *sum += (a - b).powi(2);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[cfg(test)]
mod tests {
    use gpbench_sdk::ndarray::Array1;
    use gpbench_testing::scattered;

    use super::*;

    fn inputs(n: usize, d: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, d), |(i, j)| scattered(i, j))
    }

    /// Distances from row i to all rows, by definition.
    fn distances(x: &Array2<f64>, length_scale: &[f64], i: usize) -> Array1<f64> {
        let lengths = Array1::from(length_scale.to_vec());
        (x - &x.row(i)).outer_iter().map(|gap| (&gap / &lengths).mapv(|gap| gap * gap).sum().sqrt()).collect()
    }

    #[test]
    fn neighbours_are_the_nearest() {
        for d in [1, 3, 7, 8] {
            let x = inputs(300, d);
            let lengths: Vec<f64> = (0..d).map(|j| 0.5 + j as f64).collect();
            let found = nearest(&x, &lengths, 16, Workers::new(1)).unwrap();
            assert_eq!(found.groups.dim(), (300, 16));
            for (i, group) in found.groups.outer_iter().enumerate() {
                assert_eq!(group[0], i);
                let to = distances(&x, &lengths, i);
                let got: Vec<f64> = group.iter().map(|&j| to[j]).collect();
                let mut all = to.to_vec();
                all.sort_by(f64::total_cmp);
                got.iter().zip(&all).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{got:?}"));
            }
        }
    }

    #[test]
    fn threads_find_the_same() {
        let x = inputs(700, 5);
        let [one, three] = [1, 3].map(|threads| nearest(&x, &[1.0], 16, Workers::new(threads)).unwrap());
        assert_eq!(one.groups, three.groups);
        assert_eq!(one.distances, three.distances);
        assert!(one.distances < 700 * 700, "{}", one.distances);
    }

    #[test]
    fn repeated_rows_keep_their_centre_and_repeat_no_row() {
        let x = Array2::from_shape_fn((90, 2), |(i, _)| (i / 45) as f64);
        let found = nearest(&x, &[1.0], 16, Workers::new(1)).unwrap();
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
        let found = nearest(&inputs(5, 2), &[1.0], 16, Workers::new(1)).unwrap();
        assert_eq!(found.groups.dim(), (5, 5));
        assert_eq!(nearest(&inputs(1, 1), &[1.0], 16, Workers::new(1)).unwrap().groups[[0, 0]], 0);
    }

    #[test]
    fn diverged_length_scales_are_an_error() {
        let x = inputs(5, 2);
        for length in [0.0, 1e-200, f64::NAN] {
            let failure = nearest(&x, &[length, 1.0], 3, Workers::new(1)).err();
            assert_eq!(failure, Some(Error::NotPositiveDefinite { minor: 1 }), "{length}");
        }
    }
}
