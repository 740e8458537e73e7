//! The trace of a fit: objectives and numbers that the learner reports, thinned once there are many.

use std::cell::RefCell;
use std::collections::BTreeMap;

use gpbench_host::{FitObserver, FitPoint};
use gpbench_record::{MOST_TRACE_POINTS, Message, Metrics, TracePoint, names};
use serde::{Deserialize, Serialize};

use crate::trace::{MAX_NAMES, Thinning};

/// The record so far, from which a fit in another process continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    points: Vec<TracePoint>,
    steps: Thinning,
    own: BTreeMap<String, Thinning>,
    /// The objective of the last step.
    pub(super) objective: Option<f64>,
}

impl Record {
    /// An empty record.
    pub(super) fn new() -> Record {
        Record { points: Vec::new(), steps: Thinning::new(), own: BTreeMap::new(), objective: None }
    }

    /// The points so far.
    pub(super) fn points(&self) -> &[TracePoint] {
        &self.points
    }
}

/// The receiver of messages, shared by several senders.
pub(super) type Send<'s> = RefCell<&'s mut dyn FnMut(Message)>;

/// Records a fit and sends its points.
pub(super) struct Recorder<'s> {
    record: RefCell<Record>,
    send: &'s Send<'s>,
}

impl<'s> Recorder<'s> {
    /// A recorder that continues a record.
    pub(super) fn new(record: Record, send: &'s Send<'s>) -> Recorder<'s> {
        Recorder { record: RefCell::new(record), send }
    }

    /// The record so far.
    pub(super) fn record(&self) -> Record {
        self.record.borrow().clone()
    }

    /// Sends a point, unless the case has reached its largest number of points.
    fn point(&self, at: FitPoint, name: &str, value: f64) {
        let points = &mut self.record.borrow_mut().points;
        if points.len() == MOST_TRACE_POINTS {
            return;
        }
        let FitPoint { step: iteration, seconds, epochs, passes } = at;
        let metrics = [(name.to_owned(), value), (names::PASSES.to_owned(), passes)];
        let point = TracePoint { iteration, seconds, epochs, metrics: Metrics::from_iter(metrics) };
        (self.send.borrow_mut())(Message::Trace(point.clone()));
        points.push(point);
    }
}

impl FitObserver for Recorder<'_> {
    fn step(&self, at: FitPoint, objective: f64) {
        let is_due = {
            let mut record = self.record.borrow_mut();
            record.objective = Some(objective);
            record.steps.is_due()
        };
        if is_due {
            self.point(at, names::CLAIMED_OBJECTIVE, objective);
        }
    }

    fn note(&self, at: FitPoint, name: &str, value: f64) {
        let is_due = {
            let own = &mut self.record.borrow_mut().own;
            if !own.contains_key(name) && own.len() == MAX_NAMES {
                return;
            }
            own.entry(name.to_owned()).or_insert_with(Thinning::new).is_due()
        };
        if is_due {
            self.point(at, &names::of_solver(name), value);
        }
    }
}
