//! Block conjugate gradients with an orthonormal residual block.
//!
//! O'Leary 1980 for the method; Dubrulle 2001, BCGrQ, for the form in which a QR factorisation of the residual
//! block replaces it, so that columns that become dependent can be dropped. Here the factorisation is
//! orthonormal in the preconditioner's inner product.

use gpbench_sdk::krylov::Space;
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::precondition::{Precondition, Preconditioner};
use gpbench_sdk::{Capabilities, Error, Problem, Reason, Report, Result, Solver, Watch};

use crate::BlockCgParams;

/// Least number of iterations without a new best residual that counts as stagnation; n if that is more, since n
/// iterations suffice in exact arithmetic.
const PATIENCE: usize = 1000;

/// Share of the residual that may lie outside of the space before the space is built again.
const MISSING: f64 = 0.1;

/// Block conjugate gradients.
#[derive(Debug)]
pub struct BlockCg {
    params: BlockCgParams,
    preconditioner: Option<Preconditioner>,
}

impl Solver for BlockCg {
    type Params = BlockCgParams;
    const ID: &'static str = "block-cg";
    const DOC: &'static str = "Block conjugate gradients: all right-hand sides share one Krylov space";
    const SOURCE: &'static str = "D. P. O'Leary. The block conjugate gradient algorithm and related methods. Linear \
        Algebra and its Applications 29, 1980.";
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);

    fn new(params: BlockCgParams) -> Result<Self> {
        Ok(BlockCg { params, preconditioner: None })
    }

    fn prepare(&mut self, problem: &Problem<'_>) -> Result<()> {
        // Freed first: two preconditioners may not fit into memory.
        self.preconditioner = None;
        let rank = self.params.rank(problem.operator().n());
        let BlockCgParams { preconditioner, remainder, precision, .. } = self.params;
        let built = preconditioner.build(problem, rank, remainder)?;
        self.preconditioner = built.map(|built| built.stored_in(precision));
        Ok(())
    }

    fn solve(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        precision.solve(problem, |problem| self.iterate(problem))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // Residual, its basis and that preconditioned, directions and their product; three of them twice
        // while the block is orthonormalised.
        8.0 * 8.0 * n as f64 * s as f64 + self.params.preconditioner.estimate(n, self.params.rank(n))
    }
}

impl BlockCg {
    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
        let mut iteration = Iteration::start(problem, self.preconditioner.as_ref().map(|of| of as _))?;
        let reason = iteration.run(problem, self.params.max_iterations)?;
        let mut report = Report::new(reason, iteration.count).residuals(iteration.norms);
        report = report.number("restarts", iteration.starts.saturating_sub(1) as f64);
        report = report.number("block_width", iteration.width as f64);
        if let Some(preconditioner) = &self.preconditioner {
            report = report.number("preconditioner_rank", preconditioner.rank() as f64);
        }
        Ok(report)
    }
}

/// State between two iterations. The iterate is the problem's `x`.
struct Iteration<'p> {
    preconditioner: Option<&'p dyn Precondition>,
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
    /// None until it is built from the residual.
    space: Option<Space>,
}

impl<'p> Iteration<'p> {
    /// Computes the residual of the iterate in `x`: one product with A, unless the iterate is zero.
    fn start(problem: &mut Problem<'_>, preconditioner: Option<&'p dyn Precondition>) -> Result<Self> {
        let operator = problem.operator();
        operator.require_square()?;
        let (r, scales) = problem.relative_residual()?;
        let norms = r.columns().into_iter().map(|column| column.dot(&column).sqrt()).collect();
        Ok(Iteration { preconditioner, count: 0, starts: 0, width: 0, scales, r, norms, space: None })
    }

    /// Iterates until there is a reason to end.
    fn run(&mut self, problem: &mut Problem<'_>, max_iterations: usize) -> Result<Reason> {
        let mut watch = Watch::new(PATIENCE.max(problem.rhs().nrows()), max_iterations);
        loop {
            problem.observe(self.count, &self.norms)?;
            if let Some(reason) = watch.judge(problem, self.count, &self.norms) {
                return Ok(reason);
            }
            if !self.step(problem)? {
                return Ok(Reason::Stagnated);
            }
            self.count += 1;
        }
    }

    /// One iteration. False, without a change, if there is no step: the residual is zero in the preconditioner's
    /// norm, or A is not positive definite.
    fn step(&mut self, problem: &mut Problem<'_>) -> Result<bool> {
        let workers = problem.workers();
        let current = self.space.take();
        let fresh = current.is_none();
        let space = match current {
            Some(space) => Some(space),
            None => Space::start(&self.r, self.preconditioner, workers)?,
        };
        self.starts += usize::from(fresh);
        let Some(mut space) = space else { return Ok(false) };
        let step = match space.step(problem) {
            // Rounding errors may be the cause: try again with new directions.
            Err(Error::NotPositiveDefinite { .. }) if !fresh => return self.step(problem),
            Err(Error::NotPositiveDefinite { .. }) => return Ok(false),
            step => step?,
        };
        let squares = space.advance(&step, &mut problem.x_mut(), &self.scales, &mut self.r, workers);
        self.norms = squares.into_iter().map(f64::sqrt).collect();
        self.width = space.width();
        if let Some((space, lost)) = space.update_directions(&self.r, self.preconditioner, workers)? {
            let lost: Vec<f64> = lost.into_iter().map(f64::sqrt).collect();
            let whole = problem.worst(&lost) <= MISSING * problem.worst(&self.norms);
            self.space = Some(space).filter(|_| whole);
        }
        Ok(true)
    }
}
