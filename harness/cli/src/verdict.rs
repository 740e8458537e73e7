//! How `compare` and `check` tell what they found.

use std::io::Write as _;

use gpbench_report::baseline::Check;

use crate::args::{Format, StepSummary};
use crate::exit::{Failure, Outcome};
use crate::output;

/// Prints the verdicts, writes the job's page if that is wanted, and gives the exit code.
pub(crate) fn tell(title: &str, check: &Check, format: Format, page: &StepSummary) -> Outcome {
    match format {
        Format::Table | Format::Md => output::print(&words(check, format)),
        _ => output::show(&check.table(), &check.json(), format),
    }
    ends(title, check, page)
}

/// The verdicts in words: a table if there are any, a line of counts, and what could not be judged.
pub(crate) fn words(check: &Check, format: Format) -> String {
    let table = check.table().without_empty_columns();
    let mut text = match format {
        _ if table.rows.is_empty() => String::new(),
        Format::Md => format!("{}\n", table.markdown()),
        _ => table.text(),
    };
    text += &check.count();
    for remark in &check.remarks {
        text += &format!("\n{}{remark}", if format == Format::Md { "\n" } else { "" });
    }
    text
}

/// Writes the job's page if that is wanted, and gives the exit code.
pub(crate) fn ends(title: &str, check: &Check, page: &StepSummary) -> Outcome {
    if page.wanted {
        append(&gpbench_report::step_summary(title, check))?;
    }
    Ok(check.exit_code())
}

/// Refuses a page that has no place, before anything runs.
pub(crate) fn has_place(page: &StepSummary) -> Result<(), Failure> {
    match place() {
        None if page.wanted => Err(Failure::usage(
            "`--step-summary` writes to the file that GITHUB_STEP_SUMMARY names, and that is not set",
        )),
        _ => Ok(()),
    }
}

fn place() -> Option<std::path::PathBuf> {
    std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()).map(Into::into)
}

fn append(text: &str) -> Result<(), Failure> {
    let Some(file) = place() else { return Ok(()) };
    let open = std::fs::OpenOptions::new().create(true).append(true).open(&file);
    open.and_then(|mut page| page.write_all(text.as_bytes()))
        .map_err(|e| Failure::internal(format!("{} cannot be written: {e}", file.display())))
}
