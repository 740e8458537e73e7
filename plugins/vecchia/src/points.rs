//! Inducing points: the seeding of k-means++ (Arthur and Vassilvitskii 2007).

use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::neighbours::squared_distance;
use gpbench_sdk::{Purpose, Workers};
use rand::RngExt;

/// Rows whose distances one thread computes.
const ROWS: usize = 8192;

/// `count` rows of `points`, n x d and row-major: each drawn with probabilities in proportion to the squared
/// distances to those drawn before, the first uniformly. Fewer, where there are fewer different rows.
///
/// # Panics
/// If the points are not row-major.
pub fn spread(points: &Array2<f64>, count: usize, seed: u64, workers: Workers<'_>) -> Vec<usize> {
    let rows: Vec<&[f64]> =
        points.outer_iter().map(|row| row.to_slice().expect("rows of a row-major array")).collect();
    let mut rng = Purpose::Rows.generator(seed, 0);
    let mut distances = vec![f64::INFINITY; rows.len()];
    let mut chosen = Vec::new();
    let mut next = Some(rng.random_range(0..rows.len()));
    while let Some(row) = next {
        chosen.push(row);
        if chosen.len() == count {
            break;
        }
        let added = rows[row];
        workers.for_each(rows.chunks(ROWS).zip(distances.chunks_mut(ROWS)), |(rows, distances)| {
            for (row, distance) in rows.iter().zip(distances) {
                *distance = distance.min(squared_distance(row, added));
            }
        });
        next = draw(&distances, rng.random::<f64>());
    }
    chosen
}

/// The index whose share of the sum has `place`, a number in [0, 1); none if all weights are 0.
fn draw(weights: &[f64], place: f64) -> Option<usize> {
    let mut rest = place * weights.iter().sum::<f64>();
    let mut last = None;
    for (index, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        if rest < weight {
            return Some(index);
        }
        rest -= weight;
        last = Some(index);
    }
    // By rounding, the sum can be a little less than its parts.
    last
}

#[cfg(test)]
mod tests {
    use gpbench_testing::scattered;

    use super::*;

    #[test]
    fn a_row_is_drawn_by_its_weight_and_none_twice() {
        assert_eq!(draw(&[0.0, 1.0, 3.0], 0.2), Some(1));
        assert_eq!(draw(&[0.0, 1.0, 3.0], 0.25), Some(2));
        assert_eq!(draw(&[0.0, 0.0], 0.5), None);
        assert_eq!(draw(&[1.0, 0.0], 0.999_999_999_999_999_9), Some(0));
        let points = Array2::from_shape_fn((200, 2), |(i, j)| scattered(i, j));
        let mut chosen = spread(&points, 40, 1, Workers::new(1));
        assert_eq!(chosen, spread(&points, 40, 1, Workers::new(3)));
        assert_ne!(chosen, spread(&points, 40, 2, Workers::new(1)));
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen.len(), 40);
    }

    #[test]
    fn equal_rows_are_one_point() {
        let points = Array2::from_shape_fn((30, 2), |(i, _)| (i % 3) as f64);
        assert_eq!(spread(&points, 10, 1, Workers::new(1)).len(), 3);
    }
}
