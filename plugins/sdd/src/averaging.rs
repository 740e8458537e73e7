//! The weight of the newest iterate in the average.

/// Length of a run relative to the steps that the average covers, as published: the last hundredth of them.
const SHARE: f64 = 100.0;

/// Assumed epochs of a run without limit; the average then covers one of them.
const UNLIMITED: f64 = 100.0;

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Horizon {
    /// Steps allowed; infinite if unlimited.
    pub steps: f64,
    /// Epochs left; infinite if unlimited.
    pub epochs: f64,
}

impl Horizon {
    /// Weight r of the newest iterate, abar = r alpha + (1 - r) abar: 100 / T (Lin et al. 2024, section
    /// 4.3), and at most 1.
    ///
    /// T is the number of steps allowed, or those that fit into the epochs, whichever is less; without a
    /// limit, the steps of 100 epochs.
    #[must_use]
    pub fn weight(&self, n: usize, batch_size: usize) -> f64 {
        let per_epoch = n as f64 / batch_size.max(1) as f64;
        let limited = self.steps.min(self.epochs * per_epoch);
        let steps = if limited.is_finite() { limited } else { UNLIMITED * per_epoch };
        if steps > SHARE { SHARE / steps } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_spans_a_hundredth_of_the_run() {
        let none = Horizon { steps: f64::INFINITY, epochs: f64::INFINITY };
        // 40 steps an epoch.
        let weight = |horizon: Horizon| horizon.weight(400, 10);
        assert_eq!(weight(Horizon { steps: 2000.0, ..none }), 0.05);
        assert_eq!(weight(Horizon { epochs: 50.0, ..none }), 0.05);
        assert_eq!(weight(Horizon { steps: 1e6, epochs: 50.0 }), 0.05);
        assert_eq!(weight(none), 0.025, "one epoch");
        for steps in [0.0, 1.0, 100.0] {
            assert_eq!(weight(Horizon { steps, ..none }), 1.0, "too few to average");
        }
        assert_eq!(none.weight(0, 0), 1.0);
    }
}
