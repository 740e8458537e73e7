//! A = L L^T once, then two triangular solves for all right-hand sides together.

use gpbench_sdk::ndarray::{Array2, s};
use gpbench_sdk::{Capabilities, Facts, NoParams, Problem, Reason, Report, Result, Solver, exact};

/// Columns of A in one call: enough for all threads of the host, and few enough to stop soon.
const STRIPE: usize = 256;

/// Exact solves by a Cholesky factor in panels.
#[derive(Debug)]
pub struct Cholesky;

impl Solver for Cholesky {
    type Params = NoParams;
    const ID: &'static str = "cholesky";
    const DOC: &'static str = "Exact solution by a dense Cholesky factorisation (LAPACK)";
    const FACTS: Facts = Facts {
        step: "no steps: n^2 / 2 entries and n^3 / 3 operations for the factor, then 2 n^2 s",
        memory: "n^2",
        guarantees: "exact to working precision, whatever the tolerance",
        advice: "the reference, where n^2 numbers fit into memory and n^3 operations into the time",
    };
    const CAPABILITIES: Capabilities = Capabilities::EXACT.and(Capabilities::DENSE);
    /// L in the lower triangle.
    type Prepared = Array2<f64>;

    fn new(_params: NoParams) -> Result<Self> {
        Ok(Cholesky)
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<Array2<f64>> {
        let mut factor = lower_triangle(problem)?;
        exact::factorise(&mut factor, problem.workers())?;
        Ok(factor)
    }

    fn solve(&self, factor: &mut Array2<f64>, problem: &mut Problem<'_>) -> Result<Report> {
        let (rhs, workers) = (problem.rhs(), problem.workers());
        let mut x = problem.x_mut();
        x.assign(&rhs);
        exact::solve(factor, &mut x, workers);
        Ok(Report::new(Reason::Converged, 1))
    }

    fn estimate(&self, n: usize, _d: usize, _s: usize) -> f64 {
        // The matrix, and the stripe of it that the host is filling.
        8.0 * n as f64 * (n + STRIPE.min(n)) as f64
    }
}

/// A's lower triangle, in stripes of columns; above the stripes' diagonal blocks it is zero.
fn lower_triangle(problem: &Problem<'_>) -> Result<Array2<f64>> {
    let operator = problem.operator();
    let n = operator.n();
    operator.require_square()?;
    let mut a = exact::square(n)?;
    for start in (0..n).step_by(STRIPE) {
        let end = (start + STRIPE).min(n);
        operator.block(start..n, start..end, &mut a.slice_mut(s![start.., start..end]))?;
    }
    Ok(a)
}
