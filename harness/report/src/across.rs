//! Learners beside solvers: runs that share no case, because their tasks differ, but data sets and metrics.
//!
//! A solver answers at given hyperparameters, or while gpbench trains them; a learner finds its own. What both leave are
//! predictions of the same test rows.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{METRICS, Metric, Shown};
use gpbench_record::{Dataset, Row, TaskKind};
use serde_json::{Map, Value, json};

use crate::aggregate::{Problem, groups};
use crate::compare::heading;
use crate::error::Result;
use crate::grid;
use crate::number::Format;
use crate::results::OWN_PREDICTIONS;
use crate::run::Run;
use crate::table::{Cell, Table};

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// Runs of learners and of solvers, side by side by data set.
#[derive(Debug, Clone, PartialEq)]
pub struct AcrossTasks {
    /// What the runs are called.
    pub runs: Vec<String>,
    /// The metrics that all of the tasks have.
    pub metrics: Vec<&'static Metric>,
    /// Solvers and learners, data set by data set; none if nothing can be compared.
    pub rows: Vec<Method>,
    /// What was not compared, and why; each a sentence.
    pub remarks: Vec<String>,
}

/// A solver or learner of one run, on a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Index of its run.
    pub run: usize,
    /// What was solved or learned.
    pub problem: Problem,
    /// Its name in the spec; of a grid, that of the entry.
    pub solver: String,
    /// Whether its predictions are the learner's own, with no model to compute them from.
    pub own_predictions: bool,
    /// Training rows.
    pub n: Option<usize>,
    /// Number of seeds that the means are over.
    pub seeds: usize,
    /// Mean of each metric.
    pub means: Vec<Option<f64>>,
}

/// Sets learners beside solvers, by the means over those seeds with which all of them have an answer on a data set; of a
/// grid with its chosen value. `None` unless some of the runs are of learners and others are not.
///
/// # Errors
/// If the aggregation fails.
pub fn across_tasks(runs: &[Run]) -> Result<Option<AcrossTasks>> {
    let learns = |run: &Run| run.tasks().contains(&TaskKind::Learn);
    if runs.iter().all(learns) || !runs.iter().any(learns) {
        return Ok(None);
    }
    let tasks: BTreeSet<TaskKind> = runs.iter().flat_map(Run::tasks).collect();
    let is_measured = |name| runs.iter().flat_map(|run| &run.rows).any(|row| row.metrics.get(name).is_some());
    let is_common = |metric: &&Metric| {
        let is_shown = metric.is_shown(Shown::Compare) && tasks.iter().all(|task| metric.is_of(*task));
        is_shown && is_measured(metric.name)
    };
    let mut across = AcrossTasks {
        runs: runs.iter().map(|run| heading(run, runs)).collect(),
        metrics: METRICS.iter().filter(is_common).collect(),
        rows: Vec::new(),
        remarks: Vec::new(),
    };
    across.remarks.extend(runs.iter().flat_map(Run::remarks_on_times));
    let of_grids =
        |run: &Run| grid::chosen(&run.with_times_of_one_kind().with_comparable_times()).into_owned();
    let runs: Vec<Run> = runs.iter().map(of_grids).collect();
    let mut datasets: Vec<&str> = Vec::new();
    for row in runs.iter().flat_map(|run| &run.rows) {
        if !datasets.contains(&row.labels.dataset.as_str()) {
            datasets.push(&row.labels.dataset);
        }
    }
    for dataset in datasets {
        match comparable(&runs, dataset) {
            Ok(seeds) => across.add(&runs, dataset, &seeds)?,
            Err(why) => across.remarks.push(format!("data set `{dataset}` was not compared: {why}")),
        }
    }
    Ok(Some(across))
}

/// The answers of a run on a data set.
fn answers<'r>(run: &'r Run, dataset: &str) -> impl Iterator<Item = &'r Row> {
    run.rows.iter().filter(move |row| row.labels.dataset == dataset && row.status.is_answer())
}

