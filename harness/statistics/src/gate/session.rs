//! Sessions. The rank test assumes that only chance orders old and new times, but all times of a session share an
//! effect of the session, so the size of a change that matters is judged by how much earlier sessions differed.

use crate::estimate::{mean, sample_variance};

/// Fewest sessions from which a limit is derived.
pub const SESSIONS: usize = 5;

/// Least limit of a change: 10 %.
const LEAST: f64 = 1.1;

/// Standard deviations of a session's effect that the limit allows.
const DEVIATIONS: f64 = 4.0;

/// The logarithm of the ratio up to which a new session may differ from the mean of earlier ones on the same machine,
/// from the logarithms of mean times by group and session: max(ln 1.1, 4 s sqrt(1 + 1/K)), where s² is the mean over
/// groups of the variance over sessions and K their number. Groups with fewer than [`SESSIONS`] sessions are left
/// out; `None` if none is left.
pub fn session_limit(log_means: &[Vec<f64>]) -> Option<f64> {
    let groups: Vec<&Vec<f64>> = log_means.iter().filter(|sessions| sessions.len() >= SESSIONS).collect();
    let variances: Vec<f64> = groups.iter().filter_map(|sessions| sample_variance(sessions)).collect();
    let sessions = groups.iter().map(|sessions| sessions.len()).min()? as f64;
    let limit = DEVIATIONS * (mean(&variances)? * (1.0 + 1.0 / sessions)).sqrt();
    Some(limit.max(LEAST.ln()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_grows_with_the_spread_of_sessions() {
        assert_eq!(session_limit(&[vec![0.0; 4]]), None);
        assert_eq!(session_limit(&[vec![0.0; 5]]), Some(LEAST.ln()));
        // A variance of 0.01 over five sessions.
        let spread = vec![-0.1, 0.1, -0.1, 0.1, 0.0];
        let limit = session_limit(&[spread, vec![9.0]]).unwrap();
        assert!((limit - 4.0 * (0.01_f64 * 1.2).sqrt()).abs() < 1e-12);
    }
}
