//! Predictions on the test rows of a case, in the units of the file.

use serde::{Deserialize, Serialize};

/// Predictions on the test rows of a case, in the units of the file.
///
/// Each list that is not empty has one entry for each test row, in the order of the rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Predictions {
    /// Numbers of the rows in the file that holds them, counted from 0 without the header.
    pub row: Vec<u64>,
    /// Texts that identify the rows; empty where the spec names no column of ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub id: Vec<String>,
    /// Targets.
    pub target: Vec<f64>,
    /// Predictive means.
    pub mean: Vec<f64>,
    /// Standard deviations of the predicted targets, observation noise included; empty where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deviation: Vec<f64>,
    /// Standard deviations of the latent function, without noise; empty where they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub latent_deviation: Vec<f64>,
}

impl Predictions {
    /// Most test rows of a user's own file whose predictions are kept where the spec does not say so.
    pub const ROWS_BY_DEFAULT: usize = 10_000;
    /// Most test rows whose predictions are kept.
    pub const MOST_ROWS: usize = 200_000;

    /// Number of test rows.
    pub fn len(&self) -> usize {
        self.row.len()
    }

    /// Whether there are no test rows.
    pub fn is_empty(&self) -> bool {
        self.row.is_empty()
    }

    /// Whether each list has an entry for each row, or is empty where it may be. A journal that was changed by hand may have
    /// others.
    pub fn is_complete(&self) -> bool {
        let Predictions { row, id, target, mean, deviation, latent_deviation } = self;
        let has_ids = id.is_empty() || id.len() == row.len();
        let may_be_absent = |list: &Vec<f64>| list.is_empty() || list.len() == row.len();
        let needed = |list: &Vec<f64>| list.len() == row.len();
        has_ids
            && needed(target)
            && needed(mean)
            && may_be_absent(deviation)
            && may_be_absent(latent_deviation)
    }

    /// Whether every number is finite, as JSON demands.
    pub fn is_finite(&self) -> bool {
        let Predictions { row: _, id: _, target, mean, deviation, latent_deviation } = self;
        let mut all = [target, mean, deviation, latent_deviation].into_iter().flatten();
        all.all(|number| number.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_survives_and_absent_lists_take_no_room() {
        let predictions = Predictions {
            row: vec![3, 7],
            target: vec![0.1, -1e300],
            mean: vec![0.1 + 0.2, f64::MIN_POSITIVE],
            ..Predictions::default()
        };
        let text = serde_json::to_string(&predictions).unwrap();
        assert!(!text.contains("deviation") && !text.contains("id"), "{text}");
        assert_eq!(serde_json::from_str::<Predictions>(&text).unwrap(), predictions);
        assert!(predictions.is_complete() && predictions.is_finite() && predictions.len() == 2);
        let cut = Predictions { deviation: vec![1.0], ..predictions.clone() };
        assert!(!cut.is_complete());
        let infinite = Predictions { mean: vec![0.0, f64::INFINITY], ..predictions };
        assert!(!infinite.is_finite());
    }
}
