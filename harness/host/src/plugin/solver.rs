//! Calls a solver: makes an object, asks what it needs, prepares, solves.

use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi::{Problem, Report, Status, Str, Value, capability, reason, value_kind};
use gpbench_gp::blas::ThreadGuard;
use gpbench_record::{Clock, Entries, Param, ParamInfo, ParamKind, StopReason};
use ndarray::{Array2, ArrayViewMut2};

use crate::clock::difference;

use super::description::{SolverEntry, admits};
use super::host::HostTable;
use super::problem::{self, ProblemParts};
use super::session::Session;
use super::{operator, views};

/// Most named numbers that a report may hold.
const MAX_VALUES: usize = 4096;

/// A call of a plugin that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// A parameter that the solver does not take.
    #[error("solver `{solver}` {what}")]
    Parameter {
        /// The solver's id.
        solver: String,
        /// What is wrong, as the end of a sentence.
        what: String,
    },
    /// A function returned an error.
    #[error("{during} failed: {text}")]
    Refused {
        /// Which function.
        during: &'static str,
        /// The code.
        code: i32,
        /// What the plugin said of it.
        text: String,
    },
    /// A function caught a panic of its own.
    #[error("{during} panicked: {text}")]
    Panicked {
        /// Which function.
        during: &'static str,
        /// What the plugin said of it.
        text: String,
    },
    /// Memory could not be had.
    #[error("{during} ran out of memory: {text}")]
    OutOfMemory {
        /// Which function.
        during: &'static str,
        /// What the plugin said of it.
        text: String,
    },
    /// What came back makes no sense.
    #[error("{during} {what}")]
    Nonsense {
        /// Which function.
        during: &'static str,
        /// What it did, as the end of a sentence.
        what: String,
    },
}

/// How a solve ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    /// Why the solver stopped.
    pub reason: StopReason,
    /// Iterations, as the solver counts them.
    pub iterations: u64,
    /// Relative residual norms that the solver claims, one a column, or none.
    pub claimed: Vec<f64>,
    /// Further numbers, by name.
    pub values: BTreeMap<String, f64>,
    /// Time of prepare.
    pub prepare: Clock,
    /// Time of solve.
    pub solve: Clock,
    /// Kernel entries of both.
    pub entries: Entries,
}

impl Ending {
    /// An ending at this moment of a session, about which nothing else is known.
    fn at(session: &Session) -> Ending {
        Ending {
            reason: StopReason::Converged,
            iterations: 0,
            claimed: Vec::new(),
            values: BTreeMap::new(),
            prepare: session.clock(),
            solve: Clock::default(),
            entries: session.entries(),
        }
    }
}

/// A solver that has been made and not yet destroyed.
#[derive(Debug)]
pub struct SolverObject<'l> {
    entry: &'l SolverEntry,
    host: &'static HostTable,
    object: *mut c_void,
}

