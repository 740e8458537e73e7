//! A run folder, read back.
//!
//! The journal is the only file that has to be there. The others (`plan.json`,
//! `environment.json`, `spec.toml`) add context where they exist: a run that was
//! killed at any moment can still be reported.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::{Environment, JournalEntry, Row, Task};
use serde::Deserialize;

use crate::error::{Error, Result, at};
use crate::metric::SECONDS;

/// Everything that a report is made of.
#[derive(Debug, Clone)]
pub struct Run {
    /// The run folder.
    pub dir: PathBuf,
    /// Name of the spec, or of the folder where no spec is stored.
    pub name: String,
    /// One row a case: the newest of each id, in the order of the spec's axes.
    pub rows: Vec<Row>,
    /// Number of cases planned, where `plan.json` says so.
    pub planned: Option<usize>,
    /// Where the run took place, if stored.
    pub environment: Option<Environment>,
    /// Where it went on, if that was elsewhere or otherwise: its times are not of one kind then.
    pub later_environments: Vec<Environment>,
    /// Whether the journal's last line was cut short, as when a run is killed while writing.
    pub truncated: bool,
    pub(crate) settings: Settings,
    pub(crate) order: Order,
}

/// The `[report]` table of a spec.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// Published figures to stand beside ours.
    pub(crate) reference: Option<String>,
    /// Solver that speed-ups are relative to.
    pub(crate) baseline: Option<String>,
}

/// The axes of the spec, in the order in which its author wrote them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Order {
    dataset: Vec<String>,
    kernel: Vec<String>,
    estimator: Vec<String>,
    solver: Vec<String>,
}

/// The few keys of `spec.toml` that a report needs; the others are none of its business.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SpecHead {
    name: Option<String>,
    matrix: Order,
    report: Settings,
}

impl Run {
    /// Reads a run folder.
    ///
    /// # Errors
    /// If there is no journal, or if a line of it other than the last is not a
    /// row. A last line that was cut short is passed over and noted in
    /// [`Run::truncated`].
    pub fn open(dir: impl AsRef<Path>) -> Result<Run> {
        let dir = dir.as_ref();
        let journal = dir.join("journal.jsonl");
        if !journal.is_file() {
            return Err(Error::NotARun(dir.to_owned()));
        }
        let (rows, truncated) = read_journal(&journal)?;
        let spec = read_spec(&dir.join("spec.toml"))?;
        let environment = |name: &str| serde_json::from_slice(&fs::read(dir.join(name)).ok()?).ok();
        let later = (2..).map_while(|count| environment(&format!("environment-{count}.json")));
        let mut run = Run {
            dir: dir.to_owned(),
            name: spec.name.unwrap_or_else(|| folder_name(dir)),
            rows,
            planned: planned(&dir.join("plan.json")),
            environment: environment("environment.json"),
            later_environments: later.collect(),
            truncated,
            settings: spec.report,
            order: spec.matrix,
        };
        run.complete();
        Ok(run)
    }

    /// What the run measured, if it measured anything yet.
    pub fn task(&self) -> Option<Task> {
        self.rows.first().map(|row| row.case.task)
    }

    /// Number of planned cases without a row.
    pub fn missing(&self) -> usize {
        self.planned.map_or(0, |planned| planned.saturating_sub(self.rows.len()))
    }

    /// Names of the solvers, in the order of the spec.
    pub fn solvers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.rows.iter().map(|row| row.labels.solver.as_str()).collect();
        names.sort_by_key(|name| rank(&self.order.solver, name));
        names.dedup();
        names
    }

    /// The solver that speed-ups are relative to: the spec's choice, else the first of its solvers.
    pub(crate) fn baseline_solver(&self) -> Option<&str> {
        let solvers = self.solvers();
        match &self.settings.baseline {
            Some(name) => solvers.into_iter().find(|s| s == name),
            None => (solvers.len() > 1).then(|| solvers[0]),
        }
    }

    /// Derives the total time, and puts the rows (which the engine shuffles) in the order of the spec.
    fn complete(&mut self) {
        use gpbench_record::names::{SECONDS_PREPARE, SECONDS_SOLVE};
        for row in &mut self.rows {
            let parts = [SECONDS_PREPARE, SECONDS_SOLVE].map(|name| row.metrics.get(name));
            if parts.iter().any(Option::is_some) {
                row.metrics.insert(SECONDS, parts.iter().flatten().sum());
            }
        }
        let order = &self.order;
        self.rows.sort_by_cached_key(|row| {
            let l = &row.labels;
            let axes = [
                rank(&order.dataset, &l.dataset),
                rank(&order.kernel, &l.kernel),
                rank(&order.estimator, &l.estimator),
                rank(&order.solver, &l.solver),
            ];
            (axes, l.seed, l.repeat)
        });
    }
}

/// Sort key of a name on an axis: its place in the spec, then its spelling.
fn rank(axis: &[String], name: &str) -> (usize, String) {
    (axis.iter().position(|n| n == name).unwrap_or(usize::MAX), name.to_owned())
}

fn read_journal(path: &Path) -> Result<(Vec<Row>, bool)> {
    let text = String::from_utf8_lossy(&fs::read(path).map_err(at(path))?).into_owned();
    let mut rows: Vec<Row> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let last = text.trim_end().lines().count();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(JournalEntry::Case(row)) => match places.get(&row.id) {
                Some(&place) => rows[place] = *row,
                None => {
                    places.insert(row.id.clone(), rows.len());
                    rows.push(*row);
                }
            },
            Ok(JournalEntry::Unknown) => {}
            Err(_) if i + 1 == last => return Ok((rows, true)),
            Err(source) => return Err(Error::Journal { path: path.to_owned(), line: i + 1, source }),
        }
    }
    Ok((rows, false))
}

fn read_spec(path: &Path) -> Result<SpecHead> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(SpecHead::default()) };
    toml::from_str(&text)
        .map_err(|error| Error::Format { path: path.to_owned(), reason: error.message().to_owned() })
}

/// Counts the cases of a plan: a list, or an object that holds the list under `cases`.
fn planned(path: &Path) -> Option<usize> {
    let plan: serde_json::Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    plan.as_array().or_else(|| plan.get("cases")?.as_array()).map(Vec::len)
}

/// `D/<name>/<UTC time>-<id>`: the name is the parent's.
fn folder_name(dir: &Path) -> String {
    let dir = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let name = dir.parent().and_then(Path::file_name).or(dir.file_name());
    name.map_or_else(|| "run".to_owned(), |n| n.to_string_lossy().into_owned())
}
