//! Conjugate gradients with a batch of right-hand sides.
//!
//! Lin, Padhy, Mlodozeniec, Antoran and Hernandez-Lobato 2024, Algorithm 1, with two corrections that
//! the authors' own code has too: the first direction is the preconditioned residual, and the loop
//! ends when the targets AND the probes have reached the tolerance.

use gpbench_sdk::ndarray::{Array2, Axis, ShapeBuilder};
use gpbench_sdk::{Capabilities, Error, Level, Problem, Reason, Report, Result, Solver};

use crate::columns::{Column, Group, WIDTH, norm};
use crate::{CgParams, LowRankPlusNoise, PivotedCholesky, Preconditioning};

/// CG's residuals rise before they fall, by up to the root of A's condition number; one this many
/// times the right-hand side will not come back.
const DIVERGENCE: f64 = 1e10;

/// In exact arithmetic n iterations suffice. One that has not come below its best for as many, and
/// for at least this many, will not.
const PATIENCE: usize = 1000;

/// Preconditioned conjugate gradients.
#[derive(Debug)]
pub struct Cg {
    params: CgParams,
    preconditioner: Option<LowRankPlusNoise>,
}

impl Solver for Cg {
    type Params = CgParams;
    const ID: &'static str = "cg";
    const DOC: &'static str = "Conjugate gradients, optionally with a pivoted Cholesky preconditioner";
    const CAPABILITIES: Capabilities = Capabilities::WARM_START;

    fn new(params: CgParams) -> Result<Self> {
        Ok(Cg { params, preconditioner: None })
    }

    fn prepare(&mut self, problem: &Problem<'_>) -> Result<()> {
        self.preconditioner = None;
        if self.params.preconditioner == Preconditioning::PivotedCholesky {
            let operator = problem.operator();
            let noise_scale = operator.inputs()?.noise_scale;
            let low_rank = PivotedCholesky::new(operator, noise_scale * noise_scale, self.params.rank)?;
            if low_rank.pivots.len() < self.params.rank.min(operator.n()) {
                let rank = low_rank.pivots.len();
                problem
                    .log(Level::Info, &format!("the kernel matrix is of rank {rank} to working precision"));
            }
            self.preconditioner = Some(LowRankPlusNoise::new(low_rank.factor, noise_scale)?);
        }
        Ok(())
    }

    fn solve(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
        let mut iteration = Iteration::start(problem, self.preconditioner.as_ref())?;
        let reason = iteration.run(problem, self.params.max_iterations)?;
        let mut report = Report::new(reason, iteration.count).residuals(iteration.norms());
        if let Some(preconditioner) = &self.preconditioner {
            report = report.number("preconditioner_rank", preconditioner.rank() as f64);
        }
        Ok(report)
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        let rank = match self.params.preconditioner {
            Preconditioning::None => 0,
            Preconditioning::PivotedCholesky => self.params.rank.min(n),
        };
        // Residual, direction, product; the factor and its copy during the setup.
        8.0 * n as f64 * (3 * s + 2 * rank) as f64
    }
}

/// What is kept from one iteration to the next. The iterate is the problem's `x` itself.
struct Iteration<'p> {
    preconditioner: Option<&'p LowRankPlusNoise>,
    /// Iterations done.
    count: usize,
    /// Residual, relative to the right-hand side's norm; n x s.
    r: Array2<f64>,
    /// Direction; n x s.
    d: Array2<f64>,
    /// A d; n x s.
    product: Array2<f64>,
    columns: Vec<Column>,
}

impl<'p> Iteration<'p> {
    /// The residual of the iterate that `x` holds: one product with A, unless that is zero.
    fn start(problem: &mut Problem<'_>, preconditioner: Option<&'p LowRankPlusNoise>) -> Result<Self> {
        let (operator, b) = (problem.operator(), problem.rhs());
        if operator.m() != operator.n() {
            let text = format!("A is {} x {}, not square", operator.n(), operator.m());
            return Err(Error::Unsupported(text));
        }
        let mut r = Array2::zeros(b.dim().f());
        if problem.x().iter().any(|&x| x != 0.0) {
            operator.apply(&problem.x(), &mut r)?;
        }
        r.zip_mut_with(&b, |r, b| *r = b - *r);
        let mut columns = Vec::with_capacity(b.ncols());
        for (j, mut r) in r.axis_iter_mut(Axis(1)).enumerate() {
            let scale = norm(&b.column(j));
            if scale > 0.0 {
                r /= scale;
            } else {
                // Nothing to solve, and nothing to be relative to.
                r.fill(0.0);
                problem.x_mut().column_mut(j).fill(0.0);
            }
            let norm = norm(&r.view());
            columns.push(Column { scale, gamma: f64::INFINITY, norm, active: norm > 0.0 });
        }
        let (d, product) = (Array2::zeros(b.dim().f()), Array2::zeros(b.dim().f()));
        Ok(Iteration { preconditioner, count: 0, r, d, product, columns })
    }

    /// Iterates until something ends it.
    fn run(&mut self, problem: &mut Problem<'_>, max_iterations: usize) -> Result<Reason> {
        let patience = PATIENCE.max(problem.rhs().nrows());
        let (mut best, mut best_at) = (f64::INFINITY, 0);
        self.in_groups(problem, |group, preconditioner| group.turn(preconditioner));
        loop {
            let norms = self.norms();
            problem.observe(self.count, &norms)?;
            let worst = problem.worst(&norms);
            if problem.converged(&norms) || worst == 0.0 {
                return Ok(Reason::Converged);
            }
            if worst.is_nan() || worst > DIVERGENCE {
                return Ok(Reason::Diverged);
            }
            if worst < best {
                (best, best_at) = (worst, self.count);
            }
            if self.count - best_at >= patience || self.columns.iter().all(|column| !column.active) {
                return Ok(Reason::Stagnated);
            }
            if max_iterations > 0 && self.count >= max_iterations {
                return Ok(Reason::Iterations);
            }
            problem.operator().apply(&self.d, &mut self.product)?;
            self.in_groups(problem, |group, preconditioner| {
                group.step();
                group.turn(preconditioner);
            });
            self.count += 1;
        }
    }

    /// Relative residual norms, by the recurrence.
    fn norms(&self) -> Vec<f64> {
        self.columns.iter().map(|column| column.norm).collect()
    }

    /// Does a piece of work on all groups of right-hand sides.
    fn in_groups(
        &mut self,
        problem: &mut Problem<'_>,
        work: impl Fn(&mut Group<'_>, Option<&LowRankPlusNoise>) + Sync,
    ) {
        let workers = problem.workers();
        let mut x = problem.x_mut();
        let groups = x
            .axis_chunks_iter_mut(Axis(1), WIDTH)
            .zip(self.r.axis_chunks_iter_mut(Axis(1), WIDTH))
            .zip(self.d.axis_chunks_iter_mut(Axis(1), WIDTH))
            .zip(self.product.axis_chunks_iter(Axis(1), WIDTH))
            .zip(self.columns.chunks_mut(WIDTH))
            .map(|((((x, r), d), product), columns)| Group { x, r, d, product, columns });
        let preconditioner = self.preconditioner;
        workers.for_each(groups, |mut group| work(&mut group, preconditioner));
    }
}
