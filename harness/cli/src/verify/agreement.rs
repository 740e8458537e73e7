//! Whether what was computed again is what a row states.

use gpbench_record::metric::METRICS;
use gpbench_record::{Predictions, Row, Verified};

/// Share of a number up to which rounding on another machine may change it.
pub(super) const RELATIVE: f64 = 1e-5;

/// Numbers below this are those of rounding: errors of an exact solver, which differ from machine to machine.
const ROUNDING: f64 = 1e-7;

/// What a row states otherwise than the verification of its solution: metrics in the order of the registry, then
/// predictions.
pub(super) fn differences(row: &Row, verified: &Verified) -> Vec<String> {
    let of_metric = |(name, found): &(&str, f64)| match row.metrics.get(name) {
        Some(stated) if agree(stated, *found) => None,
        // The run could not compute the exact process.
        None if row.lacks_exact => None,
        Some(stated) => Some(format!("{name} is {stated:.6e} in its row, and {found:.6e} by its solution")),
        None => Some(format!("{name} is absent in its row, and {found:.6e} by its solution")),
    };
    let of_predictions = match (row.predictions.as_deref(), verified.predictions.as_deref()) {
        (None, None) => None,
        (Some(stated), Some(found)) => {
            first_other(stated, found).map(|what| format!("{what} are not those of its solution"))
        }
        _ => Some("its row and its solution do not both have predictions".to_owned()),
    };
    let mut metrics: Vec<(&str, f64)> = verified.metrics.iter().collect();
    metrics.sort_by_key(|(name, _)| METRICS.iter().position(|metric| metric.name == *name));
    metrics.iter().filter_map(of_metric).chain(of_predictions).collect()
}

/// Whether two numbers differ by rounding at most.
pub(super) fn agree(stated: f64, found: f64) -> bool {
    let size = stated.abs().max(found.abs());
    (stated - found).abs() <= RELATIVE * size || size <= ROUNDING
}

/// The first list of predictions that differs.
fn first_other(stated: &Predictions, found: &Predictions) -> Option<&'static str> {
    if (&stated.row, &stated.id) != (&found.row, &found.id) {
        return Some("the rows of its predictions");
    }
    let lists = [
        ("the targets of its predictions", &stated.target, &found.target),
        ("its predictions", &stated.mean, &found.mean),
        ("the deviations of its predictions", &stated.deviation, &found.deviation),
        ("the latent deviations of its predictions", &stated.latent_deviation, &found.latent_deviation),
    ];
    lists.into_iter().find(|(_, stated, found)| !all_agree(stated, found)).map(|(what, ..)| what)
}

/// Whether all numbers of two lists differ by rounding at most, beside the largest.
fn all_agree(stated: &[f64], found: &[f64]) -> bool {
    let largest = stated.iter().chain(found).fold(0.0_f64, |largest, number| largest.max(number.abs()));
    let is_close = |(stated, found): (&f64, &f64)| (stated - found).abs() <= RELATIVE * largest;
    stated.len() == found.len() && stated.iter().zip(found).all(is_close)
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Metrics, names, testing};

    use super::*;

    fn verified(residual: f64, predictions: Option<Predictions>) -> Verified {
        let mut metrics = Metrics::default();
        metrics.insert(names::RESIDUAL_Y, residual);
        Verified { metrics, predictions: predictions.map(Box::new), ..Verified::default() }
    }

    #[test]
    fn rounding_agrees_and_other_numbers_are_named() {
        let row = testing::row(testing::case("cg"), &[(names::RESIDUAL_Y, 0.0087), (names::SECONDS, 1.0)]);
        assert_eq!(differences(&row, &verified(0.0087 * (1.0 + 1e-7), None)), [""; 0]);
        let found = differences(&row, &verified(0.0088, None));
        assert_eq!(found, ["residual_y is 8.700000e-3 in its row, and 8.800000e-3 by its solution"]);
        // Two exact solvers.
        let exact = testing::row(testing::case("cg"), &[(names::RESIDUAL_Y, 1e-14)]);
        assert_eq!(differences(&exact, &verified(3e-13, None)), [""; 0]);
        let without = testing::row(testing::case("cg"), &[]);
        assert!(differences(&without, &verified(0.1, None))[0].contains("is absent in its row"));
    }

    #[test]
    fn predictions_are_compared_number_by_number() {
        let stated = Predictions {
            row: vec![0, 7],
            target: vec![1.0, 2.0],
            mean: vec![1.5, 1e-9],
            ..Predictions::default()
        };
        let mut row = testing::row(testing::case("cg"), &[(names::RESIDUAL_Y, 0.1)]);
        row.predictions = Some(Box::new(stated.clone()));
        let told = |found: Option<Predictions>| differences(&row, &verified(0.1, found)).join("");
        // Beside the largest, the second differs by nothing.
        let rounded = Predictions { mean: vec![1.5, -1e-9], ..stated.clone() };
        assert_eq!(told(Some(rounded)), "");
        let other = Predictions { mean: vec![1.5, 0.1], ..stated.clone() };
        assert!(told(Some(other)).ends_with("its predictions are not those of its solution"));
        let shorter = Predictions { target: vec![1.0], ..stated.clone() };
        assert!(told(Some(shorter)).contains("the targets of its predictions"));
        assert!(
            told(Some(Predictions { row: vec![0, 8], ..stated })).contains("the rows of its predictions")
        );
        assert!(told(None).contains("do not both have predictions"));
    }
}
