//! What costs are counted in, and what curves are drawn against.

use gpbench_record::metric::{self, Metric};
use gpbench_record::{Row, names};

/// A measure of how far a case has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Wall-clock seconds of prepare and solve; of a whole case of training, those of all outer steps.
    Seconds,
    /// Multiples of n^2 kernel entries.
    Epochs,
    /// The solver's iterations.
    Iterations,
}

/// Costs of a case, or of its beginning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spent {
    pub(crate) seconds: f64,
    pub(crate) epochs: Option<f64>,
}

impl Clock {
    /// The metric of this clock.
    pub(crate) fn metric(self) -> &'static Metric {
        let name = match self {
            Clock::Seconds => names::SECONDS,
            Clock::Epochs => names::EPOCHS,
            Clock::Iterations => names::ITERATIONS,
        };
        metric::find(name).expect("every clock is a metric")
    }

    /// The metric of the cost of a whole case.
    pub(crate) fn of_case(self, row: &Row) -> &'static str {
        match self {
            Clock::Seconds if row.case.task.training().is_some() => names::SECONDS_TRAIN,
            _ => self.metric().name,
        }
    }

    /// The cost of a whole case, where it reported one.
    pub(crate) fn spent(self, row: &Row) -> Option<f64> {
        row.metrics.get(self.of_case(row))
    }

    /// This cost of some; `None` where it is not known.
    pub(crate) fn of(self, spent: Spent) -> Option<f64> {
        match self {
            Clock::Seconds => Some(spent.seconds).filter(|seconds| seconds.is_finite()),
            Clock::Epochs => spent.epochs,
            Clock::Iterations => None,
        }
    }
}
