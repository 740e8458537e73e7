//! The load of a machine by programs that do not belong to a run.

/// Time that the processors of a machine had, and how it was used, in ticks since the machine started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessorTimes {
    /// Of all processors that this process may use, idle ones too.
    pub total: u64,
    /// The part in which they were not idle, or belonged to another virtual machine.
    pub busy: u64,
    /// The part that this process and its children took that have ended.
    pub own: u64,
}

/// Ticks of one processor for which shares are not stated: a second. Each count is off by up to a tick.
const SHORTEST: u64 = 100;

impl ProcessorTimes {
    /// The share of the processors that others used from here to `later`; `None` over less than about a second.
    pub fn share_of_others(self, later: ProcessorTimes, processors: usize) -> Option<f64> {
        let total = later.total.saturating_sub(self.total);
        let busy = later.busy.saturating_sub(self.busy);
        let others = busy.saturating_sub(later.own.saturating_sub(self.own));
        (total >= SHORTEST * processors.max(1) as u64).then(|| (others as f64 / total as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_used_what_is_neither_idle_nor_ours() {
        let before = ProcessorTimes { total: 1000, busy: 500, own: 100 };
        let after = |busy: u64, own: u64| ProcessorTimes { total: 1800, busy: 500 + busy, own: 100 + own };
        assert_eq!(before.share_of_others(after(600, 400), 4), Some(0.25));
        // The counts are not taken at the same instant.
        assert_eq!(before.share_of_others(after(400, 405), 4), Some(0.0));
        assert_eq!(before.share_of_others(after(600, 400), 16), None);
    }
}
