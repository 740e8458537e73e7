//! A learning rate with which steps do not diverge, from an estimate of A's largest eigenvalue.
//!
//! On average over batches, a step is one of gradient descent with momentum on all n rows. It is stable while
//!
//! ```text
//! rate lambda < 2 (1 + momentum) n,
//! ```
//!
//! with the largest eigenvalue lambda of A. The batches' noise adds to the squared residual what a step without
//! momentum at the rate `rate / (1 - momentum)` adds, which is less than the step removes while
//!
//! ```text
//! rate a (1 - b / n) < 2 b (1 - momentum),
//! ```
//!
//! with b rows in a batch and the mean a of A's diagonal. Both limits hold at once where the inverse of the rate is
//! the sum of their inverses; half of that is taken, since lambda is estimated and both limits are approximate.

use gpbench_sdk::minibatch::Batches;
use gpbench_sdk::ndarray::{Array1, Array2, ShapeBuilder};
use gpbench_sdk::{Error, Problem, Result};

/// Most rows of the block from which the largest eigenvalue is estimated.
pub const BLOCK: usize = 512;

/// Rounds of the power iteration.
const ROUNDS: usize = 12;

/// The stream of the block's rows among those of groups of rows; the first one is that of the batches.
const STREAM: u64 = 1;

/// The learning rate for batches of `batch_size` rows. Uses the entries of a block of at most [`BLOCK`] rows, which
/// count as all others.
pub fn learning_rate(problem: &Problem<'_>, batch_size: usize, momentum: f64) -> Result<f64> {
    let operator = problem.operator();
    let n = operator.n() as f64;
    let largest = largest_eigenvalue(problem)?;
    let mean = operator.diagonal()?.sum() / n;
    let batch = batch_size as f64;
    let of_descent = largest / (2.0 * (1.0 + momentum) * n);
    let of_noise = mean * (1.0 - batch / n).max(0.0) / (2.0 * batch * (1.0 - momentum));
    let rate = 0.5 / (of_descent + of_noise);
    if rate.is_finite() { Ok(rate) } else { Err(Error::new("the kernel matrix is not finite")) }
}

/// Estimate of A's largest eigenvalue: n / m times that of A on m random rows, found by a power iteration from a
/// vector of ones, which is close to the leading eigenvector of a kernel matrix.
fn largest_eigenvalue(problem: &Problem<'_>) -> Result<f64> {
    let operator = problem.operator();
    let n = operator.n();
    let mut rows = Batches::of_stream(n, BLOCK, problem.seed(), STREAM).draw().to_vec();
    rows.sort_unstable();
    let m = rows.len();
    let mut block = Array2::zeros((m, m).f());
    operator.block(&rows[..], &rows[..], &mut block)?;
    let (mut vector, mut eigenvalue) = (Array1::<f64>::from_elem(m, 1.0), 0.0);
    for _ in 0..ROUNDS {
        let norm = vector.dot(&vector).sqrt();
        vector /= norm;
        vector = block.dot(&vector);
        eigenvalue = vector.dot(&vector).sqrt();
    }
    Ok(eigenvalue * n as f64 / m as f64)
}
