//! The choice among the values of a grid, such as learning rates: of each data set, kernel, seed and entry the one
//! whose selected number is smallest. The others stay in the journal; their time is a part of the price.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gpbench_record::{GridPoint, Labels, Row, Selection, names};

use crate::run::Run;

/// What a choice is made within: data set, kernel, estimator, seed, and the grid's entry in the spec.
type Within<'a> = (&'a str, &'a str, Option<&'a str>, u64, &'a str);

/// The grid that a learner's case is a point of. Those of solvers are shown whole.
pub(crate) fn point(row: &Row) -> Option<&GridPoint> {
    row.case.task.learning()?;
    row.case.grid()
}

/// The run with the chosen value of each grid alone, under the name of the grid's entry, and with the price of the whole
/// grid ([`names::SECONDS_GRID`]). The run itself where it has no grid.
pub(crate) fn chosen(run: &Run) -> Cow<'_, Run> {
    let mut grids: BTreeMap<Within<'_>, Vec<&Row>> = BTreeMap::new();
    for row in &run.rows {
        if let Some(grid) = point(row) {
            grids.entry(within(&row.labels, &grid.entry)).or_default().push(row);
        }
    }
    if grids.is_empty() {
        return Cow::Borrowed(run);
    }
    let choices: BTreeMap<Within<'_>, (&str, Option<f64>)> =
        grids.iter().map(|(within, rows)| (*within, (best(rows), price(rows)))).collect();
    let mut part = Run { rows: Vec::new(), ..run.clone() };
    for row in &run.rows {
        let Some(grid) = point(row) else {
            part.rows.push(row.clone());
            continue;
        };
        let (best, price) = choices[&within(&row.labels, &grid.entry)];
        if row.labels.solver == best {
            let mut row = row.clone();
            row.labels.solver.clone_from(&grid.entry);
            if let Some(price) = price {
                row.metrics.insert(names::SECONDS_GRID, price);
            }
            part.rows.push(row);
        }
    }
    part.axes.solver = entries(run);
    Cow::Owned(part)
}

fn within<'a>(labels: &'a Labels, entry: &'a str) -> Within<'a> {
    (&labels.dataset, &labels.kernel, labels.estimator.as_deref(), labels.seed, entry)
}

/// Names on the solver axis, with that of the entry for the values of a grid.
fn entries(run: &Run) -> Vec<String> {
    let of_label = |name: &String| {
        let row = run.rows.iter().find(|row| row.labels.solver == *name);
        row.and_then(point).map_or_else(|| name.clone(), |grid| grid.entry.clone())
    };
    let mut names: Vec<String> = run.axes.solver.iter().map(of_label).collect();
    names.dedup();
    names
}

/// The metric by which a case was chosen among the values of its grid in the whole run: none without a grid, or where no value
/// has an answer.
pub(crate) fn chosen_by(row: &Row, whole: &Run) -> Option<&'static str> {
    let own = within(&row.labels, &point(row)?.entry);
    let is_own = |other: &&Row| point(other).is_some_and(|grid| within(&other.labels, &grid.entry) == own);
    criterion(&whole.rows.iter().filter(is_own).collect::<Vec<_>>())
}

/// The name on the solver axis of the best value; of the first where none has an answer.
fn best<'a>(rows: &[&'a Row]) -> &'a str {
    let name = criterion(rows);
    let mut best: Option<(f64, &str)> = None;
    for value in values(rows) {
        let score = name.and_then(|name| mean(value.iter().filter_map(|row| of(row, name))));
        if let Some(score) = score.filter(|score| best.is_none_or(|(least, _)| *score < least)) {
            best = Some((score, &value[0].labels.solver));
        }
    }
    best.map_or(&rows[0].labels.solver, |(_, name)| name)
}

/// The metric that a value is chosen by: the first that any value has.
fn criterion(rows: &[&Row]) -> Option<&'static str> {
    criteria(rows.first()?).into_iter().find(|name| rows.iter().any(|row| of(row, name).is_some()))
}

/// What a value may be chosen by, the preferred first. Test rows have no part in it.
fn criteria(row: &Row) -> Vec<&'static str> {
    let selected = match row.case.task.learning().map(|learning| learning.select) {
        Some(Selection::ValidationNll) => Some(names::VALIDATION_NLL),
        Some(Selection::ValidationRmse) => Some(names::VALIDATION_RMSE),
        Some(Selection::Objective) => Some(names::CLAIMED_OBJECTIVE),
        Some(Selection::Last | Selection::Nlml) | None => None,
    };
    selected.into_iter().chain([names::NLML, names::BOUND, names::CLAIMED_OBJECTIVE]).collect()
}

fn of(row: &Row, name: &str) -> Option<f64> {
    row.metrics.get(name).filter(|value| row.status.is_answer() && value.is_finite())
}

/// Seconds of all values, failed ones included, their timing repeats averaged.
fn price(rows: &[&Row]) -> Option<f64> {
    let of_value = |value: Vec<&Row>| mean(value.iter().filter_map(|row| seconds(row)));
    let seconds: Vec<f64> = values(rows).into_iter().filter_map(of_value).collect();
    (!seconds.is_empty()).then(|| seconds.iter().sum())
}

