//! `gpbench check`: the regression gate.

use std::path::{Path, PathBuf};

use gpbench_report::Run;
use gpbench_report::baseline::{self, Baseline};

use super::report;
use super::run::{ends, execute};
use crate::args::{Check, Global, RunArgs};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::output;
use crate::prepare::prepare;
use crate::verdict;

/// What a run is held to.
enum Standard {
    /// A baseline file.
    File(Baseline),
    /// An earlier run.
    Run(Box<Run>),
}

pub(crate) fn check(global: &Global, args: &Check) -> Outcome {
    verdict::has_place(&args.page)?;
    let file = args.baseline.clone().unwrap_or_else(|| beside(&args.spec.spec));
    let mut old = match file.exists() {
        true if file.is_dir() && args.update => {
            return Err(Failure::usage("`--update` writes a baseline file; an earlier run stays as it is"));
        }
        true if file.is_dir() => Some(Standard::Run(Box::new(report::open(&file)?))),
        true => Some(Standard::File(Baseline::read(&file).map_err(Failure::usage)?)),
        false if args.update => None,
        false => {
            return Err(Failure::nothing(format!(
                "there is no baseline {}; `--update` writes one, `--baseline FILE` names another",
                file.display()
            )));
        }
    };

    // What was not asked for is not missing.
    let asked = |names: &[String], name: &String| names.is_empty() || names.contains(name);
    let both = |solver: &String, dataset: &String| {
        asked(&args.spec.solvers, solver) && asked(&args.spec.datasets, dataset)
    };
    match &mut old {
        Some(Standard::File(old)) => old.cases.retain(|case| both(&case.key.solver, &case.key.dataset)),
        Some(Standard::Run(old)) => old.rows.retain(|row| both(&row.labels.solver, &row.labels.dataset)),
        None => {}
    }

    // A gate answers for the code as it is now, so nothing is taken from an earlier run.
    let run_args = RunArgs { fresh: true, ..args.run.clone() };
    let mut prepared = prepare(global, &args.spec, &run_args)?;
    let summary = execute(global, &mut prepared, &run_args)?;
    if summary.interrupted.is_some() || summary.stopped.is_some() {
        return Ok(ends(&summary));
    }
    let run = report::open(&summary.folder)?;
    let page = report::write(&run)?;

    if args.update {
        let old = match &old {
            Some(Standard::File(old)) => Some(old),
            _ => None,
        };
        write_baseline(&file, &baseline::update(&run, old))?;
        output::print(&format!("wrote {}", file.display()));
        return Ok(if summary.failures() > 0 { CASE_FAILED } else { OK });
    }
    let verdicts = match old.expect("without --update, a missing baseline has ended this") {
        Standard::File(old) => baseline::check(&run, &old),
        Standard::Run(old) => baseline::against(&run, &old),
    };
    let title = format!("gpbench check {}", args.spec.spec.display());
    let code = verdict::tell(&title, &verdicts, args.format, &args.page)?;
    if !global.quiet {
        eprintln!("report: {}", page.display());
    }
    Ok(code)
}

/// `baselines/<name of the spec's file>` beside the spec.
fn beside(spec: &Path) -> PathBuf {
    let folder = spec.parent().unwrap_or(Path::new(""));
    folder.join("baselines").join(spec.file_name().unwrap_or_default())
}

fn write_baseline(file: &Path, text: &str) -> Result<(), Failure> {
    let write = || -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, text)
    };
    write().map_err(|e| Failure::internal(format!("{} cannot be written: {e}", file.display())))
}
