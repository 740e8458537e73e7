//! Everything that the pages of a site are made of: the cases of all runs, under names that mean the same
//! everywhere.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{self, Metric, Shown};
use gpbench_record::{
    Case, CaseStatus, Environment, Labels, LearningOutput, Row, Task, TaskKind, TaskOutput, names, selects,
    text,
};
use gpbench_runs::RunRecord;

use super::machines::{Environments, Machines};
use super::names::Names;
use super::paths::Paths;
use super::points::CasePoints;
use super::same::{DataRows, Method, Problem, method_name, problem_name};
use super::verification::Verification;
use crate::run::{Run, tasks};

/// A run, as an archive has it.
#[derive(Debug, Clone)]
pub struct ArchivedRun {
    /// The run.
    pub run: Run,
    /// Where the archive has it: the path below its folder, such as `uci/20260101T000000Z-0a1b2c`.
    pub place: String,
    /// What is known of its verification.
    pub verification: Verification,
}

/// All runs of a site.
pub(super) struct Archive {
    pub(super) runs: Vec<RunEntry>,
    /// The rows of all runs as those of one, with what tables need of them. Their names are those of this archive.
    pub(super) pooled: Run,
    /// What each of the rows is of.
    pub(super) cases: Vec<CaseEntry>,
    pub(super) machines: Machines,
    pub(super) datasets: Names<DataRows>,
    pub(super) methods: Names<Method>,
    pub(super) problems: Names<Problem>,
    /// Names of reports of which no rows are kept.
    pub(super) without_rows: Vec<String>,
    pages: Paths,
}

/// A run without its rows.
pub(super) struct RunEntry {
    /// Name that no other run has: that of its spec, or else its place.
    pub(super) title: String,
    /// Path of its page.
    pub(super) page: String,
    pub(super) tasks: Vec<TaskKind>,
    /// Numbers of cases: planned, and ended `ok`.
    pub(super) planned: usize,
    pub(super) ok: usize,
    /// Whether it keeps a journal, without which less is known of its rows.
    pub(super) has_journal: bool,
    pub(super) verification: Verification,
    /// The part of its page that its own rows alone decide.
    pub(super) body: String,
    /// SHA-256 of plugins' libraries, by the name of the method in the run's spec.
    pub(super) libraries: BTreeMap<String, BTreeSet<String>>,
    /// Bibliographic entries by plugin id.
    pub(super) sources: BTreeMap<String, String>,
    pub(super) environments: Vec<Environment>,
    /// Solver that the run's speed-ups are relative to.
    pub(super) baseline: Option<String>,
}

/// What a row is of, as places in the lists of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) dataset: usize,
    pub(super) problem: usize,
    pub(super) method: usize,
    pub(super) run: usize,
    pub(super) machine: usize,
}

/// What a row is of, and its points for charts.
pub(super) struct CaseEntry {
    pub(super) key: Key,
    pub(super) points: CasePoints,
}

/// The places of the names of one run.
struct Places {
    datasets: BTreeMap<String, usize>,
    methods: BTreeMap<String, usize>,
    problems: BTreeMap<String, usize>,
}

impl Archive {
    /// An archive without runs.
    pub(super) fn new() -> Archive {
        Archive {
            runs: Vec::new(),
            pooled: Run { record: RunRecord::default(), warnings: Vec::new() },
            cases: Vec::new(),
            machines: Machines::default(),
            datasets: Names::default(),
            methods: Names::default(),
            problems: Names::default(),
            without_rows: Vec::new(),
            pages: Paths::default(),
        }
    }

    /// The rows of all runs.
    pub(super) fn rows(&self) -> &[Row] {
        &self.pooled.record.rows
    }

    /// Adds a run. `body` is the part of its page that its own rows alone decide.
    pub(super) fn add(&mut self, archived: ArchivedRun, body: String) {
        let ArchivedRun { run, place, verification } = archived;
        let mut entry = RunEntry::new(&run, verification, body);
        let is_taken = self.runs.iter().any(|other| other.title == entry.title);
        if is_taken {
            entry.title = text::cut(&text::line(&place), text::NAME).into_owned();
        }
        entry.page = self.pages.unique("runs", &place);
        let places = self.places(&run.record);
        let environments = Environments::new(&run.record.environments, &entry.title);
        for row in run.record.rows {
            let key = Key {
                dataset: places.datasets[&row.labels.dataset],
                problem: places.problems[&problem_name(&row)],
                method: places.methods[method_name(&row.case)],
                run: self.runs.len(),
                machine: self.machines.place(&row, &environments),
            };
            self.cases.push(CaseEntry { key, points: CasePoints::of(&row) });
            let row = self.renamed(slim(row), key);
            self.pooled.record.rows.push(row);
        }
        self.runs.push(entry);
    }

