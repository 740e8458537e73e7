//! `gpbench check`: runs a spec and compares its metrics, and seconds on request, with a baseline.

use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_files::{Durability, replace};
use gpbench_report::Run;
use gpbench_report::baseline::{self, Baseline, BaselineSession, SecondsAsked};

use crate::archive::Archive;
use crate::args::{Continuation, FormatArg, Global, RunArgs, SpecArgs};
use crate::check_result::{self, AllowUndecided, StepSummary};
use crate::execute::{execute, exit_code};
use crate::exit::{CASE_FAILED, Failure, OK, Outcome};
use crate::notice::{say, warn};
use crate::prepare::{Placement, prepare};
use crate::{output, runs};

/// `gpbench check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    run: RunArgs,
    /// The baseline: a file, or an earlier run by its folder, its id, `NAME` or `NAME~1` of its spec, or a packed
    /// run; by default `baselines/<name>.toml` beside the spec.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write this run's metrics as the new baseline, complete.
    #[arg(long, conflicts_with_all = ["solvers", "datasets", "libraries"])]
    update: bool,
    /// Require a comparison of seconds; with `--update`, record those of each repeat. Five repeats of three seeds are
    /// advised. A baseline that holds seconds needs no such option.
    #[arg(long)]
    with_seconds: bool,
    /// Compare seconds with those of earlier sessions in this file too, and add this session to it unless it fails.
    /// With `--update` the file begins anew.
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    #[command(flatten)]
    undecided: AllowUndecided,
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
    let history = history(args)?;

    let prepared = prepare(global, &args.spec, &args.run, &Placement::default())?;
    // A check measures the program as it is now, so no earlier run is continued.
    let summary = execute(global, &prepared, &args.run, &Continuation::NONE)?;
    let run = runs::reopen(&summary.folder)?;
    if !summary.is_complete() {
        say(format_args!("nothing was compared: {} of {} cases have no row", run.missing(), summary.total));
        return Ok(exit_code(&summary));
    }
    let archive = Archive::of(global, &run);
    let page = runs::write_report(&archive.beside(&run)?)?.html;
    // The gate does not depend on them.
    archive.failure().iter().for_each(|failure| warn(global, &failure.text));

    let mut check = match &reference {
        Some(Reference::File(old)) if !args.update => {
            let required = args.with_seconds || args.history.is_some();
            let asked = SecondsAsked { required, history: &history };
            baseline::check_seconds(&run, old, &asked).map_err(Failure::internal)?
        }
        Some(Reference::Run(old)) => baseline::against(&run, old).map_err(Failure::internal)?,
        Some(Reference::File(_)) | None => {
            let old = if let Some(Reference::File(old)) = &reference { Some(old) } else { None };
            update(global, args, &run, old, &file)?;
            return Ok(if summary.failures() > 0 { CASE_FAILED } else { OK });
        }
    };
    check.allow_undecided = args.undecided.allow_undecided;
    let remembered = remember(args, &history, &run, Some(&check));
    // The page of a CI job gets the result whether or not it can be printed.
    let printed = check_result::print(&check, &run, args.output);
    let code = args.page.finish(&format!("gpbench check {}", args.spec.spec.display()), &check)?;
    if let Some(remark) = remembered? {
        say(remark);
    }
    if !global.quiet {
        say(format_args!("report: {}", page.display()));
    }
    printed?;
    Ok(code)
}

/// Writes the baseline that a run passes, and begins a history with it.
fn update(
    global: &Global,
    args: &Check,
    run: &Run,
    old: Option<&Baseline>,
    file: &Path,
) -> Result<(), Failure> {
    // Seconds that a baseline holds are not dropped without a word.
    let with_seconds = args.with_seconds || old.is_some_and(|old| !old.sessions.is_empty());
    let text = if with_seconds { baseline::update_with_seconds } else { baseline::update };
    output::write_file(file, &text(run, old).map_err(Failure::internal)?).map_err(|e| unwritten(file, &e))?;
    output::print(&format!("wrote {}", file.display()))?;
    if with_seconds && let Some(doubt) = baseline::doubtful_seconds(run).map_err(Failure::internal)? {
        warn(global, doubt);
    }
    remember(args, &[], run, None)?.map_or(Ok(()), |remark| output::print(&remark))
}

/// Adds the session of a run to the history, if there is one. Returns what became of it.
fn remember(
    args: &Check,
    history: &[BaselineSession],
    run: &Run,
    check: Option<&baseline::Check>,
) -> Result<Option<String>, Failure> {
    let Some(file) = &args.history else { return Ok(None) };
    let extended = baseline::extended_history(history, run, check).map_err(Failure::internal)?;
    if let Some(text) = &extended.text {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let made = folder.map_or(Ok(()), std::fs::create_dir_all);
        // A job that is killed here leaves the old history or the new one.
        let written = made.and_then(|()| {
            replace(file, Durability::Whole, |out| std::io::Write::write_all(out, text.as_bytes()))
        });
        written.map_err(|e| unwritten(file, &e))?;
    }
    Ok(Some(format!("{}: {}", file.display(), extended.remark)))
}

fn unwritten(file: &Path, error: &std::io::Error) -> Failure {
    Failure::internal(format!("{} cannot be written: {error}", file.display()))
}

/// The earlier sessions of the history; none where the file does not exist yet, is empty, or begins anew.
fn history(args: &Check) -> Result<Vec<BaselineSession>, Failure> {
    let Some(file) = args.history.as_deref().filter(|file| has_text(file)) else { return Ok(Vec::new()) };
    let Baseline { cases, sessions, .. } = Baseline::read(file).map_err(Failure::usage)?;
    if !cases.is_empty() {
        let file = file.display();
        return Err(Failure::usage(format!("{file} is a baseline; `--history` takes a file of its own")));
    }
    Ok(if args.update { Vec::new() } else { sessions })
}

/// Whether a file exists and is not empty.
fn has_text(file: &Path) -> bool {
    file.metadata().is_ok_and(|file| file.len() > 0)
}

/// Reads the baseline; only `--update` needs none.
fn reference(global: &Global, args: &Check, file: &Path) -> Result<Option<Reference>, Failure> {
    // A case that the filter leaves out is not reported as missing.
    let filter = &args.spec.filter;
    if let Some(folder) = runs::of_baseline(global, file)? {
        if args.update {
            return Err(Failure::usage("`--update` writes a baseline file, and a run is given"));
        }
        if args.history.is_some() {
            return Err(Failure::usage("`--history` goes with a baseline file, and a run is given"));
        }
        let mut run = runs::open_folder(global, &folder)?;
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
