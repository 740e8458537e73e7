//! A learner under test with its fit: begin or resume, fit, predict and save.

use std::cell::RefCell;
use std::rc::Rc;

use gpbench_abi::Status;
use gpbench_host::{
    Arrays, CallError, FitEnd, FitProgress, FitSession, HostTable, LearnerEntry, LearnerObject, Pause,
};
use gpbench_sdk::{Learner, Model};
use gpbench_terms::{ParamValue, Reason, StopReason};
use ndarray::{Array1, ArrayRef2};

use crate::entry::learner_entry;
use crate::fit_host::FitHost;
use crate::fit_log::FitLog;
use crate::services::host;
use crate::settings::by_name;

/// A learner whose fit has begun, on a [`FitHost`].
pub struct FitRun<'h> {
    given: &'h FitHost,
    host: &'static HostTable,
    object: RefCell<LearnerObject<'static>>,
    session: FitSession<'static>,
    log: Rc<FitLog>,
    /// Why the fit was over before its first step, if it was.
    over: Option<StopReason>,
}

/// Outcome of a call of `fit`.
#[derive(Debug, Clone, PartialEq)]
pub struct FitReport {
    /// Why the call ended; a pause is [`Reason::Stopped`].
    pub reason: Reason,
    /// Steps of all calls since `begin`, as reported.
    pub steps: i64,
    /// Further numbers, as reported, in the order of their names.
    pub numbers: Vec<(String, f64)>,
}

impl FitReport {
    /// A further number that the learner has reported.
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

/// A learner's saved state, with the positions of the batch streams and the work that was used.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedFit {
    arrays: Arrays,
    progress: FitProgress,
}

/// Work that a fit has used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Used {
    /// Rows of stream 0, which determine the number of passes.
    pub rows_of_passes: u64,
    /// Rows of all streams, and charged rows.
    pub rows: u64,
    /// Kernel entries.
    pub entries: f64,
    /// Rows taken through the network.
    pub features: f64,
}

impl FitHost {
    /// Makes a learner and begins a fit. Parameters not given have their defaults.
    pub fn begin<L: Learner>(&self, params: &[(&str, ParamValue)]) -> Result<FitRun<'_>, CallError> {
        let mut run = FitRun::create(self, learner_entry::<L>(), params)?;
        run.begin()?;
        Ok(run)
    }

    /// As [`begin`](Self::begin), for a learner given by its entry.
    pub fn begin_with(
        &self,
        learner: LearnerEntry,
        params: &[(&str, ParamValue)],
    ) -> Result<FitRun<'_>, CallError> {
        let mut run = FitRun::create(self, learner, params)?;
        run.begin()?;
        Ok(run)
    }

    /// As [`resume`](Self::resume), for a learner given by its entry.
    pub fn resume_with(
        &self,
        learner: LearnerEntry,
        params: &[(&str, ParamValue)],
        saved: &SavedFit,
    ) -> Result<FitRun<'_>, CallError> {
        let mut run = FitRun::create(self, learner, params)?;
        run.load(saved)?;
        Ok(run)
    }

    /// Makes a learner that continues from a saved state.
    pub fn resume<L: Learner>(
        &self,
        params: &[(&str, ParamValue)],
        saved: &SavedFit,
    ) -> Result<FitRun<'_>, CallError> {
        let mut run = FitRun::create(self, learner_entry::<L>(), params)?;
        run.load(saved)?;
        Ok(run)
    }
}

