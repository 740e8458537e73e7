//! Sizes and costs that inducing points bring.

use gpbench_record::Inducing;

/// Assumed number of inducing points where it follows from the data.
const POINTS: usize = 1000;

/// The number of inducing points among n rows.
pub(super) fn points(inducing: Inducing, n: usize) -> usize {
    match inducing {
        Inducing::Subset { points } | Inducing::Kmeans { points } => points.min(n),
        Inducing::Neighbours { .. } => POINTS.min(n),
    }
}

/// Numbers and seconds of a preconditioner from m inducing points: the kernel matrix and two factors; their products.
pub(super) fn preconditioner_cost(m: f64, rate: f64) -> (f64, f64) {
    (3.0 * m * m, 2.0 * m * m * m / rate)
}

/// Numbers and seconds of the sparse part of a bound from m inducing points, whose kernel entries take `entry` flops: a
/// factor of m n numbers and several of m^2; m^2 n flops each for the factor and for its square, 2 m^2 n for the
/// gradient, and the entries of K(Z, X) twice.
pub(super) fn bound_cost(n: f64, m: f64, entry: f64, rate: f64) -> (f64, f64) {
    (n * m + 6.0 * m * m, n * m * (4.0 * m + 2.0 * entry) / rate)
}
