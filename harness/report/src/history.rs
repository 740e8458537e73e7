//! A metric of each case over the runs of a spec, oldest first.

use std::collections::{BTreeSet, HashSet};

use gpbench_record::metric::Metric;
use serde_json::{Value, json};

use crate::checksum;
use crate::error::Result;
use crate::frame::{CaseView, Cases, Frame};
use crate::number::number;
use crate::problem::GroupProblem;
use crate::results::Results;
use crate::run::Run;
use crate::table::TextTable;

/// A metric over runs.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The spec's name.
    pub name: String,
    /// The metric.
    pub metric: &'static Metric,
    /// A point for each run and case, the newest run last.
    pub points: Vec<Point>,
}

/// A metric of a case in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Name of the run folder.
    pub run: String,
    /// When the run's last case finished, in UTC.
    pub finished: String,
    /// Git revision of the spec's work tree, where it lay in one; of a run that continued elsewhere, the first.
    pub git_revision: Option<String>,
    /// Whether that work tree had changes.
    pub git_dirty: bool,
    /// Version of gpbench.
    pub gpbench: String,
    /// SHA-256 of the plugin's library: several where cases have different ones, none where it is not known.
    pub plugins: BTreeSet<String>,
    /// Whether the run before had another plugin for this solver on this problem; absent where one of them is not known.
    pub is_changed: Option<bool>,
    /// The problem.
    pub problem: GroupProblem,
    /// Solver, as named in the spec.
    pub solver: String,
    /// Number of seeds that have a value.
    pub seeds: usize,
    /// Mean over seeds; of repeats, the median of seconds and the mean of other metrics.
    pub mean: f64,
    /// Lowest seed.
    pub lowest: f64,
    /// Highest seed.
    pub highest: f64,
}

impl History {
    /// A metric of the cases of some runs, the oldest run first. Each row counts once: those that a run took from earlier ones
    /// belong to the run that measured them. A merged run stands for the runs that were merged, and of several merged runs
    /// the newest one has a row.
    ///
    /// # Errors
    /// If a table cannot be computed.
    pub fn new(name: &str, metric: &'static Metric, runs: &[Run]) -> Result<History> {
        let mut taken: HashSet<(String, String)> = HashSet::new();
        let mut of_runs = Vec::new();
        for (at, run) in runs.iter().enumerate().rev() {
            if is_covered(run, &runs[..at], &runs[at + 1..]) {
                continue;
            }
            let is_merged = !run.record.merged.is_empty();
            let mut is_new = |origin, id: &str| !is_merged || taken.insert((origin, id.to_owned()));
            let frame = Frame::new(run)?;
            let own = Cases::of(&frame)
                .filter(|case| measured_in(run, case).is_some_and(|origin| is_new(origin, case.id())));
            of_runs.push(of_run(own.with_times_of_one_kind(), metric));
        }
        let mut points: Vec<Point> = of_runs.into_iter().rev().flatten().collect();
        points.sort_by(|a, b| a.finished.cmp(&b.finished));
        mark_changes(&mut points);
        Ok(History { name: name.to_owned(), metric, points })
    }

    /// A row for each run and case.
    pub fn table(&self) -> TextTable {
        let mut table = TextTable::new(format!("{}: {}", self.name, self.metric.title));
        for title in ["run", "last case (UTC)", "git revision", "gpbench", "plugin"] {
            table = table.words(title);
        }
        for title in ["data set", "kernel", "estimator", "solver"] {
            table = table.words(title);
        }
        for title in ["seeds", self.metric.title, "lowest", "highest"] {
            table = table.numbers(title);
        }
        table = table.key(&["solver", self.metric.title]).major(&["data set"]);
        table = table.minor(&[
            "last case (UTC)",
            "gpbench",
            "plugin",
            "kernel",
            "estimator",
            "seeds",
            "lowest",
            "highest",
        ]);
        for point in &self.points {
            let GroupProblem { dataset, kernel, estimator } = &point.problem;
            let number = |value| number(self.metric, value);
            table.row([
                point.run.clone(),
                point.finished.chars().take(16).collect::<String>().replace('T', " "),
                point.revision(),
                point.gpbench.clone(),
                point.plugin(),
                dataset.clone(),
                kernel.clone(),
                estimator.clone().unwrap_or_default(),
                point.solver.clone(),
                point.seeds.to_string(),
                number(point.mean),
                number(point.lowest),
                number(point.highest),
            ]);
        }
        table.without_empty_columns()
    }

