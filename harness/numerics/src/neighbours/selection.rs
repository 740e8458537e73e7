//! The smallest of some numbers, and the rows nearest to a point.

use ndarray::{ArrayRef2, ArrayView1};

use super::squared_distance;

/// Indices of the `count` smallest keys, or of all if there are fewer: the smallest first, of equal ones the first.
/// Keys that are not numbers come last.
pub fn smallest(keys: impl Iterator<Item = f64>, count: usize) -> Vec<usize> {
    let mut keys: Vec<(f64, usize)> = keys.enumerate().map(|(index, key)| (key, index)).collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if count < keys.len() {
        if count > 0 {
            keys.select_nth_unstable_by(count - 1, order);
        }
        keys.truncate(count);
    }
    keys.sort_unstable_by(order);
    keys.into_iter().map(|(_, index)| index).collect()
}

/// Correlations that differ by less are equal, so that rounding errors decide nothing, for example between repeated rows.
const QUANTUM: f64 = 1e-9;

/// Indices of the `count` largest correlations by their size, rounded to 1e-9, or of all if there are fewer: the largest
/// first, of equal ones the first.
pub fn strongest(correlations: impl Iterator<Item = f64>, count: usize) -> Vec<usize> {
    smallest(correlations.map(|correlation| -(correlation.abs() / QUANTUM).round()), count)
}

/// The `count` rows of `points` (n x d, row-major) that are nearest to `point`, by all n distances: the nearest
/// first, of equally near ones the first.
///
/// # Panics
/// If the arrays are not row-major.
pub fn nearest_to(points: &ArrayRef2<f64>, point: ArrayView1<'_, f64>, count: usize) -> Vec<usize> {
    let point = point.to_slice().expect("a row of a row-major array is a slice");
    let distances = points.rows().into_iter().map(|row| {
        let row = row.to_slice().expect("rows of a row-major array are slices");
        squared_distance(row, point)
    });
    smallest(distances, count)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_smallest_come_in_order_and_of_equal_ones_the_first() {
        let keys = [3.0, 1.0, 2.0, 1.0, f64::NAN, -5.0, 1.0];
        assert_eq!(smallest(keys.into_iter(), 3), [5, 1, 3]);
        assert_eq!(smallest(keys.into_iter(), 0), [0; 0]);
        assert_eq!(smallest(keys.into_iter(), 9), [5, 1, 3, 6, 2, 0, 4]);
    }

    #[test]
    fn rounding_errors_of_correlations_decide_nothing() {
        let correlations = [0.3, 0.5, -0.5 - 1e-15, 0.5 + 1e-15, -0.9];
        assert_eq!(strongest(correlations.into_iter(), 3), [4, 1, 2]);
        assert_eq!(strongest([1e-17, -1e-16, 0.0].into_iter(), 2), [0, 1]);
    }

    #[test]
    fn ties_go_to_the_first_row() {
        let points = array![[1.0, 0.0], [0.0, 1.0], [3.0, 0.0], [0.0, -1.0], [0.1, 0.0]];
        assert_eq!(nearest_to(&points, array![0.0, 0.0].view(), 3), [4, 0, 1]);
    }
}
