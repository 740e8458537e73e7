//! Unites the rows of several runs in a run folder of their own.

mod absent;
mod cases;
mod meaning;
mod names;
mod source;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use gpbench_files::{Durability, read_regular, refuse_linked_folder, replace};
use gpbench_record::{Axes, DatasetNotes, PartOfPlan, Row, Shard};
use jiff::Timestamp;

use self::absent::{absent, unlisted};
use self::cases::{MergedCase, MergedCases};
use self::names::NewNames;
use self::source::Source;
use crate::contents::OtherContent;
use crate::error::Context as _;
use crate::journal::read_journal;
use crate::layout::LOGS;
use crate::lookup::runs_of;
use crate::{Journal, MergedRun, PlanFile, RunError, RunFolder};

/// Most bytes of a log that are copied.
const MOST_LOG_BYTES: u64 = 256 << 20;

/// Result of [`merge()`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The folder of the merged run.
    pub folder: PathBuf,
    /// Rows in it.
    pub rows: usize,
    /// Cases that the plans have and the merged run has no row of.
    pub missing: usize,
    /// Rows that were left out, because another run has one of the same case.
    pub duplicates: usize,
    /// Different plans among the runs.
    pub plans: usize,
    /// Shards of these plans that are not among the runs.
    pub absent: Vec<Shard>,
    /// Warnings about parts of the runs that cannot be read, and about contents that differ between runs.
    pub warnings: Vec<String>,
}

/// Unites the rows of runs in a run folder below `output_dir`: in the one that an earlier call made of the same cases and of
/// no other run, or in a new one. The runs themselves stay as they are.
///
/// Of the rows of one run, the newest of each case counts. Of the same case in several runs, the first row that is no
/// failure counts, in the order given; so a shard may be run twice. Runs of different plans stand side by
/// side: a data set or a solver of a later plan gets a number where its name stands for something else in an earlier one.
/// So does one whose data or whose plugin's library has another content than in an earlier run, also in a run of the same
/// plan: rows under one name are of one content.
///
/// # Errors
/// When a run cannot be read, or the merged run cannot be written.
pub fn merge(output_dir: &Path, runs: &[PathBuf], now: Timestamp) -> Result<Merged, RunError> {
    let sources = read(runs)?;
    let plans = plans(&sources);
    let (mut axes, mut cases, mut others) = (Axes::default(), MergedCases::default(), Vec::new());
    let mut dataset_notes: BTreeMap<String, DatasetNotes> = BTreeMap::new();
    for (digest, sources) in &plans {
        let own: Vec<_> = sources.iter().flat_map(|source| source.cases()).collect();
        let names = NewNames::of(&own, &cases.named());
        let plan = (plans.len() > 1).then_some(digest);
        for source in sources {
            unite(&mut axes, &names.axes(&source.plan.axes, &source.plan.cases));
            others.extend(names.other_contents(&source.plan.other_contents));
            for (dataset, notes) in &source.plan.dataset_notes {
                for name in names.datasets(dataset, &source.plan.cases) {
                    dataset_notes.entry(name).or_default().add(notes);
                }
            }
            for entry in &source.plan.cases {
                cases.add(MergedCase::new(source, entry, &names, plan.cloned()));
            }
        }
    }
    let plan = PlanFile {
        dataset_notes,
        other_contents: with_runs(others, &cases),
        ..plan_of(&sources, &plans, axes, &cases, now)
    };
    let differing = plan.other_contents.iter().map(OtherContent::warning).collect::<Vec<_>>();
    Ok(Merged {
        folder: write(output_dir, &plan, &sources, cases.list(), now)?,
        rows: cases.rows(),
        missing: plan.planned() - cases.rows(),
        duplicates: cases.duplicates(),
        plans: sources.iter().flat_map(Source::plans).collect::<HashSet<_>>().len(),
        absent: plans.iter().flat_map(|(plan, _)| absent(plan, &sources)).collect(),
        warnings: sources.into_iter().flat_map(|source| source.warnings).chain(differing).collect(),
    })
}

/// Contents that differ from others, each once, with the runs whose rows are of them.
fn with_runs(others: Vec<OtherContent>, cases: &MergedCases<'_>) -> Vec<OtherContent> {
    let mut each: Vec<OtherContent> = Vec::new();
    for other in others {
        let runs = cases.runs_with(other.kind, &other.name);
        if !runs.is_empty()
            && !each.iter().any(|known| (known.kind, &known.name) == (other.kind, &other.name))
        {
            each.push(OtherContent { runs, ..other });
        }
    }
    each
}

/// Reads runs; one that is named twice is read once.
fn read(runs: &[PathBuf]) -> Result<Vec<Source>, RunError> {
    let mut seen = HashSet::new();
    let folders = runs.iter().map(|run| fs::canonicalize(run).unwrap_or_else(|_| run.clone()));
    let mut sources = Vec::new();
    for folder in folders.filter(|folder| seen.insert(folder.clone())) {
        sources.push(Source::read(&folder, &sources)?);
    }
    Ok(sources)
}

/// The runs of each plan by its digest, in the order given.
fn plans(sources: &[Source]) -> Vec<(String, Vec<&Source>)> {
    let mut plans: Vec<(String, Vec<&Source>)> = Vec::new();
    for source in sources {
        let digest = source.plan.digest();
        match plans.iter_mut().find(|(known, _)| *known == digest) {
            Some((_, sources)) => sources.push(source),
            None => plans.push((digest, vec![source])),
        }
    }
    plans
}

