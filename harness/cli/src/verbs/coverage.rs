//! `gpbench coverage`: the papers' tables, cell by cell, beside the results of published runs.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_engine::{Executor as _, LocalExecutor};
use gpbench_report::{
    COVERAGE, CoveragePage, HOURS, Hours, SpecEstimate, coverage as pages_of, published_faults,
};

use crate::args::{Filter, Global, SpecArgs};
use crate::exit::{Failure, OK, Outcome, REGRESSION};
use crate::notice::{say, warn};
use crate::output;
use crate::prepare::{self, Checked, Placement};
use crate::spec_files::Reading;
use crate::worker::Worker;

/// Threads that hours are estimated for.
const THREADS: usize = 4;

/// `gpbench coverage`.
#[derive(Debug, Args)]
pub(crate) struct Coverage {
    /// The folder of published runs; the pages are written to `coverage/` in it.
    #[arg(default_value = "reports/published")]
    published: PathBuf,
    /// Write nothing, and fail where a page is not what would be written, or where a published run lacks the journal and the plan
    /// that its report can be made of again.
    #[arg(long)]
    check: bool,
    /// First estimate the hours of all specs below this folder that name a reference, as `gpbench plan` does.
    #[arg(long, value_name = "FOLDER", conflicts_with = "check")]
    hours: Option<PathBuf>,
}

pub(crate) fn coverage(global: &Global, args: &Coverage) -> Outcome {
    require_published(&args.published)?;
    let folder = args.published.join(COVERAGE);
    if let Some(specs) = &args.hours {
        let hours = hours(global, specs)?;
        write(&folder.join(HOURS), &hours.text())?;
    }
    let pages = pages_of(&args.published).map_err(Failure::usage)?;
    if args.check {
        let faults = published_faults(&args.published).map_err(Failure::usage)?;
        return check(&folder, &pages, &faults, "coverage");
    }
    for (name, text) in &pages {
        write(&folder.join(name), text)?;
    }
    if !global.quiet {
        say(format_args!("{} pages in {}", pages.len(), folder.display()));
    }
    Ok(OK)
}

/// Fails where there is no folder of published runs.
pub(super) fn require_published(folder: &Path) -> Result<(), Failure> {
    match folder.is_dir() {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "there is no folder {}; give that of the published runs, `reports/published` in gpbench's source tree",
            folder.display()
        ))),
    }
}

/// Fails where a page differs from its file, which `verb` writes, or where there are faults.
pub(super) fn check(folder: &Path, pages: &[CoveragePage], faults: &[String], verb: &str) -> Outcome {
    let differs =
        |(name, text): &&CoveragePage| fs::read_to_string(folder.join(name)).ok().as_ref() != Some(text);
    let old: Vec<&str> = pages.iter().filter(differs).map(|(name, _)| name.as_str()).collect();
    if !old.is_empty() {
        say(format_args!(
            "{}: out of date: {}; `gpbench {verb}` writes them again",
            folder.display(),
            old.join(", ")
        ));
    }
    faults.iter().for_each(say);
    Ok(if old.is_empty() && faults.is_empty() { OK } else { REGRESSION })
}

/// Writes a page, and the folder that it is in.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let error = |error: std::io::Error| Failure::usage(format!("cannot write {}: {error}", path.display()));
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(error)?;
    output::write_file(path, text).map_err(error)
}

/// The estimated hours of all specs below a folder that name a reference. A spec that this machine cannot plan is left out with a
/// warning.
fn hours(global: &Global, folder: &Path) -> Result<Hours, Failure> {
    let mut files = Vec::new();
    specs(folder, &mut files)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", folder.display())))?;
    files.sort();
    let mut estimates = Vec::new();
    for file in files {
        match estimate(global, folder, &file) {
            Ok(found) => estimates.extend(found),
            Err(failure) => warn(global, &failure.text),
        }
    }
    let worker = Worker::locate()?;
    let executor = LocalExecutor::open(&worker.file, THREADS, 1).map_err(Failure::internal)?;
    let day = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    Ok(Hours::of(executor.machine().cpu, THREADS, day, &estimates))
}

fn specs(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            specs(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    Ok(())
}

/// The estimated hours of a spec; none where it names no reference.
fn estimate(global: &Global, folder: &Path, file: &Path) -> Result<Option<SpecEstimate>, Failure> {
    if !names_reference(file) {
        return Ok(None);
    }
    let args = SpecArgs {
        spec: file.to_owned(),
        sets: Vec::new(),
        libraries: Vec::new(),
        filter: Filter { solvers: Vec::new(), datasets: Vec::new() },
        skip_missing: false,
        threads: None,
    };
    let Checked { plan, .. } = prepare::check(global, &args, &Placement::default(), Reading::Nothing)?;
    let Some(reference) = plan.report.reference.clone() else { return Ok(None) };
    let cases = plan.cases.into_iter().map(|planned| {
        let seconds = planned.cost(THREADS).map(|cost| cost.seconds);
        (planned.case.labels(), planned.case, seconds)
    });
    let spec = file.strip_prefix(folder).unwrap_or(file).display().to_string();
    Ok(Some(SpecEstimate { reference, spec, cases: cases.collect() }))
}

/// Whether a file is a spec that names a reference. Other TOML files, such as those of references, do not.
fn names_reference(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let table: Option<toml::Table> = toml::from_str(&text).ok();
    table.is_some_and(|spec| spec.get("report").is_some_and(|report| report.get("reference").is_some()))
}
