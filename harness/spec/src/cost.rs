//! Estimated cost of a case; order of magnitude only.

mod assumption;
mod import;
mod inducing;
mod learning;
mod measured;
mod optimum;
mod thompson;

use gpbench_record::{
    Budget, Capability, FeatureEstimator, GradientEstimator, Learning, PriorSource, Probes, Thompson,
    Training,
};

use crate::spec_case::SpecCase;

pub use assumption::Assumption;
pub(crate) use import::import_bytes;
pub use optimum::{Optima, optimum_seconds};
pub use thompson::ThompsonSeconds;

/// Estimated cost of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaseCost {
    /// Peak memory of the worker, and of the process of a script.
    pub memory_bytes: f64,
    /// Wall-clock seconds of prepare and solve; of a learner, of the evaluations of it as well; of Thompson sampling, of all
    /// parts.
    pub seconds: f64,
    /// The parts of Thompson sampling.
    pub thompson: Option<ThompsonSeconds>,
    /// What the seconds assume of an iterative solver; `None` where the work is known.
    pub assumption: Option<Assumption>,
}

/// The seconds of a solve within its time budget, and what they assume.
fn within_time(budget: &Budget, seconds: f64, assumption: Option<Assumption>) -> (f64, Option<Assumption>) {
    match budget.seconds.filter(|limit| seconds > *limit) {
        Some(limit) => (limit, assumption.map(|_| Assumption::Time(limit))),
        None => (seconds, assumption),
    }
}

const PROCESS_BYTES: f64 = 64e6;
const FLOPS_PER_THREAD: f64 = 3e10;
/// Assumed number of inputs of a data set where it is unknown.
const INPUTS: usize = 10;
const FLOPS_PER_EXPONENTIAL: f64 = 30.0;
/// Fixed seconds of a learner's step: calls, and passes over small arrays.
const SECONDS_PER_STEP: f64 = 5e-5;
/// Flops of a step that make one further thread worth while.
const FLOPS_WORTH_A_THREAD: f64 = 1e7;
/// Epochs that an iterative solver is assumed to take to a tolerance, unless its budget allows fewer or a published run measured them.
const EPOCHS: f64 = 100.0;
/// Epochs of an iterative solver whose preconditioner is a dense factor.
const EPOCHS_WITH_FACTOR: f64 = 3.0;
/// Steps of training that such a factor is assumed to serve.
const STEPS_PER_FACTOR: f64 = 4.0;

/// Seconds that the exact reference of so many training rows is likely to take: a factorisation, and predictions on a
/// ninth as many test rows.
pub fn reference_seconds(n: usize, threads: usize) -> f64 {
    2.0 * (1.0 / 3.0 + 1.0 / 9.0) * (n as f64).powi(3) / (FLOPS_PER_THREAD * threads.max(1) as f64)
}

/// The rounds in which a task uses its solver.
pub(crate) struct Rounds {
    /// How often systems are solved.
    count: u64,
    /// Whether each round factorises and inverts the kernel matrix instead.
    exact: bool,
    /// With how many random features each round does without the solver and the kernel matrix, if so: the fewest, where
    /// their number is random.
    features: Option<usize>,
    /// With how many inducing points each round makes a bound, from the solution for y alone, if so.
    points: Option<usize>,
}

impl Rounds {
    /// `count` rounds that use the solver.
    pub(crate) fn of(count: u64) -> Self {
        Self { count, exact: false, features: None, points: None }
    }

    /// The steps of training.
    pub(crate) fn of_training(training: &Training) -> Self {
        Self {
            count: training.steps,
            exact: training.gradient == GradientEstimator::Exact,
            features: match training.gradient {
                GradientEstimator::Features(
                    FeatureEstimator::Rff { features, .. } | FeatureEstimator::SsRff { features, .. },
                ) => Some(features),
                GradientEstimator::Exact
                | GradientEstimator::Solutions { .. }
                | GradientEstimator::Cglb { .. } => None,
            },
            points: training.gradient.bound().map(|bound| bound.points),
        }
    }
}

