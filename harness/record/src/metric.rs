//! The registry of metrics: each metric's name, words, unit and use in one entry.
//!
//! Tables, charts, comparisons, `gpbench check`, the progress line and a spec's `columns` query this registry.
//! To add a metric, add its entry to `metric/registry.rs` and compute it; no other list exists.

mod declare;
mod entry;
mod registry;
mod task_sets;

use crate::{Metrics, TaskKind};

pub use self::entry::{DEFAULT_TOLERANCE, Direction, Metric, Shown, Style, Tolerance, Unit};
pub use self::registry::{METRICS, names};

/// The metric with this name.
pub fn find(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// The metric of the exact process that is compared with a metric of predictions.
pub fn of_exact(metric: &Metric) -> Option<&'static Metric> {
    METRICS.iter().find(|exact| exact.name.strip_suffix("_exact") == Some(metric.name))
}

/// The columns of a task's results table, in the order of the registry.
pub fn columns(task: TaskKind) -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(move |metric| metric.columns.contains(&task))
}

/// The metrics of a task that are shown in a place, in the order of the registry.
pub fn shown(task: TaskKind, place: Shown) -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(move |metric| metric.is_of(task) && metric.is_shown(place))
}

impl Metrics {
    /// Seconds of prepare and solve together, where either is recorded: [`names::SECONDS`], which is not recorded.
    pub fn solver_seconds(&self) -> Option<f64> {
        let parts = [names::SECONDS_PREPARE, names::SECONDS_SOLVE].map(|name| self.get(name));
        parts.iter().any(Option::is_some).then(|| parts.iter().flatten().sum())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::TaskKind::{Posterior, Solve};

    #[test]
    fn names_are_unique_and_found() {
        let names: HashSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        assert_eq!(find(names::TEST_RMSE).map(|metric| metric.title), Some("test RMSE"));
        assert_eq!(find("rmse"), None);
        assert!(METRICS.iter().all(|metric| !metric.doc().is_empty() && !metric.doc().starts_with(' ')));
    }

    #[test]
    fn a_table_shows_the_metrics_of_its_task() {
        let titles: Vec<&str> = columns(Solve).map(|metric| metric.title).collect();
        let expected = [
            "residual y",
            "residual probes",
            "exact NLL",
            "epochs",
            "iterations",
            "prepare [s]",
            "solve [s]",
            "total [s]",
            "memory [MiB]",
        ];
        assert_eq!(titles, expected);
    }

    #[test]
    fn each_measure_of_calibration_has_one_of_the_exact_process() {
        let measures: Vec<&Metric> =
            METRICS.iter().filter(|metric| metric.is_shown(Shown::Calibration)).collect();
        assert_eq!(measures.len(), 11);
        for metric in measures {
            let exact = of_exact(metric).unwrap_or_else(|| panic!("{}", metric.name));
            assert_eq!(
                (exact.direction, exact.unit, exact.style),
                (Direction::Neither, metric.unit, metric.style)
            );
            // No coverage and no width is better than another, so that no table marks one as the best.
            assert_eq!(
                metric.direction != Direction::Neither,
                metric.is_shown(Shown::Best),
                "{}",
                metric.name
            );
        }
        assert_eq!(columns(Posterior).filter(|metric| metric.is_shown(Shown::Calibration)).count(), 1);
    }
}
