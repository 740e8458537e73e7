//! The solver: draws the number of iterations and adds up their terms.
//!
//! Potapczynski, Wu, Biderman, Pleiss and Cunningham 2021, section 4.1: the terms of conjugate gradients up to
//! a random J, each divided by the probability that the sum gets so far, have the solution as their mean.

use gpbench_sdk::precondition::Preconditioner;
use gpbench_sdk::{Capabilities, Error, Facts, Problem, Reason, Report, Result, Solver};

use crate::{Iteration, Roulette, RrCgParams};

/// Conjugate gradients, truncated at random.
#[derive(Debug)]
pub struct RrCg {
    params: RrCgParams,
}

/// The preconditioner of a problem, and the number of its solves.
#[derive(Debug)]
pub struct TruncatedSolves {
    /// The preconditioner, if one is chosen.
    preconditioner: Option<Preconditioner>,
    /// Solves done: each draws its own J.
    solves: u64,
}

impl Solver for RrCg {
    type Params = RrCgParams;
    const ID: &'static str = "rr-cg";
    const DOC: &'static str = "Conjugate gradients truncated at random, unbiased but not converged";
    const SOURCE: &'static str = "A. Potapczynski, L. Wu, D. Biderman, G. Pleiss, J. P. Cunningham. Bias-Free \
        Scalable Gaussian Processes via Randomized Truncations. ICML 2021.";
    const FACTS: Facts = Facts {
        step: "n^2 entries; the number of steps is random",
        memory: "3 n s; with reorthogonalise n s more for each step",
        guarantees: "unbiased over its random number of steps; no residual is known or claimed",
        advice: "errors that average out over many solves; not where a single answer has to be accurate",
    };
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);
    type Prepared = TruncatedSolves;

    fn new(params: RrCgParams) -> Result<Self> {
        Ok(RrCg { params })
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<TruncatedSolves> {
        let RrCgParams { preconditioner, rank, remainder, .. } = self.params;
        Ok(TruncatedSolves { preconditioner: preconditioner.build(problem, rank, remainder)?, solves: 0 })
    }

    fn solve(&self, prepared: &mut TruncatedSolves, problem: &mut Problem<'_>) -> Result<Report> {
        let TruncatedSolves { preconditioner, solves } = prepared;
        let RrCgParams { lambda, min_iterations, reorthogonalise, .. } = self.params;
        let roulette = Roulette::new(lambda, min_iterations, problem.operator().n());
        let truncation = roulette.draw(problem.seed(), *solves);
        *solves += 1;
        let mut iteration = Iteration::start(problem, preconditioner.as_ref(), reorthogonalise)?;
        let reason = match run(problem, &mut iteration, &roulette, truncation) {
            // Reported here, so that the report shows the drawn truncation beside the number of iterations.
            Err(Error::Stopped) => Reason::Stopped,
            other => other?,
        };
        let mut report = Report::new(reason, iteration.count())
            .number("truncation", truncation as f64)
            .number("expected_truncation", roulette.expected());
        if let Some(preconditioner) = preconditioner {
            report = report.number("preconditioner_rank", preconditioner.rank() as f64);
        }
        Ok(report)
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        let RrCgParams { lambda, min_iterations, reorthogonalise, .. } = self.params;
        // Residual, direction, product, preconditioned residual; earlier residuals, plain and
        // preconditioned, as many as there are on average.
        let stored =
            if reorthogonalise { 2.0 * Roulette::new(lambda, min_iterations, n).expected() } else { 0.0 };
        8.0 * n as f64 * s as f64 * (4.0 + stored) + self.params.preconditioner.estimate(n, self.params.rank)
    }
}

/// Adds terms up to the drawn number, or until there is a reason to end. No residual is claimed or observed: the
/// recurrence has the residual of the truncated iterate, and x is another vector.
fn run(
    problem: &mut Problem<'_>,
    iteration: &mut Iteration<'_>,
    roulette: &Roulette,
    truncation: usize,
) -> Result<Reason> {
    let solved = !iteration.goes_on() && iteration.is_sound();
    loop {
        problem.observe(iteration.count(), &[])?;
        if solved {
            return Ok(Reason::Converged);
        }
        // Without an active column, all further terms are zero or undefined.
        if iteration.count() == truncation || !iteration.goes_on() {
            return Ok(if iteration.is_sound() { Reason::Iterations } else { Reason::Stagnated });
        }
        iteration.step(problem, 1.0 / roulette.survival(iteration.count() + 1))?;
    }
}