/// Adds the names of `more` that `axes` does not have.
fn unite(axes: &mut Axes, more: &Axes) {
    let pairs = [
        (&mut axes.dataset, &more.dataset),
        (&mut axes.kernel, &more.kernel),
        (&mut axes.estimator, &more.estimator),
        (&mut axes.solver, &more.solver),
    ];
    for (names, more) in pairs {
        let new: Vec<String> = more.iter().filter(|name| !names.contains(name)).cloned().collect();
        names.extend(new);
    }
}

/// The plan of the merged run. Where cases of a plan are not among the runs, it is a part of that plan.
fn plan_of(
    sources: &[Source],
    plans: &[(String, Vec<&Source>)],
    axes: Axes,
    cases: &MergedCases<'_>,
    now: Timestamp,
) -> PlanFile {
    let entries: Vec<_> = cases.list().iter().map(|case| case.entry.clone()).collect();
    let digests: BTreeSet<&str> = plans.iter().flat_map(|(digest, _)| digest.split('+')).collect();
    let plan = digests.into_iter().collect::<Vec<_>>().join("+");
    let others: Vec<String> = unlisted(sources).into_iter().map(|other| other.digest.to_owned()).collect();
    let first = &sources[0].plan;
    PlanFile {
        axes,
        report: first.report.clone(),
        sources: sources.iter().flat_map(|source| source.plan.sources.clone()).collect(),
        part: (!others.is_empty()).then_some(PartOfPlan { shard: None, plan, others }),
        merged: merged_runs(sources, cases),
        cases: entries,
        ..PlanFile::new(&first.name, now)
    }
}

/// The runs that rows are of, each once. A run that was merged itself is among them only with rows of its own.
fn merged_runs(sources: &[Source], cases: &MergedCases<'_>) -> Vec<MergedRun> {
    let mut runs: Vec<MergedRun> = Vec::new();
    for source in sources {
        for run in source.origins() {
            let rows = cases.rows_of(&run.run);
            let left_out = rows_of(sources, &run.run) - rows + run.left_out;
            let is_named = run.run != source.run || source.plan.merged.is_empty() || rows > 0;
            if is_named && !runs.iter().any(|known| known.run == run.run) {
                runs.push(MergedRun { rows, left_out, ..run });
            }
        }
    }
    runs
}

/// Cases of which the runs have a row that was measured in one of them, whether that is among them itself or merged into one.
fn rows_of(sources: &[Source], run: &str) -> usize {
    let rows = sources.iter().flat_map(|source| source.rows.values().filter(|row| source.origin(row) == run));
    rows.map(|row| row.id.as_str()).collect::<HashSet<_>>().len()
}

/// Writes the merged run, or adds to it what is new.
fn write(
    output_dir: &Path,
    plan: &PlanFile,
    sources: &[Source],
    cases: &[MergedCase<'_>],
    now: Timestamp,
) -> Result<PathBuf, RunError> {
    let spec = &sources[0].spec_text;
    let environments = || sources.iter().flat_map(|source| &source.environments);
    let folder = match existing(output_dir, plan, cases) {
        Some(folder) => folder,
        None => {
            let first = environments().next().cloned().unwrap_or_default();
            RunFolder::create(output_dir, plan, spec, &first, now)?
        }
    };
    let (mut journal, _) = Journal::open(folder.path())?;
    folder.write_plan(plan, spec)?;
    folder.link_latest()?;
    for environment in environments() {
        folder.add_environment(environment)?;
    }
    let logs = folder.path().join(LOGS);
    refuse_linked_folder(&logs).context("write into", &logs)?;
    fs::create_dir_all(&logs).context("create", &logs)?;
    let stored = read_journal(folder.path())?.rows;
    let stored: HashMap<&str, &Row> = stored.iter().map(|row| (row.id.as_str(), row)).collect();
    for MergedCase { row, source, .. } in cases {
        let Some(row) = row.as_ref().filter(|row| stored.get(row.id.as_str()) != Some(row)) else { continue };
        // A missing log is no error: the row of a failed case has its last lines.
        let _ = copy_log(&RunFolder::at(&source.folder).log(&row.id), &folder.log(&row.id));
        journal.append(row)?;
    }
    Ok(folder.path().to_owned())
}

/// Copies a log, which is as large as gpbench lets it become.
fn copy_log(from: &Path, to: &Path) -> io::Result<()> {
    let text = read_regular(from, MOST_LOG_BYTES)?;
    replace(to, Durability::ThisRun, |file| file.write_all(&text))
}

/// The newest folder of an earlier merge that this one adds to: of the same cases, and of no other run and no other row than
/// this one has.
fn existing(output_dir: &Path, plan: &PlanFile, cases: &[MergedCase<'_>]) -> Option<RunFolder> {
    let ids: Vec<&str> = plan.ids().collect();
    let with_row = cases.iter().filter_map(|case| case.row.as_ref()).map(|row| row.id.as_str());
    let with_row: HashSet<&str> = with_row.collect();
    let is_merged = |run: &str| plan.merged.iter().any(|merged| merged.run == run);
    let is_extended = |folder: &PathBuf| {
        let (Ok(stored), Ok(journal)) = (PlanFile::read(folder), read_journal(folder)) else { return false };
        let is_kept = |row: &Row| row.reused_from.is_some() && with_row.contains(row.id.as_str());
        !stored.merged.is_empty()
            && stored.has_cases(&ids)
            && stored.merged.iter().all(|merged| is_merged(&merged.run))
            && journal.rows.iter().all(is_kept)
    };
    let mut folders = runs_of(&output_dir.join(&plan.name));
    folders.sort();
    folders.into_iter().rev().find(is_extended).map(|folder| RunFolder::at(&folder))
}
