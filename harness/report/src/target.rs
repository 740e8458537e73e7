//! Times and epochs at which cases reach the run's target.
//!
//! A case reaches a target at the first evaluation from which on every one is within the limit, the verified end included.
//! Evaluations are ten in a decade of epochs, so the true time is up to a quarter earlier.

use std::collections::BTreeMap;

use gpbench_record::{Labels, Metrics, Row, Target, TaskKind, TracePoint, names};

use crate::clock::{Clock, Spent};

/// Largest ratio of a verified residual to the target: the residual that a solver updates drifts from the true one.
const DRIFT: f64 = 1.01;

/// A point along a case: what it had spent there, and the metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) spent: Spent,
    pub(crate) value: f64,
}

/// A metric along a case.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Along {
    /// At its trace points, its outer steps or the evaluations of its learner, in their order.
    pub(crate) points: Vec<Point>,
    /// At its end, verified.
    pub(crate) end: Option<Point>,
}

/// Where a case reaches a target: between two evaluations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reached {
    /// At the first evaluation from which on every one is within the limit.
    pub(crate) first: Spent,
    /// At the evaluation before it, which misses. Where there is none, the costs of setting up; of a direct solver, which has
    /// no evaluation before its end, those of `first`.
    pub(crate) missing: Spent,
}

/// Adds to each row that reaches the target the seconds and epochs to it.
pub(crate) fn insert(rows: &mut [Row], target: &Target) {
    let limits = Limits::new(rows.iter(), target);
    for row in rows.iter_mut().filter(|row| row.status.is_answer()) {
        if let Some(Reached { first: Spent { seconds, epochs }, .. }) = limits.reached(row) {
            row.metrics.insert(names::SECONDS_TO_TARGET, seconds);
            if let Some(epochs) = epochs {
                row.metrics.insert(names::EPOCHS_TO_TARGET, epochs);
            }
        }
    }
}

/// The largest values that reach a target.
pub(crate) struct Limits<'t> {
    target: &'t Target,
    /// Values of the solver that the target is relative to, for each problem and seed, timing repeats averaged.
    ends: BTreeMap<Labels, f64>,
}

impl<'t> Limits<'t> {
    pub(crate) fn new<'r>(rows: impl Iterator<Item = &'r Row>, target: &'t Target) -> Limits<'t> {
        let mut values: BTreeMap<Labels, Vec<f64>> = BTreeMap::new();
        let is_reference = |row: &&Row| target.solver() == Some(&row.labels.solver) && row.status.is_answer();
        for row in rows.filter(is_reference) {
            if let Some(value) = row.metrics.get(&target.metric) {
                values.entry(without_solver(&row.labels)).or_default().push(value);
            }
        }
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        Limits { target, ends: values.into_iter().map(|(of, values)| (of, mean(values))).collect() }
    }

    /// The limit of a case; `None` where the value that it is relative to is not known.
    pub(crate) fn of(&self, row: &Row) -> Option<f64> {
        let reference = self.ends.get(&without_solver(&row.labels)).copied();
        let limit = self.target.limit(&row.metrics, reference)?;
        let is_residual = self.target.traced() != self.target.metric;
        Some(if is_residual { limit * DRIFT } else { limit })
    }

    /// Where a case with an answer reaches the target; `None` where it does not.
    pub(crate) fn reached(&self, row: &Row) -> Option<Reached> {
        let limit = self.of(row)?;
        let Along { mut points, end } = along(row, [self.target.traced(), &self.target.metric]);
        points.extend(end);
        let misses = points.iter().rev().position(|point| point.value > limit);
        let first = misses.map_or(0, |from_end| points.len() - from_end);
        let reaching = points.get(first)?.spent;
        let missing = match first.checked_sub(1) {
            Some(before) => points[before].spent,
            None if is_direct(row) => reaching,
            None => setup(row),
        };
        Some(Reached { first: reaching, missing })
    }
}

/// Whether a case is that of a solver which ends in one step.
fn is_direct(row: &Row) -> bool {
    row.output.steps().is_empty()
        && row.metrics.get(names::ITERATIONS).is_some_and(|iterations| iterations <= 1.0)
}

/// The costs of setting up, before the first iteration; 0 of training, whose steps each have their own.
fn setup(row: &Row) -> Spent {
    let of = |name: &str| row.metrics.get(name).filter(|_| row.case.task.training().is_none());
    Spent { seconds: of(names::SECONDS_PREPARE).unwrap_or(0.0), epochs: of(names::EPOCHS_SETUP) }
}

/// The labels that cases of several solvers share.
fn without_solver(labels: &Labels) -> Labels {
    Labels { solver: String::new(), repeat: 0, ..labels.clone() }
}

