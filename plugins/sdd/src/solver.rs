//! The solver: draws batches, takes steps, observes, and chooses the learning rate.
//!
//! The estimated residual, which costs no entries, is that of the points where gradients are taken. The solution is
//! their average, whose residual is different; it is computed, for an epoch, before convergence is claimed.

use gpbench_sdk::minibatch::Batches;
use gpbench_sdk::{Capabilities, Error, Facts, Problem, Reason, Report, Result, Solver};

use crate::descent::true_norms;
use crate::rates::Rates;
use crate::{DescentStart, DualDescent, Horizon, SddParams, StepRule};

/// Growth of the estimated residual that counts as divergence.
const DIVERGENCE: f64 = 1e10;

/// The same, while a smaller learning rate can still be tried.
const TRIAL_DIVERGENCE: f64 = 1e3;

/// Observations an epoch.
const OBSERVATIONS: usize = 4;

/// Least distance between two residuals of the average: so many epochs, and this share of all steps.
const PAUSE: (usize, f64) = (4, 0.1);

/// Stochastic dual descent.
#[derive(Debug)]
pub struct Sdd {
    params: SddParams,
}

impl Solver for Sdd {
    type Params = SddParams;
    const ID: &'static str = "sdd";
    const DOC: &'static str = "Stochastic dual descent: momentum on random rows, and averaged iterates";
    const SOURCE: &'static str = "J. A. Lin, S. Padhy, J. Antorán, A. Tripp, A. Terenin, C. Szepesvári, \
        J. M. Hernández-Lobato, D. Janz. Stochastic Gradient Descent for Gaussian Processes Done Right. ICLR 2024.";
    const FACTS: Facts = Facts {
        step: "b n entries for a batch of b rows, and a pass over 3 n s numbers",
        memory: "4 n s + b s + n; with a warm start 2 n s more",
        guarantees: "the residual of the average is computed before convergence is claimed",
        advice: "early stops where no learning rate is known; not for small residuals, at little noise or \
            with small budgets",
    };
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);
    type Prepared = ();

    fn new(params: SddParams) -> Result<Self> {
        Ok(Sdd { params })
    }

    fn prepare(&self, _: &Problem<'_>) -> Result<()> {
        Ok(())
    }

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        // All corrections of a solve share them: a rate that has diverged is not tried again.
        let mut rates = Rates::new(self.params.learning_rate);
        precision.solve(problem, |problem| self.iterate(&mut rates, problem))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // Point, velocity, residual; start and its residual; a product; the order of the rows; products
        // with a batch.
        8.0 * (n as f64 * (6 * s + 1) as f64 + self.params.batch_size.min(n) as f64 * s as f64)
    }
}

impl Sdd {
    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&self, rates: &mut Rates, problem: &mut Problem<'_>) -> Result<Report> {
        let start = DescentStart::of(problem)?;
        let batches = Batches::new(problem.operator().n(), self.params.batch_size, problem.seed());
        let entries = if start.is_warm() { problem.rhs().nrows().pow(2) } else { 0 };
        let mut run = Run { batches, steps: 0, entries, measured: None };
        let mut failed = 0;
        loop {
            let rule = self.rule(rates, problem, &run);
            let mut descent = DualDescent::new(problem, &start, run.batches.size(), rule);
            let patience = if rates.has_next() { TRIAL_DIVERGENCE } else { DIVERGENCE };
            let reason = match run.descend(problem, &mut descent, patience, self.params.max_iterations) {
                // Reported here: otherwise the norms observed last would be the claim, and they are estimates.
                Err(Error::Stopped) => Reason::Stopped,
                other => other?,
            };
            if reason == Reason::Diverged && rates.has_next() {
                rates.advance();
                failed += 1;
                continue;
            }
            let report = Report::new(reason, run.steps)
                .residuals(run.measured.unwrap_or_default())
                .number("learning_rate", rule.learning_rate)
                .number("averaging", rule.averaging)
                .number("failed_trials", f64::from(failed));
            return Ok(report);
        }
    }

    /// The constants of the next trial's steps.
    fn rule(&self, rates: &Rates, problem: &Problem<'_>, run: &Run) -> StepRule {
        let SddParams { gradient, momentum, averaging, max_iterations, .. } = self.params;
        let n = problem.rhs().nrows();
        let steps = if max_iterations == 0 { f64::INFINITY } else { (max_iterations - run.steps) as f64 };
        let epochs = problem.max_epochs() - run.entries as f64 / (n as f64).powi(2);
        let averaging = match averaging {
            0.0 => Horizon { steps, epochs }.weight(n, run.batches.size()),
            given => given,
        };
        StepRule { learning_rate: rates.current(), momentum, averaging, gradient }
    }
}

/// State that all trials share.
struct Run {
    batches: Batches,
    /// Steps done.
    steps: usize,
    /// Kernel entries used.
    entries: usize,
    /// Residual norms of the average, if they have been computed.
    measured: Option<Vec<f64>>,
}

impl Run {
    /// Takes steps until there is a reason to end.
    fn descend(
        &mut self,
        problem: &mut Problem<'_>,
        descent: &mut DualDescent,
        divergence: f64,
        max_iterations: usize,
    ) -> Result<Reason> {
        let n = problem.operator().n();
        let epoch = n / self.batches.size().max(1);
        let period = (epoch / OBSERVATIONS).max(1);
        let (first, mut next_measurement) = (self.steps, self.steps);
        // At least 1: the residual is 0 where there is nothing to solve. A start far from the solution has one above 1.
        let limit = divergence * 1.0_f64.max(problem.worst(&descent.residual_norms()));
        loop {
            let norms = descent.residual_norms();
            let worst = problem.worst(&norms);
            if worst.is_nan() || worst > limit {
                return Ok(Reason::Diverged);
            }
            let close = (problem.converged(&norms) || worst == 0.0) && self.steps >= next_measurement;
            if close || (self.steps - first).is_multiple_of(period) {
                descent.sum_up();
                // Before the first step the average is the start, whose residual is known.
                self.measured = (self.steps == first).then(|| descent.residual_norms());
                if close && self.steps > first {
                    self.measured = Some(true_norms(problem)?);
                    self.entries += n * n;
                    let pause = (PAUSE.0 * epoch).max((PAUSE.1 * self.steps as f64) as usize);
                    next_measurement = self.steps + pause.max(1);
                }
                let norms = self.measured.clone().unwrap_or_else(|| descent.residual_norms());
                problem.observe(self.steps, &norms)?;
                if self.measured.is_some() && (problem.converged(&norms) || problem.worst(&norms) == 0.0) {
                    return Ok(Reason::Converged);
                }
            }
            if max_iterations > 0 && self.steps >= max_iterations {
                return Ok(Reason::Iterations);
            }
            descent.step(problem, self.batches.draw())?;
            self.measured = None;
            self.entries += n * self.batches.size();
            self.steps += 1;
        }
    }
}
