//! The solver: draws batches, takes steps and observes the estimated residual.
//!
//! Lin, Padhy, Mlodozeniec, Antoran and Hernandez-Lobato 2024, Algorithm 3, with the two tolerances joined by
//! AND, and with the true residual as the first estimate of a warm start. The published algorithm starts
//! the estimate at b, and so would need many epochs to find that a start is close to the solution.

use gpbench_sdk::minibatch::Batches;
use gpbench_sdk::{Capabilities, Error, Facts, Problem, Reason, Report, Result, Solver};

use crate::{BLOCK, MomentumDescent, SgdParams, learning_rate};

/// Estimated relative residual that counts as divergence.
const DIVERGENCE: f64 = 1e10;

/// Observations an epoch.
const OBSERVATIONS: usize = 4;

/// Stochastic gradient descent with momentum.
#[derive(Debug)]
pub struct Sgd {
    params: SgdParams,
}

impl Solver for Sgd {
    type Params = SgdParams;
    const ID: &'static str = "sgd";
    const DOC: &'static str = "Stochastic gradient descent with momentum, on minibatches of rows";
    const SOURCE: &'static str = "J. A. Lin, S. Padhy, B. Mlodozeniec, J. Antorán, J. M. Hernández-Lobato. Improving \
        Linear System Solvers for Hyperparameter Optimisation in Iterative Gaussian Processes. NeurIPS 2024.";
    const FACTS: Facts = Facts {
        step: "b n entries for a batch of b rows, and a pass over 2 n s numbers",
        memory: "2 n s + b s + n",
        guarantees: "residuals are estimates, each row from its last batch",
        advice: "early stops; not for small residuals or at little noise",
    };
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);
    type Prepared = ();

    fn new(params: SgdParams) -> Result<Self> {
        Ok(Sgd { params })
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        // One estimate serves all corrections in mixed precision.
        let mut rate = self.params.learning_rate;
        precision.solve(problem, |problem| self.iterate(problem, &mut rate))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // Velocity, residual, the order of the rows; products with a batch; a block for the learning rate.
        let block = if self.params.learning_rate == 0.0 { n.min(BLOCK).pow(2) } else { 0 };
        8.0 * (n as f64 * (2 * s + 1) as f64 + (self.params.batch_size.min(n) * s + block) as f64)
    }
}

impl Sgd {
    /// Solves the problem, or a correction of one, in the precision of its operator. A learning rate of 0 is
    /// estimated, unless there is nothing to do.
    fn iterate(&self, problem: &mut Problem<'_>, rate: &mut f64) -> Result<Report> {
        let SgdParams { batch_size, momentum, max_iterations, .. } = self.params;
        let mut batches = Batches::new(problem.operator().n(), batch_size, problem.seed());
        let mut descent = MomentumDescent::start(problem, batches.size(), *rate, momentum)?;
        let norms = descent.residual_norms();
        if *rate == 0.0 && !problem.converged(&norms) && problem.worst(&norms) > 0.0 {
            *rate = learning_rate(problem, batches.size(), momentum)?;
            descent.set_learning_rate(*rate);
        }
        let (reason, steps) = run(problem, &mut descent, &mut batches, max_iterations)?;
        let report = Report::new(reason, steps).residuals(descent.residual_norms());
        Ok(report.number("learning_rate", *rate))
    }
}

/// Takes steps until there is a reason to end.
fn run(
    problem: &mut Problem<'_>,
    descent: &mut MomentumDescent,
    batches: &mut Batches,
    max_iterations: usize,
) -> Result<(Reason, usize)> {
    let period = (problem.operator().n() / batches.size().max(1) / OBSERVATIONS).max(1);
    let mut steps = 0;
    loop {
        if steps % period == 0 || problem.converged(&descent.residual_norms()) {
            descent.sum_up();
            let norms = descent.residual_norms();
            problem.observe(steps, &norms)?;
            if problem.converged(&norms) || problem.worst(&norms) == 0.0 {
                return Ok((Reason::Converged, steps));
            }
        }
        let worst = problem.worst(&descent.residual_norms());
        if worst.is_nan() || worst > DIVERGENCE {
            return Ok((Reason::Diverged, steps));
        }
        if max_iterations > 0 && steps >= max_iterations {
            return Ok((Reason::Iterations, steps));
        }
        match descent.step(problem, batches.draw()) {
            // Reported here: more steps have been taken than were observed.
            Err(Error::Stopped) => return Ok((Reason::Stopped, steps)),
            other => other?,
        }
        steps += 1;
    }
}
