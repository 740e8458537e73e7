//! Task `train`: an outer loop around the solver.
//!
//! Each step builds the operator and the right-hand sides under the step's hyperparameters, lets a new
//! object of the solver solve them, and moves the hyperparameters along a gradient made of the
//! solutions. With warm starts the right-hand sides are the same draws in every step, and the last
//! solutions stand in the iterate; without, probes are drawn afresh and the iterate is zero.
//!
//! Where random features stand for the kernel, a step solves nothing, and only the prediction needs the solver.
//!
//! Judging a step (one product for its residuals, predictions on the test rows, the exact likelihood where
//! there are few rows) is outside all clocks.
//! After the last step the posterior under the final hyperparameters is solved for, as by task
//! `posterior`, for verification to judge.

use std::sync::Arc;

use gpbench_data::Split;
use gpbench_gp::exact::{ExactGp, Gradient};
use gpbench_gp::thread_pool;
use gpbench_gp::train::{self, Adam, Hyperparameters, Parameters, SubsetFit, estimator};
use gpbench_record::{
    self as record, Case, Clock, Entries, EstimatorMethod, Failure, Job, Kernel, Message, Metrics, Solved,
    Solver, Status, Step, StopReason, Subset, Task, Trained, Training, names,
};
use ndarray::{Array2, ShapeBuilder, s};
use rand::Rng;
use rayon::ThreadPool;

use crate::case::{KEPT_SHARE, failure, invalid, spare_memory};
use crate::checkpoint::{self, State};
use crate::estimate;
use crate::judge::{Judge, claims};
use crate::plugin::{Ending, HostTable, Library, Session, SolverEntry, SolverObject, Terms};
use crate::system::{self, System};
use crate::{process, solution};

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
        values: ending.values,
        trained: Some(Trained {
            hyperparameters: prediction.kernel.hyperparameters(),
            steps: state.steps.len() as u64,
            seconds: state.prepare.wall + state.solve.wall + state.outer,
            predict: ending.prepare.plus(ending.solve),
            predict_epochs: ending.entries.used / (trainer.data.x_train.nrows() as f64).powi(2),
        }),
    })
}

/// Up to this many rows the exact likelihood stands beside each step.
const EXACT_ROWS: usize = 3000;

/// What an outer step found before it moved.
struct Estimated {
    gradient: Gradient,
    log_marginal_likelihood: Option<f64>,
    solution: Option<Array2<f64>>,
    reason: StopReason,
    iterations: u64,
    prepare: Clock,
    solve: Clock,
    entries: Entries,
    /// Wall-clock seconds beside the solver.
    outer: f64,
    metrics: Metrics,
}

/// Where a solve starts, and what that took.
struct Start {
    x: Array2<f64>,
    solve: Clock,
    entries: Entries,
}

/// The posterior that a case ends with, solved for.
struct Prediction {
    ending: Ending,
    case: Case,
    kept_bytes: u64,
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
    /// Where an earlier process has stopped, or else the beginning.
    fn begin(&self) -> Result<State, Failure> {
        if let Some(file) = &self.job.checkpoint_file {
            match checkpoint::read(file) {
                Ok(Some(state)) => return Ok(state),
                Ok(None) => {}
                Err(error) => eprintln!("[warning] training starts again: {error}"),
            }
        }
        let kernel = &self.job.case.kernel;
        // Checks the numbers, and spreads one length scale over the inputs.
        let each = system::kernel(kernel, self.data.x_train.ncols()).map_err(invalid)?.length_scale;
        let length_scale = match self.training.shared_length_scale {
            true => kernel.length_scale[..1].to_vec(),
            false => each,
        };
        let initial = Hyperparameters {
            noise_scale: kernel.noise_scale,
            signal_scale: kernel.signal_scale,
            length_scale,
        };
        let began = process::now();
        let parameters = match self.replayed(0)? {
            Some(replayed) => replayed,
            None => Parameters::new(&self.fitted_to_parts(initial)?),
        };
        let outer = process::now().wall - began.wall;
        let adam = Adam::new(parameters.unconstrained.len());
        Ok(State {
            parameters,
            adam,
            solution: None,
            before: None,
            steps: Vec::new(),
            prepare: Clock::default(),
            solve: Clock::default(),
            entries: Entries::default(),
            outer,
        })
    }

    /// Where the steps begin, from where fits of parts of the data begin, if there are such.
    fn fitted_to_parts(&self, initial: Hyperparameters) -> Result<Hyperparameters, Failure> {
        let Some(Subset { centroids, size, steps }) = self.training.subset else { return Ok(initial) };
        let case = &self.job.case;
        let (x, y) = (self.data.x_train.view(), self.data.y_train.view());
        let family = system::kernel(&case.kernel, x.ncols()).map_err(invalid)?.family;
        let rng = &mut system::streams(&case.dataset, family, case.seed).stream("centroids");
        let subset = SubsetFit { centroids, size, steps, learning_rate: self.training.learning_rate };
        subset.fit(family, &initial, x, y, rng, self.job.threads).map_err(invalid)
    }

