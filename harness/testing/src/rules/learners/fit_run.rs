//! A learner's object under test with its fit.

use std::cell::RefCell;
use std::rc::Rc;

use gpbench_host::{
    Arrays, CallError, FitEnd, FitObserver, FitPoint, FitProgress, FitSession, LearnerObject, Pause,
};
use gpbench_terms::{ParamValue, Reason};
use ndarray::Array2;

use super::judge::Judged;
use super::request::FitRequest;
use crate::rules::{Finding, Subject, SubjectEntry};

/// Key of the minibatches, which do not depend on the learner's own seed.
const BATCH_KEY: u64 = 0x44bc_9279_538d_99f7;

/// A learner's object with its fit. The caller ends it with [`FitRun::end`].
pub(super) struct FitRun<'s> {
    learner: LearnerObject<'s>,
    session: FitSession<'static>,
    record: Rc<Record>,
    request: FitRequest,
    reported: u64,
    subject: &'s Subject<'s>,
}

/// A saved state of the learner and of the host.
pub(super) struct SavedFit {
    state: Arrays,
    progress: FitProgress,
}

impl SavedFit {
    /// Whether the learner has the same state. The host's progress has seconds, which differ.
    pub(super) fn is_same_state(&self, other: &SavedFit) -> bool {
        self.state == other.state
    }
}

/// How a call of `fit` ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The fit has paused and can continue.
    Paused,
    /// The fit is over.
    Ended(Reason),
}

/// Work that a fit has used, and its reports.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Used {
    /// Objectives of the steps, as the learner reports them.
    pub(super) objectives: Vec<f64>,
    /// Numbers of the steps, counted since the fit began.
    pub(super) steps: Vec<u64>,
    /// Steps that the learner's last report counts.
    pub(super) reported: u64,
    /// Passes over the rows of the first stream.
    pub(super) passes: f64,
    /// Batches of the first stream.
    pub(super) batches: u64,
    /// Rows of all streams and charges.
    pub(super) rows: f64,
    /// Kernel entries.
    pub(super) entries: f64,
    /// Rows taken through the network or the random features.
    pub(super) features: f64,
    /// Draws after the learner had been told to stop.
    pub(super) late_draws: u64,
}

