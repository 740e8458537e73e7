//! Two or more runs side by side, and the last of them checked against the first.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::Row;
use gpbench_record::metric::{METRICS, Metric, Shown};
use serde_json::{Value, json};

use crate::aggregate::{Group, MeanWithError, Problem, groups};
use crate::baseline::{self, Check};
use crate::error::Result;
use crate::grid;
use crate::number::Format;
use crate::run::Run;
use crate::table::{Cell, Table};
use crate::untimed::{is_time, is_timed, without_times};

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// Runs side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What the runs are called.
    pub runs: Vec<String>,
    /// One metric of one solver on one problem each; none if no two runs share a case.
    pub rows: Vec<Compared>,
    /// The last run against the first, case by case.
    pub check: Check,
}

/// One metric of one solver on one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// What was solved.
    pub problem: Problem,
    /// Solver, as named in the spec.
    pub solver: String,
    /// The metric.
    pub metric: &'static Metric,
    /// Number of seeds that the means are over.
    pub seeds: usize,
    /// Mean in each run; absent where the run has no such case.
    pub means: Vec<Option<f64>>,
    /// Whether the means of the last and the first run may be compared: times of different machines may not.
    pub is_comparable: bool,
}

/// Compares runs by the means over those seeds that have an answer in all of the runs: means over different seeds would
/// be means over different problems. Means of times are over those seeds that have times in all of them. The check compares
/// single cases, so it includes the other seeds.
///
/// # Errors
/// If the aggregation fails.
///
/// # Panics
/// If there are no runs.
pub fn compare(runs: &[Run]) -> Result<Comparison> {
    let check = baseline::against(&runs[runs.len() - 1], &runs[0]);
    let comparable = |run: &Run| run.with_times_of_one_kind().with_comparable_times().into_owned();
    let runs = &with_common_times(runs.iter().map(comparable).collect())[..];
    let is_one_machine = baseline::is_one_machine(&runs[0], &runs[runs.len() - 1]);
    let per_run = on_common_seeds(runs).iter().map(groups).collect::<Result<Vec<_>>>()?;
    let mut keys: Vec<(&Problem, &str)> = Vec::new();
    for group in per_run.iter().flatten() {
        if !keys.contains(&(&group.problem, &group.solver)) {
            keys.push((&group.problem, &group.solver));
        }
    }
    let mut comparison =
        Comparison { runs: runs.iter().map(|run| heading(run, runs)).collect(), rows: Vec::new(), check };
    let mut is_shared = false;
    for (problem, solver) in keys {
        let is_it = |g: &&Group| g.problem == *problem && g.solver == solver;
        let found: Vec<Option<&Group>> = per_run.iter().map(|groups| groups.iter().find(is_it)).collect();
        is_shared |= found.iter().flatten().count() > 1;
        for metric in METRICS.iter().filter(|metric| metric.is_shown(Shown::Compare)) {
            let means: Vec<Option<MeanWithError>> =
                found.iter().map(|group| group.as_ref()?.metrics.get(metric.name).copied()).collect();
            if let Some(any) = means.iter().flatten().next() {
                comparison.rows.push(Compared {
                    problem: problem.clone(),
                    solver: solver.to_owned(),
                    metric,
                    seeds: any.seeds,
                    means: means.iter().map(|mean| mean.map(|mean| mean.mean)).collect(),
                    is_comparable: is_one_machine || !is_time(metric.name),
                });
            }
        }
    }
    if !is_shared {
        comparison.rows.clear();
    }
    Ok(comparison)
}

impl Comparison {
    /// One row a problem, solver and metric; one column a run, and the ratio of
    /// the last run to the first.
    pub fn table(&self) -> Table {
        let mut table = Table::new("Comparison").words("data set").words("kernel").words("estimator");
        table = table.words("solver").words("metric").numbers("seeds");
        for run in &self.runs {
            table = table.numbers(run);
        }
        table = table.numbers("last / first").major(&["solver", "metric", "last / first"]);
        table = table.minor(&["kernel", "estimator", "seeds"]);
        for Compared { problem, solver, metric, seeds, means, is_comparable } in &self.rows {
            let estimator = problem.estimator.as_deref().unwrap_or_default();
            let names = [problem.dataset.as_str(), &problem.kernel, estimator, solver, metric.title];
            let mut cells: Vec<Cell> = names.map(Cell::from).into();
            cells.push(seeds.to_string().into());
            cells.extend(
                means.iter().map(|m| m.map_or_else(Cell::default, |v| metric.style.format(v).into())),
            );
            let ends = means.first().copied().flatten().zip(means.last().copied().flatten());
            let ratio =
                ends.filter(|(first, _)| *is_comparable && *first > 0.0).map(|(first, last)| last / first);
            cells.push(ratio.map_or_else(Cell::default, |ratio| format!("{ratio:.3}").into()));
            table.row(cells);
        }
        table.without_empty_columns()
    }