impl SpecCase {
    /// The cost of solving the systems of `n` training rows in these rounds.
    pub(crate) fn systems_cost(&self, rounds: &Rounds, n: usize, threads: usize) -> CaseCost {
        // Unknowns that are fewer than rows, with the share of A's columns that they are.
        let inducing = self.case.task.inducing().map(|inducing| inducing::points(inducing, n) as f64);
        let n = n as f64;
        let part = inducing.map_or(1.0, |m| m / n.max(1.0));
        let d = self.d.unwrap_or(INPUTS) as f64;
        let s = self.case.task.right_hand_sides() as f64;
        let rate = FLOPS_PER_THREAD * threads.max(1) as f64;
        let Rounds { count: rounds, exact, features, points } = *rounds;
        let columns = if points.is_some() { 1.0 } else { s };
        // With inducing points each entry is used forward and back.
        let uses = if inducing.is_some() { 2.0 } else { 1.0 };
        let epoch = n * n * (2.0 * d + 2.0 * uses * columns + FLOPS_PER_EXPONENTIAL) / rate;
        let vectors = 8.0 * n * (d + 4.0 * s);
        let budget = &self.case.budget;
        let (mut numbers, mut seconds, assumption) = if exact {
            (2.0 * n * n, epoch + n * n * n / rate, None)
        } else if self.capabilities.contains(&Capability::Exact) {
            (n * n, epoch + n * n * n / 3.0 * 2.0 / rate, None)
        } else if self.capabilities.contains(&Capability::Dense) {
            let served = STEPS_PER_FACTOR.min(rounds as f64);
            let factor = n * n * n / 3.0 / rate / served;
            let (epochs, assumption) = Assumption::of(&self.case, n, part, EPOCHS_WITH_FACTOR);
            (n * n / 2.0, factor + epoch * epochs, Some(assumption))
        } else {
            let (epochs, assumption) = Assumption::of(&self.case, n, part, EPOCHS);
            let (numbers, setup) = inducing.map_or((0.0, 0.0), |m| inducing::preconditioner_cost(m, rate));
            (numbers, setup + epoch * epochs, Some(assumption))
        };
        if let Some(Probes::Pathwise(targets)) = self.case.task.probes()
            && targets.prior == PriorSource::Exact
        {
            let rows = n * 10.0 / 9.0;
            numbers += rows * rows;
            seconds += rows * rows * rows / 3.0 / FLOPS_PER_THREAD;
        }
        if let Some(points) = points {
            let entry = 2.0 * d + FLOPS_PER_EXPONENTIAL;
            let (numbers_of_bound, seconds_of_bound) =
                inducing::bound_cost(n, (points as f64).min(n), entry, rate);
            numbers += numbers_of_bound;
            // The residual takes an epoch.
            seconds += epoch + seconds_of_bound;
        }
        let seconds = match features {
            // The solver serves the prediction at the end alone.
            Some(features) => {
                let features = features as f64;
                numbers += 3.0 * n * features;
                seconds
                    + rounds as f64 * n * features * (4.0 * features + 2.0 * d + FLOPS_PER_EXPONENTIAL) / rate
            }
            None => seconds * rounds as f64,
        };
        let (seconds, assumption) = within_time(budget, seconds, assumption);
        CaseCost {
            memory_bytes: PROCESS_BYTES + vectors + 8.0 * numbers,
            seconds,
            thompson: None,
            assumption,
        }
    }

    /// The cost of Thompson sampling with `n` training rows at its beginning.
    pub(crate) fn thompson_cost(&self, task: &Thompson, n: usize, threads: usize) -> CaseCost {
        let d = self.d.unwrap_or(INPUTS) as f64;
        let is_exact = self.capabilities.contains(&Capability::Exact);
        let budget = &self.case.budget;
        let (epochs, assumption) = Assumption::of(&self.case, n as f64, 1.0, EPOCHS);
        let solve = |n: f64, columns: f64| {
            let epoch = n * n * (2.0 * d + 2.0 * columns + FLOPS_PER_EXPONENTIAL);
            if is_exact { epoch + 2.0 / 3.0 * n.powi(3) } else { epochs * epoch }
        };
        let sizes = [n as f64, d];
        let thompson::Work { flops, numbers } =
            thompson::work(self, task, sizes, FLOPS_PER_EXPONENTIAL, &solve);
        let rate = FLOPS_PER_THREAD * threads.max(1) as f64;
        let ThompsonSeconds { pose, solve, candidates, ascent } = flops;
        let (solve, assumption) = within_time(budget, solve / rate, Some(assumption).filter(|_| !is_exact));
        let parts = ThompsonSeconds {
            pose: pose / rate,
            solve,
            candidates: candidates / rate,
            ascent: ascent / rate,
        };
        let last = n as f64 + task.steps as f64 * task.targets.probes as f64;
        let factor = if is_exact { last * last } else { 0.0 };
        CaseCost {
            memory_bytes: PROCESS_BYTES + 8.0 * (numbers + factor),
            seconds: parts.total(),
            thompson: Some(parts),
            assumption,
        }
    }

    /// The cost of a learner's fit to `n` training rows.
    pub(crate) fn learning_cost(&self, task: &Learning, n: usize, threads: usize) -> CaseCost {
        let d = self.d.unwrap_or(INPUTS);
        let work = learning::work(&self.case, &self.capabilities, task, n, d, FLOPS_PER_EXPONENTIAL);
        let learning::Work { steps, step, threads: useful, looks, numbers } = work;
        let threads = threads.max(1) as f64;
        let of_a_step = threads.min(useful).min(step / FLOPS_WORTH_A_THREAD).max(1.0);
        let fit = steps * (SECONDS_PER_STEP + step / (FLOPS_PER_THREAD * of_a_step));
        let rows = 2.0 * n as f64 * d as f64;
        CaseCost {
            memory_bytes: PROCESS_BYTES + 8.0 * (rows + numbers),
            seconds: self.case.budget.seconds.map_or(fit, |limit| fit.min(limit))
                + looks / (FLOPS_PER_THREAD * threads),
            thompson: None,
            assumption: None,
        }
    }
}
