//! Inducing points against the rows that they are chosen from.

use gpbench_record::Inducing;

/// What is wrong with more inducing points than there are training rows to choose them from, and what to do.
pub(crate) fn too_many_points(inducing: Inducing, dataset: &str, n: usize) -> Option<(String, String)> {
    let points = match inducing {
        Inducing::Subset { points } | Inducing::Kmeans { points } => points,
        Inducing::Neighbours { .. } => return None,
    };
    let hint =
        || format!("at most {n} can be chosen, for instance points = {}, or exclude the pair", n.div_ceil(2));
    (points > n).then(|| {
        (format!("{points} inducing points, but data set `{dataset}` has {n} training rows"), hint())
    })
}