impl<'h> FitRun<'h> {
    /// Makes a learner whose fit has not begun.
    fn create(
        given: &'h FitHost,
        learner: LearnerEntry,
        params: &[(&str, ParamValue)],
    ) -> Result<FitRun<'h>, CallError> {
        // The object points to its entry, which lives as long as the host.
        let (host, learner) = (host(), Box::leak(Box::new(learner)));
        let object = RefCell::new(LearnerObject::create(learner, host, &by_name(params))?);
        let log = Rc::default();
        Ok(FitRun {
            given,
            host,
            object,
            session: given.session(given.granted(), host, &log),
            log,
            over: None,
        })
    }

    /// Begins again, on the same object; batches and counts start anew.
    pub fn begin(&mut self) -> Result<(), CallError> {
        self.log = Rc::default();
        self.session = self.new_session(self.given.granted());
        self.over = self.object.get_mut().begin(&self.session)?;
        Ok(())
    }

    /// Continues from a saved state.
    fn load(&mut self, saved: &SavedFit) -> Result<(), CallError> {
        let fresh = || self.new_session(self.given.granted());
        let resumed = fresh().resuming(&saved.progress);
        let has_other_rows = resumed.is_none();
        self.session = resumed.unwrap_or_else(fresh);
        self.object.get_mut().load(&self.session, saved.arrays.clone())?;
        assert!(!has_other_rows, "a state of another number of rows was not refused by the learner");
        Ok(())
    }

    fn new_session(&self, passes: f64) -> FitSession<'static> {
        self.given.session(passes, self.host, &self.log)
    }

    /// Takes steps until the passes are spent, a limit is reached, or the learner ends by itself.
    pub fn fit(&mut self) -> Result<FitReport, CallError> {
        self.session.pause(Pause::Never);
        Ok(self.call()?.1)
    }

    /// As [`fit`](Self::fit), with a pause after each step, and `count` steps at most.
    pub fn steps(&mut self, count: usize) -> Result<FitReport, CallError> {
        self.session.pause(Pause::EachStep);
        let (mut end, mut report) = self.call()?;
        for _ in 1..count {
            if end != FitEnd::Paused {
                break;
            }
            (end, report) = self.call()?;
        }
        Ok(report)
    }

    fn call(&mut self) -> Result<(FitEnd, FitReport), CallError> {
        if let Some(over) = self.over {
            return Ok((
                FitEnd::Ended(over),
                FitReport { reason: over.reason(), steps: 0, numbers: Vec::new() },
            ));
        }
        let outcome = self.object.get_mut().fit(&self.session)?;
        let reason = match outcome.end {
            FitEnd::Paused => Reason::Stopped,
            FitEnd::Ended(reason) => reason.reason(),
        };
        let (steps, numbers) = (outcome.reported_steps as i64, outcome.values.into_iter().collect());
        Ok((outcome.end, FitReport { reason, steps, numbers }))
    }

    /// Sets the total number of granted passes.
    pub fn grant(&mut self, passes: f64) {
        let progress = self.session.progress();
        self.session = self.new_session(passes).resuming(&progress).expect("the progress of the same fit");
    }

    /// Means and variances of y at the rows of `x`.
    pub fn predict(&self, x: &ArrayRef2<f64>) -> Result<(Array1<f64>, Array1<f64>), CallError> {
        let out = self.object.borrow_mut().predict(x.view())?;
        Ok((out.column(0).to_owned(), out.column(1).to_owned()))
    }

    /// The learner's model; an error with the status `UNSUPPORTED` if it has none.
    pub fn model(&self) -> Result<Model, CallError> {
        let arrays = self.object.borrow_mut().model()?;
        arrays.map(Model::from).ok_or_else(|| unsupported("model"))
    }

    /// The learner's saved state, for [`FitHost::resume`]; an error with the status `UNSUPPORTED` if it cannot save.
    pub fn save(&self) -> Result<SavedFit, CallError> {
        let arrays = self.object.borrow_mut().save()?.ok_or_else(|| unsupported("save"))?;
        Ok(SavedFit { arrays, progress: self.session.progress() })
    }

    /// Steps and objectives, as observed since `begin` or `resume`.
    pub fn trace(&self) -> Vec<(i64, f64)> {
        self.log.trace.borrow().clone()
    }

    /// Steps, names and values of the learner's own numbers, as noted since `begin` or `resume`.
    pub fn notes(&self) -> Vec<(i64, String, f64)> {
        self.log.notes.borrow().clone()
    }

    /// Streams and rows of the batches, as drawn since `begin` or `resume`.
    pub fn batches(&self) -> Vec<(u32, Vec<usize>)> {
        self.log.batches.borrow().clone()
    }

    /// The work that the fit has used.
    pub fn used(&self) -> Used {
        let cost = self.session.progress().cost;
        Used {
            rows_of_passes: cost.passed,
            rows: cost.rows as u64,
            entries: cost.entries.used,
            features: cost.features,
        }
    }
}

/// The error of a function that the learner does not have.
fn unsupported(during: &'static str) -> CallError {
    let text = "the learner has no such function".to_owned();
    CallError::Refused { during, code: Status::UNSUPPORTED.0, text }
}