    /// The parameters of step `step`, where they are known beforehand.
    fn replayed(&self, step: u64) -> Result<Option<Parameters>, Failure> {
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
        let Kernel { noise_scale, signal_scale, length_scale, .. } = kernel;
        Ok(Some(Parameters::new(&Hyperparameters { noise_scale, signal_scale, length_scale })))
    }

    /// What is left of the time budget, which is one for all steps.
    fn seconds_left(&self, state: &State) -> Option<f64> {
        self.job.case.budget.seconds.map(|seconds| seconds - state.prepare.wall - state.solve.wall)
    }

    /// Takes one outer step.
    fn step(&self, state: &mut State) -> Result<Step, Failure> {
        let case = &self.job.case;
        let count = state.steps.len() as u64;
        let posed = Case { kernel: kernel_at(&case.kernel, &state.parameters), ..case.clone() };
        let mut found = match case.estimator.method.is_of_features() {
            true => self.by_features(&posed, count)?,
            false => self.by_solutions(&posed, count, state)?,
        };

        let began = process::now();
        let chained = state.parameters.chain(&found.gradient);
        if !chained.iter().all(|derivative| derivative.is_finite()) {
            let reason = format!("the gradient of step {count} is not finite");
            return Err(Failure { status: Status::Diverged, reason });
        }
        let Training { learning_rate, schedule, .. } = self.training;
        let rate = schedule_of(schedule).learning_rate(*learning_rate, count);
        match self.replayed(count + 1)? {
            Some(replayed) => state.parameters = replayed,
            None => state.adam.ascend(&mut state.parameters.unconstrained, &chained, rate),
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
        if let Some(value) = found.log_marginal_likelihood.or_else(|| self.exact_likelihood(&posed)) {
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
        Ok(step)
    }

    /// A step whose likelihood is one of random features: nothing is solved. The frequencies of `rff` are part
    /// of its model, and stay; those of `ss_rff` have to be fresh for its estimates to have no bias.
    fn by_features(&self, posed: &Case, count: u64) -> Result<Estimated, Failure> {
        let began = process::now();
        let draw = if posed.estimator.method == EstimatorMethod::Rff { 0 } else { count };
        let (likelihood, features) = estimate::likelihood_of_features(posed, &self.data, &self.pool, draw)?;
        let mut metrics = Metrics::default();
        metrics.insert(names::FEATURES, features as f64);
        Ok(Estimated {
            gradient: likelihood.gradient,
            log_marginal_likelihood: None,
            solution: None,
            reason: StopReason::Iterations,
            iterations: 0,
            prepare: Clock::default(),
            solve: Clock::default(),
            entries: Entries::default(),
            outer: process::now().wall - began.wall,
            metrics,
        })
    }

    /// A step whose gradient is made of solutions.
    fn by_solutions(&self, posed: &Case, count: u64, state: &State) -> Result<Estimated, Failure> {
        let estimator = &posed.estimator;
        let began = process::now();
        let redraw = (!estimator.warm_start && count > 0).then_some(count);
        let mut system = self.pose(posed, redraw)?;
        let mut outer = process::now().wall - began.wall;
        let Start { mut x, solve, entries } = self.start(&system, state);
        let terms = self.terms(&system, &format!("solver/{count}"), self.seconds_left(state));
        let max_epochs = terms.max_epochs.map(|most| most - entries.used / (system.n() as f64).powi(2));
        let terms = Terms { max_epochs, ..terms };
        let ending = self.solve(&posed.solver, &mut system, &mut x, terms)?;
        let mut found = Estimated {
            gradient: Gradient { noise_scale: 0.0, signal_scale: 0.0, length_scale: Vec::new() },
            log_marginal_likelihood: None,
            solution: None,
            reason: ending.reason,
            iterations: ending.iterations,
            prepare: ending.prepare,
            solve: solve.plus(ending.solve),
            entries: entries.plus(ending.entries),
            outer: 0.0,
            metrics: claims(&ending.claimed),
        };
        let again = match estimator.second_solve {
            false => None,
            true => Some(self.solve_again(posed, count, state, &mut found)?),
        };

        let began = process::now();
        (found.gradient, found.log_marginal_likelihood) = self.gradient(&system, &x, again.as_ref())?;
        outer += process::now().wall - began.wall;
        found.outer = outer;

        let judge = Judge::new(&system, None, Task::Posterior);
        found.metrics.extend(&judge.glance(x.view()));
        found.metrics.extend(&judge.residuals(x.view()));
        found.solution = Some(x);
        Ok(found)
    }

    /// Where a step's solve starts, and what it took to get there.
    fn start(&self, system: &System, state: &State) -> Start {
        let estimator = &self.job.case.estimator;
        let mut start = Start {
            x: Array2::zeros((system.n(), system.columns()).f()),
            solve: Clock::default(),
            entries: Entries::default(),
        };
        let Some(last) = state.solution.as_ref().filter(|_| estimator.warm_start) else { return start };
        let Some(before) = state.before.as_ref().filter(|_| estimator.extrapolate) else {
            start.x.assign(last);
            return start;
        };
        let began = process::now();
        let rhs = system.targets.rhs.view();
        start.x = train::extrapolate(&system.operator, rhs, last.view(), before.view());
        let ended = process::now();
        start.solve = Clock { wall: ended.wall - began.wall, cpu: ended.cpu - began.cpu };
        // One product with H.
        let used = (system.n() as f64).powi(2);
        start.entries = Entries { used, evaluated: used, ..Entries::default() };
        start
    }

    /// Solves for y a second time, with other random numbers.
    fn solve_again(
        &self,
        posed: &Case,
        count: u64,
        state: &State,
        found: &mut Estimated,
    ) -> Result<Array2<f64>, Failure> {
        let mut alone = posed.clone();
        alone.estimator.probes = 0;
        let mut system = self.pose(&alone, None)?;
        let mut x = Array2::zeros((system.n(), 1).f());
        if let Some(last) = state.solution.as_ref().filter(|_| posed.estimator.warm_start) {
            x.assign(&last.slice(s![.., ..1]));
        }
        let terms = self.terms(&system, &format!("solver/{count}/again"), self.seconds_left(state));
        let ending = self.solve(&posed.solver, &mut system, &mut x, terms)?;
        found.iterations += ending.iterations;
        found.prepare = found.prepare.plus(ending.prepare);
        found.solve = found.solve.plus(ending.solve);
        found.entries = found.entries.plus(ending.entries);
        Ok(x)
    }

    /// The exact log marginal likelihood at a step's hyperparameters, where there are few rows. No clock runs.
    fn exact_likelihood(&self, posed: &Case) -> Option<f64> {
        let (x, y) = (self.data.x_train.view(), self.data.y_train.view());
        if y.len() > EXACT_ROWS {
            return None;
        }
        let kernel = system::kernel(&posed.kernel, x.ncols()).ok()?;
        let gp = ExactGp::fit(&kernel, posed.kernel.noise_scale, x, y, self.job.threads).ok()?;
        Some(gp.log_marginal_likelihood)
    }

    /// Solves for the posterior under the final hyperparameters, and leaves the solution in its file. The
    /// last solutions are its start where they were warm starts: all of them, if they were of pathwise
    /// targets, or else the one of y.
    fn predict(&self, state: &State) -> Result<Prediction, Failure> {
        let case = &self.job.case;
        let named = kernel_at(&case.kernel, &state.parameters).hyperparameters();
        let prediction = case.prediction(&named).expect("the names are those of a kernel");
        let mut system = self.pose(&prediction, None)?;
        let mut x = Array2::zeros((system.n(), system.columns()).f());
        if let Some(last) = state.solution.as_ref().filter(|_| case.estimator.warm_start) {
            let known = if case.estimator.method == EstimatorMethod::Pathwise { last.ncols() } else { 1 };
            x.slice_mut(s![.., ..known]).assign(&last.slice(s![.., ..known]));
        }
        let terms = self.terms(&system, "solver", None);
        let mut ending = self.solve(&prediction.solver, &mut system, &mut x, terms)?;
        if !x.iter().all(|value| value.is_finite()) {
            ending.reason = StopReason::Diverged;
        }
        solution::write(&self.job.solution_file, x.view()).map_err(invalid)?;
        Ok(Prediction { ending, case: prediction, kept_bytes: system.kept_bytes() as u64 })
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

    /// Solves with an object of its own, from `x` and into `x`.
    fn solve(
        &self,
        solver: &Solver,
        system: &mut System,
        x: &mut Array2<f64>,
        terms: Terms,
    ) -> Result<Ending, Failure> {
        let mut object = SolverObject::create(self.entry, self.host, &solver.params).map_err(failure)?;
        let spare = spare_memory(&object, system, self.job, self.base_memory_bytes)?;
        system.keep_entries((KEPT_SHARE * spare) as usize);
        let observer = &mut ();
        let session = Session::new(system, terms, process::now, observer);
        object.run(&session, x).map_err(failure)
    }

    /// The gradient at a step's hyperparameters, and the exact likelihood where it is known.
    fn gradient(
        &self,
        system: &System,
        x: &Array2<f64>,
        again: Option<&Array2<f64>>,
    ) -> Result<(Gradient, Option<f64>), Failure> {
        let System { data, operator, .. } = system;
        let method = self.job.case.estimator.method;
        if method != EstimatorMethod::Exact {
            return Ok((estimate::gradient(system, method, x.view(), again), None));
        }
        let (kernel, noise_scale, inputs) = (operator.kernel(), operator.noise_scale(), data.x_train.view());
        let gp = ExactGp::fit(kernel, noise_scale, inputs, data.y_train.view(), self.job.threads);
        let gp = gp.map_err(invalid)?;
        Ok((estimator::exact(&gp, inputs, x.column(0)), Some(gp.log_marginal_likelihood)))
    }
}

/// The kernel under an optimiser's parameters.
fn kernel_at(kernel: &Kernel, parameters: &Parameters) -> Kernel {
    let Hyperparameters { noise_scale, signal_scale, length_scale } = parameters.hyperparameters();
    Kernel { noise_scale, signal_scale, length_scale, ..kernel.clone() }
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
