//! Iterative refinement: solves in mixed precision with a residual in double precision.
//!
//! With r = b - A x in double precision, a correction e of A e = r is found in mixed precision to a
//! modest tolerance, and x + e is the next x (Wilkinson 1963; Higham, Accuracy and Stability of
//! Numerical Algorithms, chapter 12). Each round multiplies the residual by the tolerance of the
//! correction, as long as that is far above the error of [`Operator::mixed`], about 1e-6. Each round takes one
//! product in double precision.

use ndarray::{Array2, ArrayRef2};

use crate::{Operator, Problem, Reason, Report, Result};

crate::choices! {
    /// The precision of products with A.
    pub enum Precision {
        /// Double.
        Double = "double",
        /// Tiles in single precision, sums over them in double; residuals in double.
        Mixed = "mixed",
    }
}

impl Precision {
    /// A in this precision.
    pub fn operator<'a>(self, problem: &Problem<'a>) -> Operator<'a> {
        match self {
            Precision::Double => problem.operator(),
            Precision::Mixed => problem.operator().mixed(),
        }
    }

    /// Calls `solve` with this precision. In mixed precision, `solve` gets corrections to solve until the residual in
    /// double precision reaches the tolerance.
    pub fn solve<'a>(
        self,
        problem: &mut Problem<'a>,
        mut solve: impl FnMut(&mut Problem<'_>) -> Result<Report>,
    ) -> Result<Report> {
        match self {
            Precision::Double => solve(problem),
            Precision::Mixed => refine(problem, solve),
        }
    }
}

/// Smallest tolerance of a correction.
const CORRECTION: f64 = 5e-3;
/// Share of the tolerance that a correction aims at, so that the residual in double precision reaches it too.
const MARGIN: f64 = 0.9;
/// Share of the residual that a round may leave; if it leaves more, it is the last.
const STAGNATION: f64 = 0.5;

/// Data of a problem that is the correction of another.
#[derive(Debug)]
pub(crate) struct Correction {
    /// Relative residual to reach.
    pub(crate) tolerance: f64,
    /// Number of earlier corrections, and their iterations.
    pub(crate) round: u64,
    pub(crate) iterations: usize,
    /// Residual norms to be corrected, relative to the larger problem's right-hand sides, and absolute ones.
    pub(crate) norms: Vec<f64>,
    pub(crate) scales: Vec<f64>,
    /// The larger problem's iterate before the correction.
    pub(crate) base: Array2<f64>,
}

impl Correction {
    /// Residual norms of the larger problem, from those of the correction.
    pub(crate) fn larger(&self, norms: &[f64]) -> Vec<f64> {
        norms.iter().zip(&self.norms).map(|(norm, of)| norm * of).collect()
    }

    /// The larger problem's iterate with the correction `e`, into `x`.
    pub(crate) fn add(&self, e: &ArrayRef2<f64>, x: &mut ArrayRef2<f64>) {
        x.assign(&self.base);
        for ((mut x, e), &scale) in x.columns_mut().into_iter().zip(e.columns()).zip(&self.scales) {
            x.scaled_add(scale, &e);
        }
    }
}

fn refine(
    problem: &mut Problem<'_>,
    mut solve: impl FnMut(&mut Problem<'_>) -> Result<Report>,
) -> Result<Report> {
    let (mut iterations, mut numbers) = (0, Vec::new());
    let mut before = f64::INFINITY;
    let mut reason = Reason::Converged;
    for round in 0.. {
        let (mut r, mut scales) = problem.relative_residual()?;
        let norms: Vec<f64> = r.columns().into_iter().map(|r| r.dot(&r).sqrt()).collect();
        let worst = problem.worst(&norms);
        let last =
            Report { reason, iterations, residuals: norms.clone(), numbers: std::mem::take(&mut numbers) };
        if problem.converged(&norms) || worst == 0.0 {
            return Ok(Report { reason: Reason::Converged, ..last });
        }
        if reason != Reason::Converged {
            return Ok(last);
        }
        if !(worst <= STAGNATION * before) {
            let reason = if worst.is_finite() { Reason::Stagnated } else { Reason::Diverged };
            return Ok(Report { reason, ..last });
        }
        before = worst;
        for ((mut r, scale), &norm) in r.columns_mut().into_iter().zip(&mut scales).zip(&norms) {
            if norm > 0.0 {
                r /= norm;
                *scale *= norm;
            }
        }
        let tolerance = (MARGIN * problem.tolerance() / worst).clamp(CORRECTION, 1.0);
        let base = problem.x().to_owned();
        let correction = Correction { tolerance, round, iterations, norms, scales, base };
        let report = problem.correct(r.view(), correction, &mut solve)?;
        iterations += report.iterations;
        (reason, numbers) = (report.reason, report.numbers);
    }
    unreachable!("rounds do not run out")
}
