//! Block conjugate gradients with a Cholesky factor as the preconditioner, which serves several outer steps.
//!
//! See O'Leary 1980 and [`Space`] for the method. The factor is that of A at this step or, in training, at an earlier
//! one. It stays in memory between steps; where it is missing, because the process is a new one, it is made again from
//! the hyperparameters that it belongs to, so that the bits agree.

use gpbench_sdk::krylov::Space;
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::{Capabilities, Error, Precision, Problem, Reason, Report, Result, Solver, Watch};

use crate::CholeskyMixedParams;
use crate::factor::Factor;
use crate::ledger::{Costs, Ledger};
use crate::note::{self, Note};

/// Least number of iterations without a new best residual that counts as stagnation; n if that is more.
const PATIENCE: usize = 1000;

/// Share of the residual that may lie outside of the space before the space is built again.
const MISSING: f64 = 0.1;

/// Block conjugate gradients preconditioned by a Cholesky factor in single precision.
#[derive(Debug)]
pub struct CholeskyMixed {
    params: CholeskyMixedParams,
    /// Made or found by `prepare`.
    factor: Option<Factor>,
    /// What the factor has been used for before this solve.
    ledger: Ledger,
    /// Factorisations for this solve.
    factorisations: usize,
    /// Iterations of this solve with its factor, over all corrections.
    with_factor: usize,
}

impl Solver for CholeskyMixed {
    type Params = CholeskyMixedParams;
    const ID: &'static str = "cholesky-mixed";
    const DOC: &'static str = "Conjugate gradients preconditioned by a Cholesky factor in single precision";
    const SOURCE: &'static str = "D. P. O'Leary. The block conjugate gradient algorithm and related methods. Linear \
        Algebra and its Applications 29, 1980.";
    const CAPABILITIES: Capabilities = Capabilities::WARM_START.and(Capabilities::DENSE);

    fn new(params: CholeskyMixedParams) -> Result<Self> {
        let (factor, ledger) = (None, Ledger::default());
        Ok(CholeskyMixed { params, factor, ledger, factorisations: 0, with_factor: 0 })
    }

    fn prepare(&mut self, problem: &Problem<'_>) -> Result<()> {
        problem.operator().require_square()?;
        (self.factor, self.factorisations, self.with_factor) = (None, 0, 0);
        let kept = note::take(problem)?;
        let Some(Note { of, shift, ledger }) = Note::load(problem)?.filter(|note| !self.is_due(&note.ledger))
        else {
            // Freed first: two factors may not fit into memory.
            drop(kept);
            return self.factorise(problem);
        };
        let kept = kept.filter(|factor| (&factor.of, factor.shift) == (&of, shift));
        self.factor = match kept {
            Some(factor) => Some(factor),
            // Its entries have been counted in the step that it was made in.
            None => Some(Factor::under(of, shift, &problem.operator().inputs()?, problem.workers())?),
        };
        self.ledger = ledger;
        Ok(())
    }

    fn solve(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        let outcome = precision.solve(problem, |problem| self.iterate(problem));
        let age = self.ledger.solves;
        let shift = self.factor.as_ref().map_or(0.0, |factor| factor.shift);
        self.leave(problem)?;
        let report = outcome?.number("factorisations", self.factorisations as f64);
        Ok(report.number("factor_age", age).number("shift", shift))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // Residual, its basis and that preconditioned, directions and their product, three of them twice while the
        // block is orthonormalised, and blocks in single precision.
        Factor::bytes(n) as f64 + 8.0 * 9.0 * n as f64 * s as f64
    }
}

impl CholeskyMixed {
    /// Whether the next solve is to have a new factor.
    fn is_due(&self, ledger: &Ledger) -> bool {
        match self.params.steps_per_factor {
            0 => ledger.is_due(),
            steps => ledger.solves >= steps as f64,
        }
    }

    /// Whether an old factor has cost as much in this solve as a new one would.
    fn is_outdated(&self, costs: Costs) -> bool {
        let by_cost = self.params.steps_per_factor == 0;
        by_cost && self.ledger.solves > 0.0 && self.with_factor as f64 * costs.iteration > costs.factorisation
    }

    /// Counts operations for a problem.
    fn costs(&self, problem: &Problem<'_>) -> Result<Costs> {
        let (n, s) = problem.rhs().dim();
        let d = problem.operator().inputs()?.x.ncols();
        Ok(Costs::new((n, d, s), self.params.precision == Precision::Double))
    }

