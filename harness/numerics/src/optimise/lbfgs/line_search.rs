//! The length of a step by doubling and bisection.

/// A line search: its current trial, and the lengths between which an acceptable one lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LineSearch {
    step: f64,
    /// The longest step so far that was too short.
    low: f64,
    /// The shortest step so far that was too long; infinity before one was.
    high: f64,
    /// Trials, the current one included.
    count: usize,
}

impl LineSearch {
    /// A search whose first trial is `step`, as a multiple of the direction.
    pub(super) fn new(step: f64) -> LineSearch {
        LineSearch { step, low: 0.0, high: f64::INFINITY, count: 1 }
    }

    /// The current trial, as a multiple of the direction.
    pub(super) fn step(&self) -> f64 {
        self.step
    }

    /// Trials so far, the current one included.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The current trial was too long.
    pub(super) fn shorten(&mut self) {
        self.high = self.step;
        self.bisect();
    }

    /// The current trial was too short.
    pub(super) fn lengthen(&mut self) {
        self.low = self.step;
        self.bisect();
    }

    fn bisect(&mut self) {
        self.step = if self.high == f64::INFINITY { 2.0 * self.low } else { (self.low + self.high) / 2.0 };
        self.count += 1;
    }

    /// Four finite numbers; 0 stands for an infinite upper end.
    pub(super) fn save(&self) -> [f64; 4] {
        let high = if self.high == f64::INFINITY { 0.0 } else { self.high };
        [self.step, self.low, high, self.count as f64]
    }

    /// The search that [`save`](Self::save) gave.
    pub(super) fn load([step, low, high, count]: [f64; 4]) -> LineSearch {
        let high = if high == 0.0 { f64::INFINITY } else { high };
        LineSearch { step, low, high, count: count as usize }
    }
}
