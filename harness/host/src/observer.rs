//! The observer of a solve, which receives its iterations.

use ndarray::ArrayView2;

/// Progress of a solve at one iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationInfo<'a> {
    /// The solver's count.
    pub iteration: u64,
    /// Seconds on the clock of prepare and solve.
    pub seconds: f64,
    /// Epochs used so far.
    pub epochs: f64,
    /// The solver's own relative residual norms, one a column, or none.
    pub claimed: &'a [f64],
}

/// Observes a solve. The clock is paused during its calls.
pub trait Observer {
    /// Whether to ask for the iterate at this iteration.
    fn wants_iterate(&mut self, info: IterationInfo<'_>) -> bool;

    /// Records an iteration, with the weights of the iterate if it was requested.
    fn record(&mut self, info: IterationInfo<'_>, iterate: Option<ArrayView2<f64>>);

    /// Whether to answer `STOPPED` at the iteration just recorded. The operator is not affected: it
    /// serves as long as the budget lasts.
    fn wants_stop(&mut self) -> bool {
        false
    }

    /// Records a finite number that the solver reports.
    fn note(&mut self, _info: IterationInfo<'_>, _name: &str, _value: f64) {}
}

/// An observer that records nothing.
impl Observer for () {
    fn wants_iterate(&mut self, _: IterationInfo<'_>) -> bool {
        false
    }

    fn record(&mut self, _: IterationInfo<'_>, _: Option<ArrayView2<f64>>) {}
}
