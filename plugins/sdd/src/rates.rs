//! Learning rates to try.

/// Rates beta n to try, in this order. They suit a signal variance of 1; the last ones are for a larger one, and for
/// kernels that hardly vary between rows.
const RATES: [f64; 9] = [100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01];

/// A given learning rate, or the largest of a few that does not diverge. A rate that has diverged is not tried again.
#[derive(Debug, Clone)]
pub(crate) struct Rates {
    given: Option<f64>,
    /// Number of rates that have diverged.
    failed: usize,
}

impl Rates {
    /// Always `rate`; if that is 0, the rates in their order.
    pub(crate) fn new(rate: f64) -> Rates {
        Rates { given: Some(rate).filter(|&rate| rate > 0.0), failed: 0 }
    }

    pub(crate) fn current(&self) -> f64 {
        self.given.unwrap_or(RATES[self.failed])
    }

    /// Whether there is another rate to try after this one.
    pub(crate) fn has_next(&self) -> bool {
        self.given.is_none() && self.failed + 1 < RATES.len()
    }

    /// Continues with the next rate.
    pub(crate) fn advance(&mut self) {
        self.failed += usize::from(self.has_next());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_given_or_found() {
        let mut given = Rates::new(7.0);
        assert!(!given.has_next());
        given.advance();
        assert_eq!(given.current(), 7.0);

        let mut found = Rates::new(0.0);
        for rate in RATES {
            assert_eq!((found.current(), found.has_next()), (rate, rate != 0.01));
            found.advance();
        }
        assert_eq!(found.current(), 0.01, "the last stays");
    }
}