impl<'s> FitRun<'s> {
    /// Makes an object and begins a fit.
    pub(super) fn begin(
        subject: &'s Subject<'s>,
        request: &FitRequest,
        settings: &[(&str, ParamValue)],
    ) -> Result<FitRun<'s>, Finding> {
        let (session, record) = session(subject, request);
        let mut learner = object(subject, settings)?;
        learner.begin(&session).map_err(|error| refused(request, error))?;
        Ok(FitRun { learner, session, record, request: request.clone(), reported: 0, subject })
    }

    /// Makes an object that continues from a saved state.
    pub(super) fn load(
        subject: &'s Subject<'s>,
        request: &FitRequest,
        settings: &[(&str, ParamValue)],
        saved: &SavedFit,
    ) -> Result<FitRun<'s>, CallError> {
        let (session, record) = session(subject, request);
        let session = session.resuming(&saved.progress).expect("progress on as many rows");
        let mut learner = object(subject, settings)?;
        learner.load(&session, saved.state.clone())?;
        Ok(FitRun { learner, session, record, request: request.clone(), reported: 0, subject })
    }

    /// Begins anew, on another request.
    pub(super) fn begin_again(&mut self, request: &FitRequest) -> Result<(), Finding> {
        let (session, record) = session(self.subject, request);
        self.learner.begin(&session).map_err(|error| refused(request, error))?;
        (self.session, self.record, self.request) = (session, record, request.clone());
        Ok(())
    }

    /// Continues the fit.
    pub(super) fn fit(&mut self) -> Result<End, CallError> {
        let outcome = self.learner.fit(&self.session)?;
        self.reported = outcome.reported_steps;
        Ok(match outcome.end {
            FitEnd::Paused => End::Paused,
            FitEnd::Ended(why) => End::Ended(why.reason()),
        })
    }

    /// Sets the total number of granted passes.
    pub(super) fn grant(&mut self, passes: f64) {
        let request = FitRequest { passes, ..self.request.clone() };
        let session = session_with(self.subject, &request, &self.record);
        self.session = session.resuming(&self.session.progress()).expect("the progress of the same fit");
    }

    /// Streams and rows of the batches so far.
    pub(super) fn batches(&self) -> Vec<(u32, Vec<i64>)> {
        self.record.batches.borrow().clone()
    }

    /// Predicts at `x` (m x d): means and variances of y, m x 2.
    pub(super) fn predict(&mut self, x: &Array2<f64>) -> Result<Array2<f64>, CallError> {
        self.learner.predict(x.view())
    }

    /// The judge's results for the learner's model, with predictions at `x`. Skips if the learner has no model.
    pub(super) fn judge(&mut self, x: &Array2<f64>) -> Result<Judged, Finding> {
        let none = || Finding::Skipped("puts no model".into());
        let arrays = self.learner.model()?.ok_or_else(none)?;
        let judged = self.subject.judge.judge(&self.request, &arrays, x.view());
        judged.map_err(|finding| finding.context(|what| format!("the model: {what}")))
    }

    /// Asks for the model and the state, as an evaluation between steps does.
    pub(super) fn evaluate(&mut self) -> Result<(), CallError> {
        self.learner.model()?;
        self.learner.save().map(drop)
    }

    /// The saved state; `None` if the learner cannot save.
    pub(super) fn save(&mut self) -> Result<Option<SavedFit>, CallError> {
        let saved = self.learner.save()?;
        Ok(saved.map(|state| SavedFit { state, progress: self.session.progress() }))
    }

    /// The work that the fit has used so far.
    pub(super) fn used(&self) -> Used {
        let cost = self.session.progress().cost;
        Used {
            objectives: self.record.objectives.borrow().clone(),
            steps: self.record.steps.borrow().clone(),
            reported: self.reported,
            passes: cost.passes(self.session.n()),
            batches: self.session.batches(),
            rows: cost.rows,
            entries: cost.entries.used,
            features: cost.features,
            late_draws: self.session.late_draws(),
        }
    }

    /// Destroys the object; an error if the learner reports one.
    pub(super) fn end(self) -> Result<(), CallError> {
        self.learner.destroy()
    }
}

/// Records objectives and batches.
#[derive(Default)]
struct Record {
    objectives: RefCell<Vec<f64>>,
    steps: RefCell<Vec<u64>>,
    batches: RefCell<Vec<(u32, Vec<i64>)>>,
}

impl FitObserver for Record {
    fn step(&self, point: FitPoint, objective: f64) {
        self.steps.borrow_mut().push(point.step);
        self.objectives.borrow_mut().push(objective);
    }

    fn batch(&self, stream: u32, rows: &[i64]) {
        self.batches.borrow_mut().push((stream, rows.to_vec()));
    }
}

fn object<'s>(
    subject: &'s Subject<'s>,
    settings: &[(&str, ParamValue)],
) -> Result<LearnerObject<'s>, CallError> {
    let SubjectEntry::Learner(entry) = subject.entry else {
        unreachable!("a rule of learners tests a learner")
    };
    LearnerObject::create(entry, subject.host, &subject.params(settings))
}

/// The finding for a fit that did not begin, with the requested kernel.
fn refused(request: &FitRequest, error: CallError) -> Finding {
    let kernel = match &request.network {
        Some(network) => {
            format!("the kernel {} on a network of widths {:?}", request.covariance, network.widths)
        }
        None => format!("the kernel {}", request.covariance),
    };
    Finding::Failed(format!("{error} (asked for {kernel})"))
}

/// The session of a request, and its record.
fn session(subject: &Subject<'_>, request: &FitRequest) -> (FitSession<'static>, Rc<Record>) {
    let record = Rc::new(Record::default());
    (session_with(subject, request, &record), record)
}

fn session_with(subject: &Subject<'_>, request: &FitRequest, record: &Rc<Record>) -> FitSession<'static> {
    let session = request
        .pose(|problem| FitSession::new(problem, request.limits(), BATCH_KEY, subject.host, record.clone()));
    session.pause(if request.pause { Pause::EachStep } else { Pause::Never });
    session
}
