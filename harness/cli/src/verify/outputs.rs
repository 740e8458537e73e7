//! Whether what a row has beside metrics and predictions is what its solution gives: a curve, a calibration, a
//! learner's model, and the points of a search.

use gpbench_record::{Curve, Metrics, Row, SolutionOutput, TaskOutput, Verified, names};
use serde::Serialize;
use serde_json::{Value, json};

use super::agreement::{RELATIVE, agree};

/// What a row states otherwise than its solution, a sentence each. What it does not state is no difference.
pub(super) fn differences(row: &Row, verified: &Verified) -> Vec<String> {
    let mut found = of_predictions(row, verified);
    let SolutionOutput { model, hyperparameters, points, best } = &verified.output;
    match &row.output {
        TaskOutput::Learn(stated) => {
            let what = "its model is of another kind than that of its solution";
            found.extend(other(what, stated.model, *model));
            let what = "its hyperparameters are not those of its solution";
            found.extend(other(what, row.output.learned(), Some(hyperparameters)));
        }
        TaskOutput::Thompson(stated) => {
            let what = "its points are not those of its solution";
            found.extend(other(what, some(&stated.points), Some(points)));
            let stated_best = stated.steps.iter().map(|step| step.metrics.get(names::BEST));
            let stated_best: Vec<f64> = stated_best.map(|best| best.unwrap_or(f64::NAN)).collect();
            let what = "the best values of its steps are not those at its points";
            found.extend(other(what, some(&stated_best), Some(best)));
            let what = "its random search is not that of its objective";
            found.extend(other(what, some(&stated.random_search), Some(&verified.random_search)));
        }
        // The solution of training is verified at the hyperparameters that the row states.
        TaskOutput::Solve | TaskOutput::Posterior(_) | TaskOutput::Train(_) | TaskOutput::Likelihood => {}
    }
    found
}

/// Differences of curves and of calibrations. Both have the exact ones beside them, and are compared where these are
/// known here as in the run.
fn of_predictions(row: &Row, verified: &Verified) -> Vec<String> {
    let has_exact = |metrics: &Metrics| metrics.get(names::TEST_RMSE_EXACT).is_some();
    if has_exact(&row.metrics) != has_exact(&verified.metrics) {
        return Vec::new();
    }
    // The sign of an eigenvector is that of a machine.
    let without_spectrum = |curve: &Curve| Curve { spectrum: None, ..curve.clone() };
    let curves = [row.output.curve(), verified.curve.as_deref()].map(|curve| curve.map(without_spectrum));
    let [stated, found] = curves;
    let curve = other("its curve is not that of its solution", stated, found);
    let calibrations = (row.output.calibration(), verified.calibration.as_deref());
    let calibration = other("its calibration is not that of its solution", calibrations.0, calibrations.1);
    curve.into_iter().chain(calibration).collect()
}

/// A list, if it is not empty.
fn some(list: &[f64]) -> Option<&[f64]> {
    Some(list).filter(|list| !list.is_empty())
}

/// The sentence, if a row states something else than was found.
fn other<T: Serialize, F: Serialize>(sentence: &str, stated: Option<T>, found: Option<F>) -> Option<String> {
    let (stated, found) = (json!(stated?), json!(found));
    (!are_alike(&stated, &found, 0.0)).then(|| sentence.to_owned())
}

/// Whether two values are the same but for the rounding of numbers; `size` is that of the largest number in their
/// list.
fn are_alike(stated: &Value, found: &Value, size: f64) -> bool {
    match (stated, found) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => agree(a, b) || (a - b).abs() <= RELATIVE * size,
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => {
            let numbers = a.iter().chain(b).filter_map(Value::as_f64);
            let size = numbers.fold(0.0_f64, |largest, number| largest.max(number.abs()));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_alike(a, b, size))
        }
        (Value::Object(a), Value::Object(b)) => {
            let is_in_b = |(key, value): (&String, &Value)| {
                b.get(key).is_some_and(|other| are_alike(value, other, 0.0))
            };
            a.len() == b.len() && a.iter().all(is_in_b)
        }
        _ => stated == found,
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::{
        CalibrationShares, Hyperparameters, LearningOutput, ModelKind, PosteriorOutput, RowShares, Step,
        StopReason, ThompsonOutput, testing,
    };

    use super::*;

    fn row(output: TaskOutput) -> Row {
        Row { output, ..testing::row(testing::case("cg"), &[]) }
    }

    #[test]
    fn a_learners_model_is_that_of_its_solution() {
        let scales = |noise: f64| Hyperparameters::from([("noise_scale".to_owned(), noise)]);
        let learned = |model: ModelKind, noise: f64| {
            row(TaskOutput::Learn(Box::new(LearningOutput {
                model: Some(model),
                hyperparameters: scales(noise),
                ..LearningOutput::default()
            })))
        };
        let output = SolutionOutput {
            model: Some(ModelKind::Gp),
            hyperparameters: scales(0.3),
            ..SolutionOutput::default()
        };
        let verified = Verified { output, ..Verified::default() };
        assert_eq!(differences(&learned(ModelKind::Gp, 0.3), &verified), [""; 0]);
        let found = differences(&learned(ModelKind::Inducing, 0.31), &verified);
        assert!(found[0].contains("another kind") && found[1].contains("hyperparameters"), "{found:?}");
    }

    #[test]
    fn points_and_best_values_of_a_search_are_those_of_its_solution() {
        let step = |best: f64| Step {
            step: 0,
            hyperparameters: Hyperparameters::default(),
            reason: StopReason::Epochs,
            metrics: [(names::BEST.to_owned(), best)].into_iter().collect(),
        };
        let searched = |points: &[f64], best: f64| {
            row(TaskOutput::Thompson(Box::new(ThompsonOutput {
                steps: vec![step(1.0), step(best)],
                points: points.to_vec(),
                random_search: vec![0.5],
                ..ThompsonOutput::default()
            })))
        };
        let output =
            SolutionOutput { points: vec![0.1, 0.9], best: vec![1.0, 2.0], ..SolutionOutput::default() };
        let verified = Verified { output, random_search: vec![0.5], ..Verified::default() };
        assert_eq!(differences(&searched(&[0.1, 0.9], 2.0), &verified), [""; 0]);
        assert!(differences(&searched(&[0.1, 0.8], 2.0), &verified)[0].contains("its points"));
        assert!(differences(&searched(&[0.1], 2.0), &verified)[0].contains("its points"));
        assert!(differences(&searched(&[0.1, 0.9], 2.1), &verified)[0].contains("best values"));
        let other = Verified { random_search: vec![0.4], ..verified };
        assert!(differences(&searched(&[0.1, 0.9], 2.0), &other)[0].contains("random search"));
    }

    #[test]
    fn calibrations_are_compared_where_both_or_neither_know_the_exact_process() {
        let shares = |share: f64| CalibrationShares {
            own: RowShares { pit: vec![share], coverage: vec![0.5] },
            exact: None,
        };
        let mut row = row(TaskOutput::Posterior(PosteriorOutput {
            calibration: Some(Box::new(shares(0.25))),
            ..PosteriorOutput::default()
        }));
        let verified =
            |share: f64| Verified { calibration: Some(Box::new(shares(share))), ..Verified::default() };
        assert_eq!(differences(&row, &verified(0.25 + 1e-9)), [""; 0]);
        assert_eq!(differences(&row, &verified(0.5)), ["its calibration is not that of its solution"]);
        row.metrics.insert(names::TEST_RMSE_EXACT, 0.1);
        assert_eq!(differences(&row, &verified(0.5)), [""; 0]);
    }
}
