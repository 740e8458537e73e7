//! A run, read back.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::{Axes, DatasetNotes, Environment, Labels, PlannedCase, ReportOptions, Row, Shard};
use jiff::Timestamp;

use crate::journal::{DamagedRow, read_journal};
use crate::layout::{JOURNAL, PLAN, SPEC, is_run, read_spec};
use crate::{EarlierPlugins, MergedRun, NameKind, OtherContent, PlanFile, RunError, contents, environments};

/// A run, read back. The journal is the only file that must exist.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunRecord {
    /// The run folder.
    pub folder: PathBuf,
    /// The spec's name; that of the folder around the run folder where there is no plan.
    pub name: String,
    /// UTC time at which the run began, as its plan has it; 1970 where there is no plan.
    pub created: String,
    /// The newest row of each case, in the order of the spec's axes, seeds and repeats.
    pub rows: Vec<Row>,
    /// The names on the spec's axes; empty where there is no plan.
    pub axes: Axes,
    /// Options of the report.
    pub report: ReportOptions,
    /// Bibliographic entries of the solvers that are used, by plugin id.
    pub sources: BTreeMap<String, String>,
    /// Notes on the reading of data sets, by their names on the axis.
    pub dataset_notes: BTreeMap<String, DatasetNotes>,
    /// SHA-256 of the binary copies of data sets, by their names: several where cases have different ones. Generated sets have
    /// none.
    pub contents: BTreeMap<String, BTreeSet<String>>,
    /// SHA-256 of the plugins' libraries, by the names of solvers and learners: several where cases have different ones.
    pub libraries: BTreeMap<String, BTreeSet<String>>,
    /// The plugins of the run before this one, where a reader has looked for them.
    pub before: Option<EarlierPlugins>,
    /// Planned cases without a row, in the order in which they run.
    pub missing: Vec<PlannedCase>,
    /// Cases of the whole plan that this run does not list: those of other shards.
    pub unlisted: usize,
    /// Which shard of a plan the run is, if it is one.
    pub shard: Option<Shard>,
    /// The runs whose rows were merged into this one; empty for a run of its own.
    pub merged: Vec<MergedRun>,
    /// The names of a merged run whose data or plugins have another content than those of a name that came first.
    pub other_contents: Vec<OtherContent>,
    /// A warning for each name whose cases are of several contents.
    pub mixed_contents: Vec<String>,
    /// The plan that a case belongs to, by id, where runs of different plans were merged.
    pub plans: BTreeMap<String, String>,
    /// The environments of the run: the one in which it began, then each other one in which it continued.
    pub environments: Vec<Environment>,
    /// Why the plan cannot be read, where there is one: axes, report and sources are then empty.
    pub unreadable_plan: Option<String>,
    /// A warning for each environment that cannot be read.
    pub unreadable_environments: Vec<String>,
    /// Complete lines of the journal that cannot be read, or have changed since they were written.
    pub damaged: Vec<DamagedRow>,
    /// Whether the journal's last line is cut short, as by a process killed while writing.
    pub truncated: bool,
}

impl RunRecord {
    /// Reads a run folder.
    ///
    /// # Errors
    /// When there is no journal, or it cannot be read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, RunError> {
        let folder = folder.as_ref();
        if !folder.join(JOURNAL).is_file() {
            return Err(RunError::NotARun { folder: folder.to_owned() });
        }
        let journal = read_journal(folder)?;
        let (plan, unreadable_plan) = match is_run(folder).then(|| PlanFile::read(folder)) {
            None => (None, None),
            Some(Ok(plan)) => (Some(plan), None),
            Some(Err(error)) => (None, Some(error.to_string())),
        };
        let ended: HashSet<&str> = journal.rows.iter().map(|row| row.id.as_str()).collect();
        let plan = plan.unwrap_or_else(|| PlanFile::new(name_around(folder), Timestamp::UNIX_EPOCH));
        let unlisted = plan.planned() - plan.cases.len();
        let contents = plan.contents(NameKind::Dataset);
        let libraries = plan.contents(NameKind::Solver);
        let mixed_contents = contents::mixed(&plan.cases);
        let PlanFile {
            name,
            created,
            axes,
            report,
            sources,
            dataset_notes,
            part,
            merged,
            other_contents,
            cases,
            ..
        } = plan;
        let of_plan = |entry: &PlannedCase| Some((entry.id.clone(), entry.plan.clone()?));
        let plans = cases.iter().filter_map(of_plan).collect();
        let missing = cases.into_iter().filter(|entry| !ended.contains(entry.id.as_str())).collect();
        let mut rows = journal.rows;
        rows.sort_by_cached_key(|row| place(&axes, &row.labels));
        let mut unreadable_environments = Vec::new();
        let mut warn = |error| unreadable_environments.push(environments::warning(&error));
        let stored = environments::read(folder).into_iter();
        let environments = stored.filter_map(|read| read.map_err(&mut warn).ok()).collect();
        Ok(Self {
            folder: folder.to_owned(),
            name,
            created,
            rows,
            axes,
            report,
            sources,
            dataset_notes,
            contents,
            libraries,
            before: None,
            missing,
            unlisted,
            shard: part.and_then(|part| part.shard),
            merged,
            other_contents,
            mixed_contents,
            plans,
            environments,
            unreadable_plan,
            unreadable_environments,
            damaged: journal.damaged,
            truncated: journal.truncated,
        })
    }

    /// The spec as typed; empty where it cannot be read.
    pub fn spec(&self) -> String {
        read_spec(&self.folder)
    }

    /// The files that everything else about the run can be made of again: journal, plan, spec and environments, as far as they
    /// exist.
    pub fn sources(&self) -> Vec<PathBuf> {
        let files = [JOURNAL, PLAN, SPEC].map(|name| self.folder.join(name));
        files.into_iter().filter(|file| file.is_file()).chain(environments::files(&self.folder)).collect()
    }

    /// The number of planned cases.
    pub fn planned(&self) -> usize {
        self.rows.len() + self.missing.len()
    }

    /// A warning for each file and each line of the journal that cannot be read, and for each name of several contents.
    pub fn warnings(&self) -> Vec<String> {
        let plan = self.unreadable_plan.iter().map(|error| {
            format!("{error}; the cases are in the order of their names, and missing ones are unknown")
        });
        let complete = self.missing.is_empty() && self.unreadable_plan.is_none();
        let others = self.unreadable_environments.iter().chain(&self.mixed_contents).cloned();
        plan.chain(others).chain(self.damaged.iter().map(|line| line.warning(complete))).collect()
    }
}

/// A name's place on its axis, then its spelling.
type Place = (usize, Option<String>);

/// The sort key of a row.
fn place(axes: &Axes, labels: &Labels) -> ([Place; 4], u64, u32) {
    let Labels { dataset, kernel, estimator, solver, seed, repeat } = labels;
    let on = |axis: &[String], name: Option<&String>| {
        let place = name.and_then(|name| axis.iter().position(|other| other == name));
        (place.unwrap_or(usize::MAX), name.cloned())
    };
    let names = [
        on(&axes.dataset, Some(dataset)),
        on(&axes.kernel, Some(kernel)),
        on(&axes.estimator, estimator.as_ref()),
        on(&axes.solver, Some(solver)),
    ];
    (names, *seed, *repeat)
}

/// The name of the folder around a run folder: that of its spec.
fn name_around(folder: &Path) -> String {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = folder.parent().and_then(Path::file_name).or(folder.file_name());
    name.map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}
