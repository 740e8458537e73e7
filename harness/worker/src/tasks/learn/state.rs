//! The state of a case between two evaluations.

use std::collections::BTreeMap;

use gpbench_host::{Arrays, FitProgress};
use gpbench_record::{Hyperparameters, ModelKind, Step};
use serde::{Deserialize, Serialize};

use super::recorder::Record;

/// The state of a case after some evaluations, apart from the learner's own state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    /// Steps, time, work and positions in the streams.
    pub(super) progress: FitProgress,
    /// The trace.
    pub(super) record: Record,
    /// The evaluations so far.
    pub(super) looks: Vec<Step>,
    /// The best evaluation so far.
    pub(super) best: Option<Best>,
    /// Named numbers of the learner's latest report.
    pub(super) values: BTreeMap<String, f64>,
    /// Why the fit has diverged, if it has.
    pub(super) divergence: Option<String>,
}

/// The evaluation whose model is the result so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Best {
    /// The number of the evaluation.
    pub(super) look: u64,
    /// The value by which it was selected; `None` where the last evaluation is selected.
    pub(super) value: Option<f64>,
    /// The kind of its model; `None` for a learner that supplies no model.
    pub(super) kind: Option<ModelKind>,
    /// Its hyperparameters.
    pub(super) hyperparameters: Hyperparameters,
    /// Its model, which the file stores separately.
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

    /// Number of evaluations since the best one.
    pub(super) fn looks_without_a_new_best(&self) -> u64 {
        let last = self.looks.last().map_or(0, |look| look.step);
        self.best.as_ref().map_or(0, |best| last - best.look)
    }
}
