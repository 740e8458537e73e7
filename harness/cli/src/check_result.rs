//! Prints the comparison of a run with a baseline, for `compare` and `check`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use gpbench_report::Run;
use gpbench_report::baseline::Check;

use crate::args::{Format, FormatArg};
use crate::exit::{Failure, Outcome};
use crate::notice::say;
use crate::{output, runs};

/// Whether the page of a CI job shows the result.
#[derive(Debug, Args)]
pub(crate) struct StepSummary {
    /// Append the result to the page of the CI job: the Markdown file that $GITHUB_STEP_SUMMARY names.
    #[arg(long = "step-summary")]
    pub(crate) wanted: bool,
}

/// `--allow-undecided`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct AllowUndecided {
    /// Pass where seconds can be called neither slower nor not slower: on another machine, with too few repeats, beside
    /// other programs. By default, the exit code is then 3.
    #[arg(long)]
    pub(crate) allow_undecided: bool,
}

impl StepSummary {
    /// Fails if the page is wanted and no file is named, before anything runs.
    pub(crate) fn require_file(&self) -> Result<(), Failure> {
        match file() {
            None if self.wanted => Err(Failure::usage(
                "`--step-summary` writes to the file that GITHUB_STEP_SUMMARY names, and that is not set",
            )),
            _ => Ok(()),
        }
    }

    /// Appends the result to the page if that is wanted. Returns the exit code.
    pub(crate) fn finish(&self, title: &str, check: &Check) -> Outcome {
        if let Some(file) = file().filter(|_| self.wanted) {
            let text = gpbench_report::step_summary(title, check);
            let open = std::fs::OpenOptions::new().create(true).append(true).open(&file);
            open.and_then(|mut page| page.write_all(text.as_bytes()))
                .map_err(|e| Failure::internal(format!("{} cannot be written: {e}", file.display())))?;
        }
        Ok(check.exit_code())
    }
}

fn file() -> Option<PathBuf> {
    std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()).map(Into::into)
}

/// Prints the result of a check of a run; as BMF the run's measures, and the result on standard error.
pub(crate) fn print(check: &Check, run: &Run, wanted: FormatArg) -> Result<(), Failure> {
    match wanted.format {
        Format::Table | Format::Md => output::print(&text(check, wanted)),
        Format::Bmf => {
            say(text(check, FormatArg::from(Format::Table)));
            runs::print(&runs::frame(run)?, wanted)
        }
        _ => output::show(&check.table(), &check.json(), wanted),
    }
}

/// The result of a check as text: a table of the metrics that changed, a line of counts, and what was not checked.
pub(crate) fn text(check: &Check, wanted: FormatArg) -> String {
    let format = wanted.format;
    let table = check.table().without_empty_columns();
    let mut text = match format {
        _ if table.rows.is_empty() => String::new(),
        Format::Md => format!("{}\n", table.markdown()),
        _ => output::terminal_table(&table, wanted),
    };
    text += &check.count();
    for remark in &check.remarks {
        text += &match format {
            Format::Md => format!("\n\n{}", gpbench_report::markdown(remark)),
            _ => format!("\n{remark}"),
        };
    }
    text
}