    /// Finds the places of a run's names.
    fn places(&mut self, record: &RunRecord) -> Places {
        let mut datasets: BTreeMap<String, usize> = BTreeMap::new();
        for row in &record.rows {
            let name = &row.labels.dataset;
            datasets.entry(name.clone()).or_insert_with(|| {
                let contents = record.contents.get(name).cloned().unwrap_or_default();
                self.datasets.place(name, DataRows::new(&row.case.dataset, contents), DataRows::absorb)
            });
        }
        let (mut methods, mut problems) = (BTreeMap::new(), BTreeMap::new());
        for row in &record.rows {
            let dataset = datasets[&row.labels.dataset];
            let method = methods.entry(method_name(&row.case).to_owned());
            method.or_insert_with(|| Method::new(&row.case.solver.plugin)).add(dataset, &row.case);
            let problem = problems.entry(problem_name(row));
            problem.or_insert_with(|| Problem::new(row.case.task.kind())).add(dataset, &row.case);
        }
        let methods = methods.into_iter().map(|(name, method)| {
            let place = self.methods.place(&name, method, Method::absorb);
            (name, place)
        });
        let methods = methods.collect();
        let problems = problems.into_iter().map(|(name, problem)| {
            let place = self.problems.place(&name, problem, Problem::absorb);
            (name, place)
        });
        Places { datasets, methods, problems: problems.collect() }
    }

    /// A row under the names of the archive. Its kernel stands for problem, run and machine, so that groups of rows
    /// never mix them.
    fn renamed(&self, mut row: Row, key: Key) -> Row {
        let own = method_name(&row.case).to_owned();
        let name = &self.methods.at(key.method).name;
        let solver = format!("{name}{}", row.case.solver.name.strip_prefix(&own).unwrap_or_default());
        let Case { solver: of_case, task, .. } = &mut row.case;
        of_case.name.clone_from(&solver);
        let grid = match task {
            Task::Learn(learning) if of_case.grid.is_none() => learning.grid.as_mut(),
            _ => of_case.grid.as_mut(),
        };
        if let Some(grid) = grid {
            grid.entry.clone_from(name);
        }
        let dataset = self.datasets.at(key.dataset).name.clone();
        let kernel = format!("{}/{}/{}", key.problem, key.run, key.machine);
        row.labels = Labels { dataset, kernel, estimator: None, solver, ..row.labels };
        row
    }

    /// The task of a problem.
    pub(super) fn task(&self, key: Key) -> TaskKind {
        self.problems.at(key.problem).thing.kind
    }
}

impl RunEntry {
    /// A run under the name of its spec.
    fn new(run: &Run, verification: Verification, body: String) -> RunEntry {
        let record = &run.record;
        let title = text::cut(&text::line(&record.name), text::NAME).into_owned();
        RunEntry {
            title,
            page: String::new(),
            tasks: tasks(record.rows.iter()),
            planned: run.planned(),
            ok: record.rows.iter().filter(|row| row.status == CaseStatus::Ok).count(),
            has_journal: verification != Verification::Impossible,
            verification,
            body,
            libraries: record.libraries.clone(),
            sources: record.sources.clone(),
            environments: record.environments.clone(),
            baseline: record.report.baseline.clone(),
        }
    }

    /// SHA-256 of the libraries of a method of the run's spec.
    pub(super) fn libraries_of(&self, method: &str) -> BTreeSet<&str> {
        let own = self.libraries.iter().filter(|(name, _)| selects(method, name));
        own.flat_map(|(_, checksums)| checksums).map(String::as_str).collect()
    }
}

/// A row without what only its own run's page shows.
fn slim(mut row: Row) -> Row {
    let task = row.case.task.kind();
    // A column of each input would fill the memory.
    row.case.kernel.length_scale.truncate(1);
    let output = match &row.output {
        TaskOutput::Learn(learning) => {
            TaskOutput::Learn(Box::new(LearningOutput { model: learning.model, ..LearningOutput::default() }))
        }
        _ => TaskOutput::empty(task),
    };
    let is_kept = |name: &str| metric::find(name).is_some_and(|metric| is_in_tables(metric, task));
    let metrics = row.metrics.iter().filter(|(name, _)| is_kept(name));
    let metrics = metrics.map(|(name, value)| (name.to_owned(), value)).collect();
    Row {
        metrics,
        output,
        solver_values: BTreeMap::new(),
        trace: Vec::new(),
        units: None,
        predictions: None,
        log_tail: String::new(),
        ..row
    }
}

/// Whether tables, the ranking, or the choice among a grid need a metric.
fn is_in_tables(metric: &Metric, task: TaskKind) -> bool {
    let seconds = [names::SECONDS, names::SECONDS_PREPARE, names::SECONDS_SOLVE];
    metric.columns.contains(&task) || metric.is_shown(Shown::Steps) || seconds.contains(&metric.name)
}
