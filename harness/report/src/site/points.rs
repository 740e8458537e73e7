//! Points of a case for charts: along its trace or its steps, and its end.

use std::collections::BTreeSet;

use gpbench_record::metric::{self, Direction, Metric, Shown};
use gpbench_record::{Metrics, Row, Step, TaskKind, TracePoint, names};

use crate::clock::Clock;

/// Most points that are kept of a case.
pub(super) const MOST: usize = 48;

/// The clocks of a point, in this order.
pub(super) const CLOCKS: [Clock; 3] = [Clock::Seconds, Clock::Epochs, Clock::Iterations];

/// A point of a case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    /// By [`CLOCKS`]; those that are not known are absent.
    pub(super) clocks: [Option<f64>; 3],
    /// Values by the metric's name.
    pub(super) values: Vec<(&'static str, f64)>,
}

/// Whether charts of a task have a metric as their vertical axis: qualities, which never depend on the machine.
fn is_drawn(metric: &Metric, task: TaskKind) -> bool {
    let is_shown = metric.is_shown(Shown::Trace) || metric.is_shown(Shown::Steps);
    let is_quality = metric.direction != Direction::Neither && !metric.is_cost();
    metric.is_of(task) && is_quality && (is_shown || metric.columns.contains(&task))
}

/// The points of a case; none where it gave no answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct CasePoints {
    /// At most [`MOST`] along its trace, or else its steps.
    pub(super) along: Vec<Point>,
    /// Its verified metrics.
    pub(super) end: Option<Point>,
}

impl CasePoints {
    /// The points of a row.
    pub(super) fn of(row: &Row) -> CasePoints {
        if !row.status.is_answer() {
            return CasePoints::default();
        }
        let task = row.case.task.kind();
        let mut along: Vec<Point> = match row.trace.as_slice() {
            [] => thinned(of_steps(row, task), MOST),
            trace => {
                let measured: Vec<&TracePoint> =
                    trace.iter().filter(|point| !point.metrics.is_empty()).collect();
                thinned(measured, MOST).into_iter().map(|point| of_trace(point, task)).collect()
            }
        };
        along.retain(|point| !point.values.is_empty());
        let end = Some(end(row, task, along.last())).filter(|end| !end.values.is_empty());
        CasePoints { along, end }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.along.is_empty() && self.end.is_none()
    }
}

fn of_trace(TracePoint { iteration, seconds, epochs, metrics }: &TracePoint, task: TaskKind) -> Point {
    let clocks = [Some(*seconds), Some(*epochs), Some(*iteration as f64)];
    Point { clocks, values: values(metrics, task) }
}

/// A point for each step. Costs of a learner's evaluations count from the beginning, those of other steps are each
/// step's own.
fn of_steps(row: &Row, task: TaskKind) -> Vec<Point> {
    let mut sums = [Some(0.0), Some(0.0)];
    let of_step = |step: &Step| {
        let own = [step.metrics.solver_seconds(), step.metrics.get(names::EPOCHS)];
        if task == TaskKind::Learn {
            sums = own;
        } else {
            sums = [0, 1].map(|i| Some(sums[i]? + own[i]?));
        }
        let [seconds, epochs] = sums;
        Point { clocks: [seconds, epochs, Some(step.step as f64 + 1.0)], values: values(&step.metrics, task) }
    };
    row.output.steps().iter().map(of_step).collect()
}

/// The end of a case: its verified metrics. A clock that a task of steps does not have as a metric is that of the
/// last step.
fn end(row: &Row, task: TaskKind, last: Option<&Point>) -> Point {
    let has_steps = !row.output.steps().is_empty() && row.trace.is_empty();
    let clocks = [0, 1, 2].map(|i| match last {
        Some(last) if has_steps => last.clocks[i],
        _ => CLOCKS[i].spent(row),
    });
    Point { clocks, values: values(&row.metrics, task) }
}

fn values(metrics: &Metrics, task: TaskKind) -> Vec<(&'static str, f64)> {
    let known = |(name, value): (&str, f64)| {
        let metric = metric::find(name).filter(|metric| is_drawn(metric, task))?;
        Some((metric.name, value))
    };
    metrics.iter().filter_map(known).collect()
}

/// At most so many of some points, the first and the last among them: half of them in equal distances, and half in
/// equal ratios, since most traces change fastest at their beginning.
pub(super) fn thinned<P>(points: Vec<P>, most: usize) -> Vec<P> {
    let last = points.len().saturating_sub(1);
    if points.len() <= most {
        return points;
    }
    let half = (most / 2).max(2);
    let share = |k: usize| k as f64 / (half - 1) as f64;
    let evenly = |k: usize| (last as f64 * share(k)).round() as usize;
    let by_ratio = |k: usize| ((last as f64 + 1.0).powf(share(k)) - 1.0).round() as usize;
    let kept: BTreeSet<usize> = (0..half).flat_map(|k| [evenly(k), by_ratio(k)]).collect();
    points.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, point)| point).collect()
}

#[cfg(test)]
mod tests {
    use gpbench_record::testing::{case, row};
    use gpbench_record::{CaseStatus, StopReason, TaskOutput, TrainingOutput};

    use super::*;

    fn trace(count: u64) -> Vec<TracePoint> {
        let metrics = || [("test_rmse".to_owned(), 0.5)].into_iter().collect::<Metrics>();
        let point = |iteration: u64| TracePoint {
            iteration,
            seconds: iteration as f64,
            epochs: 1.0,
            metrics: metrics(),
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn a_trace_ends_with_the_verified_metrics() {
        let mut row = row(case("cg"), &[("test_rmse", 0.25), ("seconds", 9.0), ("seconds_solve", 9.0)]);
        row.trace = trace(3);
        let CasePoints { along, end } = CasePoints::of(&row);
        assert_eq!(along.len(), 3);
        assert_eq!(along[1].clocks, [Some(1.0), Some(1.0), Some(1.0)]);
        // Costs are clocks, and no values.
        let end = end.unwrap();
        assert_eq!((end.values, end.clocks), (vec![("test_rmse", 0.25)], [Some(9.0), None, None]));
        row.status = CaseStatus::Diverged;
        assert!(CasePoints::of(&row).is_empty());
    }

    #[test]
    fn long_traces_are_thinned_to_their_ends() {
        let mut row = row(case("cg"), &[]);
        row.trace = trace(10_000);
        let points = CasePoints::of(&row).along;
        assert!((MOST / 2..=MOST).contains(&points.len()), "{}", points.len());
        let iterations = |at: usize| points[at].clocks[2];
        assert_eq!((iterations(0), iterations(points.len() - 1)), (Some(0.0), Some(9999.0)));
        assert_eq!(points, thinned(points.clone(), MOST));
    }

    #[test]
    fn costs_of_steps_add_up() {
        let mut row = row(case("cg"), &[("test_rmse", 0.25)]);
        let step = |step: u64| Step {
            step,
            hyperparameters: gpbench_record::Hyperparameters::default(),
            reason: StopReason::Epochs,
            metrics: [("seconds_solve", 2.0), ("epochs", 3.0), ("test_rmse", 0.5)]
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
        };
        row.output = TaskOutput::Train(Box::new(TrainingOutput {
            steps: vec![step(0), step(1)],
            ..TrainingOutput::default()
        }));
        let CasePoints { along, end } = CasePoints::of(&row);
        let clocks: Vec<_> = along.into_iter().chain(end).map(|point| point.clocks).collect();
        let second = [Some(4.0), Some(6.0), Some(2.0)];
        assert_eq!(clocks, [[Some(2.0), Some(3.0), Some(1.0)], second, second]);
    }
}
