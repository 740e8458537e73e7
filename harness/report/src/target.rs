//! The run's target: when each case reaches it, and which solver does so first.
//!
//! A case reaches a target at the first evaluation from which on every one is within the limit, the verified end included.
//! Evaluations are ten in a decade of epochs, so the true time is up to a quarter earlier.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Row, Step, Target, TaskKind, metric, names};

use crate::aggregate::{Group, MeanWithError, Problem};
use crate::layout::with_error;
use crate::results::Results;
use crate::table::{Cell, Table};

/// By how much a verified residual may exceed what a solver aims at: the residual that it updates drifts from the true one.
const DRIFT: f64 = 1.01;

/// A place along a case, and the metric there.
struct Point {
    seconds: f64,
    epochs: Option<f64>,
    value: f64,
}

/// Gives each row that reaches the target its seconds and epochs to it.
pub(crate) fn insert(rows: &mut [Row], target: &Target) {
    let ends = target.solver().map(|solver| ends(rows, solver, &target.metric)).unwrap_or_default();
    for row in rows.iter_mut().filter(|row| row.status.is_answer()) {
        let reference = ends.get(&(Problem::of(&row.labels), row.labels.seed)).copied();
        let Some(limit) = target.limit(&row.metrics, reference) else { continue };
        let limit = if target.traced() == target.metric { limit } else { limit * DRIFT };
        let points = points(row, target);
        let misses =
            points.iter().rev().position(|point| point.value > limit).map(|from_end| points.len() - from_end);
        if let Some(Point { seconds, epochs, .. }) = points.get(misses.unwrap_or(0)) {
            row.metrics.insert(names::SECONDS_TO_TARGET, *seconds);
            if let Some(epochs) = epochs {
                row.metrics.insert(names::EPOCHS_TO_TARGET, *epochs);
            }
        }
    }
}

/// What a solver reached on each problem with each seed, its timing repeats averaged.
fn ends(rows: &[Row], solver: &str, metric: &str) -> BTreeMap<(Problem, u64), f64> {
    let mut values: BTreeMap<(Problem, u64), Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.labels.solver == solver && row.status.is_answer()) {
        let of = values.entry((Problem::of(&row.labels), row.labels.seed)).or_default();
        of.extend(row.metrics.get(metric));
    }
    values.retain(|_, values| !values.is_empty());
    values.into_iter().map(|(of, values)| (of, values.iter().sum::<f64>() / values.len() as f64)).collect()
}

/// The metric along a case, its verified end last.
fn points(row: &Row, target: &Target) -> Vec<Point> {
    let mut points = match row.case.task.kind() {
        TaskKind::Train => along_training(row, target.traced()),
        TaskKind::Learn => row
            .output
            .steps()
            .iter()
            .filter_map(|look| {
                let (seconds, epochs) = (seconds(look)?, look.metrics.get(names::EPOCHS));
                Some(Point { seconds, epochs, value: look.metrics.get(target.traced())? })
            })
            .collect(),
        TaskKind::Solve | TaskKind::Posterior | TaskKind::Likelihood => row
            .trace
            .iter()
            .filter_map(|point| {
                let value = point.metrics.get(target.traced())?;
                Some(Point { seconds: point.seconds, epochs: Some(point.epochs), value })
            })
            .collect(),
    };
    let clock = if row.case.task.training().is_some() { names::SECONDS_TRAIN } else { names::SECONDS };
    if let (Some(seconds), Some(value)) = (row.metrics.get(clock), row.metrics.get(&target.metric)) {
        points.push(Point { seconds, epochs: row.metrics.get(names::EPOCHS), value });
    }
    points
}

/// The metric after each outer step, against the sums over the steps so far.
fn along_training(row: &Row, metric: &str) -> Vec<Point> {
    let (mut time, mut used) = (0.0, 0.0);
    let mut points = Vec::new();
    for step in row.output.steps() {
        time += seconds(step).unwrap_or(0.0) + step.metrics.get(names::SECONDS_OUTER).unwrap_or(0.0);
        used += step.metrics.get(names::EPOCHS).unwrap_or(0.0);
        points.extend(step.metrics.get(metric).map(|value| Point {
            seconds: time,
            epochs: Some(used),
            value,
        }));
    }
    points
}

