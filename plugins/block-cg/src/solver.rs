//! Block conjugate gradients with a preconditioner of low rank; see [`BlockIteration`] for the method.

use gpbench_sdk::krylov::BlockIteration;
use gpbench_sdk::precondition::{Precondition, Preconditioner};
use gpbench_sdk::{Capabilities, Facts, Problem, Reason, Report, Result, Solver};

use crate::BlockCgParams;

/// Block conjugate gradients.
#[derive(Debug)]
pub struct BlockCg {
    params: BlockCgParams,
}

impl Solver for BlockCg {
    type Params = BlockCgParams;
    const ID: &'static str = "block-cg";
    const DOC: &'static str = "Block conjugate gradients: all right-hand sides share one Krylov space";
    const SOURCE: &'static str = "D. P. O'Leary. The block conjugate gradient algorithm and related methods. Linear \
        Algebra and its Applications 29, 1980.";
    const FACTS: Facts = Facts {
        step: "n^2 entries, 4 n k s operations with a preconditioner of rank k, and 22 n s^2",
        memory: "8 n s + 2 n k",
        guarantees: "as cg, in one Krylov space for all right-hand sides",
        advice: "many right-hand sides, with a preconditioner of high rank; not for thousands of them",
    };
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);
    /// The preconditioner, if one is chosen.
    type Prepared = Option<Preconditioner>;

    fn new(params: BlockCgParams) -> Result<Self> {
        params.preconditioner.check(params.rank)?;
        Ok(BlockCg { params })
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<Option<Preconditioner>> {
        let rank = self.params.rank(problem.operator().n());
        let BlockCgParams { preconditioner, remainder, precision, .. } = self.params;
        let built = preconditioner.build(problem, rank, remainder)?;
        Ok(built.map(|built| built.stored_in(precision, problem.workers())))
    }

    fn solve(
        &self,
        preconditioner: &mut Option<Preconditioner>,
        problem: &mut Problem<'_>,
    ) -> Result<Report> {
        let precision = self.params.precision;
        precision.solve(problem, |problem| self.iterate(preconditioner.as_ref(), problem))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // Residual, its basis and that preconditioned, directions and their product; three of them twice
        // while the block is orthonormalised.
        8.0 * 8.0 * n as f64 * s as f64 + self.params.preconditioner.estimate(n, self.params.rank(n))
    }
}

impl BlockCg {
    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&self, preconditioner: Option<&Preconditioner>, problem: &mut Problem<'_>) -> Result<Report> {
        let mut block = BlockIteration::start(problem)?;
        let mut watch = BlockIteration::watch(problem, self.params.max_iterations);
        let reason = loop {
            if let Some(reason) = block.judge(problem, &mut watch)? {
                break reason;
            }
            if !block.step(problem, preconditioner.map(|of| of as &dyn Precondition))? {
                break Reason::Stagnated;
            }
        };
        let rank = preconditioner.map(|of| ("preconditioner_rank", of.rank() as f64));
        Ok(rank.into_iter().fold(block.report(reason), |report, (name, value)| report.number(name, value)))
    }
}
