//! Accuracy of the residual norms that a solver claims.

/// Accuracy of the relative residual norms that a solver observes and reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claims {
    /// All observed and reported norms are true up to this absolute error.
    Observed(f64),
    /// Reported norms are true up to this absolute error; observed ones are estimates.
    Reported(f64),
    /// All norms are estimates, with at most this factor of error.
    Estimated(f64),
}

impl Claims {
    /// The factor by which the true residual may exceed the tolerance where convergence is claimed.
    pub(super) fn slack(self) -> f64 {
        match self {
            Claims::Observed(_) | Claims::Reported(_) => 1.01,
            Claims::Estimated(factor) => factor,
        }
    }

    /// Whether a reported norm is accurate enough.
    pub(super) fn allow(self, claimed: f64, truth: f64) -> bool {
        match self {
            Claims::Observed(error) | Claims::Reported(error) => (claimed - truth).abs() <= error,
            Claims::Estimated(factor) => (truth / factor..=truth * factor).contains(&claimed),
        }
    }

    /// Whether an observed norm is accurate enough.
    pub(super) fn allow_observed(self, claimed: f64, truth: f64) -> bool {
        !matches!(self, Claims::Observed(_)) || self.allow(claimed, truth)
    }
}
