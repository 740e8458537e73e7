//! Calls a learner: creates an object, begins and continues a fit, and requests predictions, the model and the state.

use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi::{Fit, Report, Status, Store};
use gpbench_terms::{Capability, ParamValue, Reason, Shape, StopReason};
use ndarray::{Array2, ArrayView2, ShapeBuilder};

use crate::arrays::{ArrayStore, Arrays};
use crate::description::LearnerEntry;
use crate::error::CallError;
use crate::fit;
use crate::fit_session::{Call, FitSession};
use crate::host_table::HostTable;
use crate::object;
use crate::outcome::{read_reason, read_report};
use crate::services::BlasThreads;
use crate::views::mat;
use gpbench_numerics::layout::column_major;

/// A learner that has been made and not yet destroyed.
#[derive(Debug)]
pub struct LearnerObject<'l> {
    entry: &'l LearnerEntry,
    host: &'static HostTable,
    object: *mut c_void,
    /// The sizes that it got ready for last.
    ready_for: Option<Shape>,
}

/// How a call of `fit` ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitEnd {
    /// The learner pauses and can go on.
    Paused,
    /// The fit has ended.
    Ended(StopReason),
}

/// Result of a call of `fit`.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOutcome {
    /// How it ended.
    pub end: FitEnd,
    /// Steps since begin, as the learner's report counts them. The host relies on the steps that it has observed.
    pub reported_steps: u64,
    /// Named numbers from the learner's report.
    pub values: BTreeMap<String, f64>,
}

impl FitOutcome {
    /// The outcome of a fit that has diverged without a report.
    fn diverged() -> FitOutcome {
        let end = FitEnd::Ended(StopReason::Diverged);
        FitOutcome { end, reported_steps: 0, values: BTreeMap::new() }
    }
}

/// A table that the host passes and a function of the learner that takes it.
type StoreFn = unsafe extern "C" fn(*mut c_void, *const Store) -> Status;

