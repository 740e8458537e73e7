//! Epochs a step of training that published runs measured: a table in `benchmarks/reference/epochs.toml`.

use std::sync::LazyLock;

use gpbench_record::{Case, GradientEstimator, Probes, Source, Start, Task};
use serde::Deserialize;

/// The table's text.
const FILE: &str = include_str!("../../../../benchmarks/reference/epochs.toml");

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(FILE).expect("a test reads the built-in file"));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    training: Vec<MeasuredEpochs>,
}

/// A measurement.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeasuredEpochs {
    /// Name of the data set in the registry.
    dataset: String,
    /// Training rows.
    pub(super) rows: usize,
    /// Id of the solver in its plugin.
    solver: String,
    /// `standard` or `pathwise`.
    probes: String,
    start: Start,
    tolerance: f64,
    /// Mean over the steps.
    pub(super) epochs: f64,
    /// The published folder.
    pub(super) run: String,
}

/// What tells measurements apart.
#[derive(Debug, Clone, Copy)]
struct Wanted<'c> {
    dataset: &'c str,
    rows: f64,
    solver: &'c str,
    probes: &'c str,
    start: Start,
    tolerance: f64,
}

/// The measurement that stands for a training case of so many rows, if there is one.
pub(super) fn measured(case: &Case, rows: f64) -> Option<&'static MeasuredEpochs> {
    let Source::Registry { name } = &case.dataset.source else { return None };
    let Task::Train(training) = &case.task else { return None };
    let GradientEstimator::Solutions { probes, start, .. } = training.gradient else { return None };
    let probes = match probes {
        Probes::Standard(_) => "standard",
        Probes::Pathwise(_) => "pathwise",
    };
    let tolerance = case.budget.tolerance?;
    find(Wanted { dataset: name, rows, solver: &case.solver.plugin, probes, start, tolerance })
}

/// Of several, the one with the nearest number of rows; none with less than half or more than twice as many.
fn find(wanted: Wanted<'_>) -> Option<&'static MeasuredEpochs> {
    let distance = |own: &MeasuredEpochs| (own.rows as f64 / wanted.rows).ln().abs();
    let is_same = |own: &&MeasuredEpochs| {
        own.dataset == wanted.dataset
            && own.solver == wanted.solver
            && own.probes == wanted.probes
            && own.start == wanted.start
            && own.tolerance == wanted.tolerance
            && distance(own) <= 2.0_f64.ln()
    };
    TABLE.training.iter().filter(is_same).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    const WANTED: Wanted<'static> = Wanted {
        dataset: "pol",
        rows: 2000.0,
        solver: "ap",
        probes: "pathwise",
        start: Start::Warm,
        tolerance: 0.01,
    };

    #[test]
    fn a_measurement_stands_for_like_cases_alone() {
        let epochs = |wanted: Wanted<'_>| find(wanted).map(|found| found.epochs);
        assert_eq!(epochs(WANTED), Some(10.4));
        assert_eq!(epochs(Wanted { rows: 1001.0, ..WANTED }), Some(10.4));
        for other in [
            Wanted { dataset: "bike", ..WANTED },
            Wanted { rows: 13_500.0, ..WANTED },
            Wanted { rows: 900.0, ..WANTED },
            Wanted { solver: "sgd", ..WANTED },
            Wanted { probes: "standard", ..WANTED },
            Wanted { start: Start::Cold, ..WANTED },
            Wanted { tolerance: 0.1, ..WANTED },
        ] {
            assert_eq!(epochs(other), None, "{other:?}");
        }
    }

    #[test]
    fn measurements_are_those_of_the_published_runs() {
        let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports/published");
        for own in &TABLE.training {
            let text = fs::read_to_string(published.join(&own.run).join("summary.json")).unwrap();
            let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
            let is_own = |group: &&serde_json::Value| {
                let metrics = &group["metrics"];
                let of_step = metrics["epochs"]["mean"].as_f64().zip(metrics["steps"]["mean"].as_f64());
                group["solver"] == own.solver.as_str()
                    && group["dataset"].as_str().is_some_and(|name| name.starts_with(&own.dataset))
                    && group["n_ok"] == group["n"]
                    && of_step.is_some_and(|(epochs, steps)| (epochs / steps - own.epochs).abs() <= 0.05)
            };
            let groups = summary["groups"].as_array().unwrap();
            assert!(groups.iter().any(|group| is_own(&group)), "{own:?}");
        }
    }
}
