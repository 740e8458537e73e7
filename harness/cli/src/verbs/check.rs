//! `gpbench check`: runs a spec and compares its metrics with a baseline.

use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_report::Run;
use gpbench_report::baseline::{self, Baseline};

use crate::args::{Continuation, FormatArg, Global, RunArgs, SpecArgs};
use crate::check_result::{self, StepSummary};
use crate::execute::{execute, exit_code};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::notice::say;
use crate::prepare::{Placement, prepare};
use crate::{output, runs};

/// `gpbench check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    run: RunArgs,
    /// The baseline, a file or the folder of an earlier run; by default `baselines/<name>.toml` beside the spec.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write this run's metrics as the new baseline, complete.
    #[arg(long, conflicts_with_all = ["solvers", "datasets", "libraries"])]
    update: bool,
    #[command(flatten)]
    page: StepSummary,
    #[command(flatten)]
    output: FormatArg,
}

/// The baseline that a run is compared with.
enum Reference {
    /// A baseline file.
    File(Baseline),
    /// An earlier run.
    Run(Box<Run>),
}

pub(crate) fn check(global: &Global, args: &Check) -> Outcome {
    args.page.require_file()?;
    let file = match &args.baseline {
        Some(file) => file.clone(),
        None if gpbench_spec::is_standard_input(&args.spec.spec) => {
            return Err(Failure::usage(
                "a spec from standard input has no baseline beside it; name one with `--baseline FILE`",
            ));
        }
        None => beside(&args.spec.spec),
    };
    let reference = reference(global, args, &file)?;

    let prepared = prepare(global, &args.spec, &args.run, &Placement::default())?;
    // A check measures the program as it is now, so no earlier run is continued.
    let summary = execute(global, &prepared, &args.run, &Continuation::NONE)?;
    let run = runs::reopen(&summary.folder)?;
    if !summary.is_complete() {
        say(format_args!("nothing was compared: {} of {} cases have no row", run.missing(), summary.total));
        return Ok(exit_code(&summary));
    }
    let page = runs::write_report(&runs::frame(&run)?)?.html;

    let check = match &reference {
        Some(Reference::File(old)) if !args.update => {
            baseline::check(&run, old).map_err(Failure::internal)?
        }
        Some(Reference::Run(old)) => baseline::against(&run, old).map_err(Failure::internal)?,
        Some(Reference::File(_)) | None => {
            let old = if let Some(Reference::File(old)) = &reference { Some(old) } else { None };
            output::write_file(&file, &baseline::update(&run, old).map_err(Failure::internal)?)
                .map_err(|e| Failure::internal(format!("{} cannot be written: {e}", file.display())))?;
            output::print(&format!("wrote {}", file.display()))?;
            return Ok(if summary.failures() > 0 { CASE_FAILED } else { OK });
        }
    };
    // The page of a CI job gets the result whether or not it can be printed.
    let printed = check_result::print(&check, args.output);
    let code = args.page.finish(&format!("gpbench check {}", args.spec.spec.display()), &check)?;
    if !global.quiet {
        say(format_args!("report: {}", page.display()));
    }
    printed?;
    Ok(code)
}

/// Reads the baseline; only `--update` needs none.
fn reference(global: &Global, args: &Check, file: &Path) -> Result<Option<Reference>, Failure> {
    // A case that the filter leaves out is not reported as missing.
    let filter = &args.spec.filter;
    if file.is_dir() {
        if args.update {
            return Err(Failure::usage("`--update` writes a baseline file, and a run folder is given"));
        }
        let mut run = runs::open_folder(global, file)?;
        run.record.rows.retain(|row| filter.includes(&row.labels.solver, &row.labels.dataset));
        if run.record.rows.is_empty() {
            return Err(no_case(file));
        }
        Ok(Some(Reference::Run(Box::new(run))))
    } else if file.exists() {
        let mut old = Baseline::read(file).map_err(Failure::usage)?;
        old.cases.retain(|case| filter.includes(&case.key.solver, &case.key.dataset));
        if old.cases.is_empty() && !args.update {
            return Err(no_case(file));
        }
        Ok(Some(Reference::File(old)))
    } else if args.update {
        Ok(None)
    } else {
        Err(Failure::nothing(format!(
            "there is no baseline {}; `--update` writes one, `--baseline FILE` names another",
            file.display()
        )))
    }
}

fn no_case(baseline: &Path) -> Failure {
    Failure::nothing(format!(
        "nothing to compare: the baseline {} has none of the cases asked for; `--update` writes a new one",
        baseline.display()
    ))
}

/// `baselines/<name of the spec's file>` beside the spec.
fn beside(spec: &Path) -> PathBuf {
    let folder = spec.parent().unwrap_or(Path::new(""));
    folder.join("baselines").join(spec.file_name().unwrap_or_default())
}
