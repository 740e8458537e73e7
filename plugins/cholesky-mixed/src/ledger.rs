//! The decision when to make a new factor, by counted operations and never by a clock, so that every machine decides
//! alike.

/// Operations since a factor was made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Ledger {
    /// Solves that have used the factor.
    pub(crate) solves: f64,
    /// Operations of its factorisation and of those solves.
    pub(crate) spent: f64,
    /// Operations of the last solve.
    pub(crate) last: f64,
}

impl Ledger {
    /// The ledger of a new factor.
    pub(crate) fn new(factorisation: f64) -> Ledger {
        Ledger { spent: factorisation, ..Ledger::default() }
    }

    /// Adds a solve.
    pub(crate) fn book(&mut self, operations: f64) {
        *self = Ledger { solves: self.solves + 1.0, spent: self.spent + operations, last: operations };
    }

    /// Whether the next solve is to have a new factor. If solves become more expensive, the operations
    /// per solve are least when the last solve costs as much as the mean one, factorisation included.
    pub(crate) fn is_due(&self) -> bool {
        self.solves > 0.0 && self.last * self.solves >= self.spent
    }
}

/// Numbers of operations in single precision; one in double precision counts as two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Costs {
    /// Operations of a factorisation.
    pub(crate) factorisation: f64,
    /// Operations of an iteration.
    pub(crate) iteration: f64,
}

impl Costs {
    /// Costs for n rows, d inputs and s right-hand sides, with products in single precision or in double.
    pub(crate) fn new((n, d, s): (usize, usize, usize), double: bool) -> Costs {
        let (n, d, s) = (n as f64, d as f64, s as f64);
        let products = if double { 2.0 } else { 1.0 };
        // A distance, a root and an exponential; one triangle of entries is evaluated.
        let entries = n * n / 2.0 * (3.0 * d + 40.0);
        Costs {
            factorisation: n * n * n / 3.0 + 2.0 * entries,
            // A product, and two triangular solves.
            iteration: products * (2.0 * n * n * s + entries) + 2.0 * n * n * s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_replaced_where_the_mean_cost_would_begin_to_rise() {
        // Iterations of successive solves, in units of an iteration; a factorisation takes 17.
        let iterations = [2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0];
        let mut ledger = Ledger::new(17.0);
        let served = iterations.iter().position(|&of| {
            let due = ledger.is_due();
            ledger.book(of);
            due
        });
        let mean = |solves: usize| (17.0 + iterations[..solves].iter().sum::<f64>()) / solves as f64;
        let best = (1..=8).min_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        // The first solve that is dearer than the mean has to be seen before it is known.
        assert_eq!((served, best), (Some(6), Some(5)));
    }

    #[test]
    fn a_new_factor_is_used_at_least_once() {
        assert!(!Ledger::new(0.0).is_due());
        let mut ledger = Ledger::new(5.0);
        ledger.book(0.0);
        assert!(!ledger.is_due());
    }

    #[test]
    fn a_factorisation_costs_as_much_as_many_iterations() {
        let ratio = |s, double| {
            let costs = Costs::new((13_500, 26, s), double);
            (costs.factorisation / costs.iteration).round()
        };
        assert_eq!((ratio(65, false), ratio(65, true), ratio(1, false)), (14.0, 9.0, 73.0));
    }
}
