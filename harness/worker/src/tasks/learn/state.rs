//! The state of a case between two looks.

use std::collections::BTreeMap;

use gpbench_host::{Arrays, FitProgress};
use gpbench_record::{Hyperparameters, ModelKind, Step};
use serde::{Deserialize, Serialize};

use super::recorder::Record;

/// The state of a case after some looks, apart from the learner's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    /// Steps, time, work and places in the streams.
    pub(super) progress: FitProgress,
    /// The trace.
    pub(super) record: Record,
    /// The looks so far.
    pub(super) looks: Vec<Step>,
    /// The best look so far.
    pub(super) best: Option<Best>,
    /// Named numbers of the learner's latest report.
    pub(super) values: BTreeMap<String, f64>,
    /// Why the fit has diverged, if it has.
    pub(super) divergence: Option<String>,
}

/// The look whose model is the result so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Best {
    /// The number of the look.
    pub(super) look: u64,
    /// What it was selected by; nothing where the last look is.
    pub(super) value: Option<f64>,
    /// The kind of its model; none of a learner that puts none.
    pub(super) kind: Option<ModelKind>,
    /// Its hyperparameters.
    pub(super) hyperparameters: Hyperparameters,
    /// Its model, which the file keeps apart.
    #[serde(skip)]
    pub(super) model: Option<Arrays>,
}

impl State {
    /// The state before the first step.
    pub(super) fn new() -> State {
        State {
            progress: FitProgress::default(),
            record: Record::new(),
            looks: Vec::new(),
            best: None,
            values: BTreeMap::new(),
            divergence: None,
        }
    }

    /// Looks since the best one.
    pub(super) fn looks_without_a_new_best(&self) -> u64 {
        let last = self.looks.last().map_or(0, |look| look.step);
        self.best.as_ref().map_or(0, |best| last - best.look)
    }
}
