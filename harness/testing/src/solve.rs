//! Runs a solver on a [`DenseProblem`] and records the outcome.

use gpbench_host::{CallError, IterationInfo, Observer, Session, SolverEntry, SolverObject, SolverState};
use gpbench_sdk::Solver;
use gpbench_terms::{ParamValue, Reason};
use ndarray::{Array2, ArrayView2, ShapeBuilder};

use crate::DenseProblem;
use crate::entry::solver_entry;
use crate::services::host;
use crate::settings::by_name;

/// Outcome of a solve.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The solution.
    pub x: Array2<f64>,
    /// Why the solver ended, as it reports.
    pub reason: Reason,
    /// Iterations, as reported.
    pub iterations: i64,
    /// Residual norms, as reported.
    pub claimed: Vec<f64>,
    /// Further numbers, as reported, in the order of their names.
    pub numbers: Vec<(String, f64)>,
    /// Iteration and norms, as observed.
    pub trace: Vec<(i64, Vec<f64>)>,
    /// Iteration, name and value of the solver's own numbers, as noted.
    pub notes: Vec<(i64, String, f64)>,
    /// Iterates, if requested: one for each entry of the trace at which the budget is not spent.
    pub iterates: Vec<Array2<f64>>,
    /// Kernel entries used by `prepare`.
    pub entries_prepare: f64,
    /// Kernel entries used, `prepare` included.
    pub entries: f64,
    /// State that the solver has saved, for [`DenseProblem::state`].
    pub state: SolverState,
}

impl Outcome {
    /// A further number that the solver has reported.
    ///
    /// # Panics
    /// If it has not reported the number.
    #[must_use]
    #[track_caller]
    pub fn number(&self, name: &str) -> f64 {
        let found = self.numbers.iter().find(|(reported, _)| reported == name);
        found.unwrap_or_else(|| panic!("no number is called `{name}`")).1
    }
}

impl DenseProblem {
    /// Makes a solver, prepares and solves. Parameters not given have their defaults.
    pub fn solve<S: Solver>(&self, params: &[(&str, ParamValue)]) -> Result<Outcome, CallError> {
        self.solve_with(&solver_entry::<S>(), params)
    }

    /// Like [`solve`](Self::solve), for a solver given by its entry.
    pub fn solve_with(
        &self,
        solver: &SolverEntry,
        params: &[(&str, ParamValue)],
    ) -> Result<Outcome, CallError> {
        let host = host();
        let mut object = SolverObject::create(solver, host, &by_name(params))?;
        let mut x = Array2::zeros(self.start.dim().f());
        x.assign(&self.start);
        let mut log =
            SolveLog { iterates_wanted: self.iterates, stop_at: self.stop_at, ..SolveLog::default() };
        let mut session =
            Session::new(&self.system, self.limits, host, &mut log).with_state(self.state.clone());
        if let Some(objects) = &self.objects {
            session = session.with_volatile(objects.take());
        }
        let ended = object.run(&session, &mut x);
        if let Some(objects) = &self.objects {
            objects.replace(session.take_volatile());
        }
        let state = session.into_state();
        let outcome = ended?;
        Ok(Outcome {
            x,
            reason: outcome.reason,
            iterations: outcome.cost.iterations as i64,
            claimed: outcome.claimed,
            numbers: outcome.values.into_iter().collect(),
            trace: log.trace,
            notes: log.notes,
            iterates: log.iterates,
            entries_prepare: outcome.cost.entries.setup,
            entries: outcome.cost.entries.used,
            state,
        })
    }
}

/// Observer that records a solve and asks it to stop at an iteration.
#[derive(Debug, Default)]
struct SolveLog {
    iterates_wanted: bool,
    stop_at: Option<u64>,
    /// Whether the solver is asked to stop at the iteration recorded last.
    is_last: bool,
    trace: Vec<(i64, Vec<f64>)>,
    notes: Vec<(i64, String, f64)>,
    iterates: Vec<Array2<f64>>,
}

impl Observer for SolveLog {
    fn wants_iterate(&mut self, _: IterationInfo<'_>) -> bool {
        self.iterates_wanted
    }

    fn record(&mut self, info: IterationInfo<'_>, iterate: Option<ArrayView2<f64>>) {
        self.is_last = self.stop_at.is_some_and(|last| info.iteration >= last);
        self.iterates.extend(iterate.map(|x| x.to_owned()));
        self.trace.push((info.iteration as i64, info.claimed.to_vec()));
    }

    fn wants_stop(&mut self) -> bool {
        self.is_last
    }

    fn note(&mut self, info: IterationInfo<'_>, name: &str, value: f64) {
        self.notes.push((info.iteration as i64, name.to_owned(), value));
    }
}
