//! Unites the rows of several runs in a run folder of their own.

mod cases;
mod meaning;
mod names;
mod source;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::{Axes, DatasetNotes, PartOfPlan, PlannedCase, Row, Shard};
use jiff::Timestamp;

use self::cases::{MergedCase, MergedCases};
use self::names::NewNames;
use self::source::Source;
use crate::error::Context as _;
use crate::journal::read_journal;
use crate::layout::LOGS;
use crate::lookup::runs_of;
use crate::{Journal, MergedRun, PlanFile, RunError, RunFolder};

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
    /// Warnings about parts of the runs that cannot be read.
    pub warnings: Vec<String>,
}

/// Unites the rows of runs in a run folder below `output_dir`: in the one that an earlier call made of the same cases and of
/// no other run, or in a new one. The runs themselves stay as they are.
///
/// Of the rows of one run, the newest of each case counts. Of the same case in several runs, the first row that is no
/// failure counts, in the order given; so a shard may be run twice. Runs of different plans stand side by
/// side: a data set or a solver of a later plan gets a number where its name stands for something else in an earlier one.
///
/// # Errors
/// When a run cannot be read, or the merged run cannot be written.
pub fn merge(output_dir: &Path, runs: &[PathBuf], now: Timestamp) -> Result<Merged, RunError> {
    let sources = read(runs)?;
    let plans = plans(&sources);
    let (mut axes, mut cases) = (Axes::default(), MergedCases::default());
    let mut dataset_notes: BTreeMap<String, DatasetNotes> = BTreeMap::new();
    for (digest, sources) in &plans {
        let own: Vec<_> = sources.iter().flat_map(|source| source.cases()).collect();
        let names = NewNames::of(&own, &cases.named());
        let plan = (plans.len() > 1).then_some(digest);
        for source in sources {
            unite(&mut axes, &names.axes(&source.plan.axes));
            for (dataset, notes) in &source.plan.dataset_notes {
                dataset_notes.entry(names.dataset(dataset).to_owned()).or_default().add(notes);
            }
            for entry in &source.plan.cases {
                cases.add(MergedCase::new(source, entry, &names, plan.cloned()));
            }
        }
    }
    let plan = PlanFile { dataset_notes, ..plan_of(&sources, &plans, axes, &cases, now) };
    Ok(Merged {
        folder: write(output_dir, &plan, &sources, cases.list(), now)?,
        rows: cases.rows(),
        missing: plan.planned() - cases.rows(),
        duplicates: cases.duplicates(),
        plans: sources.iter().flat_map(Source::plans).collect::<HashSet<_>>().len(),
        absent: plans.iter().flat_map(|(plan, _)| absent(plan, &sources)).collect(),
        warnings: sources.into_iter().flat_map(|source| source.warnings).collect(),
    })
}

/// Reads runs; one that is named twice is read once.
fn read(runs: &[PathBuf]) -> Result<Vec<Source>, RunError> {
    let mut seen = HashSet::new();
    let folders = runs.iter().map(|run| fs::canonicalize(run).unwrap_or_else(|_| run.clone()));
    folders.filter(|folder| seen.insert(folder.clone())).map(|folder| Source::read(&folder)).collect()
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
    let others: Vec<String> = unlisted(sources).into_iter().map(str::to_owned).collect();
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

/// The cases of all plans that no run lists, each once: several plans may have the same case.
fn unlisted(sources: &[Source]) -> BTreeSet<&str> {
    let listed: HashSet<String> =
        sources.iter().flat_map(|source| &source.plan.cases).map(PlannedCase::digest).collect();
    let parts = sources.iter().filter_map(|source| source.plan.part.as_ref());
    parts.flat_map(|part| &part.others).filter(|other| !listed.contains(*other)).map(String::as_str).collect()
}

/// The shards of a plan that are not among the runs, where cases of it are not. Of shards of several counts, none can be named.
fn absent(plan: &str, sources: &[Source]) -> Vec<Shard> {
    let runs = sources.iter().flat_map(Source::origins).filter(|run| run.plan == plan);
    let present: BTreeSet<Shard> = runs.filter_map(|run| run.shard).collect();
    let counts: BTreeSet<usize> = present.iter().map(|shard| shard.count).collect();
    let unlisted = unlisted(sources);
    let parts = sources.iter().filter_map(|source| source.plan.part.as_ref());
    let mut others = parts.filter(|part| part.plan == plan).flat_map(|part| &part.others);
    if counts.len() != 1 || !others.any(|other| unlisted.contains(other.as_str())) {
        return Vec::new();
    }
    let all = counts.into_iter().flat_map(|count| (1..=count).map(move |number| Shard { number, count }));
    all.filter(|shard| !present.contains(shard)).collect()
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
    fs::create_dir_all(&logs).context("create", &logs)?;
    let stored = read_journal(folder.path())?.rows;
    let stored: HashMap<&str, &Row> = stored.iter().map(|row| (row.id.as_str(), row)).collect();
    for MergedCase { row, source, .. } in cases {
        let Some(row) = row.as_ref().filter(|row| stored.get(row.id.as_str()) != Some(row)) else { continue };
        // A missing log is no error: the row of a failed case has its last lines.
        let _ = fs::copy(RunFolder::at(&source.folder).log(&row.id), folder.log(&row.id));
        journal.append(row)?;
    }
    Ok(folder.path().to_owned())
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
