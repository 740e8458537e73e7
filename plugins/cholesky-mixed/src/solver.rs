//! Block conjugate gradients with a Cholesky factor as the preconditioner, which serves several outer steps.
//!
//! See [`BlockIteration`] for the method. The factor is that of A at this step or, in training, at an earlier
//! one. It stays in memory between steps; where it is missing, because the process is a new one, it is made again from
//! the hyperparameters that it belongs to, so that the bits agree.

use gpbench_sdk::krylov::BlockIteration;
use gpbench_sdk::{Capabilities, Facts, Precision, Problem, Reason, Report, Result, Solver};

use crate::CholeskyMixedParams;
use crate::factor::Factor;
use crate::ledger::{Costs, Ledger};
use crate::note::{self, Note};

/// Block conjugate gradients preconditioned by a Cholesky factor in single precision.
#[derive(Debug)]
pub struct CholeskyMixed {
    params: CholeskyMixedParams,
}

/// The factor for a problem, and its use so far.
#[derive(Debug, Default)]
pub struct Prepared {
    /// The factor; none after a solve, which leaves it to the next outer step.
    factor: Option<Factor>,
    /// Use of the factor before this solve.
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
    const FACTS: Facts = Facts {
        step: "n^2 entries, 2 n^2 s operations, in one or two steps; a factor, n^3 / 3 operations in single \
            precision, serves several steps of training",
        memory: "n^2 / 4 + 9 n s",
        guarantees: "residuals by a recurrence; no random numbers",
        advice: "training where n^2 / 4 numbers fit into memory, at any noise; not for tens of thousands of \
            rows at much noise",
    };
    const CAPABILITIES: Capabilities = Capabilities::WARM_START.and(Capabilities::DENSE);
    type Prepared = Prepared;

    fn new(params: CholeskyMixedParams) -> Result<Self> {
        Ok(CholeskyMixed { params })
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<Prepared> {
        problem.operator().require_square()?;
        let mut prepared = Prepared::default();
        let kept = note::take(problem)?;
        let Some(Note { of, shift, ledger }) = Note::load(problem)?.filter(|note| !self.is_due(&note.ledger))
        else {
            // Freed first: two factors may not fit into memory.
            drop(kept);
            prepared.factor = Some(self.factorise(&mut prepared, problem)?);
            return Ok(prepared);
        };
        let kept = kept.filter(|factor| (&factor.of, factor.shift) == (&of, shift));
        prepared.factor = match kept {
            Some(factor) => Some(factor),
            // Its entries have been counted in the step that it was made in.
            None => Some(Factor::under(of, shift, &problem.operator().inputs()?, problem.workers())?),
        };
        prepared.ledger = ledger;
        Ok(prepared)
    }

    fn solve(&self, prepared: &mut Prepared, problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        let outcome = precision.solve(problem, |problem| self.iterate(prepared, problem));
        let used = std::mem::take(prepared);
        let (age, factorisations) = (used.ledger.solves, used.factorisations as f64);
        let shift = used.factor.as_ref().map_or(0.0, |factor| factor.shift);
        self.leave(used, problem)?;
        let report = outcome?.number("factorisations", factorisations);
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
    fn is_outdated(&self, prepared: &Prepared, costs: Costs) -> bool {
        let by_cost = self.params.steps_per_factor == 0 && prepared.ledger.solves > 0.0;
        by_cost && prepared.with_factor as f64 * costs.iteration > costs.factorisation
    }

    /// Counts operations for a problem.
    fn costs(&self, problem: &Problem<'_>) -> Result<Costs> {
        let (n, s) = problem.rhs().dim();
        let d = problem.operator().inputs()?.x.ncols();
        Ok(Costs::new((n, d, s), self.params.precision == Precision::Double))
    }

    /// Makes the factor of this problem's A, and begins its ledger.
    fn factorise(&self, prepared: &mut Prepared, problem: &Problem<'_>) -> Result<Factor> {
        let factor = Factor::new(problem)?;
        prepared.ledger = Ledger::new(self.costs(problem)?.factorisation);
        prepared.factorisations += 1;
        prepared.with_factor = 0;
        Ok(factor)
    }

    /// Leaves the factor, and a note of it, for the next outer step.
    fn leave(&self, used: Prepared, problem: &Problem<'_>) -> Result<()> {
        let Prepared { factor: Some(factor), mut ledger, with_factor, .. } = used else { return Ok(()) };
        ledger.book(with_factor as f64 * self.costs(problem)?.iteration);
        let note = Note { of: factor.of.clone(), shift: factor.shift, ledger };
        note.save(problem)?;
        note::keep(problem, factor)
    }

    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&self, prepared: &mut Prepared, problem: &mut Problem<'_>) -> Result<Report> {
        let costs = self.costs(problem)?;
        let mut block = BlockIteration::start(problem)?;
        let mut watch = BlockIteration::watch(problem, self.params.max_iterations);
        let reason = loop {
            if let Some(reason) = block.judge(problem, &mut watch)? {
                break reason;
            }
            let outdated = self.is_outdated(prepared, costs);
            let factor = match prepared.factor.take() {
                Some(factor) if !outdated => factor,
                old => {
                    // Freed first: two factors may not fit into memory.
                    drop(old);
                    block.restart();
                    self.factorise(prepared, problem)?
                }
            };
            if !block.step(problem, Some(prepared.factor.insert(factor)))? {
                break Reason::Stagnated;
            }
            prepared.with_factor += 1;
        };
        Ok(block.report(reason))
    }
}
