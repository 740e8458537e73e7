//! Accelerated block coordinate descent with several right-hand sides.
//!
//! Exact solves on blocks with cached Cholesky factors, and momentum that sets its own parameters, as in
//! CD++ (Derezinski, Needell, Rebrova and Yang 2025, arXiv 2501.11673) and ADASAP (Rathore et al. 2025,
//! arXiv 2505.13723); but blocks are chosen greedily, as alternating projections do, and the momentum's
//! parameters are computed rather than estimated.

use gpbench_sdk::projection::{Blocks, Residual};
use gpbench_sdk::{Capabilities, Error, Facts, Problem, Reason, Report, Result, Solver, Watch};

use crate::ApAcceleratedParams;
use crate::momentum::Momentum;

/// Epochs without a new best residual that count as stagnation.
const PATIENCE: usize = 1000;

/// Least number of observations an epoch.
const OBSERVATIONS: usize = 4;

/// Times an epoch that momentum is added: a compromise, since with fewer moves an epoch the stored ones cover more
/// epochs.
const ACCELERATIONS: usize = 3;

/// Accelerated block coordinate descent.
#[derive(Debug)]
pub struct ApAccelerated {
    params: ApAcceleratedParams,
}

impl Solver for ApAccelerated {
    type Params = ApAcceleratedParams;
    const ID: &'static str = "ap-accelerated";
    const DOC: &'static str =
        "Accelerated block coordinate descent: alternating projections with exact momentum";
    const SOURCE: &'static str = "M. Dereziński, D. Needell, E. Rebrova, J. Yang. Randomized Kaczmarz Methods with \
        Beyond-Krylov Convergence. arXiv 2501.11673, 2025.";
    const FACTS: Facts = Facts {
        step: "n b entries, 2 (n + b) b s operations for blocks of b rows; 12 n s k three times an epoch, \
            with k earlier moves",
        memory: "n (b + 4 s + 2 s k)",
        guarantees: "the error falls at every step in the norm of A; residuals by a recurrence",
        advice: "as ap, and for lower tolerances; not with many right-hand sides and little memory",
    };
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);
    type Prepared = Blocks;

    fn new(params: ApAcceleratedParams) -> Result<Self> {
        Ok(ApAccelerated { params })
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<Blocks> {
        let ApAcceleratedParams { block_size, partition, .. } = self.params;
        let (operator, seed, workers) = (problem.operator(), problem.seed(), problem.workers());
        Blocks::factorise(operator, block_size, partition, seed, workers)
    }

    fn solve(&self, blocks: &mut Blocks, problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        precision.solve(problem, |problem| self.iterate(blocks, problem))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        let block_size = self.params.block_size.min(n);
        // Matrices of n x s: the residual, its change, and for the momentum the moves and their products with A,
        // one more pair than are remembered.
        let columns = match self.params.memory {
            0 => 2,
            memory => 2 + 2 * (memory + 1),
        };
        // The factors, those matrices, and a correction.
        8.0 * (n as f64 * (block_size + columns * s) as f64 + (block_size * s) as f64)
    }
}

impl ApAccelerated {
    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&self, blocks: &Blocks, problem: &mut Problem<'_>) -> Result<Report> {
        let residual = Residual::of(problem, blocks)?;
        let momentum = match self.params.memory {
            0 => None,
            memory => Some(Momentum::new(&residual, memory)),
        };
        let mut descent = Descent { blocks, count: 0, residual, momentum };
        let reason = match descent.run(problem, self.params.max_iterations) {
            // Stopped between two observations: report the norms of the current iterate.
            Err(Error::Stopped) => Reason::Stopped,
            other => other?,
        };
        let report = Report::new(reason, descent.count).residuals(descent.residual.norms());
        Ok(report.number("blocks", blocks.len() as f64))
    }
}

/// State between two projections. The iterate is the problem's `x`.
struct Descent<'b> {
    blocks: &'b Blocks,
    /// Projections done.
    count: usize,
    residual: Residual,
    momentum: Option<Momentum>,
}

impl Descent<'_> {
    /// Descends until there is a reason to end.
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
            if !self.step(problem)? {
                return Ok(Reason::Diverged);
            }
        }
    }

    /// One projection, and momentum if it is due. False, without a change, if the projection is not finite.
    fn step(&mut self, problem: &mut Problem<'_>) -> Result<bool> {
        let Some(projection) = self.residual.project(problem, self.blocks)? else { return Ok(false) };
        self.count += 1;
        if let Some(momentum) = &mut self.momentum {
            momentum.add(&projection, self.blocks);
            if self.count.is_multiple_of((self.blocks.len() / ACCELERATIONS).max(1)) {
                let workers = problem.workers();
                momentum.accelerate(problem.x_mut(), &mut self.residual, self.blocks, workers);
            }
        }
        Ok(true)
    }
}
