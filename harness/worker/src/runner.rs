//! Runs the solver of a case: loads its library, creates objects, sets their limits and memory, and collects outcomes.

use std::cell::Cell;
use std::collections::BTreeMap;

use gpbench_host::{
    Allowance, Library, Observer, Session, SolveCost, SolveLimits, SolveOutcome, SolverEntry, SolverObject,
    SolverState, VolatileObjects, difference, shape_of,
};
use gpbench_record::{
    Budget, Capability, CaseStatus, Clock, Failure, Message, Metrics, ParamValue, Solved, TaskOutput, names,
};
use ndarray::{Array2, ShapeBuilder};
use rand::Rng;

use crate::beginning::Beginning;
use crate::failure::{CaseError, invalid};
use crate::library::{load_planned, unplanned};
use crate::process;
use crate::services;
use crate::setup::Setup;
use crate::system::{Formulation, System};

/// Share of the unused memory of a solve that cached kernel entries may take. It is below 1 because estimates are
/// rough.
const CACHE_SHARE: f64 = 0.75;

/// Data that a solver carries from one outer step to the next.
pub(crate) struct Carried<'c> {
    /// The state that it has saved, which checkpoints contain.
    pub(crate) state: &'c mut SolverState,
    /// The objects that it keeps in memory.
    pub(crate) volatile: &'c mut VolatileObjects,
    /// Bytes that are kept in memory for other solves.
    pub(crate) elsewhere: usize,
}

/// Resources that the process of a case used before the first solve.
pub(crate) struct Startup<'s> {
    setup: &'s Setup<'s>,
    base_memory_bytes: u64,
    /// Resident memory at that time.
    resident_bytes: u64,
    startup_seconds: f64,
    build_seconds: f64,
}

impl<'s> Startup<'s> {
    /// Ends the start of a case that needs no library. The time since the rows were loaded counts as building systems.
    pub(crate) fn end(setup: &'s Setup<'s>) -> Startup<'s> {
        let build_seconds = process::seconds_since_start() - setup.loaded;
        let base_memory_bytes = process::peak_memory_bytes();
        let resident_bytes = process::resident_bytes();
        Startup { setup, base_memory_bytes, resident_bytes, startup_seconds: setup.loaded, build_seconds }
    }

    /// Checks that the case may use as much memory as its plugin will need, of which `estimate` bytes are beyond the
    /// data. Returns the needed and the allowed memory; `None` where memory is not limited.
    ///
    /// # Errors
    /// Where it needs more memory than is allowed.
    pub(crate) fn check_memory(&self, whose: &str, estimate: f64) -> Result<Option<(f64, f64)>, CaseError> {
        let job = self.setup.job;
        let bounds = [job.case.budget.memory_bytes, job.limits.memory_bytes];
        let Some(bound) = bounds.into_iter().flatten().min() else { return Ok(None) };
        let (bound, base) = (bound as f64, self.base_memory_bytes as f64);
        let needed = base + estimate;
        if needed <= bound {
            return Ok(Some((needed, bound)));
        }
        let reason = format!(
            "the {whose} would need about {} of memory, {} of it for the data; the budget is {}",
            mebibytes(needed),
            mebibytes(base),
            mebibytes(bound)
        );
        Err(Failure { status: CaseStatus::OutOfMemory, reason }.into())
    }

    /// What a library takes before it works, which has been loaded just now.
    pub(crate) fn beginning(&self, library: &Library) -> Beginning {
        Beginning::of(library, self.resident_bytes)
    }

    /// The measurements of a case with a library.
    pub(crate) fn solved_by(
        &self,
        (library, beginning): (&Library, &Beginning),
        outcome: SolveOutcome,
        cached_bytes: usize,
        output: TaskOutput,
    ) -> Solved {
        let mut solved = self.solved(outcome, cached_bytes, output);
        solved.metrics.extend(&beginning.metrics());
        Solved { unplanned_parts: unplanned(library, self.setup.job), ..solved }
    }

    /// The measurements of a case. What a library has left running counts as the solve's.
    pub(crate) fn solved(&self, outcome: SolveOutcome, cached_bytes: usize, output: TaskOutput) -> Solved {
        let SolveOutcome {
            stop_reason,
            claimed,
            values,
            cost,
            uncounted,
            reason: _,
            precision: _,
            product: _,
        } = outcome;
        let left = process::left_running();
        let solve = cost.solve.plus(Clock { wall: 0.0, cpu: left.seconds });
        let mut metrics = Metrics::default();
        if uncounted > 0.0 {
            metrics.insert(names::SECONDS_ITERATES, uncounted);
        }
        Solved {
            n: self.setup.rows.n(),
            d: self.setup.rows.d(),
            reason: stop_reason,
            iterations: cost.iterations,
            claimed,
            prepare: cost.prepare,
            solve,
            entries: cost.entries,
            peak_memory_bytes: process::peak_memory_bytes() + left.bytes,
            base_memory_bytes: self.base_memory_bytes,
            cached_bytes: cached_bytes as u64,
            startup_seconds: self.startup_seconds,
            build_seconds: self.build_seconds,
            values,
            metrics,
            unplanned_parts: Vec::new(),
            start: None,
            output,
        }
    }
}