impl<'l> SolverObject<'l> {
    /// Makes a solver with these parameters; those not given take their defaults.
    pub fn create(
        entry: &'l SolverEntry,
        host: &'static HostTable,
        params: &BTreeMap<String, Param>,
    ) -> Result<SolverObject<'l>, CallError> {
        let wrong = |what: String| CallError::Parameter { solver: entry.info.id.clone(), what };
        if let Some(name) =
            params.keys().find(|name| !entry.info.params.iter().any(|info| &info.name == *name))
        {
            return Err(wrong(format!("has no parameter `{name}`")));
        }
        let settings = entry.info.params.iter().map(|info| setting(info, params.get(&info.name)));
        let settings: Vec<Param> = settings.collect::<Result<_, _>>().map_err(wrong)?;
        let values: Vec<Value> = settings.iter().map(value).collect();
        let create = entry.table.create.expect("checked when the library was loaded");
        let mut object = std::ptr::null_mut();
        host.take_error();
        // SAFETY: the values are as the schema says and live until the call returns.
        let status = unsafe { create(host.as_ptr(), values.as_ptr(), values.len() as i64, &mut object) };
        if status != Status::DONE {
            return Err(error_of("create", status, host, None));
        }
        Ok(SolverObject { entry, host, object })
    }

    /// Bytes that a solve with n rows, d inputs and s right-hand sides needs beyond the problem.
    ///
    /// A solver that gives no estimate is taken at its word: a few vectors a
    /// right-hand side, and the matrix where it says that it keeps one.
    pub fn estimate(&self, n: usize, d: usize, s: usize) -> Result<f64, CallError> {
        let Some(estimate) = self.entry.table.estimate else {
            let vectors = 8.0 * (n * s) as f64;
            let matrix = if self.entry.can(capability::DENSE) { n as f64 * n as f64 } else { 0.0 };
            return Ok(8.0 * (vectors + matrix));
        };
        let mut bytes = 0.0;
        self.host.take_error();
        // SAFETY: a live object of this solver, and a place to write to.
        let status = unsafe { estimate(self.object, n as i64, d as i64, s as i64, &mut bytes) };
        if status != Status::DONE {
            return Err(error_of("estimate", status, self.host, None));
        }
        if bytes.is_nan() || bytes < 0.0 {
            return Err(CallError::Nonsense { during: "estimate", what: format!("answered {bytes} bytes") });
        }
        Ok(bytes)
    }

    /// Prepares and solves, from `x` and into `x` (m x s, column-major). What a solver made of a system
    /// that it has written into is no answer.
    pub fn run(&mut self, session: &Session, x: &mut Array2<f64>) -> Result<Ending, CallError> {
        let ending = match self.prepare(session, &mut x.view_mut())? {
            Some(ending) => ending,
            None => self.solve(session, &mut x.view_mut())?,
        };
        match session.tampered_with() {
            None => Ok(ending),
            Some(what) => {
                Err(CallError::Nonsense { during: "solve", what: format!("wrote into the {what}") })
            }
        }
    }

    /// Prepares; `x` is m x s, column-major, where the solve will start from. The ending, if that has
    /// used up the budget.
    pub fn prepare(
        &mut self,
        session: &Session,
        x: &mut ArrayViewMut2<f64>,
    ) -> Result<Option<Ending>, CallError> {
        let mut stopped = false;
        if let Some(prepare) = self.entry.table.prepare {
            // SAFETY: a live object of this solver and a problem that lives until the call returns.
            let call = |object, problem: &Problem| unsafe { prepare(object, problem) };
            let status = self.posed(session, x, call);
            stopped = self.is_stopped("prepare", status, session)?;
        }
        session.ledger.close_setup();
        Ok(stopped.then(|| Ending { reason: stop_reason(session), ..Ending::at(session) }))
    }

    /// Solves, from `x` and into `x` (m x s, column-major), after [`prepare`](Self::prepare) in the same
    /// session.
    pub fn solve(&mut self, session: &Session, x: &mut ArrayViewMut2<f64>) -> Result<Ending, CallError> {
        let columns = session.system.columns();
        let prepare = session.clock();
        // SAFETY: a report holds numbers and pointers, of which zero and null are values.
        let mut report: Report = unsafe { std::mem::zeroed() };
        report.size = size_of::<Report>() as u32;
        let solve = self.entry.table.solve.expect("checked when the library was loaded");
        session.solving.set(true);
        // SAFETY: as for prepare; the report is this call's own.
        let status = self.posed(session, x, |object, problem| unsafe { solve(object, problem, &mut report) });
        session.solving.set(false);
        let mut ending =
            Ending { prepare, solve: difference(session.clock(), prepare), ..Ending::at(session) };
        let stopped = self.is_stopped("solve", status, session)?;
        // SAFETY: what the report points to lives until the next call on the object.
        unsafe { read_report(&report, columns, &mut ending) }
            .map_err(|what| CallError::Nonsense { during: "solve", what })?;
        ending.claimed = session.system.norms(&ending.claimed);
        ending.reason = match report.reason {
            _ if stopped => stop_reason(session),
            reason::CONVERGED => StopReason::Converged,
            reason::STOPPED => stop_reason(session),
            reason::ITERATIONS => StopReason::Iterations,
            reason::STAGNATED => StopReason::Stagnated,
            reason::DIVERGED => StopReason::Diverged,
            code => {
                let what = format!("gave the reason {code}, which version 1 does not have");
                return Err(CallError::Nonsense { during: "solve", what });
            }
        };
        Ok(ending)
    }

    /// Destroys the object. What it complains of meanwhile, which nobody else would hear, is an error.
    pub fn destroy(self) -> Result<(), CallError> {
        let host = self.host;
        host.take_error();
        drop(self);
        let complaint = host.take_error().map(|text| format!("complained: {text}"));
        complaint.map_or(Ok(()), |what| Err(CallError::Nonsense { during: "destroy", what }))
    }

    /// Runs a call on the session's problem, with `x` as its iterate.
    fn posed(
        &self,
        session: &Session,
        x: &mut ArrayViewMut2<f64>,
        call: impl FnOnce(*mut c_void, &Problem) -> Status,
    ) -> Status {
        assert_eq!(
            x.dim(),
            (session.system.m(), session.system.columns()),
            "the iterate has a row an unknown and a column a right-hand side"
        );
        let mut parts = ProblemParts {
            operator: operator::table(session),
            rhs: problem::mat(session.system.posed().rhs.view()),
            x: problem::mat(x.view()),
        };
        // `problem::mat` reads through a shared reference; the plugin writes through this one.
        parts.x.data = x.as_mut_ptr();
        session.iterate.set((parts.x.data, parts.x.ld as usize));
        let problem = problem::table(session, &mut parts);
        let status = self.timed(session, || call(self.object, &problem));
        session.iterate.set((std::ptr::null_mut(), 0));
        status
    }

    /// Runs a call with the clock running and as many BLAS threads as the solver asks for.
    fn timed(&self, session: &Session, call: impl FnOnce() -> Status) -> Status {
        self.host.take_error();
        session.take_complaint();
        let threads = session.terms.threads;
        let raised = self.entry.can(capability::BLAS_THREADS) && threads > 1;
        session.blas_raised.set(raised);
        let _guard = raised.then(|| ThreadGuard::raise(threads));
        session.resume_clock();
        let status = call();
        // An iterate asked for and never handed over has left the clock paused.
        session.resume_clock();
        session.pause_clock();
        session.blas_raised.set(false);
        status
    }

    /// False for `DONE`, true for `STOPPED`, which solvers may pass on.
    fn is_stopped(&self, during: &'static str, status: Status, session: &Session) -> Result<bool, CallError> {
        match status {
            Status::DONE => Ok(false),
            Status::STOPPED => Ok(true),
            status => Err(error_of(during, status, self.host, session.take_complaint())),
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

/// The budget that a solver was stopped by. One that stops before it is refused
/// has looked at its bounds by itself.
fn stop_reason(session: &Session) -> StopReason {
    session.refused().unwrap_or(match session.terms {
        terms if terms.max_epochs.is_some() => StopReason::Epochs,
        terms if terms.seconds.is_some() => StopReason::Time,
        _ => StopReason::Iterations,
    })
}

/// The value that a parameter takes.
fn setting(info: &ParamInfo, given: Option<&Param>) -> Result<Param, String> {
    let value = match (info.kind, given) {
        (_, None) => return Ok(info.default.clone()),
        (ParamKind::Float, Some(Param::Int(whole))) => Param::Float(*whole as f64),
        (ParamKind::Bool, Some(value @ Param::Bool(_)))
        | (ParamKind::Int, Some(value @ Param::Int(_)))
        | (ParamKind::Float, Some(value @ Param::Float(_)))
        | (ParamKind::Text, Some(value @ Param::Text(_))) => value.clone(),
        (kind, Some(value)) => {
            let kind = format!("{kind:?}").to_lowercase();
            let value = serde_json::to_string(value).unwrap_or_default();
            return Err(format!("needs `{}` to be of kind {kind}, not {value}", info.name));
        }
    };
    admits(info, &value).map_err(|refusal| format!("cannot take this `{}`: {refusal}", info.name))?;
    Ok(value)
}

/// A setting as it crosses; its text stays where it is.
fn value(setting: &Param) -> Value {
    let empty =
        Value { kind: value_kind::NONE, reserved: 0, i: 0, f: 0.0, s: Str { ptr: std::ptr::null(), len: 0 } };
    match setting {
        Param::Bool(value) => Value { kind: value_kind::BOOL, i: i64::from(*value), ..empty },
        Param::Int(value) => Value { kind: value_kind::INT, i: *value, ..empty },
        Param::Float(value) => Value { kind: value_kind::FLOAT, f: *value, ..empty },
        Param::Text(text) => {
            let s = Str { ptr: text.as_ptr().cast(), len: text.len() as i64 };
            Value { kind: value_kind::TEXT, s, ..empty }
        }
    }
}

/// # Safety
/// The report's pointers are null or lead to as many entries as it says.
unsafe fn read_report(report: &Report, columns: usize, ending: &mut Ending) -> Result<(), String> {
    ending.iterations = report.iterations.max(0).unsigned_abs();
    // SAFETY: by this function's contract.
    ending.claimed = unsafe { views::numbers(report.claimed, report.n_claimed, columns, "report.claimed") }
        .map_err(|wrong| format!("left a wrong report: {wrong}"))?;
    if !ending.claimed.is_empty() && ending.claimed.len() != columns {
        return Err(format!("claims {} residual norms for {columns} columns", ending.claimed.len()));
    }
    if ending.claimed.iter().any(|norm| !norm.is_finite()) {
        // A norm that overflowed claims nothing, and JSON has no word for it.
        ending.claimed.clear();
    }
    // SAFETY: by this function's contract.
    let values = unsafe { views::numbers(report.values, report.n_values, MAX_VALUES, "report.values") }
        .map_err(|wrong| format!("left a wrong report: {wrong}"))?;
    if values.is_empty() {
        return Ok(());
    }
    if report.names.is_null() || !report.names.is_aligned() {
        return Err("left a wrong report: `report.names` is a null or misaligned pointer".into());
    }
    for (index, value) in values.into_iter().enumerate() {
        // SAFETY: one of as many names as there are values.
        let name = unsafe { views::text(*report.names.add(index), "a name in `report.names`") };
        let name = name.map_err(|wrong| format!("left a wrong report: {wrong}"))?;
        if value.is_finite() {
            ending.values.insert(name, value);
        }
    }
    Ok(())
}

/// The error behind a status that is neither `DONE` nor, where allowed, `STOPPED`.
fn error_of(during: &'static str, status: Status, host: &HostTable, complaint: Option<String>) -> CallError {
    let text = host.take_error();
    let text = match (text, complaint) {
        (Some(text), Some(complaint)) if !text.contains(&complaint) => format!("{text} ({complaint})"),
        (Some(text), _) => text,
        (None, Some(complaint)) => complaint,
        (None, None) => "it gave no reason".to_owned(),
    };
    match status {
        Status::PANIC => {
            let text = text.strip_prefix("panicked: ").map(str::to_owned).unwrap_or(text);
            CallError::Panicked { during, text }
        }
        Status::OUT_OF_MEMORY => CallError::OutOfMemory { during, text },
        status if status.is_error() => CallError::Refused { during, code: status.0, text },
        Status(code) => {
            CallError::Nonsense { during, what: format!("returned {code}, which is no outcome of it") }
        }
    }
}
