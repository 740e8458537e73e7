//! Conjugate gradients with a batch of right-hand sides.
//!
//! Lin, Padhy, Mlodozeniec, Antoran and Hernandez-Lobato 2024, Algorithm 1, with two corrections that
//! the authors' own code has too: the first direction is the preconditioned residual, and the loop
//! ends when the targets AND the probes have reached the tolerance.

use gpbench_sdk::ndarray::{Array2, ArrayView1, Axis, ShapeBuilder, s};
use gpbench_sdk::precondition::Preconditioner;
use gpbench_sdk::{Capabilities, Facts, Problem, Reason, Report, Result, Solver, Watch};

use crate::CgParams;
use crate::columns::{Column, Group, WIDTH, norm};
use crate::recycle::{KrylovBasis, Space};

/// Key of the saved Ritz vectors.
const RECYCLED: &str = "ritz-vectors";

/// Least number of iterations without a new best residual that counts as stagnation; n if that is more, since n
/// iterations suffice in exact arithmetic.
const PATIENCE: usize = 1000;

/// Preconditioned conjugate gradients.
#[derive(Debug)]
pub struct Cg {
    params: CgParams,
}

impl Solver for Cg {
    type Params = CgParams;
    const ID: &'static str = "cg";
    const DOC: &'static str = "Conjugate gradients, optionally with a low-rank preconditioner";
    const SOURCE: &'static str = "J. A. Lin, S. Padhy, B. Mlodozeniec, J. Antorán, J. M. Hernández-Lobato. Improving \
        Linear System Solvers for Hyperparameter Optimisation in Iterative Gaussian Processes. NeurIPS 2024.";
    const FACTS: Facts = Facts {
        step: "n^2 entries, and 4 n k s operations with a preconditioner of rank k",
        memory: "4 n s + 2 n k",
        guarantees: "the error falls at every step in the norm of A, though residuals may rise; residuals by \
            a recurrence",
        advice: "moderate noise, any number of right-hand sides; an early stop at little noise is useless",
    };
    const CAPABILITIES: Capabilities = Capabilities::WARM_START;
    /// The preconditioner, if one is chosen.
    type Prepared = Option<Preconditioner>;

    fn new(params: CgParams) -> Result<Self> {
        params.preconditioner.check(params.rank)?;
        Ok(Cg { params })
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<Option<Preconditioner>> {
        let CgParams { preconditioner, rank, remainder, precision, .. } = self.params;
        let built = preconditioner.build(problem, rank, remainder)?;
        Ok(built.map(|built| built.stored_in(precision, problem.workers())))
    }

    fn solve(
        &self,
        preconditioner: &mut Option<Preconditioner>,
        problem: &mut Problem<'_>,
    ) -> Result<Report> {
        let preconditioner = preconditioner.as_ref();
        let n = problem.operator().n();
        let recycled = if self.params.recycle > 0 { problem.load_columns(RECYCLED)? } else { None };
        let recycled = recycled.unwrap_or_else(|| Array2::zeros((n, 0).f()));
        let count = self.params.recycle;
        let mut recycling = Recycling { space: None, basis: (count > 0).then(|| KrylovBasis::new(count)) };
        let solve =
            |problem: &mut Problem<'_>| self.iterate(preconditioner, problem, &recycled, &mut recycling);
        let ended = self.params.precision.solve_beside(problem, &recycled, solve);
        // Before the outcome is returned: a solve that the budget ends saves its vectors too.
        let saved = recycling.save(problem, preconditioner)?;
        let mut report = ended?;
        if let Some(saved) = saved {
            report = report.number("recycled_vectors", saved as f64);
        }
        Ok(report)
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // Residual, direction, product, preconditioned residual. For recycling: W and A W, the basis and its
        // products, and all of them again while new vectors are computed.
        let columns = 4 * s + 20 * self.params.recycle;
        8.0 * n as f64 * columns as f64 + self.params.preconditioner.estimate(n, self.params.rank)
    }
}

impl Cg {
    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(
        &self,
        preconditioner: Option<&Preconditioner>,
        problem: &mut Problem<'_>,
        recycled: &Array2<f64>,
        recycling: &mut Recycling,
    ) -> Result<Report> {
        let mut iteration = Iteration::start(problem, preconditioner, recycled, recycling)?;
        let ended = iteration.run(problem, self.params.max_iterations);
        let mut report = Report::new(ended?, iteration.count).residuals(iteration.norms());
        if let Some(preconditioner) = preconditioner {
            report = report.number("preconditioner_rank", preconditioner.rank() as f64);
        }
        Ok(report)
    }
}

/// Whether there is a first right-hand side and it is still active.
fn first_is_active(columns: &[Column]) -> bool {
    columns.first().is_some_and(|column| column.active)
}

/// Data from which the Ritz vectors for the next outer step are computed, over all corrections of a solve.
struct Recycling {
    /// Ritz vectors of the last outer step.
    space: Option<Space>,
    /// Krylov basis of the first right-hand side; none without recycling.
    basis: Option<KrylovBasis>,
}

impl Recycling {
    /// Saves Ritz vectors for the next outer step and returns their number; none without recycling.
    fn save(self, problem: &Problem<'_>, preconditioner: Option<&Preconditioner>) -> Result<Option<usize>> {
        let Some(basis) = self.basis else { return Ok(None) };
        let vectors = basis.ritz_vectors(self.space.as_ref(), preconditioner, problem.workers())?;
        if let Some(vectors) = &vectors {
            problem.save_columns(RECYCLED, vectors)?;
        }
        Ok(Some(vectors.map_or(0, |vectors| vectors.ncols())))
    }
}

/// State between two iterations. The iterate is the problem's `x`.
struct Iteration<'p> {
    preconditioner: Option<&'p Preconditioner>,
    recycling: &'p mut Recycling,
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
    /// Computes the residual of the iterate in `x`: one product with A, unless the iterate is zero and there are no
    /// recycled vectors.
    fn start(
        problem: &mut Problem<'_>,
        preconditioner: Option<&'p Preconditioner>,
        recycled: &Array2<f64>,
        recycling: &'p mut Recycling,
    ) -> Result<Self> {
        let b = problem.rhs();
        problem.operator().require_square()?;
        let (mut r, scales, product) = problem.relative_residual_and(recycled)?;
        let workers = problem.workers();
        recycling.space = if recycled.is_empty() { None } else { Space::new(recycled, &product, workers)? };
        if let Some(space) = &recycling.space {
            space.start(&mut problem.x_mut(), &mut r, &scales, workers);
        }
        let column = |(r, scale): (ArrayView1<'_, f64>, f64)| {
            let norm = norm(&r);
            Column { scale, gamma: f64::INFINITY, norm, active: norm > 0.0 }
        };
        let columns = r.columns().into_iter().zip(scales).map(column).collect();
        let (d, product) = (Array2::zeros(b.dim().f()), Array2::zeros(b.dim().f()));
        Ok(Iteration { preconditioner, recycling, count: 0, r, d, product, columns })
    }

