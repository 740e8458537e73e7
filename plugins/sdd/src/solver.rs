//! The loop around the steps: rates, batches, looks at the residual, and the end.
//!
//! The residual that costs nothing is that of the points where gradients are taken. What is returned is an
//! average, which lags behind them; so that is measured, at the price of an epoch, before a tolerance is
//! claimed.

use gpbench_sdk::minibatch::Batches;
use gpbench_sdk::{Capabilities, Error, Problem, Reason, Report, Result, Solver};

use crate::descent::true_norms;
use crate::rates::Rates;
use crate::{Descent, Horizon, Rule, SddParams, Start};

/// Estimated residuals that have grown by this factor will not come back: the steps are too long.
const DIVERGENCE: f64 = 1e10;

/// The same, where a smaller learning rate can be tried.
const TRIAL_DIVERGENCE: f64 = 1e3;

/// Times an epoch that the host is told of the average.
const LOOKS: usize = 4;

/// At least so many epochs, and this share of all steps, lie between two measurements of the average.
const PAUSE: (usize, f64) = (4, 0.1);

/// Stochastic dual descent.
#[derive(Debug)]
pub struct Sdd {
    params: SddParams,
    rates: Rates,
}

impl Solver for Sdd {
    type Params = SddParams;
    const ID: &'static str = "sdd";
    const DOC: &'static str = "Stochastic dual descent: momentum on random rows, and averaged iterates";
    const SOURCE: &'static str = "J. A. Lin, S. Padhy, J. Antorán, A. Tripp, A. Terenin, C. Szepesvári, \
        J. M. Hernández-Lobato, D. Janz. Stochastic Gradient Descent for Gaussian Processes Done Right. ICLR 2024.";
    const CAPABILITIES: Capabilities = Capabilities::RANDOMIZED.and(Capabilities::WARM_START);

    fn new(params: SddParams) -> Result<Self> {
        let rates = Rates::new(params.learning_rate);
        Ok(Sdd { params, rates })
    }

    fn solve(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
        let precision = self.params.precision;
        precision.solve(problem, |problem| self.iterate(problem))
    }

    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // Point, velocity, residual; start and its residual; a product; the order of the rows; products
        // with a batch.
        8.0 * (n as f64 * (6 * s + 1) as f64 + self.params.batch_size.min(n) as f64 * s as f64)
    }
}

impl Sdd {
    /// Solves the problem, or a correction of one, in the precision of its operator.
    fn iterate(&mut self, problem: &mut Problem<'_>) -> Result<Report> {
        let start = Start::of(problem)?;
        let batches = Batches::new(problem.operator().n(), self.params.batch_size, problem.seed());
        let entries = if start.is_warm() { problem.rhs().nrows().pow(2) } else { 0 };
        let mut run = Run { batches, steps: 0, entries, measured: None };
        let mut failed = 0;
        loop {
            let rule = self.rule(problem, &run);
            let mut descent = Descent::new(problem, &start, run.batches.size(), rule);
            let patience = if self.rates.has_next() { TRIAL_DIVERGENCE } else { DIVERGENCE };
            let reason = match run.descend(problem, &mut descent, patience, self.params.max_iterations) {
                // Not passed on: the host would take what was last observed for a claim.
                Err(Error::Stopped) => Reason::Stopped,
                other => other?,
            };
            if reason == Reason::Diverged && self.rates.has_next() {
                self.rates.advance();
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
}

impl Sdd {
    /// What steps are like from here on.
    fn rule(&self, problem: &Problem<'_>, run: &Run) -> Rule {
        let SddParams { gradient, momentum, averaging, max_iterations, .. } = self.params;
        let n = problem.rhs().nrows();
        let steps = if max_iterations == 0 { f64::INFINITY } else { (max_iterations - run.steps) as f64 };
        let epochs = problem.max_epochs() - run.entries as f64 / (n as f64).powi(2);
        let averaging = match averaging {
            0.0 => Horizon { steps, epochs }.weight(n, run.batches.size()),
            given => given,
        };
        Rule { learning_rate: self.rates.current(), momentum, averaging, gradient }
    }
}

/// What goes on from one learning rate to the next.
struct Run {
    batches: Batches,
    /// Steps done.
    steps: usize,
    /// Kernel entries used.
    entries: usize,
    /// Residual norms of the average, if these are known.
    measured: Option<Vec<f64>>,
}

impl Run {
    /// Takes steps until something ends it.
    fn descend(
        &mut self,
        problem: &mut Problem<'_>,
        descent: &mut Descent,
        divergence: f64,
        max_iterations: usize,
    ) -> Result<Reason> {
        let n = problem.operator().n();
        let epoch = n / self.batches.size().max(1);
        let period = (epoch / LOOKS).max(1);
        let (first, mut next_measurement) = (self.steps, self.steps);
        // Nothing to solve has the residual 0, and a start from far away one above 1.
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
                // Before the first step there is one point only, whose residual is known.
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
