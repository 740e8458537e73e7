//! Reasons of the end of a solve or a fit.

crate::words! {
    /// Why a solve or a fit ended, as a plugin reports it.
    pub enum Reason {
        /// The tolerance is reached, or the solver is exact.
        Converged = "converged",
        /// The host asked to stop.
        Stopped = "stopped",
        /// The solver's own iteration limit.
        Iterations = "iterations",
        /// The residual no longer falls.
        Stagnated = "stagnated",
        /// The residual grows without bound, or is not a number.
        Diverged = "diverged",
    }
}

crate::words! {
    /// Why a solver stopped. Stopping short is data, not an error.
    pub enum StopReason {
        /// The solver says that the tolerance is reached, or that it is exact.
        Converged = "converged",
        /// The epoch budget is spent.
        Epochs = "epochs",
        /// The time budget is spent.
        Time = "time",
        /// The solver's own iteration limit is reached.
        Iterations = "iterations",
        /// The residual no longer falls.
        Stagnated = "stagnated",
        /// A number overflowed or the residual grows without bound.
        Diverged = "diverged",
        /// The target at which the case ends is reached.
        Target = "target",
    }
}

impl StopReason {
    /// The reason that the plugin reports, since only the host knows why it asked to stop.
    pub fn reason(self) -> Reason {
        match self {
            StopReason::Converged => Reason::Converged,
            StopReason::Epochs | StopReason::Time | StopReason::Target => Reason::Stopped,
            StopReason::Iterations => Reason::Iterations,
            StopReason::Stagnated => Reason::Stagnated,
            StopReason::Diverged => Reason::Diverged,
        }
    }
}