/// Sends [`Message::Loading`], since faults from then on may be the plugin's, and loads the library of a case. This
/// ends the start of the case.
pub(crate) fn load<'s>(
    setup: &'s Setup<'s>,
    send: &mut dyn FnMut(Message),
) -> Result<(Library, Startup<'s>), CaseError> {
    let startup = Startup::end(setup);
    send(Message::Loading);
    let library = load_planned(setup.job, services::host(Some(setup.pool.clone())))?;
    let loaded = process::seconds_since_start() - library.described().wall;
    let startup_seconds = loaded - startup.build_seconds;
    Ok((library, Startup { startup_seconds, ..startup }))
}

/// The solver of a case.
pub(crate) struct Runner<'s> {
    setup: &'s Setup<'s>,
    library: Library,
    startup: Startup<'s>,
    beginning: Beginning,
    /// Time of calls of the plugin since the last solve, which the next one records.
    aside: Cell<Clock>,
    /// Counted and uncounted seconds of the solves so far.
    allowance: Cell<Allowance>,
}

impl<'s> Runner<'s> {
    /// Sends [`Message::Loading`] and loads the library; see [`load`].
    pub(crate) fn load(setup: &'s Setup<'s>, send: &mut dyn FnMut(Message)) -> Result<Runner<'s>, CaseError> {
        let (library, startup) = load(setup, send)?;
        library.solver(&setup.job.case.solver.plugin)?;
        let beginning = startup.beginning(&library);
        let (aside, allowance) = (Cell::default(), Cell::default());
        Ok(Runner { setup, library, startup, beginning, aside, allowance })
    }

    fn entry(&self) -> &SolverEntry {
        self.library.solver(&self.setup.job.case.solver.plugin).expect("found when the library was loaded")
    }

    /// Runs a call of the plugin between two solves; the next solve records its time.
    pub(crate) fn aside<T>(&self, call: impl FnOnce() -> T) -> T {
        let began = process::now();
        let found = call();
        self.aside.set(self.aside.get().plus(difference(process::now(), began)));
        found
    }

    /// Creates an object of the solver for a system. The system caches as many kernel entries as fit into the memory
    /// that the solve and `elsewhere` bytes in other use leave.
    ///
    /// # Errors
    /// Where the solver cannot be created, does not support inducing points, or would need more memory than is
    /// allowed.
    pub(crate) fn create(
        &self,
        params: &BTreeMap<String, ParamValue>,
        system: &mut System,
        elsewhere: usize,
    ) -> Result<SolverObject<'_>, CaseError> {
        let entry = self.entry();
        if matches!(system.formulation, Formulation::Inducing { .. }) && !entry.info.can(Capability::Inducing)
        {
            return Err(invalid(format!("solver `{}` does not take inducing points", entry.info.id)));
        }
        let create = || SolverObject::create(entry, self.library.host(), params);
        let (solver, spent) = self.beginning.create(create);
        let mut solver = solver?;
        self.aside.set(self.aside.get().plus(spent));
        let cache = self.cache_bytes(&solver, system, elsewhere)?;
        system.cache_entries(cache as usize);
        let shape = shape_of(system, self.setup.job.threads);
        self.beginning.warm_up(|| solver.warm_up(shape))?;
        Ok(solver)
    }

    /// Bytes for kernel entries that a solve leaves free by its own estimate; 0 where memory is not limited.
    fn cache_bytes(
        &self,
        solver: &SolverObject,
        system: &System,
        elsewhere: usize,
    ) -> Result<f64, CaseError> {
        let (rows, _) = system.view().matrix.shape();
        let estimate = self.aside(|| solver.estimate(rows, system.d(), system.columns()))?;
        let estimate = estimate + (elsewhere as u64 + process::adopted_bytes()) as f64;
        let Some((needed, bound)) = self.startup.check_memory("solver", estimate)? else { return Ok(0.0) };
        // The share bounds only the cached entries; the limit alone decides whether a case can run.
        let planned = self.setup.job.limits.memory_share.map_or(bound, |share| bound.min(share as f64));
        Ok(CACHE_SHARE * (planned - needed).max(0.0))
    }

    /// The limits of the case's budget, with the solver's random numbers from `stream`.
    pub(crate) fn limits(&self, system: &System, stream: &str) -> SolveLimits {
        let Budget { tolerance, max_epochs, seconds, .. } = self.setup.job.case.budget;
        let seed = system.streams.stream(stream).next_u64();
        SolveLimits { tolerance, max_epochs, seconds, threads: self.setup.job.threads, seed }
    }

    /// A session that records the time of the calls since the last solve.
    fn session<'a>(
        &self,
        system: &'a System,
        limits: SolveLimits,
        observer: &'a mut dyn Observer,
    ) -> Session<'a> {
        let session = Session::new(system, limits, self.library.host(), observer);
        let session = session.with_allowance(self.allowance.get());
        session.excuse(self.aside.take());
        session
    }

    /// Destroys the object after its solve, before the solution counts: a plugin that crashes while it frees its memory
    /// has corrupted memory.
    fn destroy(&self, solver: SolverObject, session: &Session, outcome: &mut SolveOutcome) {
        // The memory of its processes is lost when they end with it.
        process::look();
        session.aside(|| drop(solver));
        outcome.cost.solve = difference(session.clock(), outcome.cost.prepare);
        self.allowance.set(session.allowance());
    }

    /// Solves with a new object, from `x` and into `x`. The solver receives the state of the earlier object, and
    /// leaves its own state.
    pub(crate) fn solve(
        &self,
        params: &BTreeMap<String, ParamValue>,
        system: &mut System,
        x: &mut Array2<f64>,
        limits: SolveLimits,
        carried: Option<Carried<'_>>,
    ) -> Result<SolveOutcome, CaseError> {
        let elsewhere = carried.as_ref().map_or(0, |carried| carried.elsewhere);
        let mut solver = self.create(params, system, elsewhere)?;
        let observer = &mut ();
        let mut session = self.session(system, limits, observer);
        let mut kept = None;
        if let Some(Carried { state, volatile, .. }) = carried {
            session = session.with_state(std::mem::take(state)).with_volatile(std::mem::take(volatile));
            kept = Some((state, volatile));
        }
        let mut outcome = solver.run(&session, x)?;
        self.destroy(solver, &session, &mut outcome);
        if let Some((state, volatile)) = kept {
            *volatile = session.take_volatile();
            *state = session.into_state();
        }
        Ok(outcome)
    }

    /// Solves with this object from zero, under observation, and destroys it. Also returns the solution.
    pub(crate) fn observe(
        &self,
        mut solver: SolverObject,
        system: &System,
        limits: SolveLimits,
        observer: &mut dyn Observer,
    ) -> Result<(SolveOutcome, Array2<f64>), CaseError> {
        let mut x = Array2::zeros((system.m(), system.columns()).f());
        let session = self.session(system, limits, observer);
        let mut outcome = solver.run(&session, &mut x)?;
        self.destroy(solver, &session, &mut outcome);
        Ok((outcome, x))
    }

    /// The measurements of the case. The time of calls since the last solve counts as all such calls do.
    pub(crate) fn solved(&self, outcome: SolveOutcome, cached_bytes: usize, output: TaskOutput) -> Solved {
        let mut allowance = self.allowance.get();
        let counted = allowance.take(self.aside.take());
        let cost = SolveCost { solve: outcome.cost.solve.plus(counted), ..outcome.cost };
        let outcome = SolveOutcome { cost, uncounted: allowance.uncounted(), ..outcome };
        self.startup.solved_by((&self.library, &self.beginning), outcome, cached_bytes, output)
    }
}

fn mebibytes(bytes: f64) -> String {
    format!("{:.0} MiB", bytes / f64::from(1 << 20))
}