/// Seconds of a case; of one that ended without a result, those up to the last that it told of itself.
fn seconds(row: &Row) -> Option<f64> {
    let of_look = row.output.steps().last().and_then(|look| look.metrics.solver_seconds());
    let told = [of_look, row.trace.last().map(|point| point.seconds).filter(|seconds| seconds.is_finite())];
    row.metrics.solver_seconds().or_else(|| told.into_iter().flatten().reduce(f64::max))
}

/// The cases of each value, its timing repeats, in the order of the spec.
fn values<'a>(rows: &[&'a Row]) -> Vec<Vec<&'a Row>> {
    let mut all: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match all.iter_mut().find(|value| value[0].labels.solver == row.labels.solver) {
            Some(value) => value.push(row),
            None => all.push(vec![row]),
        }
    }
    all
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use gpbench_record::{Axes, Learning, ParamValue, ReportOptions, Status, Task, testing};

    use super::*;

    /// A case of a grid of learning rates.
    fn row(seed: u64, rate: f64, nlml: f64) -> Row {
        let name = format!("scgd@learning_rate={rate}");
        let mut case = testing::case(&name);
        case.seed = seed;
        let params = BTreeMap::from([("learning_rate".to_owned(), ParamValue::Float(rate))]);
        case.task = Task::Learn(Box::new(Learning {
            passes: 3,
            looks: vec![3],
            select: Selection::Nlml,
            patience: 0,
            inducing: None,
            shared_length_scale: false,
            nlml_rows: 4096,
            grid: Some(GridPoint { entry: "scgd".to_owned(), params }),
        }));
        testing::row(case, &[("nlml", nlml), ("test_rmse", rate), ("seconds_solve", 10.0 * rate)])
    }

    fn run(rows: Vec<Row>) -> Run {
        let mut solver: Vec<String> = rows.iter().map(|row| row.labels.solver.clone()).collect();
        solver.dedup();
        Run {
            folder: PathBuf::new(),
            name: "run".to_owned(),
            rows,
            missing: 0,
            environments: Vec::new(),
            unlisted: 0,
            shard: None,
            merged: Vec::new(),
            plans: Default::default(),
            axes: Axes { solver, ..Axes::default() },
            options: ReportOptions::default(),
            sources: BTreeMap::new(),
            warnings: Vec::new(),
            truncated: false,
        }
    }

    #[test]
    fn each_seed_has_the_value_with_the_least_likelihood_and_the_price_of_all() {
        let rows = vec![row(0, 0.1, 2.0), row(1, 0.1, 1.0), row(0, 0.3, 1.5), row(1, 0.3, 3.0)];
        let run = run(rows);
        let chosen = chosen(&run);
        let shown: Vec<_> = chosen
            .rows
            .iter()
            .map(|row| (row.labels.solver.as_str(), row.labels.seed, row.metrics.get("test_rmse").unwrap()))
            .collect();
        assert_eq!(shown, [("scgd", 1, 0.1), ("scgd", 0, 0.3)]);
        assert!(chosen.rows.iter().all(|row| row.metrics.get("seconds_grid") == Some(4.0)));
        assert_eq!(chosen.axes.solver, ["scgd"]);
        assert_eq!(run.rows.len(), 4);
    }

    #[test]
    fn a_value_that_failed_is_not_chosen_but_paid_for() {
        let mut failed = row(0, 1.0, -9.0);
        failed.status = Status::Diverged;
        let run = run(vec![failed.clone(), row(0, 0.1, 2.0)]);
        let rows = chosen(&run).into_owned().rows;
        assert_eq!((rows.len(), rows[0].metrics.get("test_rmse")), (1, Some(0.1)));
        assert_eq!(rows[0].metrics.get("seconds_grid"), Some(11.0));
        assert_eq!(chosen_by(&rows[0], &run), Some("nlml"));
        // Where all have failed, the first stands for them.
        let run = self::run(vec![failed]);
        let rows = chosen(&run).into_owned().rows;
        assert_eq!((rows[0].status, chosen_by(&rows[0], &run)), (Status::Diverged, None));
    }

    #[test]
    fn where_no_likelihood_is_known_the_bound_decides() {
        let rows = [(0.1, 3.0), (0.3, 2.0)].map(|(rate, bound)| {
            let mut row = row(0, rate, f64::NAN);
            row.metrics.insert("bound", bound);
            row
        });
        let run = run(rows.into());
        let chosen = chosen(&run);
        assert_eq!(chosen.rows[0].metrics.get("test_rmse"), Some(0.3));
        assert_eq!(chosen_by(&chosen.rows[0], &run), Some("bound"));
    }

    #[test]
    fn a_run_without_grids_is_left_as_it_is() {
        let run = run(vec![testing::row(testing::case("cg"), &[("nlml", 1.0)])]);
        assert!(matches!(chosen(&run), Cow::Borrowed(_)));
    }
}
