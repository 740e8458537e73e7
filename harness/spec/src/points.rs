//! Check that there are no more inducing points than rows to choose them from.

use gpbench_record::Inducing;

/// The message and the hint where there are more inducing points than training rows to choose them from.
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
