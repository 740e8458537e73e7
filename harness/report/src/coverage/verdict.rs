//! How far our value of a cell is from the printed one.

use crate::aggregate::MeanWithError;
use crate::reference::{Comparison, Figure};

/// A difference, ours less the printed one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    /// In published standard deviations over splits.
    pub(super) deviations: f64,
    /// In standard errors of both means.
    pub(super) errors: f64,
}

impl Difference {
    /// A printed figure is uniform within half a unit of its last digit. Where we have one seed, the printed deviation stands for
    /// ours.
    pub(super) fn new(ours: &MeanWithError, theirs: &Figure, comparison: &Comparison) -> Difference {
        let splits = comparison.splits as f64;
        let spread = theirs.stderr.unwrap_or(0.0);
        let (error, deviation) = match comparison.spread_is_deviation {
            true => (spread / splits.sqrt(), spread),
            false => (spread, spread * splits.sqrt()),
        };
        let rounding = 0.5 * 0.1_f64.powi(theirs.decimals as i32) / 3.0_f64.sqrt();
        let own = ours.stderr.unwrap_or(deviation / (ours.seeds as f64).sqrt());
        let difference = ours.mean - theirs.mean;
        Difference {
            deviations: difference / deviation.hypot(rounding),
            errors: difference / own.hypot(error).hypot(rounding),
        }
    }

    /// Whether the means are within two published standard deviations of each other.
    pub(super) fn is_within_deviations(&self) -> bool {
        self.deviations.abs() <= 2.0
    }

    /// Whether the means are within two standard errors of each other.
    pub(super) fn is_within_errors(&self) -> bool {
        self.errors.abs() <= 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(spread_is_deviation: bool) -> Comparison {
        let text = format!(
            "conditions = ''\ndecimals = 2\nsplits = 4\nspread_is_deviation = {spread_is_deviation}\ntables = []\nmethods = []"
        );
        toml::from_str(&text).unwrap()
    }

    fn ours(mean: f64, stderr: Option<f64>) -> MeanWithError {
        MeanWithError { mean, stderr, seeds: if stderr.is_some() { 4 } else { 1 }, of: 4 }
    }

    #[test]
    fn the_spread_of_both_and_the_rounding_of_print_count() {
        // Rounding: 0.005 / sqrt 3 = 0.00289; errors 0.03 and 0.04 give 0.05.
        let theirs = Figure::new(1.0, Some(0.04));
        let apart = Difference::new(&ours(1.1, Some(0.03)), &theirs, &comparison(false));
        assert!((apart.errors - 0.1 / 0.05008326).abs() < 1e-5, "{apart:?}");
        // Over four splits, the error 0.04 is a deviation of 0.08.
        assert!((apart.deviations - 0.1 / 0.0800521).abs() < 1e-5, "{apart:?}");
        // The spread 0.04 as a deviation over 4 splits is an error of 0.02.
        let apart = Difference::new(&ours(1.1, Some(0.03)), &theirs, &comparison(true));
        assert!((apart.errors - 0.1 / 0.0361710).abs() < 1e-4, "{apart:?}");
        assert!((apart.deviations - 0.1 / 0.0401040).abs() < 1e-4, "{apart:?}");
        // One seed of ours has the printed deviation.
        let apart = Difference::new(&ours(0.9, None), &theirs, &comparison(true));
        assert!((apart.errors + 0.1 / 0.0448144).abs() < 1e-4, "{apart:?}");
        assert!(!apart.is_within_errors() && !apart.is_within_deviations());
    }

    #[test]
    fn a_printed_zero_spread_leaves_the_rounding() {
        let apart =
            Difference::new(&ours(0.084, Some(0.0)), &Figure::new(0.08, Some(0.0)), &comparison(false));
        assert!((apart.errors - 1.3856).abs() < 1e-3 && apart.errors == apart.deviations, "{apart:?}");
        assert!(apart.is_within_errors() && apart.is_within_deviations());
    }
}