    /// `{"schema": 1, "name", "metric", "unit", "points": [{"run", "finished", ..., "mean", "lowest", "highest"}]}`.
    pub fn json(&self) -> Value {
        let point = |point: &Point| {
            json!({
                "run": point.run,
                "finished": point.finished,
                "git_revision": point.git_revision,
                "git_dirty": point.git_dirty,
                "gpbench": point.gpbench,
                "plugins": point.plugins,
                "plugin_changed": point.is_changed,
                "dataset": point.problem.dataset,
                "kernel": point.problem.kernel,
                "estimator": point.problem.estimator,
                "solver": point.solver,
                "seeds": point.seeds,
                "mean": point.mean,
                "lowest": point.lowest,
                "highest": point.highest,
            })
        };
        json!({
            "schema": 1,
            "name": self.name,
            "metric": self.metric.name,
            "unit": self.metric.unit.as_str(),
            "points": self.points.iter().map(point).collect::<Vec<_>>(),
        })
    }
}

impl Point {
    /// The first digits of the plugin's checksum, and whether it has changed.
    fn plugin(&self) -> String {
        let changed = if self.is_changed == Some(true) { " (changed)" } else { "" };
        format!("{}{changed}", checksum::short(&self.plugins))
    }

    /// The first digits of the git revision, with a plus sign where the work tree had changes.
    pub(crate) fn revision(&self) -> String {
        let revision = self.git_revision.as_deref().unwrap_or_default();
        let changes = if self.git_dirty { "+" } else { "" };
        format!("{}{changes}", revision.get(..10).unwrap_or(revision))
    }
}

/// Compares the plugin of each point with that of the point before it of the same solver and problem.
fn mark_changes(points: &mut [Point]) {
    for at in 0..points.len() {
        let (earlier, later) = points.split_at_mut(at);
        let point = &mut later[0];
        let is_same = |other: &&Point| other.problem == point.problem && other.solver == point.solver;
        let before = earlier.iter().rev().find(is_same);
        let known = before.filter(|before| !before.plugins.is_empty() && !point.plugins.is_empty());
        point.is_changed = known.map(|before| before.plugins != point.plugins);
    }
}

/// Whether another run contains this one: one that it was merged into, or a newer merge of the same runs.
fn is_covered(run: &Run, older: &[Run], newer: &[Run]) -> bool {
    let has = |other: &Run, name: &str| other.record.merged.iter().any(|merged| merged.run == name);
    let label = run.label();
    let merged = &run.record.merged;
    let is_merged_again =
        |other: &Run| !merged.is_empty() && merged.iter().all(|merged| has(other, &merged.run));
    older.iter().chain(newer).any(|other| has(other, &label)) || newer.iter().any(is_merged_again)
}

/// The run in which a case was measured, if its row counts in `run`.
fn measured_in(run: &Run, case: &CaseView<'_>) -> Option<String> {
    match &case.row().reused_from {
        None => Some(run.label()),
        Some(from) => run.record.merged.iter().any(|merged| merged.run == *from).then(|| from.clone()),
    }
}

fn of_run(cases: Cases<'_>, metric: &'static Metric) -> Vec<Point> {
    let results = Results::new(cases);
    let finished = results.whole.rows().map(|row| row.finished.as_str()).max().unwrap_or_default();
    let run = results.cases.run();
    let first = run.record.environments.first();
    let points = results.groups.iter().filter_map(|group| {
        let values = results.of_seeds(group, metric.name);
        (!values.is_empty()).then(|| Point {
            run: run.folder_name(),
            finished: finished.to_owned(),
            git_revision: first.and_then(|first| first.git_revision.clone()),
            git_dirty: first.and_then(|first| first.git_dirty).unwrap_or_default(),
            gpbench: first.map(|first| first.gpbench.clone()).unwrap_or_default(),
            plugins: run.record.libraries.get(&group.solver).cloned().unwrap_or_default(),
            is_changed: None,
            problem: group.problem.clone(),
            solver: group.solver.clone(),
            seeds: values.len(),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            lowest: values.iter().copied().fold(f64::INFINITY, f64::min),
            highest: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    });
    points.collect()
}
