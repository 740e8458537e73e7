//! The solver: draws blocks, solves on them, observes, and computes the residual before convergence is claimed.

use gpbench_sdk::minibatch::Batches;
use gpbench_sdk::ndarray::{Array2, ShapeBuilder};
use gpbench_sdk::{
    Capabilities, Error, Facts, Operator, Precision, Problem, Purpose, Reason, Report, Result, Solver, Watch,
};
use rand_distr::{Distribution, StandardNormal};

use crate::{
    Acceleration, AskotchParams, BlockDraws, BlockInverse, BlockSampling, BlockSolver, Iterates, Nesterov,
    leverage_scores,
};

/// Epochs without a new best residual that count as stagnation.
const PATIENCE: usize = 1000;

/// Least number of observations an epoch.
const OBSERVATIONS: usize = 4;

/// Share of the residual at a refuted convergence that counts as progress at the next one.
const PROGRESS: f64 = 0.5;

/// Rows of the dictionary of leverage scores, in units of the square root of n.
const DICTIONARY: f64 = 4.0;

/// Accelerated sketch-and-project.
#[derive(Debug)]
pub struct Askotch {
    params: AskotchParams,
}

/// What a problem's blocks have in common.
#[derive(Debug)]
pub struct SketchSetup {
    /// Rows in a block.
    block_size: usize,
    block_solver: BlockSolver,
    noise_variance: f64,
    /// None without momentum.
    nesterov: Option<Nesterov>,
    /// Weights of the rows; none if all are equally likely.
    weights: Option<Vec<f64>>,
}

impl Solver for Askotch {
    type Params = AskotchParams;
    const ID: &'static str = "askotch";
    const DOC: &'static str = "Accelerated sketch-and-project (ASkotch, ADASAP): approximate solves on random blocks, \
        with momentum";
    const SOURCE: &'static str = "P. Rathore, Z. Frangella, J. Yang, M. Dereziński, M. Udell. Have ASkotch: A Neat \
        Solution for Large-scale Kernel Ridge Regression. arXiv 2407.10070, 2024.";
    const FACTS: Facts = Facts {
        step: "b n + b^2 entries for blocks of b rows; 4 b^2 r operations with approximations of rank r, b^3 \
            / 3 with exact blocks",
        memory: "6 n s + b^2 + 3 b s; without momentum 2 n s in place of 6",
        guarantees: "the residual is known at every step, and computed before convergence is claimed",
        advice: "many right-hand sides, early stops; exact blocks while b is below 12 r, and at little noise",
    };
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);
    type Prepared = SketchSetup;

    fn new(params: AskotchParams) -> Result<Self> {
        Ok(Askotch { params })
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<SketchSetup> {
        let operator = problem.operator();
        operator.require_square()?;
        let n = operator.n();
        let block_size = self.params.block_size(n);
        let block_solver = self.params.block_solver(block_size);
        let noise_variance = operator.inputs()?.noise_scale.powi(2);
        let nesterov = self.nesterov(operator, block_size, block_solver, noise_variance)?;
        let weights = match self.params.sampling {
            BlockSampling::Uniform => None,
            BlockSampling::Leverage => {
                demand_noise(noise_variance, "leverage scores need")?;
                let size = dictionary_size(n);
                let mut dictionary = Batches::new(n, size, problem.seed());
                let rows = dictionary.draw();
                Some(leverage_scores(operator, rows, noise_variance, problem.workers())?)
            }
        };
        Ok(SketchSetup { block_size, block_solver, noise_variance, nesterov, weights })
    }

    fn solve(&self, prepared: &mut SketchSetup, problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        precision.solve(problem, |problem| self.iterate(prepared, problem))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        let b = self.params.block_size(n);
        // Residuals and sequences; before convergence is claimed, the new residual beside the old one.
        let columns = if self.params.momentum == Acceleration::None { 2 } else { 6 };
        let of_solver = match self.params.block_solver(b) {
            // The test matrix, its copy, and the approximation; triangles, and the work space of singular values.
            BlockSolver::Nystrom => (3 * b + 8 * self.params.rank) * self.params.rank,
            BlockSolver::Exact | BlockSolver::Identity => 0,
        };
        let of_sampling = match self.params.sampling {
            BlockSampling::Uniform => n,
            BlockSampling::Leverage => 3 * n + dictionary_size(n) * (dictionary_size(n) + n.min(4096)),
        };
        // The block, whose factor takes its place; the gradient, which becomes the step, its negative and its coefficients.
        8.0 * (n * columns * s + b * b + 3 * b * s + of_solver + of_sampling) as f64
    }
}

/// Rows of the dictionary of leverage scores.
fn dictionary_size(n: usize) -> usize {
    ((DICTIONARY * (n as f64).sqrt()) as usize).min(n)
}

/// Refuses a system without noise.
fn demand_noise(noise_variance: f64, what: &str) -> Result<()> {
    if noise_variance > 0.0 {
        return Ok(());
    }
    Err(Error::Unsupported(format!("{what} noise, not a noise variance of {noise_variance}")))
}

