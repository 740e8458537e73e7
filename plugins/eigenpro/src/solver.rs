//! The solver: computes eigenvectors, draws batches, takes steps, and computes the residual before convergence is
//! claimed.

use gpbench_sdk::minibatch::Batches;
use gpbench_sdk::{Capabilities, Error, Facts, Precision, Problem, Reason, Report, Result, Solver, Watch};

use crate::preconditioner::PIECE;
use crate::{EigenDescent, EigenPreconditioner, EigenProParams, SubsetSpectrum};

/// Epochs without a new best residual that count as stagnation.
const PATIENCE: usize = 1000;

/// Observations an epoch.
const OBSERVATIONS: usize = 4;

/// All steps over those that pass, at least an epoch's, before a residual that was too large is computed again.
const PAUSE: usize = 10;

/// The stream of the subset's rows among those of groups of rows; the first one is that of the batches.
const SUBSET: u64 = 1;

/// EigenPro 2.
#[derive(Debug)]
pub struct EigenPro {
    params: EigenProParams,
}

impl Solver for EigenPro {
    type Params = EigenProParams;
    const ID: &'static str = "eigenpro";
    const DOC: &'static str =
        "EigenPro 2: stochastic gradient descent on large batches, with damped leading eigenvectors";
    const SOURCE: &'static str = "S. Ma, M. Belkin. Kernel Machines That Adapt to GPUs for Effective Large Batch \
        Training. MLSys 2019.";
    const FACTS: Facts = Facts {
        step: "b (n + m) entries for a batch of b rows and a subset of m; setup m^2 entries, 9 m^3 operations",
        memory: "n s + 3 m^2 + 512 m + 2 b s",
        guarantees: "the residual is computed before convergence is claimed",
        advice: "smooth kernels and much noise, stopped early; weak at little noise, which bounds its rate",
    };
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);
    type Prepared = EigenPreconditioner;

    fn new(params: EigenProParams) -> Result<Self> {
        Ok(EigenPro { params })
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<EigenPreconditioner> {
        let operator = problem.operator();
        operator.require_square()?;
        let (n, exponent) = (operator.n(), self.params.exponent);
        let mut subset = Batches::of_stream(n, self.params.subset_size(n), problem.seed(), SUBSET);
        let spectrum = SubsetSpectrum::of(operator, subset.draw().to_vec())?;
        let rank = match self.params.rank {
            0 => spectrum.least_rank(self.params.most_batch(n), exponent),
            given => given,
        };
        Ok(EigenPreconditioner::new(&spectrum, rank, exponent))
    }

    fn solve(&self, preconditioner: &mut EigenPreconditioner, problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        precision.solve(problem, |problem| self.iterate(preconditioner, problem))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        let (m, b) = (self.params.subset_size(n), self.params.most_batch(n));
        // The residual and the order of the rows; eigenvectors with their work space; products with a batch, the
        // gradient, and the indices; a piece of the kernel matrix, products on the subset.
        8.0 * (n * (s + 1) + 3 * m * m + b * (2 * s + 1) + m * (PIECE + 2 * s)) as f64
    }
}

impl EigenPro {
    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&self, preconditioner: &EigenPreconditioner, problem: &mut Problem<'_>) -> Result<Report> {
        let n = problem.operator().n();
        let batch_size = self.params.batch_size(n, preconditioner.critical_batch());
        let learning_rate = match self.params.learning_rate {
            0.0 => preconditioner.learning_rate(batch_size),
            given => given,
        };
        let mut run = Run {
            params: &self.params,
            batches: Batches::new(n, batch_size, problem.seed()),
            descent: EigenDescent::start(problem, preconditioner, batch_size, learning_rate)?,
            count: 0,
            is_known: true,
            paused_until: 0,
        };
        let reason = match run.descend(problem) {
            // Reported here: otherwise the norms observed last would be the claim, and they are estimates.
            Err(Error::Stopped) => Reason::Stopped,
            other => other?,
        };
        let norms = if run.is_known { run.descent.residual_norms() } else { Vec::new() };
        let report = Report::new(reason, run.count).residuals(norms);
        let report = report.number("batch_size", batch_size as f64).number("learning_rate", learning_rate);
        Ok(report.number("rank", preconditioner.rank() as f64))
    }
}

/// State between two steps. The iterate is the problem's `x`.
struct Run<'r> {
    params: &'r EigenProParams,
    batches: Batches,
    descent: EigenDescent<'r>,
    /// Steps done.
    count: usize,
    /// Whether the residual is the iterate's, not an estimate.
    is_known: bool,
    /// Steps before which a residual that was too large is not computed again.
    paused_until: usize,
}

impl Run<'_> {
    /// Takes steps until there is a reason to end.
    fn descend(&mut self, problem: &mut Problem<'_>) -> Result<Reason> {
        let epoch = self.epoch(problem);
        let period = (epoch / OBSERVATIONS).max(1);
        let mut watch = Watch::new(PATIENCE * epoch, self.params.max_iterations);
        loop {
            let is_regular = self.count.is_multiple_of(period);
            if is_regular {
                self.descent.sum_up();
            }
            let ending = self.ending(problem, &mut watch)?;
            if ending.is_some() || is_regular {
                problem.observe(self.count, &self.descent.residual_norms())?;
            }
            if let Some(reason) = ending {
                return Ok(reason);
            }
            if !self.descent.step(problem, self.batches.draw())? {
                return Ok(Reason::Diverged);
            }
            self.count += 1;
            self.is_known = false;
        }
    }

    /// Steps in an epoch, at least 1.
    fn epoch(&self, problem: &Problem<'_>) -> usize {
        (problem.operator().n() / self.batches.size().max(1)).max(1)
    }

    /// The reason to end here, if there is one. Convergence is a reason only where the residual is known; in mixed
    /// precision refinement computes it.
    fn ending(&mut self, problem: &mut Problem<'_>, watch: &mut Watch) -> Result<Option<Reason>> {
        let ending = watch.judge(problem, self.count, &self.descent.residual_norms());
        let is_certain = self.is_known || self.params.precision == Precision::Mixed;
        if ending != Some(Reason::Converged) || is_certain {
            return Ok(ending);
        }
        let is_last = self.params.max_iterations > 0 && self.count >= self.params.max_iterations;
        if self.count < self.paused_until && !is_last {
            return Ok(None);
        }
        self.descent.renew(problem)?;
        self.is_known = true;
        self.paused_until = self.count + self.epoch(problem).max(self.count / PAUSE);
        Ok(watch.judge(problem, self.count, &self.descent.residual_norms()))
    }
}
