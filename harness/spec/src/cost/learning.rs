//! What a learner is likely to cost.
//!
//! A learner's method is its own: what is known is the kernel, and what the harness computes at each look. A step on b
//! rows takes, with M inducing points, 5 M^2 b + 13/3 M^3 flops; with D features, 2 b D^2 + D^3; with a kernel alone,
//! b^3 and b^2 kernel entries; and a network forward and back. A look takes the exact likelihood: n D^2 + D^3
//! flops with features, or a Cholesky factor of as many rows as the spec says, and of all of them at the end.

use gpbench_record::{Case, Covariance, Inducing, Learning, Param};

/// Rows of a step of a learner without a parameter `batch`.
const BATCH: usize = 1024;

/// Inducing points where their number follows from the data.
const POINTS: usize = 1000;

/// The work of a case.
pub(super) struct Work {
    /// Flops of the fit.
    pub(super) fit: f64,
    /// Flops of all looks.
    pub(super) looks: f64,
    /// Numbers that are held beside the rows.
    pub(super) numbers: f64,
}

/// The work of a case with `n` training rows and `d` inputs, where a kernel entry takes `entry` flops.
pub(super) fn work(case: &Case, task: &Learning, n: usize, d: usize, entry: f64) -> Work {
    let batch = match case.solver.params.get("batch") {
        Some(Param::Int(rows)) => usize::try_from(*rows).unwrap_or(BATCH).clamp(1, n.max(1)),
        _ => BATCH.clamp(1, n.max(1)),
    };
    let network = case.kernel.network.as_ref();
    let features = match (case.kernel.family, network) {
        (Covariance::Linear, Some(network)) => Some(network.outputs()),
        (_, network) => network.and_then(|network| network.random),
    };
    let features = features.map(|features| features as f64);
    let points = task.inducing.map(|inducing| match inducing {
        Inducing::Subset { points } | Inducing::Kmeans { points } => points,
        Inducing::Neighbours { .. } => POINTS.min(n),
    });
    let weights = network.map_or(0, |network| network.parameters(d)) as f64;
    let [rows, batch] = [n, batch].map(|count| count as f64);

    let (step, held) = match (points, features) {
        (Some(points), _) => {
            let m = points as f64;
            (5.0 * m * m * batch + 13.0 / 3.0 * m * m * m, 8.0 * m * m + 5.0 * m * batch)
        }
        (None, Some(d)) => (2.0 * batch * d * d + d * d * d, 4.0 * d * d + batch * d),
        (None, None) => (batch * batch * (batch + entry), 3.0 * batch * batch),
    };
    let steps = task.passes as f64 * rows / batch;
    let fit = steps * (step + 6.0 * weights * batch);

    let likelihood = |rows: f64| match features {
        Some(features) => (rows + features) * features * features,
        None => rows * rows * (rows / 3.0 + entry),
    };
    let at_a_look = match features {
        Some(_) => rows,
        None => rows.min(task.nlml_rows as f64),
    };
    let at_the_end = match features {
        None if n > Learning::MOST_NLML_ROWS => at_a_look,
        _ => rows,
    };
    let looks =
        task.looks.len() as f64 * (likelihood(at_a_look) + 2.0 * weights * rows) + likelihood(at_the_end);
    let compared = match features {
        Some(features) => rows * features,
        None => at_the_end * at_the_end,
    };
    Work { fit, looks, numbers: held.max(compared) + 3.0 * weights }
}
