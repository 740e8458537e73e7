//! Counts the kernel entries of one solve against its budget.

use std::cell::Cell;

use gpbench_abi::Budget;
use gpbench_record::Entries;

/// Counts kernel entries against a budget of epochs.
#[derive(Debug)]
pub(super) struct Ledger {
    budget: Budget,
    entries: Cell<Entries>,
}

impl Ledger {
    /// A ledger without entries, for a system of n rows: n^2 entries are one epoch.
    pub(super) fn new(n: usize, max_epochs: Option<f64>) -> Ledger {
        let budget = Budget::new(n, max_epochs.unwrap_or(f64::INFINITY));
        Ledger { budget, entries: Cell::new(Entries::default()) }
    }

    /// Books work that the harness is about to do and answers true, or answers false and books
    /// nothing if the work does not fit into what is left. No work overshoots the budget.
    ///
    /// Work may use more entries than it evaluates, as where one triangle of a symmetric matrix serves for both; the
    /// budget limits the entries used.
    pub(super) fn claim(&self, used: f64, evaluated: f64) -> bool {
        let account = self.entries.get();
        if !self.budget.fits(account.used, used) {
            return false;
        }
        self.entries.set(Entries {
            used: account.used + used,
            evaluated: account.evaluated + evaluated,
            ..account
        });
        true
    }

    /// Books entries that the plugin evaluated by itself, which has already happened and may
    /// therefore overshoot. Answers whether anything is left.
    pub(super) fn charge(&self, entries: f64) -> bool {
        let account = self.entries.get();
        self.entries.set(Entries {
            used: account.used + entries,
            evaluated: account.evaluated + entries,
            self_reported: account.self_reported + entries,
            ..account
        });
        !self.is_spent()
    }

    /// Books everything so far as setup.
    pub(super) fn close_setup(&self) {
        let account = self.entries.get();
        self.entries.set(Entries { setup: account.used, ..account });
    }

    /// Whether the whole budget is used.
    pub(super) fn is_spent(&self) -> bool {
        self.budget.is_spent(self.entries.get().used)
    }

    /// Epochs used so far.
    pub(super) fn epochs(&self) -> f64 {
        self.budget.epochs(self.entries.get().used)
    }

    /// The entries so far.
    pub(super) fn entries(&self) -> Entries {
        self.entries.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_work_is_not_booked() {
        let ledger = Ledger::new(10, Some(1.5));
        assert!(ledger.claim(100.0, 100.0));
        assert!(!ledger.claim(100.0, 100.0));
        assert!(ledger.claim(50.0, 50.0));
        assert_eq!(ledger.entries().used, 150.0);
    }

    #[test]
    fn charges_are_kept_apart_and_may_overshoot() {
        let ledger = Ledger::new(10, Some(1.0));
        assert!(ledger.claim(60.0, 60.0));
        ledger.close_setup();
        assert!(!ledger.charge(60.0));
        let entries = ledger.entries();
        assert_eq!((entries.used, entries.self_reported, entries.setup), (120.0, 60.0, 60.0));
    }
}
