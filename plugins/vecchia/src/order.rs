//! Max-min order of rows.

use gpbench_sdk::Workers;
use gpbench_sdk::ndarray::{Array2, Axis};
use gpbench_sdk::neighbours::squared_distance;

/// Rows whose distances one thread computes.
const ROWS: usize = 8192;

/// The rows of `points`, n x d and row-major, in max-min order: first the row nearest to the mean, and then each time
/// the row that is farthest from all before it; of equally far ones the first. Takes n^2 distances.
///
/// # Panics
/// If the points are not row-major.
pub fn max_min(points: &Array2<f64>, workers: Workers<'_>) -> Vec<usize> {
    let Some(mean) = points.mean_axis(Axis(0)) else { return Vec::new() };
    let rows: Vec<&[f64]> =
        points.outer_iter().map(|row| row.to_slice().expect("rows of a row-major array")).collect();
    let mean = mean.to_vec();
    let mut last = nearest(&rows, &mean);
    let mut order = vec![last];
    // Squared distances to the rows in the order; none for these themselves.
    let mut distances = vec![f64::INFINITY; rows.len()];
    let mut farthest = vec![(0, f64::NEG_INFINITY); rows.len().div_ceil(ROWS)];
    for _ in 1..rows.len() {
        distances[last] = f64::NEG_INFINITY;
        let added = rows[last];
        let pieces = rows.chunks(ROWS).zip(distances.chunks_mut(ROWS)).zip(&mut farthest);
        workers.for_each(pieces, |((rows, distances), farthest)| {
            *farthest = (0, f64::NEG_INFINITY);
            for (index, (row, distance)) in rows.iter().zip(distances).enumerate() {
                *distance = distance.min(squared_distance(row, added));
                if *distance > farthest.1 {
                    *farthest = (index, *distance);
                }
            }
        });
        let mut most = (last, f64::NEG_INFINITY);
        for (piece, &(index, distance)) in farthest.iter().enumerate() {
            if distance > most.1 {
                most = (piece * ROWS + index, distance);
            }
        }
        last = most.0;
        order.push(last);
    }
    order
}

/// The row nearest to a point, of equally near ones the first.
fn nearest(rows: &[&[f64]], point: &[f64]) -> usize {
    let mut least = (0, f64::INFINITY);
    for (index, row) in rows.iter().enumerate() {
        let distance = squared_distance(row, point);
        if distance < least.1 {
            least = (index, distance);
        }
    }
    least.0
}

#[cfg(test)]
mod tests {
    use gpbench_sdk::ndarray::array;
    use gpbench_testing::scattered;

    use super::*;

    #[test]
    fn each_row_is_the_farthest_from_those_before() {
        let line = array![[0.0], [1.0], [2.0], [3.0], [4.0], [10.0]];
        // The mean is 10/3; then 10 is farthest from 3, 0 from both, and of 1, 2 and 4 those of distance 1 in their
        // order.
        assert_eq!(max_min(&line, Workers::new(1)), [3, 5, 0, 1, 2, 4]);
    }

    #[test]
    fn equal_rows_come_once_each() {
        let mut order = max_min(&Array2::ones((7, 2)), Workers::new(1));
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(max_min(&Array2::ones((1, 2)), Workers::new(1)), [0]);
    }

    #[test]
    fn threads_give_the_same() {
        let points = Array2::from_shape_fn((9000, 1), |(i, j)| scattered(i, j));
        let first = |threads| max_min(&points.clone(), Workers::new(threads));
        let (one, two) = (first(1), first(2));
        assert_eq!(one, two);
    }
}
