//! The calibration of a case's predictions, beyond its metrics.

use serde::{Deserialize, Serialize};

/// The calibration of predictions on the test rows, for charts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CalibrationShares {
    /// The case's predictions.
    pub own: RowShares,
    /// Those of the exact Gaussian process with the same hyperparameters; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<RowShares>,
}

/// Shares of the test rows by their place in their predictive distributions, noise included.
///
/// For plotting: rounded to six digits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RowShares {
    /// Shares of the rows whose probability integral transform Phi((y - mean) / deviation) lies in each of ten equal bins.
    pub pit: Vec<f64>,
    /// Shares of the rows within the central intervals of [`RowShares::nominal`] probability.
    pub coverage: Vec<f64>,
}

impl RowShares {
    /// Number of bins of the probability integral transform.
    pub const BINS: usize = 10;
    /// Number of central intervals.
    pub const INTERVALS: usize = 19;

    /// Probabilities of the central intervals: 0.05, 0.10, ... 0.95.
    pub fn nominal() -> impl Iterator<Item = f64> {
        (1..=Self::INTERVALS).map(|k| k as f64 / (Self::INTERVALS + 1) as f64)
    }

    /// Whether it has a share for each bin and for each interval.
    pub fn is_complete(&self) -> bool {
        (self.pit.len(), self.coverage.len()) == (Self::BINS, Self::INTERVALS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PosteriorOutput, TaskOutput};

    #[test]
    fn nominal_probabilities_are_twentieths() {
        let nominal: Vec<f64> = RowShares::nominal().collect();
        assert_eq!((nominal.len(), nominal[0], nominal[9], nominal[18]), (19, 0.05, 0.5, 0.95));
    }

    #[test]
    fn results_of_earlier_versions_have_none_and_new_ones_are_read_back() {
        let earlier: TaskOutput = serde_json::from_str(r#"{"task":"posterior"}"#).unwrap();
        assert_eq!(
            (&earlier, earlier.calibration()),
            (&TaskOutput::Posterior(PosteriorOutput::default()), None)
        );
        assert_eq!(serde_json::to_string(&earlier).unwrap(), r#"{"task":"posterior"}"#);

        let own = RowShares { pit: vec![0.1; 10], coverage: RowShares::nominal().collect() };
        assert!(own.is_complete() && !RowShares::default().is_complete());
        let shares = CalibrationShares { exact: Some(own.clone()), own };
        let mut found = earlier;
        found.set_calibration(Some(Box::new(shares.clone())));
        let text = serde_json::to_string(&found).unwrap();
        let read: TaskOutput = serde_json::from_str(&text).unwrap();
        assert_eq!(read.calibration(), Some(&shares));
        let mut solve = TaskOutput::Solve;
        solve.set_calibration(Some(Box::new(shares)));
        assert_eq!(solve.calibration(), None, "it predicts nothing");
    }
}
