//! `gpbench check`: the regression gate.

use std::path::{Path, PathBuf};

use gpbench_report::baseline::{self, Baseline};

use super::report;
use super::run::{ends, execute};
use crate::args::{Check, Format, Global, RunArgs};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::output;
use crate::prepare::prepare;

pub(crate) fn check(global: &Global, args: &Check) -> Outcome {
    let file = args.baseline.clone().unwrap_or_else(|| beside(&args.spec.spec));
    let mut old = match file.exists() {
        true => Some(Baseline::read(&file).map_err(Failure::usage)?),
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
    if let Some(old) = &mut old {
        old.cases.retain(|case| {
            asked(&args.spec.solvers, &case.key.solver) && asked(&args.spec.datasets, &case.key.dataset)
        });
    }

    // A gate answers for the code as it is now, so nothing is taken from an earlier run.
    let run_args = RunArgs { fresh: true, ..args.run.clone() };
    let prepared = prepare(global, &args.spec, &run_args)?;
    let summary = execute(global, &prepared, &run_args)?;
    if summary.interrupted.is_some() {
        return Ok(ends(&summary));
    }
    let run = report::open(&summary.folder)?;
    let page = report::write(&run)?;

    if args.update {
        write_baseline(&file, &baseline::update(&run, old.as_ref()))?;
        output::print(&format!("wrote {}", file.display()));
        return Ok(if summary.failures() > 0 { CASE_FAILED } else { OK });
    }
    let old = old.expect("without --update, a missing baseline has ended this");
    let verdict = baseline::check(&run, &old);
    let table = verdict.table();
    if args.format == Format::Table {
        let rows = if table.rows.is_empty() { String::new() } else { table.without_empty_columns().text() };
        output::print(&format!("{rows}{}", verdict.count()));
    } else {
        output::show(&table, &verdict.json(), args.format);
    }
    if !global.quiet {
        eprintln!("report: {}", page.display());
    }
    Ok(verdict.exit_code())
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
