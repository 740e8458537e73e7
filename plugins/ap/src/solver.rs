//! Alternating projections with several right-hand sides.
//!
//! Lin, Padhy, Mlodozeniec, Antoran and Hernandez-Lobato 2024, Algorithm 2, with two corrections that
//! the authors' own code has too: the block to solve on is the one with the largest squared residual
//! norm summed over the right-hand sides, and the loop ends when the targets AND the probes have
//! reached the tolerance.

use gpbench_sdk::projection::{Blocks, Residual};
use gpbench_sdk::{Capabilities, Error, Facts, Problem, Reason, Report, Result, Solver, Watch};

use crate::ApParams;

/// Epochs without a new best residual that count as stagnation.
const PATIENCE: usize = 1000;

/// Least number of observations an epoch.
const OBSERVATIONS: usize = 4;

/// Alternating projections.
#[derive(Debug)]
pub struct Ap {
    params: ApParams,
}

impl Solver for Ap {
    type Params = ApParams;
    const ID: &'static str = "ap";
    const DOC: &'static str = "Alternating projections: exact solves on the block with the largest residual";
    const SOURCE: &'static str = "J. A. Lin, S. Padhy, B. Mlodozeniec, J. Antorán, J. M. Hernández-Lobato. Improving \
        Linear System Solvers for Hyperparameter Optimisation in Iterative Gaussian Processes. NeurIPS 2024.";
    const FACTS: Facts = Facts {
        step: "n b entries, 2 (n + b) b s operations for blocks of b rows; setup n b entries, n b^2 / 3 \
            operations",
        memory: "n (b + 2 s)",
        guarantees: "the error falls at every step in the norm of A; residuals by a recurrence",
        advice: "early stops, little noise and warm starts; low tolerances take many epochs",
    };
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);
    type Prepared = Blocks;

    fn new(params: ApParams) -> Result<Self> {
        Ok(Ap { params })
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<Blocks> {
        let ApParams { block_size, partition, .. } = self.params;
        Blocks::factorise(problem.operator(), block_size, partition, problem.seed(), problem.workers())
    }

    fn solve(&self, blocks: &mut Blocks, problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        precision.solve(problem, |problem| self.iterate(blocks, problem))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        let block_size = self.params.block_size.min(n);
        // The factors; the residual; a correction and the change of the residual that it makes.
        8.0 * (n as f64 * (block_size + 2 * s) as f64 + (block_size * s) as f64)
    }
}

impl Ap {
    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&self, blocks: &Blocks, problem: &mut Problem<'_>) -> Result<Report> {
        let residual = Residual::of(problem, blocks)?;
        let mut projections = Projections { blocks, count: 0, residual };
        let reason = match projections.run(problem, self.params.max_iterations) {
            // Stopped between two observations: report the norms of the current iterate.
            Err(Error::Stopped) => Reason::Stopped,
            other => other?,
        };
        let report = Report::new(reason, projections.count).residuals(projections.residual.norms());
        Ok(report.number("blocks", blocks.len() as f64))
    }
}

/// State between two projections. The iterate is the problem's `x`.
struct Projections<'b> {
    blocks: &'b Blocks,
    /// Projections done.
    count: usize,
    residual: Residual,
}

impl Projections<'_> {
    /// Projects until there is a reason to end.
    fn run(&mut self, problem: &mut Problem<'_>, max_iterations: usize) -> Result<Reason> {
        let epoch = self.blocks.len();
        let period = (epoch / OBSERVATIONS).max(1);
        let mut watch = Watch::new(PATIENCE * epoch, max_iterations);
        loop {
            let norms = self.residual.norms();
            let ending = watch.judge(problem, self.count, &norms);
            if ending.is_some() || self.count.is_multiple_of(period) {
                problem.observe(self.count, &norms)?;
            }
            if let Some(reason) = ending {
                return Ok(reason);
            }
            if self.residual.project(problem, self.blocks)?.is_none() {
                return Ok(Reason::Diverged);
            }
            self.count += 1;
        }
    }
}
