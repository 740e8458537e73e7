//! Difference of our value of a cell from the printed one.

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
    /// A printed number is uniform within half a unit of its last digit, the spread too. Where we have one seed, the printed
    /// deviation stands for ours.
    pub(super) fn new(ours: &MeanWithError, theirs: &Figure, comparison: &Comparison) -> Difference {
        let splits = comparison.splits as f64;
        let rounding = 0.5 * 0.1_f64.powi(theirs.decimals as i32) / 3.0_f64.sqrt();
        let spread = theirs.stderr.map_or(0.0, |spread| spread.hypot(rounding));
        let (error, deviation) = match comparison.spread_is_deviation {
            true => (spread / splits.sqrt(), spread),
            false => (spread, spread * splits.sqrt()),
        };
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
        // Rounding: r = 0.005 / sqrt 3. The squared error of ours, of theirs, and of the printed mean.
        let r2 = 0.005_f64.powi(2) / 3.0;
        let is_near = |value: f64, expected: f64| (value - expected).abs() < 1e-12;
        let theirs = Figure::new(1.0, Some(0.04));
        let apart = Difference::new(&ours(1.1, Some(0.03)), &theirs, &comparison(false));
        assert!(
            is_near(apart.errors * (0.03_f64.powi(2) + 0.04_f64.powi(2) + 2.0 * r2).sqrt(), 0.1),
            "{apart:?}"
        );
        // Over four splits, the error 0.04 is a deviation of 0.08.
        assert!(is_near(apart.deviations * (0.08_f64.powi(2) + 5.0 * r2).sqrt(), 0.1), "{apart:?}");
        // The spread 0.04 as a deviation over four splits is an error of 0.02.
        let apart = Difference::new(&ours(1.1, Some(0.03)), &theirs, &comparison(true));
        assert!(
            is_near(apart.errors * (0.03_f64.powi(2) + 0.02_f64.powi(2) + 1.25 * r2).sqrt(), 0.1),
            "{apart:?}"
        );
        assert!(is_near(apart.deviations * (0.04_f64.powi(2) + 2.0 * r2).sqrt(), 0.1), "{apart:?}");
        // One seed of ours has the printed deviation.
        let apart = Difference::new(&ours(0.9, None), &theirs, &comparison(true));
        assert!(is_near(apart.errors * (1.25 * 0.04_f64.powi(2) + 2.25 * r2).sqrt(), -0.1), "{apart:?}");
        assert!(!apart.is_within_errors() && !apart.is_within_deviations());
    }

    #[test]
    fn a_printed_zero_spread_leaves_the_rounding() {
        let apart =
            Difference::new(&ours(0.084, Some(0.0)), &Figure::new(0.08, Some(0.0)), &comparison(true));
        let rounding = 0.005 / 3.0_f64.sqrt();
        assert!((apart.deviations - 0.004 / (rounding * 2.0_f64.sqrt())).abs() < 1e-12, "{apart:?}");
        assert!(apart.is_within_errors() && apart.is_within_deviations());
    }
}
