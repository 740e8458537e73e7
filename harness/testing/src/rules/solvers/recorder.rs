//! Records the observations of a solve for a rule.

use gpbench_host::{IterationInfo, Observer};
use ndarray::{Array2, ArrayView2};

use super::request::{Ask, SolveRequest};

/// An observation of a solve.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Observation {
    /// Iterations so far.
    pub(super) iteration: u64,
    /// Epochs used so far.
    pub(super) epochs: f64,
    /// Relative residual norms that the solver claims, one per column; may be empty.
    pub(super) claimed: Vec<f64>,
}

/// Observer that asks for iterates and stops as a request states, and records the observations.
pub(super) struct Recorder {
    ask: Ask,
    stop_at: Option<usize>,
    pub(super) observed: Vec<Observation>,
    pub(super) asked: usize,
    pub(super) handed: Vec<Array2<f64>>,
}

impl Recorder {
    pub(super) fn new(request: &SolveRequest) -> Recorder {
        Recorder {
            ask: request.ask,
            stop_at: request.stop_at,
            observed: Vec::new(),
            asked: 0,
            handed: Vec::new(),
        }
    }
}

impl Observer for Recorder {
    fn wants_iterate(&mut self, _: IterationInfo<'_>) -> bool {
        let asks = match self.ask {
            Ask::Never => false,
            Ask::At(at) => at == self.observed.len() && self.asked == 0,
            Ask::Always => true,
        };
        self.asked += usize::from(asks);
        asks
    }

    fn record(&mut self, info: IterationInfo<'_>, iterate: Option<ArrayView2<f64>>) {
        let claimed = info.claimed.to_vec();
        self.observed.push(Observation { iteration: info.iteration, epochs: info.epochs, claimed });
        self.handed.extend(iterate.map(|iterate| iterate.to_owned()));
    }

    fn wants_stop(&mut self) -> bool {
        self.stop_at.is_some_and(|at| at + 1 == self.observed.len())
    }
}