    /// Iterates until there is a reason to end.
    fn run(&mut self, problem: &mut Problem<'_>, max_iterations: usize) -> Result<Reason> {
        let mut watch = Watch::new(PATIENCE.max(problem.rhs().nrows()), max_iterations);
        self.update_directions(problem);
        loop {
            let norms = self.norms();
            problem.observe(self.count, &norms)?;
            match watch.judge(problem, self.count, &norms) {
                // More iterations would change nothing.
                None | Some(Reason::Iterations) if self.columns.iter().all(|column| !column.active) => {
                    return Ok(Reason::Stagnated);
                }
                Some(reason) => return Ok(reason),
                None => {}
            }
            problem.operator().apply(&self.d, &mut self.product)?;
            if let Some(basis) = self.recycling.basis.as_mut().filter(|_| first_is_active(&self.columns)) {
                basis.add(self.d.column(0), self.product.column(0));
            }
            self.in_groups(problem, None, |group| group.step());
            self.update_directions(problem);
            self.count += 1;
        }
    }

    /// Relative residual norms, by the recurrence.
    fn norms(&self) -> Vec<f64> {
        self.columns.iter().map(|column| column.norm).collect()
    }

    /// Computes new directions from the residuals. All are preconditioned together, so that the factor is read once.
    fn update_directions(&mut self, problem: &mut Problem<'_>) {
        let workers = problem.workers();
        let mut preconditioned =
            self.preconditioner.map(|preconditioner| preconditioner.apply(&self.r, workers));
        if let Some(space) = &self.recycling.space {
            let z = preconditioned.get_or_insert_with(|| self.r.clone());
            space.deflate(z, workers);
        }
        self.in_groups(problem, preconditioned.as_ref(), |group| group.update_directions());
    }

    /// Applies `work` to all groups of right-hand sides.
    fn in_groups(
        &mut self,
        problem: &mut Problem<'_>,
        preconditioned: Option<&Array2<f64>>,
        work: impl Fn(&mut Group<'_>) + Sync,
    ) {
        let workers = problem.workers();
        let mut x = problem.x_mut();
        let groups = x
            .axis_chunks_iter_mut(Axis(1), WIDTH)
            .zip(self.r.axis_chunks_iter_mut(Axis(1), WIDTH))
            .zip(self.d.axis_chunks_iter_mut(Axis(1), WIDTH))
            .zip(self.product.axis_chunks_iter(Axis(1), WIDTH))
            .zip(self.columns.chunks_mut(WIDTH))
            .enumerate()
            .map(|(group, ((((x, r), d), product), columns))| {
                let start = group * WIDTH;
                let preconditioned =
                    preconditioned.map(|all| all.slice(s![.., start..start + columns.len()]));
                Group { x, r, d, product, preconditioned, columns }
            });
        workers.for_each(groups, |mut group| work(&mut group));
    }
}
