//! Iterative refinement: solves in mixed precision with a residual in double precision.
//!
//! With r = b - A x in double precision, a correction e of A e = r is found in mixed precision to a
//! modest tolerance, and x + e is the next x (Wilkinson 1963; Higham, Accuracy and Stability of
//! Numerical Algorithms, chapter 12). Each round multiplies the residual by the tolerance of the
//! correction, as long as that is far above the error of [`Operator::mixed`], about 1e-6. Each round takes one
//! product in double precision, for the residual that it leaves; that of the start is computed in mixed precision, since
//! it decides nothing but the first correction.

use ndarray::{Array2, ArrayRef2, ShapeBuilder};

use crate::{Error, Operator, Problem, Reason, Report, Result};

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
        solve: impl FnMut(&mut Problem<'_>) -> Result<Report>,
    ) -> Result<Report> {
        let nothing = Array2::zeros((problem.operator().m(), 0).f());
        self.solve_beside(problem, &nothing, solve)
    }

    /// As [`solve`](Self::solve), for a solver that multiplies the columns `v`, m x k, with A by
    /// [`Problem::relative_residual_and`]: in mixed precision, one product serves them, all corrections and the residual of
    /// the start.
    pub fn solve_beside<'a>(
        self,
        problem: &mut Problem<'a>,
        v: &Array2<f64>,
        mut solve: impl FnMut(&mut Problem<'_>) -> Result<Report>,
    ) -> Result<Report> {
        match self {
            Precision::Double => solve(problem),
            Precision::Mixed => refine(problem, v, solve),
        }
    }
}

/// Smallest share of the residual that a correction aims at.
const CORRECTION: f64 = 5e-3;
/// Share of the tolerance that a correction aims at, so that the residual in double precision reaches it too.
const MARGIN: f64 = 0.9;
/// Share of the residual that a round may leave; if it leaves more, it is the last.
const STAGNATION: f64 = 0.5;

/// Data of a problem that is the correction of another.
#[derive(Debug)]
pub(crate) struct Correction {
    /// Residual to reach, relative to the larger problem's right-hand sides.
    pub(crate) tolerance: f64,
    /// Number of earlier corrections, and their iterations.
    pub(crate) round: u64,
    pub(crate) iterations: usize,
    /// Residual norms to be corrected, relative to the larger problem's right-hand sides, and absolute ones.
    pub(crate) norms: Vec<f64>,
    pub(crate) scales: Vec<f64>,
    /// A V for the columns that the solver has announced.
    pub(crate) product: Option<Array2<f64>>,
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

/// A residual between corrections.
struct Residual {
    /// Each column relative to the right-hand side's norm.
    r: Array2<f64>,
    /// Norms of the right-hand sides.
    scales: Vec<f64>,
    /// Norms of the columns of `r`.
    norms: Vec<f64>,
}

impl Residual {
    fn new((r, scales): (Array2<f64>, Vec<f64>)) -> Residual {
        let norms = r.columns().into_iter().map(|r| r.dot(&r).sqrt()).collect();
        Residual { r, scales, norms }
    }

    /// Whether there is nothing to correct.
    fn suffices(&self, problem: &Problem<'_>) -> bool {
        problem.converged(&self.norms) || problem.worst(&self.norms) == 0.0
    }

    /// The right-hand sides of a correction, with norms of 1, and their absolute norms.
    fn normalised(mut self) -> (Array2<f64>, Vec<f64>, Vec<f64>) {
        for ((mut r, scale), &norm) in self.r.columns_mut().into_iter().zip(&mut self.scales).zip(&self.norms)
        {
            if norm > 0.0 {
                r /= norm;
                *scale *= norm;
            }
        }
        (self.r, self.scales, self.norms)
    }
}

fn refine(
    problem: &mut Problem<'_>,
    v: &Array2<f64>,
    mut solve: impl FnMut(&mut Problem<'_>) -> Result<Report>,
) -> Result<Report> {
    let cold = problem.x().iter().all(|&x| x == 0.0);
    let (r, scales, product) = problem.residual_and(problem.operator().mixed(), v)?;
    let product = Some(product).filter(|product| !product.is_empty());
    let mut residual = Residual::new((r, scales));
    // A start that seems to be the solution is certified like every other iterate.
    if !cold && residual.suffices(problem) {
        residual = Residual::new(problem.relative_residual()?);
    }
    let (mut iterations, mut numbers, mut reason) = (0, Vec::new(), Reason::Converged);
    let mut before = f64::INFINITY;
    for round in 0.. {
        let worst = problem.worst(&residual.norms);
        let suffices = residual.suffices(problem);
        let last = |reason| Report {
            reason,
            iterations,
            residuals: residual.norms.clone(),
            numbers: numbers.clone(),
        };
        if suffices {
            return Ok(last(Reason::Converged));
        }
        if reason != Reason::Converged {
            return Ok(last(reason));
        }
        if !(worst <= STAGNATION * before) {
            return Ok(last(if worst.is_finite() { Reason::Stagnated } else { Reason::Diverged }));
        }
        // The norm of a start's residual in mixed precision is no measure of the next one.
        before = if round == 0 && !cold { f64::INFINITY } else { worst };
        let (r, scales, norms) = residual.normalised();
        let tolerance = (MARGIN * problem.tolerance()).max(CORRECTION * worst);
        let (base, product, corrected) = (problem.x().to_owned(), product.clone(), norms.clone());
        let correction = Correction { tolerance, round, iterations, norms, scales, product, base };
        let report = problem.correct(r.view(), correction, &mut solve)?;
        iterations += report.iterations;
        (reason, numbers) = (report.reason, report.numbers);
        residual = match problem.relative_residual() {
            // The budget has no product left: what the correction claims, if anything, is all that is known.
            Err(Error::Stopped) => {
                let residuals = report.residuals.iter().zip(&corrected).map(|(norm, of)| norm * of).collect();
                return Ok(Report { reason: Reason::Stopped, iterations, residuals, numbers });
            }
            computed => Residual::new(computed?),
        };
    }
    unreachable!("rounds do not run out")
}
