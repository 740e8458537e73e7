//! Selection of rows by elimination of near neighbours (Lin et al. 2023, appendix A.2).
//!
//! The paper leaves details open; the algorithm is as follows. Rows are visited in order. For a row that is neither
//! kept nor eliminated, consider its nearest neighbours that are closer than the distance and not eliminated. If
//! there are none, the row is kept. Otherwise the row is eliminated, and its neighbours are visited, kept ones
//! first and then by distance: each that has not been eliminated by then is kept, and eliminates the later ones that
//! are close to it. So every row has a kept row within the distance.
//!
//! Neighbours are exact, from a k-d tree; those of the paper are approximate.

use gpbench_numerics::Pool;
use kdtree::KdTree;
use kdtree::distance::squared_euclidean;
use ndarray::ArrayView2;

use crate::threads::Here;

/// Rows whose neighbours are searched in parallel before the rows are visited in order.
const BLOCK: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Kept,
    Eliminated,
}

/// The rows of `x` (row-major) that are kept, in order.
pub(super) fn thin(x: ArrayView2<f64>, distance: f64, neighbours: usize) -> Vec<usize> {
    let rows: Vec<&[f64]> =
        x.outer_iter().map(|row| row.to_slice().expect("rows of a row-major array are slices")).collect();
    let mut tree = KdTree::with_capacity(x.ncols(), 32);
    for (index, row) in rows.iter().enumerate() {
        tree.add(*row, index).expect("inputs are finite and have d columns");
    }
    let radius = distance * distance;
    let is_near = |a: usize, b: usize| squared_euclidean(rows[a], rows[b]) < radius;
    // One more neighbour is requested, since a row finds itself, or another row that coincides with it.
    let find_neighbours = |row: usize| -> Vec<usize> {
        let found = tree.nearest_within_radius(rows[row], neighbours + 1, Some(radius), &squared_euclidean);
        let mut found = found.expect("inputs are finite and have d columns");
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
        let others = found.into_iter().filter(|(square, other)| **other != row && *square < radius);
        others.map(|(_, other)| *other).take(neighbours).collect()
    };

    let mut states = vec![State::Open; rows.len()];
    for start in (0..rows.len()).step_by(BLOCK) {
        let open: Vec<usize> =
            (start..rows.len().min(start + BLOCK)).filter(|&r| states[r] == State::Open).collect();
        let lists = Here.map(&open, |&row| find_neighbours(row));
        for (&row, list) in open.iter().zip(lists) {
            if states[row] == State::Open {
                states[row] = visit(list, &mut states, is_near);
            }
        }
    }
    (0..rows.len()).filter(|&row| states[row] != State::Eliminated).collect()
}

/// Visits the neighbours of a row; returns the new state of the row.
fn visit(mut near: Vec<usize>, states: &mut [State], is_near: impl Fn(usize, usize) -> bool) -> State {
    near.retain(|&other| states[other] != State::Eliminated);
    if near.is_empty() {
        return State::Kept;
    }
    near.sort_by_key(|&other| states[other] != State::Kept);
    for (position, &kept) in near.iter().enumerate() {
        if states[kept] == State::Eliminated {
            continue;
        }
        states[kept] = State::Kept;
        for &other in &near[position + 1..] {
            if states[other] == State::Open && is_near(kept, other) {
                states[other] = State::Eliminated;
            }
        }
    }
    State::Eliminated
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::seed::Streams;

    fn on_a_line(points: &[f64]) -> Array2<f64> {
        Array2::from_shape_vec((points.len(), 1), points.to_vec()).unwrap()
    }

    #[test]
    fn a_row_is_eliminated_for_its_nearest_neighbour() {
        // The first is near the second and the third, which are near each other; the last is alone.
        let x = on_a_line(&[0.0, 0.3, 0.5, 2.0]);
        assert_eq!(thin(x.view(), 0.6, 10), [1, 3]);
        // Here the third is too far from the second, so it stays as well.
        let x = on_a_line(&[0.0, 0.3, -0.5, 2.0]);
        assert_eq!(thin(x.view(), 0.6, 10), [1, 2, 3]);
        // With one neighbour considered, the first does not find the third, which finds the second.
        let x = on_a_line(&[0.0, 0.3, 0.5, 2.0]);
        assert_eq!(thin(x.view(), 0.6, 1), [1, 3]);
        assert_eq!(thin(x.view(), 1e-3, 10), [0, 1, 2, 3]);
        assert_eq!(thin(x.view(), 0.3, 10).len(), 3, "near means closer than the distance");
    }

    #[test]
    fn of_rows_that_coincide_one_is_left() {
        let x = on_a_line(&[1.0; 50]);
        assert_eq!(thin(x.view(), 0.1, 100).len(), 1);
    }

    #[test]
    fn every_row_has_a_kept_one_near_and_a_longer_distance_keeps_fewer() {
        let x = Streams::new(2, &["thin"]).normals("x", 2000, 2).as_standard_layout().to_owned();
        let mut last = 2001;
        for distance in [0.01, 0.1, 0.3, 1.0] {
            for neighbours in [5, 100] {
                let kept = thin(x.view(), distance, neighbours);
                let covered = x.outer_iter().all(|row| {
                    kept.iter().any(|&k| (&row - &x.row(k)).mapv(|v| v * v).sum().sqrt() < distance)
                });
                assert!(covered, "{distance} {neighbours}");
            }
            let kept = thin(x.view(), distance, 100).len();
            assert!(kept < last, "{kept} at {distance}");
            last = kept;
        }
    }
}