    /// `{"schema": 1, "runs": [...], "rows": [{"dataset", ..., "metric", "seeds", "means": [...]}],
    /// "check": {...}}`, the last as [`Check::json`] gives it.
    pub fn json(&self) -> Value {
        let row = |row: &Compared| {
            let Problem { dataset, kernel, estimator } = &row.problem;
            let Compared { solver, metric, seeds, means, .. } = row;
            json!({
                "dataset": dataset, "kernel": kernel, "estimator": estimator, "solver": solver,
                "metric": metric.name, "seeds": seeds, "means": means,
            })
        };
        json!({
            "schema": SCHEMA,
            "runs": self.runs,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "check": self.check.json(),
        })
    }
}

/// Two solvers or learners of one run as two runs of one, so that the second can be compared with the first. Their
/// repeats took turns, which makes a comparison of times fair. A grid's name is that of its chosen points.
pub fn between(run: &Run, old: &str, new: &str) -> [Run; 2] {
    // Whose times may be compared follows from all solvers.
    let run = &*run.with_times_of_one_kind();
    let run = &*run.with_comparable_times();
    let chosen = grid::chosen(run);
    [old, new].map(|solver| {
        let is_named = run.rows.iter().any(|row| row.labels.solver == solver);
        let run = if is_named { run } else { chosen.as_ref() };
        let mut part = Run { name: solver.to_owned(), ..run.clone() };
        part.rows.retain(|row| row.labels.solver == solver);
        for row in &mut part.rows {
            row.labels.solver = format!("{old} → {new}");
        }
        part
    })
}

/// The runs with the times of those seeds alone that have times in every run with an answer of that solver on that problem.
fn with_common_times(mut runs: Vec<Run>) -> Vec<Run> {
    let key = |row: &Row| (Problem::of(&row.labels), row.labels.solver.clone(), row.labels.seed);
    let answers = runs.iter().flat_map(|run| &run.rows).filter(|row| row.status.is_answer());
    let untimed: BTreeSet<_> = answers.filter(|row| !is_timed(row)).map(key).collect();
    for row in runs.iter_mut().flat_map(|run| &mut run.rows).filter(|row| untimed.contains(&key(row))) {
        *row = without_times(row);
    }
    runs
}

/// The runs with only those cases whose seed has an answer in every run with any answer of that solver on that problem.
fn on_common_seeds(runs: &[Run]) -> Vec<Run> {
    let key = |row: &Row| (Problem::of(&row.labels), row.labels.solver.clone());
    let seeds_of = |run: &Run| {
        let mut seeds: BTreeMap<(Problem, String), BTreeSet<u64>> = BTreeMap::new();
        for row in run.rows.iter().filter(|r| r.status.is_answer()) {
            seeds.entry(key(row)).or_default().insert(row.labels.seed);
        }
        seeds
    };
    let answered: Vec<_> = runs.iter().map(seeds_of).collect();
    let is_common = |row: &Row| {
        let key = key(row);
        answered.iter().filter_map(|seeds| seeds.get(&key)).all(|seeds| seeds.contains(&row.labels.seed))
    };
    let mut runs = runs.to_vec();
    for run in &mut runs {
        run.rows.retain(is_common);
    }
    runs
}

/// The name of the run, with its folder where names repeat.
pub(crate) fn heading(run: &Run, runs: &[Run]) -> String {
    let folder = run.folder.file_name().map_or_else(String::new, |f| f.to_string_lossy().into_owned());
    match runs.iter().filter(|r| r.name == run.name).count() {
        1 => run.name.clone(),
        _ => format!("{} {folder}", run.name),
    }
}
