//! `gpbench compare`: runs side by side, and the last checked against the first.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use gpbench_record::metric::Metric;
use gpbench_record::selects;
use gpbench_report::baseline::{self, Baseline};
use gpbench_report::{
    AcrossTasks, BesideArchive, Between, ChartForm, OfOneRun, Run, SideBySide, TextTable, latex, latex_words,
    markdown,
};
use gpbench_runs::is_packed;

use crate::args::{Filter, Format, FormatArg, Global, metric_named, solver_names};
use crate::check_result::{self, AllowUndecided, StepSummary};
use crate::exit::{Failure, OK, Outcome, REGRESSION};
use crate::notice::say;
use crate::{archive, output, runs};

/// `gpbench compare`.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Two or more runs: folders, packed runs, names of specs, `NAME~1` (the run before the latest of a name), ids of runs, or
    /// `latest`. The last is compared with the first seed by seed, and checked against it. Learners are set beside solvers by data set
    /// instead.
    #[arg(required = true, num_args = 1..)]
    runs: Vec<String>,
    /// Check one run against a baseline file instead.
    #[arg(long, value_name = "FILE", conflicts_with = "between")]
    baseline: Option<PathBuf>,
    /// How many times as fast one solver or learner of a run is as another, with 95 % intervals over seeds, and how far their
    /// errors differ. The name of a learner's grid stands for its chosen points.
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1, conflicts_with = "wanted")]
    between: Vec<String>,
    /// Require two runs to have the same cases, each with the same status and bit-identical metrics; times and
    /// memory may differ. Differences are listed, and the exit code is then 3.
    #[arg(long, conflicts_with_all = ["baseline", "between", "wanted"])]
    exact: bool,
    /// Show archived results beside those of one run: a packed run, or a folder that holds some, also in folders
    /// within; may be repeated. Cases are matched by all that can change their results; times are shown where they are
    /// of the same kind of machine.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "between", "exact", "wanted"])]
    with: Vec<String>,
    /// Write a chart of `--with` to this file, as SVG.
    #[arg(long, value_name = "FILE", requires = "with")]
    chart: Option<PathBuf>,
    /// What the chart shows: a metric of the table, by its name in `gpbench list metrics`; by default the first.
    #[arg(short, long, value_name = "METRIC", requires = "chart", value_parser = metric_named)]
    metric: Option<&'static Metric>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    undecided: AllowUndecided,
    #[command(flatten)]
    page: StepSummary,
    #[command(flatten)]
    output: FormatArg,
}

pub(crate) fn compare(global: &Global, args: &Compare) -> Outcome {
    args.page.require_file()?;
    let mut runs = args.runs.iter().map(|name| runs::open(global, name)).collect::<Result<Vec<_>, _>>()?;
    for run in &mut runs {
        run.record.rows.retain(|row| args.filter.includes(&row.labels.solver, &row.labels.dataset));
    }
    if !args.with.is_empty() {
        let archived = archived(global, args)?;
        let [run] = &runs[..] else { return Err(Failure::usage("`--with` takes one run")) };
        return beside(global, &gpbench_report::beside(run, &archived).map_err(Failure::internal)?, args);
    }
    let title = format!("gpbench compare {}", args.runs.join(" "));
    let between = solver_names(&args.between);
    match (&args.baseline, &between[..], &runs[..]) {
        (None, [], [old, new]) if args.exact => exact(old, new, args.output),
        _ if args.exact => Err(Failure::usage("`--exact` takes two runs")),
        (Some(file), ..) if is_packed(file) => {
            let file = file.display();
            let instead = format!("`gpbench compare {file} RUN` checks a run against it");
            Err(Failure::usage(format!("{file} is a packed run, and no baseline file; {instead}")))
        }
        (Some(file), _, [run]) => {
            let mut old = Baseline::read(file).map_err(Failure::usage)?;
            // A case that the filter leaves out is not reported as missing.
            old.cases.retain(|case| args.filter.includes(&case.key.solver, &case.key.dataset));
            let mut check = baseline::check(run, &old).map_err(Failure::internal)?;
            check.allow_undecided = args.undecided.allow_undecided;
            let printed = check_result::print(&check, run, args.output);
            let code = args.page.finish(&title, &check)?;
            printed.map(|()| code)
        }
        (None, [first, second], [run]) => {
            [first, second].into_iter().try_for_each(|name| require_one(run, name))?;
            match gpbench_report::between(run, first, second).map_err(Failure::internal)? {
                OfOneRun::Pair(between) => pair(&between, args.output),
                OfOneRun::Methods(across) => across_tasks(&across, args),
            }
        }
        (None, [], [_]) => Err(Failure::nothing(
            "one run cannot be compared; name two or more, or a baseline with `--baseline`",
        )),
        (None, [], runs) => side_by_side(gpbench_report::compare(runs), &runs[runs.len() - 1], &title, args),
        (None, ..) => Err(Failure::usage("`--between A,B` takes two solvers or learners and one run")),
        (Some(_), ..) => Err(Failure::usage("`--baseline` takes one run")),
    }
}

