//! Comparison of learners with solvers: their runs share data sets and metrics, but no case, since their tasks differ.
//!
//! A solver works at given hyperparameters, or while gpbench trains them; a learner finds its own. Both predict the same test
//! rows.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{METRICS, Metric, Shown};
use gpbench_record::{Dataset, Fractions, SplitRule, TaskKind};
use serde_json::{Map, Value, json};

use crate::aggregate::groups_of;
use crate::frame::Cases;
use crate::grid;
use crate::number::Format;
use crate::problem::GroupProblem;
use crate::results::{OWN_PREDICTIONS, once_each};
use crate::side::{Side, content_remark, headings};
use crate::table::{Cell, TextTable};

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// Runs of learners and of solvers, side by side by data set.
#[derive(Debug, Clone, PartialEq)]
pub struct AcrossTasks {
    /// Names of the runs.
    pub runs: Vec<String>,
    /// The metrics that all of the tasks have.
    pub metrics: Vec<&'static Metric>,
    /// Solvers and learners, data set by data set; none if nothing can be compared.
    pub rows: Vec<ComparedMethod>,
    /// Remarks on what was not compared, each a sentence.
    pub remarks: Vec<String>,
}

/// A solver or learner of one run, on a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedMethod {
    /// Index of its run.
    pub run: usize,
    /// The problem.
    pub problem: GroupProblem,
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
/// grid with its chosen value. `None` unless some of the sides have learners and others have none.
pub(crate) fn across_tasks(sides: &[Side<'_>]) -> Option<AcrossTasks> {
    let learns = |side: &Side<'_>| side.cases.tasks().contains(&TaskKind::Learn);
    if sides.iter().all(learns) || !sides.iter().any(learns) {
        return None;
    }
    let tasks: BTreeSet<TaskKind> = sides.iter().flat_map(|side| side.cases.tasks()).collect();
    let cases = sides.iter().flat_map(|side| side.cases.iter());
    let measured: BTreeSet<&str> = cases.flat_map(|case| case.metrics()).map(|(name, _)| name).collect();
    let is_common = |metric: &&Metric| {
        let is_shown = metric.is_shown(Shown::Compare) && tasks.iter().all(|task| metric.is_of(*task));
        is_shown && measured.contains(metric.name)
    };
    let mut across = AcrossTasks {
        runs: headings(sides),
        metrics: METRICS.iter().filter(is_common).collect(),
        rows: Vec::new(),
        remarks: sides.iter().flat_map(|side| side.cases.remarks_on_times()).collect(),
    };
    across.remarks.extend(sides[1..].iter().filter_map(|side| content_remark(&sides[0].cases, side)));
    let shown = sides.iter().map(|side| side.cases.with_times_of_one_kind().with_comparable_times());
    let runs: Vec<Cases<'_>> = shown.map(|cases| grid::chosen(&cases)).collect();
    for dataset in once_each(runs.iter().flat_map(Cases::iter).map(|case| case.dataset())) {
        match comparable(&runs, dataset) {
            Ok(seeds) => across.add(&runs, dataset, &seeds),
            Err(why) => across.remarks.push(format!("data set `{dataset}` was not compared: {why}")),
        }
    }
    Some(across)
}

/// The answers of a run on a data set.
fn answers<'f>(cases: &Cases<'f>, dataset: &str) -> Cases<'f> {
    cases.filter(|case| case.dataset() == dataset && case.is_answer())
}

/// The seeds with which all solvers and learners have an answer on the same rows of a data set; else why there are none.
fn comparable(runs: &[Cases<'_>], dataset: &str) -> Result<BTreeSet<u64>, String> {
    let mut seeds: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    let mut rows_of: BTreeMap<u64, &Dataset> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        for case in answers(run, dataset).iter() {
            let method = (at, case.kernel(), case.estimator(), case.solver());
            seeds.entry(method).or_default().insert(case.seed());
            let known = rows_of.entry(case.seed()).or_insert(&case.case().dataset);
            if let Some(what) = difference(known, &case.case().dataset) {
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

/// All that decides which rows are trained and tested on.
fn split(dataset: &Dataset) -> (u32, Option<Fractions>, Option<&SplitRule>, bool) {
    (dataset.split, dataset.fractions, dataset.rule.as_ref(), dataset.keep_replicates)
}

/// The property in which two data sets of one name differ, so that predictions are not comparable.
fn difference(one: &Dataset, other: &Dataset) -> Option<&'static str> {
    let parts = [
        ("source", one.source == other.source),
        ("split", split(one) == split(other)),
        ("subsample", one.subsample == other.subsample),
        ("scaling of targets", one.targets == other.targets),
    ];
    parts.into_iter().find(|(_, is_same)| !is_same).map(|(what, _)| what)
}

impl AcrossTasks {
    /// Adds the solvers and learners of a data set.
    fn add(&mut self, runs: &[Cases<'_>], dataset: &str, seeds: &BTreeSet<u64>) {
        for (at, run) in runs.iter().enumerate() {
            let own = answers(run, dataset).filter(|case| seeds.contains(&case.seed()));
            for group in groups_of(&own) {
                let has_own_predictions = group.cases(&own).any(|case| case.row().has_own_predictions());
                let n = group.cases(&own).next().and_then(|case| case.row().n);
                self.rows.push(ComparedMethod {
                    run: at,
                    own_predictions: has_own_predictions,
                    n,
                    seeds: seeds.len(),
                    means: self.metrics.iter().map(|metric| group.mean(metric.name)).collect(),
                    problem: group.problem,
                    solver: group.solver,
                });
            }
        }
    }

    /// One row a solver or learner and data set, one column a metric.
    pub fn table(&self) -> TextTable {
        let mut table = TextTable::new("Comparison").words("data set").words("run").words("kernel");
        table =
            table.words("estimator").words("solver").words("predictions").numbers("rows").numbers("seeds");
        for metric in &self.metrics {
            table = table.numbers(metric.title);
        }
        table = table.key(&["solver"]).minor(&["kernel", "estimator", "rows", "seeds"]);
        for ComparedMethod { run, problem, solver, own_predictions, n, seeds, means } in &self.rows {
            let GroupProblem { dataset, kernel, estimator } = problem;
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
        let row = |row: &ComparedMethod| {
            let ComparedMethod { run, problem, solver, own_predictions, n, seeds, means } = row;
            let GroupProblem { dataset, kernel, estimator } = problem;
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
