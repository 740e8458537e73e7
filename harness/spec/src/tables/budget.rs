//! `[budget]`, and `budget` of a solver: when a solver has to stop.

use gpbench_record::Budget;

use crate::keys::{FRACTION, Keys, POSITIVE, memory, number, time};
use crate::source::At;

/// Bounds, with their places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounds {
    pub(crate) tolerance: Option<At<f64>>,
    pub(crate) max_epochs: Option<At<f64>>,
    pub(crate) seconds: Option<At<f64>>,
    pub(crate) memory_bytes: Option<At<u64>>,
    /// Whether a bound of the solver's work is written that cannot be read, which has been reported.
    pub(crate) is_unread: bool,
}

pub(crate) fn read(keys: &mut Keys<'_>) -> Bounds {
    let tolerance = number(FRACTION).hint("it is a relative residual norm, and the zero vector reaches 1");
    let bounds = Bounds {
        tolerance: keys.optional("tolerance", tolerance, "Relative residual norm to reach."),
        max_epochs: keys.optional(
            "max_epochs",
            number(POSITIVE),
            "Largest number of epochs: multiples of n^2 kernel entries.",
        ),
        seconds: keys.optional(
            "time",
            time(),
            "Largest time of prepare and solve together; of all steps, in training; of the fit, of a learner.",
        ),
        memory_bytes: keys.optional("memory", memory(), "Largest memory of the process that solves."),
        is_unread: false,
    };
    let is_unread = |key: &str| match key {
        "tolerance" => bounds.tolerance.is_none(),
        "max_epochs" => bounds.max_epochs.is_none(),
        "time" => bounds.seconds.is_none(),
        "memory" => false,
        // A misspelt bound, perhaps.
        _ => true,
    };
    let is_unread = keys.written().iter().any(|key| is_unread(&key.value));
    Bounds { is_unread, ..bounds }
}

impl Bounds {
    /// The budget with these bounds, and with the common ones for the keys that are absent.
    pub(crate) fn over(&self, common: &Bounds) -> Budget {
        fn first<T: Copy>(own: &Option<At<T>>, common: &Option<At<T>>) -> Option<T> {
            own.as_ref().or(common.as_ref()).map(|bound| bound.value)
        }
        Budget {
            tolerance: first(&self.tolerance, &common.tolerance),
            max_epochs: first(&self.max_epochs, &common.max_epochs),
            seconds: first(&self.seconds, &common.seconds),
            memory_bytes: first(&self.memory_bytes, &common.memory_bytes),
        }
    }
}