/// The seeds with which all solvers and learners have an answer on the same rows of a data set; else why there are none.
fn comparable(runs: &[Run], dataset: &str) -> std::result::Result<BTreeSet<u64>, String> {
    let mut seeds: BTreeMap<(usize, Problem, &str), BTreeSet<u64>> = BTreeMap::new();
    let mut rows_of: BTreeMap<u64, &Dataset> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        for row in answers(run, dataset) {
            let method = (at, Problem::of(&row.labels), row.labels.solver.as_str());
            seeds.entry(method).or_default().insert(row.labels.seed);
            let known = rows_of.entry(row.labels.seed).or_insert(&row.case.dataset);
            if let Some(what) = difference(known, &row.case.dataset) {
                return Err(format!("the runs differ in its {what}"));
            }
        }
    }
    let with_answers: BTreeSet<usize> = seeds.keys().map(|(at, ..)| *at).collect();
    if with_answers.len() < 2 {
        return Err("only one run has an answer on it".to_owned());
    }
    let common = seeds.into_values().reduce(|some, others| &some & &others).unwrap_or_default();
    match common.is_empty() {
        true => Err("no seed has an answer of every solver and learner".to_owned()),
        false => Ok(common),
    }
}

/// What makes predictions on two data sets of one name incomparable.
fn difference(one: &Dataset, other: &Dataset) -> Option<&'static str> {
    let parts = [
        ("source", one.source == other.source),
        ("split", one.split == other.split && one.fractions == other.fractions),
        ("subsample", one.subsample == other.subsample),
        ("scaling of targets", one.targets == other.targets),
    ];
    parts.into_iter().find(|(_, is_same)| !is_same).map(|(what, _)| what)
}

impl AcrossTasks {
    /// Adds the solvers and learners of a data set.
    fn add(&mut self, runs: &[Run], dataset: &str, seeds: &BTreeSet<u64>) -> Result<()> {
        for (at, run) in runs.iter().enumerate() {
            let kept = answers(run, dataset).filter(|row| seeds.contains(&row.labels.seed));
            let part = Run { rows: kept.cloned().collect(), ..run.clone() };
            for group in groups(&part)? {
                let n = part.rows.iter().find(|row| group.holds(row)).and_then(|row| row.n);
                self.rows.push(Method {
                    run: at,
                    own_predictions: part
                        .rows
                        .iter()
                        .any(|row| group.holds(row) && row.has_own_predictions()),
                    n,
                    seeds: seeds.len(),
                    means: self.metrics.iter().map(|metric| group.mean(metric.name)).collect(),
                    problem: group.problem,
                    solver: group.solver,
                });
            }
        }
        Ok(())
    }

    /// One row a solver or learner and data set, one column a metric.
    pub fn table(&self) -> Table {
        let mut table = Table::new("Comparison").words("data set").words("run").words("kernel");
        table =
            table.words("estimator").words("solver").words("predictions").numbers("rows").numbers("seeds");
        for metric in &self.metrics {
            table = table.numbers(metric.title);
        }
        table = table.major(&["solver"]).minor(&["kernel", "estimator", "rows", "seeds"]);
        for Method { run, problem, solver, own_predictions, n, seeds, means } in &self.rows {
            let Problem { dataset, kernel, estimator } = problem;
            let estimator = estimator.as_deref().unwrap_or_default();
            let own = if *own_predictions { OWN_PREDICTIONS } else { "" };
            let names = [dataset.as_str(), &self.runs[*run], kernel, estimator, solver, own];
            let mut cells: Vec<Cell> = names.map(Cell::from).into();
            cells.push(n.map_or_else(Cell::default, |n| n.to_string().into()));
            cells.push(seeds.to_string().into());
            let values = self.metrics.iter().zip(means);
            cells.extend(values.map(|(metric, mean)| {
                mean.map_or_else(Cell::default, |mean| metric.style.format(mean).into())
            }));
            table.row(cells);
        }
        table.without_empty_columns()
    }

    /// `{"schema": 1, "runs": [...], "rows": [{"dataset", "run", "kernel", "estimator", "solver",
    /// "own_predictions", "n", "seeds", "means": {metric: number}}], "remarks": [...]}`; `run` is an index.
    pub fn json(&self) -> Value {
        let row = |row: &Method| {
            let Method { run, problem, solver, own_predictions, n, seeds, means } = row;
            let Problem { dataset, kernel, estimator } = problem;
            let means =
                self.metrics.iter().zip(means).map(|(metric, mean)| (metric.name.to_owned(), json!(mean)));
            json!({
                "dataset": dataset, "run": run, "kernel": kernel, "estimator": estimator, "solver": solver,
                "own_predictions": own_predictions, "n": n, "seeds": seeds, "means": means.collect::<Map<_, _>>(),
            })
        };
        json!({
            "schema": SCHEMA,
            "runs": self.runs,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }
}