/// A metric along a case, by its names along the way and at the end.
pub(crate) fn along(row: &Row, [along, end]: [&str; 2]) -> Along {
    let points = match row.case.task.kind() {
        TaskKind::Train => along_training(row, along),
        TaskKind::Learn => {
            let point = |metrics: &Metrics| {
                let spent = Spent { seconds: metrics.solver_seconds()?, epochs: metrics.get(names::EPOCHS) };
                Some(Point { spent, value: metrics.get(along)? })
            };
            row.output.steps().iter().filter_map(|look| point(&look.metrics)).collect()
        }
        _ => {
            let point = |point: &TracePoint| {
                let spent = Spent { seconds: point.seconds, epochs: Some(point.epochs) };
                Some(Point { spent, value: point.metrics.get(along)? })
            };
            row.trace.iter().filter_map(point).collect()
        }
    };
    let end = || {
        let spent = Spent { seconds: Clock::Seconds.spent(row)?, epochs: row.metrics.get(names::EPOCHS) };
        Some(Point { spent, value: row.metrics.get(end)? })
    };
    Along { points, end: end() }
}

/// The metric after each outer step, against the sums over the steps so far.
fn along_training(row: &Row, metric: &str) -> Vec<Point> {
    let (mut seconds, mut epochs) = (0.0, 0.0);
    let mut points = Vec::new();
    for step in row.output.steps() {
        seconds += step.metrics.solver_seconds().unwrap_or(0.0)
            + step.metrics.get(names::SECONDS_OUTER).unwrap_or(0.0);
        epochs += step.metrics.get(names::EPOCHS).unwrap_or(0.0);
        let spent = Spent { seconds, epochs: Some(epochs) };
        points.extend(step.metrics.get(metric).map(|value| Point { spent, value }));
    }
    points
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Margin, TargetBound, TargetReference, testing};

    use super::*;

    /// A case with a test RMSE at each second of its trace, and one at its end, a second later.
    fn row(solver: &str, trace: &[f64], end: f64) -> Row {
        let seconds = trace.len() as f64 + 1.0;
        let metrics = [
            (names::TEST_RMSE, end),
            (names::SECONDS, seconds),
            (names::EPOCHS, 10.0 * seconds),
            (names::TEST_RMSE_EXACT, 0.5),
        ];
        let mut row = testing::row(testing::case(solver), &metrics);
        let point = |(k, value): (usize, &f64)| TracePoint {
            iteration: k as u64 + 1,
            seconds: k as f64 + 1.0,
            epochs: 10.0 * (k as f64 + 1.0),
            metrics: Metrics::from_iter([(names::TEST_RMSE.to_owned(), *value)]),
        };
        row.trace = trace.iter().enumerate().map(point).collect();
        row
    }

    fn reached(rows: &[Row], bound: TargetBound) -> Vec<Option<(f64, f64)>> {
        let mut rows = rows.to_vec();
        insert(&mut rows, &Target { metric: names::TEST_RMSE.to_owned(), bound });
        let of = |row: &Row| {
            Some((row.metrics.get(names::SECONDS_TO_TARGET)?, row.metrics.get(names::EPOCHS_TO_TARGET)?))
        };
        rows.iter().map(of).collect()
    }

    #[test]
    fn a_target_counts_from_where_it_is_kept_to_the_verified_end() {
        let rows = [
            row("steady", &[0.9, 0.52, 0.51], 0.51),
            row("back", &[0.9, 0.52, 0.6, 0.52], 0.51),
            row("late", &[0.9, 0.8], 0.52),
            row("lost", &[0.52, 0.52], 0.6),
        ];
        let expected = [Some((2.0, 20.0)), Some((4.0, 40.0)), Some((3.0, 30.0)), None];
        assert_eq!(reached(&rows, TargetBound::Value(0.53)), expected);
        let within = TargetBound::Within(Margin::Fraction(0.06), TargetReference::Exact);
        assert_eq!(reached(&rows, within), expected);
    }

    #[test]
    fn a_time_to_a_target_lies_after_the_last_evaluation_that_misses() {
        let target = Target { metric: names::TEST_RMSE.to_owned(), bound: TargetBound::Value(0.53) };
        let missing = |row: Row| {
            Limits::new([&row].into_iter(), &target).reached(&row).map(|found| found.missing.seconds)
        };
        assert_eq!(missing(row("steady", &[0.9, 0.52], 0.51)), Some(1.0));
        assert_eq!(missing(row("lost", &[0.9, 0.52], 0.6)), None);
        let mut at_once = row("at once", &[0.5, 0.5], 0.5);
        assert_eq!(missing(at_once.clone()), Some(0.0));
        at_once.metrics.insert(names::SECONDS_PREPARE, 0.25);
        assert_eq!(missing(at_once), Some(0.25));
        // A direct solver has one step, whose time is known.
        let mut direct = row("direct", &[], 0.5);
        direct.metrics.insert(names::ITERATIONS, 1.0);
        assert_eq!(missing(direct), Some(1.0));
    }

    #[test]
    fn a_target_may_be_what_another_solver_reaches_with_the_same_seed() {
        let mut other = row("slow", &[0.9, 0.7], 0.4);
        (other.labels.seed, other.case.seed) = (1, 1);
        let rows = [row("fast", &[0.5], 0.5), row("slow", &[0.9, 0.51], 0.505), other];
        let within = TargetBound::Within(Margin::Absolute(0.01), TargetReference::Solver("fast".to_owned()));
        // The fast solver has no case with the other seed.
        assert_eq!(reached(&rows, within), [Some((1.0, 10.0)), Some((2.0, 20.0)), None]);
    }
}