/// The archived runs that `--with` names, with the cases that are chosen.
fn archived(global: &Global, args: &Compare) -> Result<Vec<Run>, Failure> {
    let names = args.with.iter().flat_map(|named| archive::names(named));
    let open = |name: String| {
        let is_no_run = Path::new(&name).is_dir() && !Path::new(&name).join("journal.jsonl").exists();
        runs::open(global, &name).map_err(|failure| match is_no_run {
            true => Failure::usage(format!(
                "{}, and it holds no packed runs; those of a site are in the folder that it was made of",
                failure.text
            )),
            false => failure,
        })
    };
    let mut runs = names.map(open).collect::<Result<Vec<_>, _>>()?;
    for run in &mut runs {
        run.record.rows.retain(|row| args.filter.includes(&row.labels.solver, &row.labels.dataset));
    }
    Ok(runs)
}

/// Prints a run beside archived ones.
fn beside(global: &Global, beside: &BesideArchive, args: &Compare) -> Outcome {
    let (remarks, wanted) = (beside.remarks.join("\n"), args.output);
    let Some(first) = beside.rows.first() else {
        let text = format!("no archived case is of a problem of this run\n{remarks}");
        return Err(Failure::nothing(text.trim_end()));
    };
    if let Some(file) = &args.chart {
        let metric = args.metric.unwrap_or(first.metric);
        if !beside.rows.iter().any(|row| row.metric.name == metric.name) {
            return Err(Failure::nothing(format!("no case here has a `{}`", metric.name)));
        }
        let chart = gpbench_report::beside_chart(beside, metric, ChartForm::default());
        output::write_named(file, &chart.map_err(Failure::internal)?)?;
        if !global.quiet {
            say(format_args!("chart: {}", file.display()));
        }
    }
    let table = beside.table();
    match wanted.format {
        Format::Table => output::print(&format!("{}{remarks}", output::terminal_table(&table, wanted)))?,
        Format::Md => output::print(&format!("{}\n{}", table.markdown(), markdown(&remarks)))?,
        _ => output::show(&table, &beside.json(), wanted)?,
    }
    Ok(OK)
}

/// Prints runs side by side. `last` is the run that is checked.
fn side_by_side(
    compared: gpbench_report::Result<SideBySide>,
    last: &Run,
    title: &str,
    args: &Compare,
) -> Outcome {
    let mut comparison = match compared.map_err(Failure::internal)? {
        SideBySide::Methods(across) => return across_tasks(&across, args),
        SideBySide::Cases(comparison) => comparison,
    };
    if comparison.rows.is_empty() {
        return Err(no_common_case());
    }
    comparison.check.allow_undecided = args.undecided.allow_undecided;
    let (table, wanted) = (comparison.table(), args.output);
    let check = check_result::text(&comparison.check, wanted);
    let printed = match wanted.format {
        Format::Table => {
            let text = output::fitted(comparison.fitted(wanted.wide.width()));
            output::print(&format!("{text}\n{check}"))
        }
        Format::Md => {
            output::print(&format!("{}\n{}\n\n{check}", table.markdown(), markdown(&table.caption)))
        }
        Format::Bmf => check_result::print(&comparison.check, last, wanted),
        Format::Latex => {
            let check = comparison.check.table().without_empty_columns();
            output::print(&latex([&table, &check].into_iter().filter(|table| !table.rows.is_empty())))
        }
        _ => output::show(&table, &comparison.json(), wanted),
    };
    let code = args.page.finish(title, &comparison.check)?;
    printed.map(|()| code)
}

