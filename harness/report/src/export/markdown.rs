//! `report.md`: the report as a page of text.

use std::fmt::Write as _;

use crate::escape::{markdown, markdown_block, markdown_code};
use crate::frame::Cases;
use crate::overview;
use crate::page::{Page, Part};
use crate::places;
use crate::supported::{self, Supported};
use crate::table::TextTable;

/// The report, with links to charts that lie in `figures/`.
pub(crate) fn page(page: &Page<'_>) -> String {
    let cases = &page.cases;
    let mut out = format!("# {}\n\n", markdown(&cases.record().name));
    let counts: Vec<String> =
        overview::outcomes(cases).iter().map(|(what, n)| format!("{n} {what}")).collect();
    let _ = writeln!(out, "{} cases: {}.\n", cases.run().planned(), counts.join(", "));
    for part in &page.parts {
        let several = if page.parts.len() > 1 { format!(": {}", part.title) } else { String::new() };
        results(&mut out, part, &several);
    }
    failures(&mut out, cases);
    let places = places::tables(cases);
    if !places.is_empty() {
        out.push_str("## Where it ran\n\n");
        places.iter().for_each(|table| section(&mut out, table));
    }
    out.push_str("## How this was measured\n\n");
    for (name, value) in overview::measured(cases) {
        let _ = writeln!(out, "- {name}: {}", markdown(&value));
    }
    out.push('\n');
    for table in overview::settings(cases) {
        section(&mut out, &table);
    }
    out.push_str("## References\n\n");
    for entry in &page.references {
        let _ = writeln!(out, "- {}", markdown_block(entry));
    }
    for part in page.parts.iter().filter(|part| part.detail_tables().next().is_some()) {
        let _ = writeln!(out, "\n## Details of {}\n", part.task);
        part.detail_tables().for_each(|table| section(&mut out, table));
        for (title, doc) in &part.glossary {
            let _ = writeln!(out, "- {title}: {doc}");
        }
    }
    out
}

fn results(out: &mut String, part: &Part, several: &str) {
    let _ = writeln!(out, "## Results{several}\n");
    part.tables.iter().for_each(|table| section(out, table));
    let _ = writeln!(out, "{}\n", part.conventions);
    if let Some(Supported { sentences, rule }) = &part.supported {
        let _ = writeln!(out, "## {}{several}\n", supported::TITLE);
        for sentence in sentences {
            let _ = writeln!(out, "- {}", markdown_block(sentence));
        }
        let _ = writeln!(out, "\n{}\n", markdown_block(rule));
    }
    for table in &part.published {
        let _ = writeln!(out, "## {}\n\n{}\n{}\n", markdown(&table.title), table.markdown(), table.caption);
    }
    if let Some(table) = &part.archive {
        let (title, caption) = (markdown(&table.title), markdown_block(&table.caption));
        let _ = writeln!(out, "## {title}\n\n{}\n{caption}\n", table.markdown());
    }
    if !part.figures.is_empty() {
        let _ = writeln!(out, "## Charts{several}\n");
        for text in &part.remarks {
            let _ = writeln!(out, "{}\n", markdown_block(text));
        }
    }
    for figure in &part.figures {
        let _ =
            writeln!(out, "![{}](figures/{})\n\n{}\n", markdown(&figure.title), figure.file, figure.caption);
    }
}

fn section(out: &mut String, table: &TextTable) {
    let _ = writeln!(out, "### {}\n\n{}", markdown(&table.title), table.markdown());
    if !table.caption.is_empty() {
        let _ = writeln!(out, "{}\n", markdown_block(&table.caption));
    }
}

fn failures(out: &mut String, cases: &Cases<'_>) {
    let Some(table) = overview::not_ok(cases) else { return };
    let _ = writeln!(out, "## {}\n\n{}", markdown(&table.title), table.markdown());
    for (labels, log) in overview::logs(cases) {
        let _ = writeln!(out, "Last lines of {}:\n\n{}", markdown(&labels.to_string()), markdown_code(&log));
    }
}
