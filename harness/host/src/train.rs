//! Task `train`: an outer loop around the solver.
//!
//! Each step builds the operator and the right-hand sides under the step's hyperparameters, lets a new
//! object of the solver solve them, and moves the hyperparameters along a gradient made of the
//! solutions (`estimated`). With warm starts the right-hand sides are the same draws in every step, and the
//! last solutions stand in the iterate; without, probes are drawn afresh and the iterate is zero. What the
//! solver saves in a step it finds again in the next.
//!
//! Where random features stand for the kernel, or a Cholesky factor gives the exact gradient, a step poses nothing
//! to the solver, and only the prediction needs it.
//!
//! Judging a step (one product for its residuals, predictions on the test rows, the exact likelihood where
//! there are few rows) is outside all clocks.
//! After the last step the posterior under the final hyperparameters is solved for (`prediction`), as by task
//! `posterior`, for verification to judge.

mod beginning;
mod estimated;
mod landscape;
mod prediction;

use std::sync::Arc;

use gpbench_data::Split;
use gpbench_gp::exact::{ExactGp, Gradient};
use gpbench_gp::thread_pool;
use gpbench_gp::train::{self, Hyperparameters, Parameters};
use gpbench_record::{
    self as record, Case, EstimatorMethod, Failure, Job, Kernel, Message, Scale, Solved, Solver, Status,
    Step, Trained, Training, names,
};
use ndarray::Array2;
use rand::Rng;
use rayon::ThreadPool;

use crate::case::{failure, invalid, keep_entries};
use crate::checkpoint::{self, State};
use crate::plugin::{Ending, HostTable, Kept, Library, Session, SolverEntry, SolverObject, Terms};
use crate::process;
use crate::system::{self, System};

use prediction::Prediction;

/// Trains, predicts, and says how it went; `send` takes the steps along the way.
pub(crate) fn run(job: &Job, send: &mut dyn FnMut(Message)) -> Result<Solved, Failure> {
    let case = &job.case;
    let training = case.train.as_ref().ok_or_else(|| invalid("the case does not say how to train"))?;
    if case.solver.inducing.is_some() {
        return Err(invalid("inducing points cannot be trained with: their weights give no gradient"));
    }
    if case.dataset.collapse_duplicates {
        return Err(invalid(
            "a data set of collapsed duplicates cannot be trained on: steps start from weights of all rows",
        ));
    }
    let data = system::rows(&case.dataset, case.seed, job.dataset_file.as_deref()).map_err(invalid)?;
    let pool = thread_pool(job.threads);
    let library = Library::load(&job.plugin_file, HostTable::new(Some(pool.clone()))).map_err(invalid)?;
    let entry = library.solver(&case.solver.plugin).map_err(invalid)?;
    let trainer = Trainer {
        job,
        training,
        data: Arc::new(data),
        pool,
        entry,
        host: library.host(),
        base_memory_bytes: process::peak_memory_bytes(),
    };
    let startup_seconds = process::seconds_since_start();

    let mut state = trainer.begin()?;
    state.steps.iter().for_each(|step| send(Message::Step(step.clone())));
    while (state.steps.len() as u64) < training.steps && trainer.seconds_left(&state).is_none_or(|s| s > 0.0)
    {
        let step = trainer.step(&mut state)?;
        send(Message::Step(step));
        if let Some(file) = &job.checkpoint_file {
            checkpoint::write(file, &state).map_err(invalid)?;
        }
    }
    let Prediction { ending, case: prediction, kept_bytes } = trainer.predict(&state)?;
    Ok(Solved {
        n: trainer.data.x_train.nrows(),
        d: trainer.data.x_train.ncols(),
        reason: ending.reason,
        iterations: sum(&state.steps, names::ITERATIONS) as u64,
        claimed: ending.claimed,
        prepare: state.prepare,
        solve: state.solve,
        entries: state.entries,
        peak_memory_bytes: process::peak_memory_bytes(),
        base_memory_bytes: trainer.base_memory_bytes,
        kept_bytes,
        startup_seconds,
        pose_seconds: 0.0,
        values: ending.values,
        trained: Some(Trained {
            hyperparameters: prediction.kernel.hyperparameters(),
            steps: state.steps.len() as u64,
            seconds: state.prepare.wall + state.solve.wall + state.outer,
            predict: ending.prepare.plus(ending.solve),
            predict_epochs: ending.entries.used / (trainer.data.x_train.nrows() as f64).powi(2),
            landscape: trainer.landscape(&state),
        }),
    })
}