/// Fails if a name is that of no solver or learner of a run, or of several solvers at once.
fn require_one(run: &Run, name: &str) -> Result<(), Failure> {
    let named =
        run.record.rows.iter().map(|row| row.labels.solver.as_str()).filter(|solver| selects(name, solver));
    let named: BTreeSet<&str> = named.collect();
    let noun = run.noun();
    if named.is_empty() {
        return Err(Failure::nothing(format!("the run has no case of the {noun} `{name}`")));
    }
    // A grid of learners has a chosen point.
    if named.contains(name) || noun == "learner" {
        return Ok(());
    }
    let all: Vec<&str> = named.into_iter().collect();
    Err(Failure::usage(format!("`{name}` stands for several; name one of its points: {}", all.join(", "))))
}

/// Prints two solvers or learners of one run, seed by seed.
fn pair(between: &Between, wanted: FormatArg) -> Outcome {
    if between.is_empty() {
        return Err(Failure::nothing("these two have no seed of a problem in common"));
    }
    let sentences = between.sentences.iter().chain(&between.remarks);
    match wanted.format {
        Format::Table => {
            let mut text: String = sentences.map(|sentence| format!("{sentence}\n")).collect();
            for table in between.tables() {
                text += &format!("\n{}{}\n", output::terminal_table(&table, wanted), table.caption);
            }
            output::print(&text)?;
        }
        Format::Md => {
            let mut text: String = sentences.map(|sentence| format!("{}\n\n", markdown(sentence))).collect();
            for table in between.tables() {
                text += &format!(
                    "### {}\n\n{}\n{}\n\n",
                    markdown(&table.title),
                    table.markdown(),
                    markdown(&table.caption)
                );
            }
            output::print(&text)?;
        }
        Format::Latex => {
            let paragraphs: String =
                sentences.map(|sentence| format!("{}\n\n", latex_words(sentence))).collect();
            output::print(&format!("{}\n{paragraphs}", latex(&between.tables())))?;
        }
        _ => output::show(&between.whole(), &between.json(), wanted)?,
    }
    Ok(OK)
}

/// Prints learners beside solvers, which share no case that could be checked.
fn across_tasks(across: &AcrossTasks, args: &Compare) -> Outcome {
    if args.page.wanted {
        return Err(Failure::usage(
            "`--step-summary` shows a check, and learners and solvers share no case to check",
        ));
    }
    let remarks = across.remarks.join("\n");
    if across.rows.is_empty() {
        return Err(Failure::nothing(format!(
            "nothing of these learners and solvers can be compared\n{remarks}"
        )));
    }
    let (table, wanted) = (across.table(), args.output);
    match wanted.format {
        Format::Table => {
            output::print(&format!("{}{remarks}", output::terminal_table(&table, wanted)))?;
        }
        Format::Md => output::print(&format!("{}\n{}", table.markdown(), markdown(&remarks)))?,
        Format::Latex => {
            output::print(&latex([&TextTable { caption: across.remarks.join(" "), ..table }]))?;
        }
        _ => output::show(&table, &across.json(), wanted)?,
    }
    Ok(OK)
}

fn exact(old: &Run, new: &Run, wanted: FormatArg) -> Outcome {
    let comparison = gpbench_report::exact(old, new);
    if comparison.cases == 0 {
        return Err(no_common_case());
    }
    if comparison.values == 0 && comparison.agree() {
        return Err(Failure::nothing(
            "a clock stopped every case that these runs share: none can be compared exactly",
        ));
    }
    let table = comparison.table();
    match wanted.format {
        Format::Table if comparison.agree() => output::print(&comparison.count())?,
        Format::Table => {
            let differences = output::terminal_table(&table, wanted);
            output::print(&format!("{differences}{}", comparison.count()))?;
        }
        _ => output::show(&table, &comparison.json(), wanted)?,
    }
    Ok(if comparison.agree() { OK } else { REGRESSION })
}

fn no_common_case() -> Failure {
    Failure::nothing("these runs have no case in common")
}
