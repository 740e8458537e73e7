//! The solver: draws batches and features, takes steps and observes.

use gpbench_sdk::minibatch::Batches;
use gpbench_sdk::ndarray::{ArrayView2, Axis};
use gpbench_sdk::{Capabilities, Error, Facts, Problem, Purpose, Reason, Report, Result, Solver};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::{AveragedDescent, GradientVariance, ObjectiveGradient, SgdRffParams};

/// Observations an epoch.
const OBSERVATIONS: usize = 4;

/// Epochs between two computations of the residual, each a product with A.
const EPOCHS_PER_CHECK: usize = 10;

/// Stochastic gradient descent with random features.
#[derive(Debug)]
pub struct SgdRff {
    params: SgdRffParams,
}

impl Solver for SgdRff {
    type Params = SgdRffParams;
    const ID: &'static str = "sgd-rff";
    const DOC: &'static str = "Stochastic gradient descent with fresh random features at each step";
    const SOURCE: &'static str = "J. A. Lin, J. Antorán, S. Padhy, D. Janz, J. M. Hernández-Lobato, A. Terenin. \
        Sampling from Gaussian Process Posteriors using Stochastic Gradient Descent. NeurIPS 2023.";
    const FACTS: Facts = Facts {
        step: "b n entries for a batch of b rows, b m with m inducing points; two passes over n s numbers",
        memory: "3 n s",
        guarantees: "no estimate of the residual; with a tolerance a product every ten epochs",
        advice: "predictions long before the system is solved, also with inducing points; not for small \
            residuals",
    };
    const CAPABILITIES: Capabilities =
        Capabilities::RANDOMIZED.and(Capabilities::WARM_START).and(Capabilities::INDUCING);
    type Prepared = ();

    fn new(params: SgdRffParams) -> Result<Self> {
        if !params.features.is_multiple_of(2) {
            let text = format!("features = {}: sines and cosines come in pairs", params.features);
            return Err(Error::InvalidArgument(text));
        }
        Ok(SgdRff { params })
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let params = &self.params;
        if solve_zero_columns(problem) {
            let norms = vec![0.0; problem.rhs().ncols()];
            problem.observe(0, &norms)?;
            return Ok(Report::new(Reason::Converged, 0).residuals(norms));
        }
        let mut draws = Draws::new(problem, params.batch_size);
        let size = draws.batches.size();
        let mut gradient = ObjectiveGradient::new(problem, size, params)?;
        let mut descent = AveragedDescent::new(problem.x(), problem.n_targets(), params);
        let (n, m, seed) = (problem.operator().n(), problem.operator().m(), draws.seeds.next_u64());
        let variance = (params.gradient_variance > 0)
            .then(|| GradientVariance::new(n, m, params.gradient_variance, seed));
        let (reason, residuals) =
            run(problem, &mut descent, &mut gradient, variance, &mut draws, params.max_iterations)?;
        Ok(Report::new(reason, descent.steps()).residuals(residuals))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        let SgdRffParams { batch_size, features, .. } = self.params;
        // Iterate, trace, gradient, the order of the rows; products with a batch and with the features.
        8.0 * (n as f64 * (3 * s + 1) as f64 + (batch_size.min(n) + features) as f64 * s as f64)
    }
}

/// Random numbers of the steps.
struct Draws {
    /// Rows of the error term.
    batches: Batches,
    /// Seeds of the regulariser's features, a stream of their own.
    seeds: ChaCha8Rng,
}

impl Draws {
    fn new(problem: &Problem<'_>, batch_size: usize) -> Draws {
        let seeds = Purpose::Features.generator(problem.seed(), 0);
        Draws { batches: Batches::new(problem.operator().n(), batch_size, problem.seed()), seeds }
    }
}

/// Sets the solutions of zero right-hand sides to zero. Returns whether all right-hand sides are zero.
fn solve_zero_columns(problem: &mut Problem<'_>) -> bool {
    let b = problem.rhs();
    let mut all = true;
    for (b, mut x) in b.axis_iter(Axis(1)).zip(problem.x_mut().axis_iter_mut(Axis(1))) {
        match b.iter().all(|&b| b == 0.0) {
            true => x.fill(0.0),
            false => all = false,
        }
    }
    all
}

/// Takes steps until there is a reason to end. Returns it with the residual norms, if they are known.
fn run(
    problem: &mut Problem<'_>,
    descent: &mut AveragedDescent,
    gradient: &mut ObjectiveGradient<'_>,
    mut variance: Option<GradientVariance>,
    draws: &mut Draws,
    max_iterations: usize,
) -> Result<(Reason, Vec<f64>)> {
    let (n, s) = problem.rhs().dim();
    let period = (n / draws.batches.size() / OBSERVATIONS).max(1);
    let check = (EPOCHS_PER_CHECK * n).div_ceil(draws.batches.size());
    let workers = problem.workers();
    loop {
        let steps = descent.steps();
        if problem.tolerance() > 0.0 && gradient.has_residual() && steps.is_multiple_of(check) {
            let norms = match residual_norms(problem, gradient) {
                Err(Error::Stopped) => return Ok((Reason::Stopped, Vec::new())),
                norms => norms?,
            };
            problem.observe(steps, &norms)?;
            if problem.converged(&norms) {
                return Ok((Reason::Converged, norms));
            }
        } else if steps.is_multiple_of(period) {
            problem.observe(steps, &[])?;
        }
        if steps.is_multiple_of(period)
            && let Some(variance) = &mut variance
        {
            // The variance over the probes, or over the targets if there are no probes.
            let first = if s > problem.n_targets() { problem.n_targets() } else { 0 };
            match variance.estimate(gradient, descent.iterate(), first) {
                Err(Error::Stopped) => return Ok((Reason::Stopped, Vec::new())),
                variance => problem.note(steps, "gradient_variance", variance?)?,
            }
        }
        if max_iterations > 0 && steps >= max_iterations {
            return Ok((Reason::Iterations, Vec::new()));
        }
        let (batch, seed) = (draws.batches.draw(), draws.seeds.next_u64());
        let gradient = match gradient.estimate(descent.iterate(), batch, seed) {
            // Reported here: more steps have been taken than were observed.
            Err(Error::Stopped) => return Ok((Reason::Stopped, Vec::new())),
            gradient => gradient?,
        };
        if !descent.step(workers, gradient, problem.x_mut()) {
            return Ok((Reason::Diverged, Vec::new()));
        }
    }
}

/// Relative residual norms of the iterate in `x`: one product with A, unless it is zero.
fn residual_norms(problem: &Problem<'_>, gradient: &mut ObjectiveGradient<'_>) -> Result<Vec<f64>> {
    let (x, b) = (problem.x(), problem.rhs());
    let norms = |matrix: ArrayView2<'_, f64>| -> Vec<f64> {
        matrix.axis_iter(Axis(1)).map(|column| column.dot(&column).sqrt()).collect()
    };
    let relative = |(residual, b): (f64, f64)| if b > 0.0 { residual / b } else { residual };
    let residual = match x.iter().all(|&x| x == 0.0) {
        true => norms(b),
        false => norms(gradient.residual(&x, b)?.view()),
    };
    Ok(residual.into_iter().zip(norms(b)).map(relative).collect())
}
