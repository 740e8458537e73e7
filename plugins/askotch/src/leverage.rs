//! Approximate ridge leverage scores.

use gpbench_sdk::ndarray::{Array2, Axis, ShapeBuilder};
use gpbench_sdk::{Operator, Result, Workers, exact, lapack};

/// Rows whose scores are computed together.
const ROWS: usize = 4096;

/// Rows in one task.
const WIDTH: usize = 256;

/// Least score, so that a row with a score of zero, or below by rounding, can be drawn.
const LEAST: f64 = 1e-12;

/// Scores of all n rows from a dictionary D of m of them: tau_i = (k_ii - k_iD (K_DD + s^2 I)^-1 k_Di) / s^2, above 0.
///
/// With all rows in D they are the ridge leverage scores, the diagonal of K (K + s^2 I)^-1, and fewer rows only raise
/// them. Counts m (m + n) entries. The noise variance s^2 is above 0.
///
/// # Errors
/// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite) if A is not on D; as a call of the operator.
pub fn leverage_scores(
    operator: Operator<'_>,
    dictionary: &[usize],
    noise_variance: f64,
    workers: Workers<'_>,
) -> Result<Vec<f64>> {
    let (n, m) = (operator.n(), dictionary.len());
    let mut factor = Array2::zeros((m, m).f());
    operator.block(dictionary, dictionary, &mut factor)?;
    exact::factorise(&mut factor, workers)?;
    // Before the subtraction: the variance of each row.
    let mut scores: Vec<f64> = operator.diagonal()?.iter().map(|entry| entry - noise_variance).collect();
    for start in (0..n).step_by(ROWS) {
        let end = n.min(start + ROWS);
        let mut columns = Array2::zeros((m, end - start).f());
        operator.block(dictionary, start..end, &mut columns)?;
        for (k, &row) in dictionary.iter().enumerate().filter(|(_, row)| (start..end).contains(row)) {
            columns[[k, row - start]] -= noise_variance;
        }
        let groups = columns.axis_chunks_iter_mut(Axis(1), WIDTH).zip(scores[start..end].chunks_mut(WIDTH));
        workers.for_each(groups, |(mut columns, scores)| {
            lapack::solve_lower(&factor, false, &mut columns).expect("a factor of m rows, and m rows");
            for (column, score) in columns.columns().into_iter().zip(scores) {
                *score = ((*score - column.dot(&column)) / noise_variance).max(LEAST);
            }
        });
    }
    Ok(scores)
}
