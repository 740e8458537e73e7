//! Summary of a check for the page of a CI job, in Markdown.

use gpbench_record::text;

use crate::baseline::{Against, Check, CheckOutcome};
use crate::escape::{markdown, markdown_block};

/// Largest number of rows: longer tables are not readable, and some services refuse them.
const MOST_ROWS: usize = 100;

/// A heading with the outcome, the first findings, and the remarks.
pub fn step_summary(title: &str, check: &Check) -> String {
    let outcome = match check.exit_code() {
        0 => "passed",
        4 => "nothing to compare",
        _ if check.undecided() == check.failing() => "undecided",
        _ => "regressed",
    };
    let mut page = format!("### {}: {outcome}\n\n{}\n", markdown(title), check.count());
    let mut table = check.table().without_empty_columns();
    let left_out = table.rows.len().saturating_sub(MOST_ROWS);
    table.rows.truncate(MOST_ROWS);
    if !table.rows.is_empty() {
        page += &format!("\n{}", table.markdown());
    }
    if left_out > 0 {
        // Failures come first, so other findings are left out before them.
        let listed = check.listed().into_iter().skip(MOST_ROWS);
        let failing = listed.filter(|(found, _)| check.is_failing(found)).count();
        page += &format!("\n… and {left_out} more, {failing} of them failing\n");
    }
    for remark in &check.remarks {
        page += &format!("\n{}\n", markdown_block(remark));
    }
    let of_baseline = check.against == Against::Baseline;
    if of_baseline && check.findings.iter().any(|v| v.outcome == CheckOutcome::NotInBaseline) {
        page += "\nCases that are not in the baseline were not checked.\n";
    }
    text::plain(&page).into_owned()
}
