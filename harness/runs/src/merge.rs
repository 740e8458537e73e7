//! Unites the rows of several runs in a run folder of their own.

mod cases;
mod names;
mod source;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::{Axes, PartOfPlan, Row, Shard};
use jiff::Timestamp;

use self::cases::{MergedCase, MergedCases};
use self::names::NewNames;
use self::source::Source;
use crate::error::Context as _;
use crate::journal::read_journal;
use crate::layout::{LOGS, SPEC};
use crate::{Journal, MergedRun, PlanFile, RunError, RunFolder};

/// What [`merge()`] made.
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
    /// What cannot be read of the runs.
    pub warnings: Vec<String>,
}

/// Unites the rows of runs in a run folder below `output_dir`: in the one that an earlier call made for the same cases, or
/// in a new one. The runs themselves stay as they are.
///
/// Of the rows of one run, the newest of each case counts. Of the same case in several runs, the first row that is no
/// failure counts, in the order given; so a shard that was run twice does no harm. Runs of different plans stand side by
/// side: a data set or a solver of a later plan gets a number where its name stands for something else in an earlier one.
///
/// # Errors
/// When a run cannot be read, or the merged run cannot be written.
pub fn merge(output_dir: &Path, runs: &[PathBuf], now: Timestamp) -> Result<Merged, RunError> {
    let sources = read(runs)?;
    let plans = plans(&sources);
    let (mut axes, mut cases) = (Axes::default(), MergedCases::default());
    for (number, (digest, sources)) in (1..).zip(&plans) {
        let entries = || sources.iter().flat_map(|source| &source.plan.cases);
        let names = NewNames::of(entries(), &cases.by_labels(), number);
        let plan = (plans.len() > 1).then_some(digest);
        for source in sources {
            unite(&mut axes, &names.axes(&source.plan.axes));
            for entry in &source.plan.cases {
                cases.add(MergedCase::new(source, entry, &names, plan.cloned()));
            }
        }
    }
    let plan = plan_of(&sources, &plans, axes, &cases, now);
    Ok(Merged {
        folder: write(output_dir, &plan, &sources, cases.list(), now)?,
        rows: cases.rows(),
        missing: plan.planned() - cases.rows(),
        duplicates: cases.duplicates(),
        plans: plans.len(),
        absent: plans.iter().flat_map(|(_, sources)| absent(sources)).collect(),
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
    let planned = match plans {
        [(_, sources)] => sources[0].plan.planned(),
        // A case may belong to several plans.
        _ => entries.len() + plans.iter().map(|(_, sources)| unlisted(sources)).sum::<usize>(),
    };
    let digest = plans.iter().map(|(digest, _)| digest.as_str()).collect::<Vec<_>>().join("+");
    let merged = |source: &Source| MergedRun {
        run: source.run.clone(),
        shard: source.plan.part.as_ref().and_then(|part| part.shard),
        rows: cases.rows_of(source),
    };
    let first = &sources[0].plan;
    PlanFile {
        axes,
        report: first.report.clone(),
        sources: sources.iter().flat_map(|source| source.plan.sources.clone()).collect(),
        part: (entries.len() < planned).then_some(PartOfPlan { shard: None, plan: digest, cases: planned }),
        merged: sources.iter().map(merged).collect(),
        cases: entries,
        ..PlanFile::new(&first.name, now)
    }
}

/// Cases of a plan that none of its runs lists.
fn unlisted(sources: &[&Source]) -> usize {
    let listed: HashSet<_> =
        sources.iter().flat_map(|source| &source.plan.cases).map(|entry| &entry.labels).collect();
    sources[0].plan.planned().saturating_sub(listed.len())
}

/// The shards that are not among the runs of a plan. Of shards of several counts, none can be named.
fn absent(sources: &[&Source]) -> Vec<Shard> {
    let present: BTreeSet<Shard> =
        sources.iter().filter_map(|source| source.plan.part.as_ref()?.shard).collect();
    let counts: BTreeSet<usize> = present.iter().map(|shard| shard.count).collect();
    if unlisted(sources) == 0 || counts.len() != 1 {
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
    let spec = fs::read_to_string(sources[0].folder.join(SPEC)).unwrap_or_default();
    let environments = || sources.iter().flat_map(|source| &source.environments);
    let folder = match existing(output_dir, plan) {
        Some(folder) => folder,
        None => {
            let first = environments().next().cloned().unwrap_or_default();
            RunFolder::create(output_dir, plan, &spec, &first, now)?
        }
    };
    let (mut journal, _) = Journal::open(folder.path())?;
    folder.write_plan(plan, &spec)?;
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
        // A log that is gone is no loss: the row has its last lines where they matter.
        let _ = fs::copy(RunFolder::at(&source.folder).log(&row.id), folder.log(&row.id));
        journal.append(row)?;
    }
    Ok(folder.path().to_owned())
}

/// The folder of an earlier merge of the same cases.
fn existing(output_dir: &Path, plan: &PlanFile) -> Option<RunFolder> {
    let ids: Vec<&str> = plan.ids().collect();
    let folder = RunFolder::find(output_dir, &plan.name, &ids).ok()?;
    let is_merged = PlanFile::read(folder.path()).is_ok_and(|plan| !plan.merged.is_empty());
    is_merged.then_some(folder)
}
