//! Estimates of the gradient of the log marginal likelihood; [`crate::exact::ExactGp::gradient`] is the exact one.
//!
//! | estimator | right-hand sides other than y | estimate of the trace |
//! |---|---|---|
//! | [`standard`] | z with E z z^T = I | `(H^-1 z)^T dH z`, mean over z (Hutchinson 1990; Lin et al. 2024, equation 6) |
//! | [`pathwise`] | xi = f(X) + noise ~ N(0, H) | `(H^-1 xi)^T dH (H^-1 xi)`, mean over xi (Lin et al. 2024, equation 9) |
//!
//! [`cglb`](crate::cglb) has no probes: its gradient is that of a lower bound.
//!
//! With one approximate v, `v^T dH v` has a bias from the squared error of v. From two independent solutions of y
//! by an unbiased randomised solver, `v^T dH v'` is unbiased (Potapczynski et al. 2021).
//!
//! Kernel entries in single precision change the gradient far less than solutions with a residual of 0.01 do.

use gpbench_numerics::layout::column_major;
use ndarray::{ArrayView1, ArrayView2, s};

use crate::{Arithmetic, Gradient, SystemMatrix};

/// The gradient from `solution` (n x (1 + s), the solutions for y and the probes) and the probes, the columns of
/// `rhs` (n x (1 + s)) after the first. `again` is a second, independent solution for y, if there is one. Uses n^2
/// entries in this precision.
///
/// # Panics
/// Without probes.
pub fn standard(
    op: &dyn SystemMatrix,
    rhs: ArrayView2<f64>,
    solution: ArrayView2<f64>,
    again: Option<ArrayView1<f64>>,
    precision: Arithmetic,
) -> Gradient {
    estimate(op, solution, rhs, again, precision)
}

/// The gradient from `solution` (n x (1 + s), the solutions for y and pathwise targets); `again` as for [`standard`].
/// Uses n^2 entries in this precision.
///
/// # Panics
/// Without targets.
pub fn pathwise(
    op: &dyn SystemMatrix,
    solution: ArrayView2<f64>,
    again: Option<ArrayView1<f64>>,
    precision: Arithmetic,
) -> Gradient {
    estimate(op, solution, solution, again, precision)
}

/// `(v^T dH v' - mean_j a_j^T dH b_j) / 2`, with v the first column of `solution`, v' `again` or v, and
/// a_j and b_j the further columns of `solution` and of `other`.
fn estimate(
    op: &dyn SystemMatrix,
    solution: ArrayView2<f64>,
    other: ArrayView2<f64>,
    again: Option<ArrayView1<f64>>,
    precision: Arithmetic,
) -> Gradient {
    assert_eq!(solution.dim(), other.dim(), "a solution for each right-hand side");
    assert_eq!(solution.nrows(), op.n(), "one weight per row");
    let probes = solution.ncols().saturating_sub(1);
    assert!(probes > 0, "the trace is estimated from at least one probe");
    let (mut u, mut w) = (column_major(&solution), column_major(&other));
    u.column_mut(0).mapv_inplace(|value| 0.5 * value);
    u.slice_mut(s![.., 1..]).mapv_inplace(|value| -0.5 * value / probes as f64);
    w.column_mut(0).assign(&again.unwrap_or(solution.column(0)));
    op.gradient(u.view(), w.view(), precision)
}
