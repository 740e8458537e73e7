//! Calls a solver: creates an object, requests its memory estimate, prepares and solves.

use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi::{Problem, Report, Status};
use gpbench_terms::{Capability, ParamValue, Reason, Shape, StopReason};
use ndarray::{Array2, ArrayViewMut2};

use crate::clock::difference;

use crate::description::SolverEntry;
use crate::error::CallError;
use crate::host_table::HostTable;
use crate::object;
use crate::operator;
use crate::outcome::{SolveOutcome, read_reason, read_report};
use crate::problem::{self, ProblemParts};
use crate::services::BlasThreads;
use crate::session::Session;
use crate::system::shape_of;
use crate::views::mat;

/// A solver that has been made and not yet destroyed.
#[derive(Debug)]
pub struct SolverObject<'l> {
    entry: &'l SolverEntry,
    host: &'static HostTable,
    object: *mut c_void,
    /// The sizes that it got ready for last.
    ready_for: Option<Shape>,
}

impl<'l> SolverObject<'l> {
    /// Makes a solver with these parameters; those not given take their defaults.
    pub fn create(
        entry: &'l SolverEntry,
        host: &'static HostTable,
        params: &BTreeMap<String, ParamValue>,
    ) -> Result<SolverObject<'l>, CallError> {
        let create = entry.table.create.expect("checked when the library was loaded");
        // SAFETY: the function and the schema of one table.
        let object = unsafe { object::create(&entry.info, create, host, params) }?;
        Ok(SolverObject { entry, host, object, ready_for: None })
    }

    /// Bytes that a solve with n rows, d inputs and s right-hand sides needs beyond the problem.
    ///
    /// For a solver that gives no estimate, these are a few vectors per right-hand side, and the matrix if the solver
    /// says that it stores one.
    pub fn estimate(&self, n: usize, d: usize, s: usize) -> Result<f64, CallError> {
        let Some(estimate) = self.entry.table.estimate else {
            let vectors = 8.0 * (n * s) as f64;
            let matrix = if self.entry.info.can(Capability::Dense) { n as f64 * n as f64 } else { 0.0 };
            return Ok(8.0 * (vectors + matrix));
        };
        let mut bytes = 0.0;
        self.host.take_error();
        // SAFETY: a live object of this solver, and a place to write to.
        let status = unsafe { estimate(self.object, n as i64, d as i64, s as i64, &mut bytes) };
        if status != Status::DONE {
            return Err(CallError::new("estimate", status, self.host, None));
        }
        object::estimated(bytes)
    }

    /// Lets the solver get ready for problems of these sizes. The caller takes the time. Does nothing for a solver that
    /// has nothing to get ready, or is ready for these sizes. [`prepare`](Self::prepare) does the same first, with the
    /// clock paused, for its own sizes.
    pub fn warm_up(&mut self, shape: Shape) -> Result<(), CallError> {
        let warm_up = self.entry.table.warm_up;
        // SAFETY: a live object and the function of its own table.
        unsafe { object::warm_up(self.object, warm_up, self.host, shape, &mut self.ready_for) }
    }

    /// Prepares and solves, from `x` and into `x` (m x s, column-major).
    ///
    /// # Errors
    /// Where a call fails, or the solver has modified read-only data.
    pub fn run(&mut self, session: &Session, x: &mut Array2<f64>) -> Result<SolveOutcome, CallError> {
        let outcome = match self.prepare(session, &mut x.view_mut())? {
            Some(outcome) => outcome,
            None => self.solve(session, &mut x.view_mut())?,
        };
        match tampered_with(session) {
            None => Ok(outcome),
            Some(what) => {
                Err(CallError::Misbehaved { during: "solve", what: format!("wrote into the {what}") })
            }
        }
    }

    /// Prepares; `x` (m x s, column-major) is the initial iterate of the solve. Returns the outcome if preparing has
    /// used up the budget.
    pub fn prepare(
        &mut self,
        session: &Session,
        x: &mut ArrayViewMut2<f64>,
    ) -> Result<Option<SolveOutcome>, CallError> {
        self.warm_up(shape_of(session.objects.system, session.account.limits.threads))?;
        let mut stopped = false;
        if let Some(prepare) = self.entry.table.prepare {
            // SAFETY: a live object of this solver and a problem that lives until the call returns.
            let call = |object, problem: &Problem| unsafe { prepare(object, problem) };
            let status = self.call(session, x, false, call);
            stopped = self.is_stopped("prepare", status, session)?;
        }
        session.account.close_setup();
        let (reason, stop_reason) = (Reason::Stopped, session.account.stop_reason());
        Ok(stopped.then(|| SolveOutcome { reason, stop_reason, ..SolveOutcome::at(session) }))
    }

    /// Solves, from `x` and into `x` (m x s, column-major), after [`prepare`](Self::prepare) in the same
    /// session.
    pub fn solve(
        &mut self,
        session: &Session,
        x: &mut ArrayViewMut2<f64>,
    ) -> Result<SolveOutcome, CallError> {
        let columns = session.objects.columns();
        let prepare = session.clock();
        // SAFETY: a report holds numbers and pointers, of which zero and null are values.
        let mut report: Report = unsafe { std::mem::zeroed() };
        report.size = size_of::<Report>() as u32;
        let solve = self.entry.table.solve.expect("checked when the library was loaded");
        // SAFETY: as for prepare; the report is this call's own.
        let call = |object, problem: &Problem| unsafe { solve(object, problem, &mut report) };
        let status = self.call(session, x, true, call);
        let mut outcome = SolveOutcome::at(session);
        (outcome.cost.prepare, outcome.cost.solve) = (prepare, difference(session.clock(), prepare));
        let stopped = self.is_stopped("solve", status, session)?;
        // SAFETY: what the report points to lives until the next call on the object.
        let reported = unsafe { read_report(&report, columns) }
            .map_err(|what| CallError::Misbehaved { during: "solve", what })?;
        outcome.cost.iterations = reported.iterations;
        outcome.values = reported.values;
        outcome.claimed = session.objects.system.case_norms(&reported.claimed);
        let reason = if stopped { Ok(Reason::Stopped) } else { read_reason(&report) };
        outcome.reason = reason.map_err(|what| CallError::Misbehaved { during: "solve", what })?;
        outcome.stop_reason = match outcome.reason {
            Reason::Stopped => session.account.stop_reason(),
            Reason::Converged => StopReason::Converged,
            Reason::Iterations => StopReason::Iterations,
            Reason::Stagnated => StopReason::Stagnated,
            Reason::Diverged => StopReason::Diverged,
        };
        Ok(outcome)
    }

    /// Destroys the object.
    ///
    /// # Errors
    /// Where the plugin reports an error during the call, which returns no status.
    pub fn destroy(self) -> Result<(), CallError> {
        let host = self.host;
        host.take_error();
        drop(self);
        let complaint = host.take_error().map(|text| format!("complained: {text}"));
        complaint.map_or(Ok(()), |what| Err(CallError::Misbehaved { during: "destroy", what }))
    }

    /// Runs a call on the session's problem, with `x` as its iterate. `observe` may ask for the iterate while solving.
    fn call(
        &self,
        session: &Session,
        x: &mut ArrayViewMut2<f64>,
        solving: bool,
        call: impl FnOnce(*mut c_void, &Problem) -> Status,
    ) -> Status {
        let objects = &session.objects;
        assert_eq!(
            x.dim(),
            (objects.unknowns(), objects.columns()),
            "the iterate has a row an unknown and a column a right-hand side"
        );
        let mut parts = ProblemParts {
            operator: operator::table(session),
            rhs: mat(objects.system.rhs()),
            x: mat(x.view()),
        };
        // `mat` reads through a shared reference; the plugin writes through this one.
        parts.x.data = x.as_mut_ptr();
        objects.offer_iterate(solving.then_some(&parts.x));
        let problem = problem::table(session, &mut parts);
        let status = self.timed(session, || call(self.object, &problem));
        objects.offer_iterate(None);
        status
    }

    /// Runs a call with the clock running and with the number of BLAS threads that the solver requests.
    fn timed(&self, session: &Session, call: impl FnOnce() -> Status) -> Status {
        self.host.take_error();
        session.callbacks.take_complaint();
        let threads = session.account.limits.threads;
        let raised = self.entry.info.can(Capability::BlasThreads) && threads > 1;
        session.callbacks.blas_raised.set(raised);
        let _guard = raised.then(|| BlasThreads::set(self.host.services(), threads));
        session.resume_clock();
        let status = call();
        // The clock is paused if an iterate was requested and did not arrive.
        session.resume_clock();
        session.account.pause();
        session.callbacks.blas_raised.set(false);
        status
    }

    /// False for `DONE`, true for `STOPPED`, which solvers may pass on.
    fn is_stopped(&self, during: &'static str, status: Status, session: &Session) -> Result<bool, CallError> {
        match status {
            Status::DONE => Ok(false),
            Status::STOPPED => Ok(true),
            status => Err(CallError::new(during, status, self.host, session.callbacks.take_complaint())),
        }
    }
}

impl Drop for SolverObject<'_> {
    fn drop(&mut self) {
        let destroy = self.entry.table.destroy.expect("checked when the library was loaded");
        // SAFETY: made by `create` of the same solver, and destroyed once.
        unsafe { destroy(self.object) };
    }
}

/// Name of the read-only data that the plugin has changed since the session began, if any.
fn tampered_with(session: &Session) -> Option<&'static str> {
    let system = session.objects.system;
    let same = || system.inputs().is_none_or(|inputs| session.has_inputs(inputs.x));
    session.objects.seal.broken(system).or_else(|| (!same()).then_some("inputs"))
}
