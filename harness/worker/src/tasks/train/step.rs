//! An outer step of training: the gradient, and the update of the parameters.

use gpbench_gp::Gradient;
use gpbench_gp::train::{self, Hyperparameters, Parameters};
use gpbench_host::VolatileObjects;
use gpbench_record::{Kernel, RateSchedule, Scale, Step, Training, names};

use crate::failure::{CaseError, diverged};
use crate::kernel::kernel;
use crate::process;

use super::gradient::StepGradient;
use super::state::State;
use super::trainer::Trainer;

/// Largest number of rows for which the exact likelihood is computed in each step.
const EXACT_ROWS: usize = 3000;

impl Trainer<'_> {
    /// Takes one outer step. The state is unchanged where it fails.
    pub(super) fn step(&self, state: &mut State, volatile: &mut VolatileObjects) -> Result<Step, CaseError> {
        let rows = &self.setup.rows;
        let count = state.steps.len() as u64;
        let kernel = state.kernel(&self.setup.kernel);
        if count > 0 {
            self.check(&kernel)?;
        }
        let mut found = self.gradient(&kernel, count, state, volatile)?;

        let began = process::now();
        self.hold_fixed(&mut found.gradient);
        // A mean is its own unconstrained parameter.
        let mut chained = state.parameters.chain(&found.gradient);
        chained.extend(state.mean.map(|_| found.by_mean));
        if !chained.iter().all(|derivative| derivative.is_finite()) {
            return Err(diverged("the gradient is not finite"));
        }
        let before = self.point_before(state);
        let Training { learning_rate, schedule, .. } = self.task;
        let rate = schedule_of(schedule).learning_rate(*learning_rate, count);
        match self.replayed(count + 1)? {
            Some(replayed) => (state.parameters, state.mean) = replayed,
            None => state.ascend(&chained, rate),
        }
        found.metrics.insert(names::LIKELIHOOD_GAIN, gain(&chained, &before, &state.point()));
        found.outer += process::now().wall - began.wall;

        let StepGradient { cost, outer, mut metrics, .. } = found;
        for (name, value) in [
            (names::EPOCHS, cost.epochs(rows.n())),
            (names::ITERATIONS, cost.iterations as f64),
            (names::SECONDS_PREPARE, cost.prepare.wall),
            (names::SECONDS_SOLVE, cost.solve.wall),
            (names::SECONDS_OUTER, outer),
        ] {
            metrics.insert(name, value);
        }
        let likelihood = match found.log_marginal_likelihood {
            Some(value) => Some(value),
            None => self.likelihood_of_few(&kernel)?,
        };
        if let Some(value) = likelihood {
            metrics.insert(names::LOG_MARGINAL_LIKELIHOOD, value);
        }
        let hyperparameters = kernel.hyperparameters();
        let step = Step { step: count, hyperparameters, reason: found.reason, metrics };
        state.steps.push(step.clone());
        state.cost = state.cost.plus(cost);
        state.outer += outer;
        state.before = state.solution.take().filter(|_| self.is_extrapolated());
        state.solution = found.solution;
        state.inducing = found.inducing;
        state.solver = found.solver;
        Ok(step)
    }

    /// Checks that training has not moved a scale to where no kernel has it.
    pub(super) fn check(&self, of: &Kernel) -> Result<(), CaseError> {
        kernel(of, self.setup.rows.d()).map(drop).map_err(diverged)
    }

    /// The point of the step before, or that of this step if it is the first.
    fn point_before(&self, state: &State) -> Vec<f64> {
        let step = state.steps.last();
        match step.and_then(|step| self.setup.kernel.with_hyperparameters(&step.hyperparameters)) {
            Some(Kernel { noise_scale, signal_scale, length_scale, mean, .. }) => {
                let parameters =
                    Parameters::new(&Hyperparameters { noise_scale, signal_scale, length_scale });
                parameters.unconstrained.into_iter().chain(mean).collect()
            }
            None => state.point(),
        }
    }

    /// Sets the derivatives by fixed scales to 0: Adam does not move a parameter whose derivative is always 0.
    fn hold_fixed(&self, gradient: &mut Gradient) {
        for scale in &self.task.fixed {
            match scale {
                Scale::NoiseScale => gradient.noise_scale = 0.0,
                Scale::SignalScale => gradient.signal_scale = 0.0,
                Scale::LengthScale => gradient.length_scale.fill(0.0),
            }
        }
    }

    /// The exact log marginal likelihood, where there are few rows. No clock runs.
    fn likelihood_of_few(&self, kernel: &Kernel) -> Result<Option<f64>, CaseError> {
        if self.setup.rows.n() <= EXACT_ROWS { self.exact_likelihood(kernel) } else { Ok(None) }
    }
}

/// Gain of the log marginal likelihood around a step by its gradient: half of the gradient times the change between the
/// points before and after it. Over several steps, this is the integral of the gradient along the path by the
/// trapezoidal rule.
fn gain(gradient: &[f64], before: &[f64], after: &[f64]) -> f64 {
    let changes = after.iter().zip(before).map(|(after, before)| after - before);
    0.5 * gradient.iter().zip(changes).map(|(derivative, change)| derivative * change).sum::<f64>()
}

fn schedule_of(schedule: &RateSchedule) -> train::Schedule {
    match schedule.clone() {
        RateSchedule::Constant => train::Schedule::Constant,
        RateSchedule::MultiStep { milestones, factor } => train::Schedule::MultiStep { milestones, factor },
    }
}