/// Seconds of a step, or up to a look.
fn seconds(step: &Step) -> Option<f64> {
    let parts = [names::SECONDS_PREPARE, names::SECONDS_SOLVE].map(|name| step.metrics.get(name));
    parts.iter().any(Option::is_some).then(|| parts.iter().flatten().sum())
}

/// The solvers of each problem in the order in which they reach the target; none where the run has no target.
pub(crate) fn ranking(results: &Results<'_>) -> Option<Table> {
    let target = results.run.options.target.as_ref()?;
    let reached = metric::find(&target.metric)?;
    let problems = results.problems();
    let several = problems.len() > 1;
    let mut table = Table::new(format!("First to reach the target: {target}"));
    if several {
        table = table.words("problem");
    }
    table = table.numbers("place").words(results.run.noun()).numbers("reached");
    let shown = [names::SECONDS_TO_TARGET, names::EPOCHS_TO_TARGET]
        .map(|name| metric::find(name).expect("registered"));
    table = shown
        .iter()
        .fold(table, |table, metric| table.numbers(metric.title))
        .numbers(format!("{} at the end", reached.title));
    for problem in problems {
        let mut groups: Vec<&Group> = results.of_problem(problem).collect();
        groups.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("numbers"));
        for (place, group) in groups.into_iter().enumerate() {
            let (seeds, of) = group
                .metrics
                .get(names::SECONDS_TO_TARGET)
                .map_or((0, seeds(results, group)), |mean| (mean.seeds, mean.of));
            let mut cells: Vec<Cell> =
                if several { vec![results.problem_title(problem).into()] } else { Vec::new() };
            let place = if seeds > 0 { (place + 1).to_string() } else { String::new() };
            cells.extend([place, group.solver.clone(), format!("{seeds}/{of}")].map(Cell::from));
            cells.extend(shown.iter().chain([&reached]).map(|metric| {
                let text = group.metrics.get(metric.name).map(|mean| with_error(metric.style, mean));
                Cell::from(text.unwrap_or_default())
            }));
            table.row(cells);
        }
    }
    table.caption = caption(results, target);
    (!table.rows.is_empty()).then_some(table)
}

/// Number of seeds that a group was run with.
fn seeds(results: &Results<'_>, group: &Group) -> usize {
    results.rows(group).map(|row| row.labels.seed).collect::<BTreeSet<u64>>().len()
}

/// Orders groups: those that reach the target with more of their seeds first, then by mean seconds.
fn rank(group: &Group) -> (f64, f64) {
    group
        .metrics
        .get(names::SECONDS_TO_TARGET)
        .map_or((1.0, f64::INFINITY), |MeanWithError { mean, seeds, of, .. }| {
            (1.0 - *seeds as f64 / *of as f64, *mean)
        })
}

fn caption(results: &Results<'_>, target: &Target) -> String {
    let along = match results.groups.first().map(|group| results.case(group).task.kind()) {
        Some(TaskKind::Train) => "outer step",
        Some(TaskKind::Learn) => "look at the learner",
        _ if target.traced() != target.metric => "iteration, by the residual that the solver claims,",
        _ => "evaluation (there are ten in a decade of epochs)",
    };
    let mut caption = format!(
        "A case reaches the target at the first {along} from which on it stays within it, the verified end included. \
         `reached` counts seeds; means are over those that reach it."
    );
    let answers =
        || results.groups.iter().flat_map(|group| results.rows(group)).filter(|row| row.status.is_answer());
    if target.solver().is_none() {
        let unknown = answers().filter(|row| target.limit(&row.metrics, None).is_none()).count();
        if unknown > 0 {
            caption += &format!(
                " {unknown} cases have no exact figures to be compared with; `--exact-limit` bounds n."
            );
        }
    }
    caption
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Margin, Metrics, TargetBound, TargetReference, TracePoint, testing};

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
    fn a_target_may_be_what_another_solver_reaches_with_the_same_seed() {
        let mut other = row("slow", &[0.9, 0.7], 0.4);
        (other.labels.seed, other.case.seed) = (1, 1);
        let rows = [row("fast", &[0.5], 0.5), row("slow", &[0.9, 0.51], 0.505), other];
        let within = TargetBound::Within(Margin::Absolute(0.01), TargetReference::Solver("fast".to_owned()));
        // The fast solver has no case with the other seed.
        assert_eq!(reached(&rows, within), [Some((1.0, 10.0)), Some((2.0, 20.0)), None]);
    }
}
