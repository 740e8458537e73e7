//! What a CI job shows of a comparison on its own page, in Markdown.

use crate::baseline::{Check, VerdictKind};

/// Rows of a table beyond which a page is not read, and some services refuse it.
const MOST_ROWS: usize = 100;

/// A heading that says how it ended, every verdict that there is room for, and what could not be judged.
pub fn step_summary(title: &str, check: &Check) -> String {
    let outcome = match check.exit_code() {
        0 => "passed",
        4 => "nothing to compare",
        _ => "regressed",
    };
    let mut page = format!("### {title}: {outcome}\n\n{}\n", check.count());
    let mut table = check.table().without_empty_columns();
    let left_out = table.rows.len().saturating_sub(MOST_ROWS);
    table.rows.truncate(MOST_ROWS);
    if !table.rows.is_empty() {
        page += &format!("\n{}", table.markdown());
    }
    if left_out > 0 {
        // Failures stand first, so these are the last to go.
        let failing = check.verdicts[MOST_ROWS..].iter().filter(|v| v.kind.fails()).count();
        page += &format!("\n… and {left_out} more, {failing} of them failing\n");
    }
    for remark in &check.remarks {
        page += &format!("\n{remark}\n");
    }
    if check.verdicts.iter().any(|v| v.kind == VerdictKind::NotInBaseline) {
        page += "\nCases that are not in the baseline were not checked.\n";
    }
    page
}
