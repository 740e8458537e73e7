//! `report.md`: the report as a page of text.

use std::fmt::Write as _;

use gpbench_record::Status;

use crate::aggregate::groups;
use crate::bibliography;
use crate::charts::Figure;
use crate::error::Result;
use crate::run::Run;
use crate::table::Table;
use crate::tables;

/// The report without its figures.
///
/// # Errors
/// If the aggregation fails.
pub fn markdown(run: &Run) -> Result<String> {
    page(run, &[])
}

/// The report, with links to figures that lie in `figures/`.
pub(crate) fn page(run: &Run, figures: &[Figure]) -> Result<String> {
    let groups = groups(run)?;
    let mut out = format!("# {}\n\n", run.name);
    let counts: Vec<String> = tables::outcomes(run).iter().map(|(what, n)| format!("{n} {what}")).collect();
    let _ = writeln!(out, "{} cases: {}.\n", run.planned.unwrap_or(run.rows.len()), counts.join(", "));

    out.push_str("## Results\n\n");
    for table in tables::results(run, &groups) {
        section(&mut out, &table);
    }
    let _ = writeln!(out, "{}\n", tables::conventions(run));
    if let Some(table) = tables::published(run, &groups) {
        let _ = writeln!(out, "## {}\n\n{}\n{}\n", table.title, table.markdown(), table.caption);
    }
    if !figures.is_empty() {
        out.push_str("## Charts\n\n");
    }
    for figure in figures {
        let _ = writeln!(out, "![{}](figures/{})\n\n{}\n", figure.title, figure.file, figure.caption);
    }
    failures(&mut out, run);
    out.push_str("## How this was measured\n\n");
    for (name, value) in tables::measured(run) {
        let _ = writeln!(out, "- {name}: {value}");
    }
    out.push('\n');
    for table in [tables::datasets(run), tables::models(run), tables::solvers(run)] {
        section(&mut out, &table);
    }
    out.push_str("## References\n\n");
    for paper in bibliography::cited(run) {
        let _ = writeln!(out, "- {}", paper.entry());
    }
    Ok(out)
}

fn section(out: &mut String, table: &Table) {
    let _ = writeln!(out, "### {}\n\n{}", table.title, table.markdown());
    if !table.caption.is_empty() {
        let _ = writeln!(out, "{}\n", table.caption);
    }
}

fn failures(out: &mut String, run: &Run) {
    let Some(table) = tables::not_ok(run) else { return };
    let _ = writeln!(out, "## {}\n\n{}", table.title, table.markdown());
    for row in run.rows.iter().filter(|r| r.status != Status::Ok && !r.log_tail.trim().is_empty()) {
        // Four backticks, so that a log that holds three cannot end the block.
        let _ =
            writeln!(out, "Last lines of {}:\n\n````text\n{}\n````\n", row.labels, row.log_tail.trim_end());
    }
}
