//! The account of kernel entries: who used how many, and when there are no more.

use std::cell::Cell;

use gpbench_record::Entries;

/// Slack of the comparison with the budget, so that a whole number of epochs
/// asked for is a whole number of products granted whatever the rounding.
const SLACK: f64 = 1e-12;

/// Counts kernel entries against a budget of epochs.
#[derive(Debug)]
pub struct Ledger {
    epoch: f64,
    budget: f64,
    entries: Cell<Entries>,
}

impl Ledger {
    /// An empty account for a system of n rows: n^2 entries are one epoch.
    pub fn new(n: usize, max_epochs: Option<f64>) -> Ledger {
        let epoch = (n as f64).powi(2);
        Ledger {
            epoch,
            budget: max_epochs.map_or(f64::INFINITY, |epochs| epochs * epoch),
            entries: Cell::new(Entries::default()),
        }
    }

    /// Books work that the harness is about to do and answers true, or answers false and books
    /// nothing if the work does not fit into what is left. No work overshoots the budget.
    ///
    /// Work may use more entries than it evaluates, as where both triangles of a symmetric matrix
    /// come of one; the budget is one of entries used.
    pub fn claim(&self, used: f64, evaluated: f64) -> bool {
        let account = self.entries.get();
        if self.is_spent() || account.used + used > self.budget * (1.0 + SLACK) {
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
    pub fn charge(&self, entries: f64) -> bool {
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
    pub fn close_setup(&self) {
        let account = self.entries.get();
        self.entries.set(Entries { setup: account.used, ..account });
    }

    /// Whether the whole budget is used.
    pub fn is_spent(&self) -> bool {
        self.entries.get().used >= self.budget * (1.0 - SLACK)
    }

    /// Epochs used so far.
    pub fn epochs(&self) -> f64 {
        self.entries.get().used / self.epoch
    }

    /// The account.
    pub fn entries(&self) -> Entries {
        self.entries.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_of_products_fits_into_the_budget_and_not_one_more() {
        let ledger = Ledger::new(3, Some(2.0));
        assert!(ledger.claim(9.0, 9.0));
        assert!(!ledger.is_spent());
        assert!(ledger.claim(9.0, 9.0));
        assert!(ledger.is_spent());
        assert!(!ledger.claim(1.0, 1.0));
        assert_eq!(ledger.epochs(), 2.0);
    }

    #[test]
    fn refused_work_is_not_booked() {
        let ledger = Ledger::new(10, Some(1.5));
        assert!(ledger.claim(100.0, 100.0));
        assert!(!ledger.claim(100.0, 100.0));
        assert!(ledger.claim(50.0, 50.0));
        assert_eq!(ledger.entries().used, 150.0);
    }

    #[test]
    fn odd_fractions_of_an_epoch_add_up() {
        let ledger = Ledger::new(7, Some(1.0));
        for _ in 0..7 {
            assert!(ledger.claim(7.0, 7.0));
        }
        assert!(!ledger.claim(7.0, 7.0));
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

    #[test]
    fn without_a_budget_nothing_is_refused() {
        let ledger = Ledger::new(2, None);
        assert!(ledger.claim(1e300, 1e300));
        assert!(!ledger.is_spent());
    }
}