    /// Makes the factor of this problem's A.
    fn factorise(&mut self, problem: &Problem<'_>) -> Result<()> {
        self.factor = None;
        self.factor = Some(Factor::new(problem)?);
        self.ledger = Ledger::new(self.costs(problem)?.factorisation);
        self.factorisations += 1;
        self.with_factor = 0;
        Ok(())
    }

    /// Leaves the factor, and a note of it, for the next outer step.
    fn leave(&mut self, problem: &Problem<'_>) -> Result<()> {
        let Some(factor) = self.factor.take() else { return Ok(()) };
        self.ledger.book(self.with_factor as f64 * self.costs(problem)?.iteration);
        let note = Note { of: factor.of.clone(), shift: factor.shift, ledger: self.ledger };
        note.save(problem)?;
        note::keep(problem, factor)
    }

    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
        let costs = self.costs(problem)?;
        let mut iteration = Iteration::start(problem)?;
        let mut watch = Watch::new(PATIENCE.max(problem.rhs().nrows()), self.params.max_iterations);
        let reason = loop {
            problem.observe(iteration.count, &iteration.norms)?;
            if let Some(reason) = watch.judge(problem, iteration.count, &iteration.norms) {
                break reason;
            }
            if self.is_outdated(costs) {
                iteration.space = None;
                self.factorise(problem)?;
            }
            let factor =
                self.factor.as_ref().ok_or_else(|| Error::new("`solve` was called before `prepare`"))?;
            if !iteration.step(problem, factor)? {
                break Reason::Stagnated;
            }
            self.with_factor += 1;
        };
        let report = Report::new(reason, iteration.count).residuals(iteration.norms);
        let report = report.number("restarts", iteration.starts.saturating_sub(1) as f64);
        Ok(report.number("block_width", iteration.width as f64))
    }
}

/// State between two iterations. The iterate is the problem's `x`.
struct Iteration {
    /// Iterations done.
    count: usize,
    /// Number of times that the space was built from the residual.
    starts: usize,
    /// Columns of the space in the last iteration.
    width: usize,
    /// Norms of the right-hand sides.
    scales: Vec<f64>,
    /// Residual, relative to the right-hand side's norm; n x s.
    r: Array2<f64>,
    /// Norms of the residual.
    norms: Vec<f64>,
    /// The space of the last iteration; none where it is to be built from the residual.
    space: Option<Space>,
}

impl Iteration {
    /// Computes the residual of the iterate in `x`: one product with A, unless the iterate is zero.
    fn start(problem: &mut Problem<'_>) -> Result<Iteration> {
        let (r, scales) = problem.relative_residual()?;
        let norms = r.columns().into_iter().map(|column| column.dot(&column).sqrt()).collect();
        Ok(Iteration { count: 0, starts: 0, width: 0, scales, r, norms, space: None })
    }

    /// One iteration. False, without a change, if there is no step: the residual is zero in the factor's norm, or A
    /// is not positive definite.
    fn step(&mut self, problem: &mut Problem<'_>, factor: &Factor) -> Result<bool> {
        let workers = problem.workers();
        let advanced = match self.space.take() {
            Some(space) => space.update_directions(&self.r, Some(factor), workers)?,
            None => None,
        };
        let continued = advanced.filter(|(_, lost)| {
            let lost: Vec<f64> = lost.iter().map(|lost| lost.sqrt()).collect();
            problem.worst(&lost) <= MISSING * problem.worst(&self.norms)
        });
        let fresh = continued.is_none();
        let space = match continued {
            Some((space, _)) => Some(space),
            None => Space::start(&self.r, Some(factor), workers)?,
        };
        self.starts += usize::from(fresh);
        let Some(mut space) = space else { return Ok(false) };
        let step = match space.step(problem) {
            // Rounding errors may be the cause: try again with new directions.
            Err(Error::NotPositiveDefinite { .. }) if !fresh => return self.step(problem, factor),
            Err(Error::NotPositiveDefinite { .. }) => return Ok(false),
            step => step?,
        };
        let squares = space.advance(&step, &mut problem.x_mut(), &self.scales, &mut self.r, workers);
        self.norms = squares.into_iter().map(f64::sqrt).collect();
        self.width = space.width();
        self.count += 1;
        self.space = Some(space);
        Ok(true)
    }
}
