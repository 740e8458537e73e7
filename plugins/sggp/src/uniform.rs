//! Groups of rows drawn uniformly.

use gpbench_sdk::ndarray::Array2;
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

/// Groups of a step: each of `rows`, and `k - 1` other rows of n, all sets of them being equally likely; rows x k.
///
/// Depends on the seed and the number of the step alone, so that no state is to be kept.
pub fn draw(rows: &[usize], k: usize, n: usize, seed: u64, step: u64) -> Array2<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(step);
    let k = k.min(n);
    let mut groups = Array2::zeros((rows.len(), k));
    for (mut group, &centre) in groups.outer_iter_mut().zip(rows) {
        // Indices among the n - 1 other rows; those from the centre on move up by one.
        let others = sample(&mut rng, n - 1, k - 1).into_iter();
        let others = others.map(|other| other + usize::from(other >= centre));
        group.iter_mut().zip(std::iter::once(centre).chain(others)).for_each(|(entry, row)| *entry = row);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_distinct_rows_and_all_others_are_equally_likely() {
        let mut count = [0; 10];
        for step in 0..3000 {
            let groups = draw(&[4], 3, 10, 7, step);
            let mut rows = groups.row(0).to_vec();
            assert_eq!(rows[0], 4);
            rows.sort_unstable();
            rows.dedup();
            assert_eq!(rows.len(), 3);
            rows.iter().for_each(|&row| count[row] += 1);
        }
        // 667 expected, with a standard deviation of 23.
        count[4] = 667;
        assert!(count.iter().all(|count| (567..767).contains(count)), "{count:?}");
    }

    #[test]
    fn a_step_never_changes() {
        assert_eq!(draw(&[3, 5], 4, 50, 1, 9), draw(&[3, 5], 4, 50, 1, 9));
        assert_ne!(draw(&[3, 5], 4, 50, 1, 9), draw(&[3, 5], 4, 50, 1, 10));
        assert_ne!(draw(&[3, 5], 4, 50, 1, 9), draw(&[3, 5], 4, 50, 2, 9));
        assert_eq!(draw(&[0], 16, 1, 1, 0).row(0).to_vec(), [0]);
    }
}