/// What all steps have in common.
struct Trainer<'a> {
    job: &'a Job,
    training: &'a Training,
    data: Arc<Split>,
    pool: Arc<ThreadPool>,
    entry: &'a SolverEntry,
    host: &'static HostTable,
    base_memory_bytes: u64,
}

impl Trainer<'_> {
    /// Takes one outer step.
    fn step(&self, state: &mut State) -> Result<Step, Failure> {
        let case = &self.job.case;
        let count = state.steps.len() as u64;
        let posed = Case { kernel: kernel_at(&case.kernel, state), ..case.clone() };
        let mut found = match case.estimator.method {
            EstimatorMethod::Exact => self.by_factor(&posed, count)?,
            EstimatorMethod::Rff | EstimatorMethod::SsRff => self.by_features(&posed, count)?,
            EstimatorMethod::Standard | EstimatorMethod::Pathwise => {
                self.by_solutions(&posed, count, state)?
            }
        };

        let began = process::now();
        self.hold_fixed(&mut found.gradient);
        // A mean is its own unconstrained parameter.
        let mut chained = state.parameters.chain(&found.gradient);
        chained.extend(state.mean.map(|_| found.by_mean));
        if !chained.iter().all(|derivative| derivative.is_finite()) {
            let reason = format!("the gradient of step {count} is not finite");
            return Err(Failure { status: Status::Diverged, reason });
        }
        let Training { learning_rate, schedule, .. } = self.training;
        let rate = schedule_of(schedule).learning_rate(*learning_rate, count);
        match self.replayed(count + 1)? {
            Some(replayed) => (state.parameters, state.mean) = replayed,
            None => state.ascend(&chained, rate),
        }
        found.outer += process::now().wall - began.wall;

        let mut metrics = found.metrics;
        for (name, value) in [
            (names::EPOCHS, found.entries.used / (self.data.x_train.nrows() as f64).powi(2)),
            (names::ITERATIONS, found.iterations as f64),
            (names::SECONDS_PREPARE, found.prepare.wall),
            (names::SECONDS_SOLVE, found.solve.wall),
            (names::SECONDS_OUTER, found.outer),
        ] {
            metrics.insert(name, value);
        }
        if let Some(value) = found.log_marginal_likelihood.or_else(|| self.likelihood_of_few(&posed)) {
            metrics.insert(names::LOG_MARGINAL_LIKELIHOOD, value);
        }
        let hyperparameters = posed.kernel.hyperparameters();
        let step = Step { step: count, hyperparameters, reason: found.reason, metrics };
        state.steps.push(step.clone());
        state.prepare = state.prepare.plus(found.prepare);
        state.solve = state.solve.plus(found.solve);
        state.entries = state.entries.plus(found.entries);
        state.outer += found.outer;
        state.before = state.solution.take().filter(|_| case.estimator.extrapolate);
        state.solution = found.solution;
        state.kept = found.kept;
        Ok(step)
    }

    /// Takes the fixed scales out of a gradient: Adam leaves a parameter alone whose derivative is always 0.
    fn hold_fixed(&self, gradient: &mut Gradient) {
        for scale in &self.training.fixed {
            match scale {
                Scale::NoiseScale => gradient.noise_scale = 0.0,
                Scale::SignalScale => gradient.signal_scale = 0.0,
                Scale::LengthScale => gradient.length_scale.fill(0.0),
            }
        }
    }

    /// The parameters of step `step` and the prior mean, where they are known beforehand.
    fn replayed(&self, step: u64) -> Result<Option<(Parameters, Option<f64>)>, Failure> {
        let path = &self.training.replay;
        if path.is_empty() {
            return Ok(None);
        }
        let named = usize::try_from(step).ok().and_then(|step| path.get(step));
        let kernel = named.and_then(|named| self.job.case.kernel.with_hyperparameters(named));
        let Some(kernel) = kernel else {
            return Err(invalid(format!("the path to replay has no hyperparameters of step {step}")));
        };
        system::kernel(&kernel, self.data.x_train.ncols()).map_err(invalid)?;
        let Kernel { noise_scale, signal_scale, length_scale, mean, .. } = kernel;
        let parameters = Parameters::new(&Hyperparameters { noise_scale, signal_scale, length_scale });
        Ok(Some((parameters, mean)))
    }

    /// What is left of the time budget, which is one for all steps.
    fn seconds_left(&self, state: &State) -> Option<f64> {
        self.job.case.budget.seconds.map(|seconds| seconds - state.prepare.wall - state.solve.wall)
    }

    /// The exact log marginal likelihood under a kernel; none where its matrix is not positive definite in double
    /// precision. No clock runs.
    fn exact_likelihood(&self, kernel: &Kernel) -> Option<f64> {
        let data = system::about(self.data.clone(), kernel);
        let (x, y) = (data.x_train.view(), data.y_train.view());
        let noise_scale = kernel.noise_scale;
        let kernel = system::kernel(kernel, x.ncols()).ok()?;
        let gp = ExactGp::fit(&kernel, noise_scale, x, y, self.job.threads).ok()?;
        Some(gp.log_marginal_likelihood)
    }

    fn pose(&self, case: &Case, redraw: Option<u64>) -> Result<System, Failure> {
        System::pose(case, self.data.clone(), self.pool.clone(), redraw).map_err(invalid)
    }

    /// What the solver is asked to keep to, with random numbers from `stream`.
    fn terms(&self, system: &System, stream: &str, seconds: Option<f64>) -> Terms {
        let budget = &self.job.case.budget;
        Terms {
            tolerance: budget.tolerance,
            max_epochs: budget.max_epochs,
            seconds,
            threads: self.job.threads,
            seed: system.streams.stream(stream).next_u64(),
        }
    }

    /// Solves with an object of its own, from `x` and into `x`. The solver finds what it has `kept` in an
    /// earlier step, and leaves what it keeps now.
    fn solve(
        &self,
        solver: &Solver,
        system: &mut System,
        x: &mut Array2<f64>,
        terms: Terms,
        kept: &mut Kept,
    ) -> Result<Ending, Failure> {
        let mut object = SolverObject::create(self.entry, self.host, &solver.params).map_err(failure)?;
        keep_entries(&object, system, self.job, self.base_memory_bytes)?;
        let observer = &mut ();
        let session = Session::new(system, terms, process::now, observer).keeping(std::mem::take(kept));
        let ending = object.run(&session, x).map_err(failure);
        *kept = session.into_kept();
        ending
    }
}

/// The kernel under the hyperparameters that training has come to.
fn kernel_at(kernel: &Kernel, state: &State) -> Kernel {
    let Hyperparameters { noise_scale, signal_scale, length_scale } = state.parameters.hyperparameters();
    Kernel { noise_scale, signal_scale, length_scale, mean: state.mean, ..kernel.clone() }
}

fn schedule_of(schedule: &record::Schedule) -> train::Schedule {
    match schedule.clone() {
        record::Schedule::Constant => train::Schedule::Constant,
        record::Schedule::MultiStep { milestones, factor } => {
            train::Schedule::MultiStep { milestones, factor }
        }
    }
}

fn sum(steps: &[Step], name: &str) -> f64 {
    steps.iter().filter_map(|step| step.metrics.get(name)).sum()
}