impl<'l> LearnerObject<'l> {
    /// Makes a learner with these parameters; those not given take their defaults.
    pub fn create(
        entry: &'l LearnerEntry,
        host: &'static HostTable,
        params: &BTreeMap<String, ParamValue>,
    ) -> Result<LearnerObject<'l>, CallError> {
        let create = entry.table.create.expect("checked when the learner was looked up");
        // SAFETY: the function and the schema of one table.
        let object = unsafe { object::create(&entry.info, create, host, params) }?;
        Ok(LearnerObject { entry, host, object, ready_for: None })
    }

    /// Bytes that a fit with n rows and d inputs needs beyond the data. For a learner that gives no estimate, this is
    /// twice the size of the data.
    pub fn estimate(&self, n: usize, d: usize) -> Result<f64, CallError> {
        let Some(estimate) = self.entry.table.estimate else {
            return Ok(8.0 * 2.0 * n as f64 * (d + 1) as f64);
        };
        let mut bytes = 0.0;
        self.host.take_error();
        // SAFETY: a live object of this learner, and a place to write to.
        let status = unsafe { estimate(self.object, n as i64, d as i64, &mut bytes) };
        self.done("estimate", status, None)?;
        object::estimated(bytes)
    }

    /// Lets the learner get ready for fits of these sizes. The caller takes the time. Does nothing for a learner that has
    /// nothing to get ready, or is ready for these sizes. [`begin`](Self::begin) and [`load`](Self::load) do the same
    /// first, with the clock paused, for their own sizes.
    pub fn warm_up(&mut self, shape: Shape) -> Result<(), CallError> {
        let warm_up = self.entry.table.warm_up;
        // SAFETY: a live object and the function of its own table.
        unsafe { object::warm_up(self.object, warm_up, self.host, shape, &mut self.ready_for) }
    }

    /// Begins a fit. Returns the stop reason if the fit ended before its first step.
    ///
    /// # Errors
    /// Where the call fails, or the learner has modified read-only data.
    pub fn begin(&mut self, session: &FitSession) -> Result<Option<StopReason>, CallError> {
        self.warm_up(session.data.shape(session.account.limits.threads))?;
        let begin = self.entry.table.begin.expect("checked when the learner was looked up");
        // SAFETY: a live object of this learner, and a fit that lives until the call returns.
        let status = self.call(session, Call::Begin, |object, fit| unsafe { begin(object, fit) });
        let over = match status {
            Status::STOPPED if session.late_steps().is_some() => session.exhausted(),
            status => {
                self.done("begin", status, session.callbacks.take_complaint())?;
                None
            }
        };
        untampered("begin", session)?;
        Ok(over)
    }

    /// Continues from a saved state, in place of [`begin`](Self::begin), in a session that resumes from its progress.
    /// The time of the call stays uncounted within the [`Allowance`](crate::Allowance).
    ///
    /// # Errors
    /// As for [`begin`](Self::begin), or where the learner cannot load the state.
    pub fn load(&mut self, session: &FitSession, state: Arrays) -> Result<(), CallError> {
        let Some(load) = self.entry.table.load else {
            return Err(CallError::Misbehaved {
                during: "load",
                what: "is missing, where `save` is not".into(),
            });
        };
        self.warm_up(session.data.shape(session.account.limits.threads))?;
        let store = ArrayStore::holding(self.host.services(), state);
        let table = store.table();
        // SAFETY: as for `begin`; the store lives until the call returns.
        let call = |object, fit: *const Fit| unsafe { load(object, fit, &table) };
        let status = session.aside(|| self.call(session, Call::Load, call));
        let complaint = session.callbacks.take_complaint().or_else(|| store.take_complaint());
        self.done("load", status, complaint)?;
        untampered("load", session)
    }

    /// Takes steps until the session returns `STOPPED` or the method ends by itself.
    ///
    /// # Errors
    /// As for [`begin`](Self::begin), or where the learner returns `STOPPED` although it was not told to stop, or
    /// continues although it was told to stop.
    pub fn fit(&mut self, session: &FitSession) -> Result<FitOutcome, CallError> {
        // SAFETY: a report holds numbers and pointers, of which zero and null are values.
        let mut report: Report = unsafe { std::mem::zeroed() };
        report.size = size_of::<Report>() as u32;
        let fit = self.entry.table.fit.expect("checked when the learner was looked up");
        // SAFETY: as for `begin`; the report is this call's own.
        let call = |object, table: *const Fit| unsafe { fit(object, table, &mut report) };
        let status = self.call(session, Call::Fit, call);
        let is_stopped = status == Status::STOPPED;
        let done =
            if is_stopped { Ok(()) } else { self.done("fit", status, session.callbacks.take_complaint()) };
        untampered("fit", session)?;
        match done {
            Err(error) if error.is_singular() => return Ok(FitOutcome::diverged()),
            done => done?,
        }
        let misbehaved = |what: String| CallError::Misbehaved { during: "fit", what };
        // SAFETY: what the report points to lives until the next call on the object.
        let reported = unsafe { read_report(&report, 0) }.map_err(misbehaved)?;
        let reason = if is_stopped { Ok(Reason::Stopped) } else { read_reason(&report) };
        let end = match reason.map_err(misbehaved)? {
            Reason::Stopped => stopped(session).map_err(misbehaved)?,
            Reason::Converged => FitEnd::Ended(StopReason::Converged),
            Reason::Iterations => FitEnd::Ended(StopReason::Iterations),
            Reason::Stagnated => FitEnd::Ended(StopReason::Stagnated),
            Reason::Diverged => FitEnd::Ended(StopReason::Diverged),
        };
        Ok(FitOutcome { end, reported_steps: reported.iterations, values: reported.values })
    }

    /// Predicts at `x` (m x d): means and variances of y, m x 2. Entries that the learner does not write are NaN.
    pub fn predict(&mut self, x: ArrayView2<f64>) -> Result<Array2<f64>, CallError> {
        let x = column_major(&x);
        let mut out = Array2::from_elem((x.nrows(), 2).f(), f64::NAN);
        let mut table = mat(out.view());
        // `mat` reads through a shared reference; the plugin writes through this one.
        table.data = out.as_mut_ptr();
        let predict = self.entry.table.predict.expect("checked when the learner was looked up");
        self.host.take_error();
        // SAFETY: a live object of this learner, a matrix to read and one to write, which live until the call returns.
        let status = unsafe { predict(self.object, &mat(x.view()), &mut table) };
        self.done("predict", status, None)?;
        Ok(out)
    }

    /// The learned model; `None` for a learner that supplies no model.
    pub fn model(&mut self) -> Result<Option<Arrays>, CallError> {
        self.put("model", self.entry.table.model)
    }

    /// The whole state; `None` for a learner that cannot save or load it.
    pub fn save(&mut self) -> Result<Option<Arrays>, CallError> {
        let save = self.entry.table.save.filter(|_| self.entry.table.load.is_some());
        self.put("save", save)
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

    /// The arrays that the learner puts; `None` if it lacks the function or reports that it has no arrays.
    fn put(&mut self, during: &'static str, put: Option<StoreFn>) -> Result<Option<Arrays>, CallError> {
        let Some(put) = put else { return Ok(None) };
        let store = ArrayStore::empty(self.host.services());
        let table = store.table();
        self.host.take_error();
        // SAFETY: a live object of this learner, and a store that lives until the call returns.
        match unsafe { put(self.object, &table) } {
            Status::UNSUPPORTED => {
                self.host.take_error();
                Ok(None)
            }
            status => {
                self.done(during, status, store.take_complaint())?;
                Ok(Some(store.into_arrays()))
            }
        }
    }

    /// Runs a call on the session's fit, with the number of BLAS threads that the learner requests.
    fn call(
        &self,
        session: &FitSession,
        during: Call,
        call: impl FnOnce(*mut c_void, *const Fit) -> Status,
    ) -> Status {
        self.host.take_error();
        session.callbacks.take_complaint();
        let table = fit::table(session);
        let threads = session.account.limits.threads;
        let raised = self.entry.info.can(Capability::BlasThreads) && threads > 1;
        session.callbacks.blas_raised.set(raised);
        let _guard = raised.then(|| BlasThreads::set(self.host.services(), threads));
        session.enter(during);
        let status = call(self.object, &table);
        session.leave();
        session.callbacks.blas_raised.set(false);
        status
    }

    fn done(&self, during: &'static str, status: Status, complaint: Option<String>) -> Result<(), CallError> {
        match status {
            Status::DONE => Ok(()),
            status => Err(CallError::new(during, status, self.host, complaint)),
        }
    }
}

impl Drop for LearnerObject<'_> {
    fn drop(&mut self) {
        let destroy = self.entry.table.destroy.expect("checked when the learner was looked up");
        // SAFETY: made by `create` of the same learner, and destroyed once.
        unsafe { destroy(self.object) };
    }
}

/// How a call ended for which the learner returned `STOPPED`.
fn stopped(session: &FitSession) -> Result<FitEnd, String> {
    match (session.late_steps(), session.exhausted()) {
        (None, _) => Err("says that it was stopped, which it was not".into()),
        (Some(late), _) if late > 1 => Err(format!("took {late} steps after it was told to stop")),
        (Some(_), Some(limit)) => Ok(FitEnd::Ended(limit)),
        (Some(_), None) => Ok(FitEnd::Paused),
    }
}

fn untampered(during: &'static str, session: &FitSession) -> Result<(), CallError> {
    match session.data.tampered() {
        None => Ok(()),
        Some(what) => Err(CallError::Misbehaved { during, what: format!("wrote into the {what}") }),
    }
}
