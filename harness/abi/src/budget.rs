//! The rule by which a host admits work.
//!
//! Rust only; no part of the C interface.

/// Relative slack of comparisons with the budget: a whole number of epochs admits exactly that many
/// products, however the entries' sums are rounded.
const SLACK: f64 = 1e-12;

/// A budget of kernel entries, given in epochs of n^2 entries.
///
/// Work of the operator has to fit: a call that would overshoot is refused and counts nothing. Entries
/// that a plugin reports with [`Operator::charge`](crate::Operator::charge) have been evaluated already,
/// so a host counts them first and then asks [`is_spent`](Self::is_spent).
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    epoch: f64,
    entries: f64,
}

impl Budget {
    /// The budget of a system of n rows. It is unbounded if `max_epochs` is not finite.
    pub fn new(n: usize, max_epochs: f64) -> Budget {
        let epoch = n as f64 * n as f64;
        let entries = if max_epochs.is_finite() { max_epochs * epoch } else { f64::INFINITY };
        Budget { epoch, entries }
    }

    /// Whether so many more entries fit, after `used` of them.
    pub fn fits(&self, used: f64, entries: f64) -> bool {
        !self.is_spent(used) && used + entries <= self.entries * (1.0 + SLACK)
    }

    /// Whether `used` entries are the whole budget.
    pub fn is_spent(&self, used: f64) -> bool {
        used >= self.entries * (1.0 - SLACK)
    }

    /// So many entries in epochs.
    pub fn epochs(&self, entries: f64) -> f64 {
        entries / self.epoch
    }
}