impl Askotch {
    /// The momentum's coefficients; none without momentum, and none where they would have no effect.
    fn nesterov(
        &self,
        operator: Operator<'_>,
        block_size: usize,
        block_solver: BlockSolver,
        noise_variance: f64,
    ) -> Result<Option<Nesterov>> {
        // With repeated inputs that share a row, the mean over rows.
        let variance = operator.diagonal()?.mean().unwrap_or(1.0) - noise_variance;
        let Some(mu) = self.params.mu(block_solver, noise_variance, variance) else { return Ok(None) };
        demand_noise(mu, "momentum needs `mu` or")?;
        let nesterov = Nesterov::new(mu, operator.n() as f64 / block_size as f64);
        Ok(Some(nesterov).filter(|nesterov| !nesterov.is_idle()))
    }

    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&self, prepared: &SketchSetup, problem: &mut Problem<'_>) -> Result<Report> {
        let SketchSetup { block_size, nesterov, weights, .. } = prepared;
        let (n, seed) = (problem.operator().n(), problem.seed());
        let draws = match weights {
            None => BlockDraws::uniform(n, *block_size, seed),
            Some(weights) => BlockDraws::weighted(weights.clone(), *block_size, seed),
        };
        let iterates = Iterates::start(problem, *nesterov)?;
        let mut descent = Descent {
            params: &self.params,
            prepared,
            draws,
            iterates,
            count: 0,
            uncertain: false,
            refuted: None,
        };
        let reason = match descent.run(problem) {
            // Stopped between two observations: report the norms of the current iterate.
            Err(Error::Stopped) => Reason::Stopped,
            other => other?,
        };
        let report = Report::new(reason, descent.count).residuals(descent.iterates.norms());
        let report = report.number("block_size", *block_size as f64);
        Ok(match nesterov {
            Some(nesterov) => report.number("mu", nesterov.mu),
            None => report,
        })
    }
}

/// State between two steps. The iterate is the problem's `x`.
struct Descent<'d> {
    params: &'d AskotchParams,
    prepared: &'d SketchSetup,
    draws: BlockDraws,
    iterates: Iterates,
    /// Steps done.
    count: usize,
    /// Whether the residual is the recurrence's, not that of a product with A.
    uncertain: bool,
    /// Worst residual by the product with A that last refuted a convergence.
    refuted: Option<f64>,
}

impl Descent<'_> {
    /// Takes steps until there is a reason to end.
    fn run(&mut self, problem: &mut Problem<'_>) -> Result<Reason> {
        let n = problem.operator().n();
        let epoch = (n / self.prepared.block_size.max(1)).max(1);
        let period = (epoch / OBSERVATIONS).max(1);
        let mut watch = Watch::new(PATIENCE * epoch, self.params.max_iterations);
        loop {
            let mut ending = watch.judge(problem, self.count, self.iterates.norms());
            if ending == Some(Reason::Converged) && self.must_certify() {
                self.iterates.renew(problem)?;
                self.uncertain = false;
                ending = watch.judge(problem, self.count, self.iterates.norms());
                let worst = problem.worst(self.iterates.norms());
                let before = self.refuted.replace(worst);
                // Refuted once more without progress: the tolerance is below what working precision can reach.
                let hopeless = before.is_some_and(|before| worst > PROGRESS * before);
                ending = ending.or(hopeless.then_some(Reason::Stagnated));
            }
            if ending.is_some() || self.count.is_multiple_of(period) {
                problem.observe(self.count, self.iterates.norms())?;
            }
            if let Some(reason) = ending {
                return Ok(reason);
            }
            if !self.step(problem)? {
                return Ok(Reason::Diverged);
            }
        }
    }

    /// Whether the residual has to be computed before it is claimed. In mixed precision, refinement does so.
    fn must_certify(&self) -> bool {
        self.uncertain && self.params.precision == Precision::Double
    }

    /// One step on the next block. False, without a change, if it is not finite.
    fn step(&mut self, problem: &mut Problem<'_>) -> Result<bool> {
        let rows = self.draws.draw();
        let Some(change) = self.change(problem, &rows)? else { return Ok(false) };
        self.iterates.step(problem, &rows, &change)?;
        self.count += 1;
        self.uncertain = true;
        Ok(true)
    }

    /// eta P^-1 times the gradient's rows; none if it is not finite. Counts the entries of the block.
    fn change(&self, problem: &Problem<'_>, rows: &[usize]) -> Result<Option<Array2<f64>>> {
        let (b, workers) = (rows.len(), problem.workers());
        let mut block = Array2::zeros((b, b).f());
        problem.operator().block(rows, rows, &mut block)?;
        let mut change = self.iterates.gradient(rows);
        if self.prepared.block_solver == BlockSolver::Exact {
            BlockInverse::exact(block, workers)?.apply(&mut change, workers);
        } else {
            let AskotchParams { rank, damping, power_iterations, .. } = *self.params;
            let mut rng = Purpose::Sketch.generator(problem.seed(), self.count as u64);
            let mut gaussian =
                |k| Array2::from_shape_simple_fn((b, k).f(), || StandardNormal.sample(&mut rng));
            let inverse = match self.prepared.block_solver {
                BlockSolver::Nystrom => {
                    let noise_variance = self.prepared.noise_variance;
                    BlockInverse::nystrom(&block, gaussian(rank), noise_variance, damping, workers)?
                }
                _ => BlockInverse::Identity,
            };
            inverse.apply(&mut change, workers);
            change *= inverse.step_size(&block, gaussian(1), power_iterations, workers);
        }
        Ok(Some(change).filter(|change| change.iter().all(|entry| entry.is_finite())))
    }
}
