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
