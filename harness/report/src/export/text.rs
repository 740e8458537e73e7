//! Aligned text for a terminal: tables without the columns that say least, and how the cases ended.

use gpbench_record::metric::{self, Shown};

use crate::overview;
use crate::page::Page;

/// The tables of results, published figures, cases that did not end ok, and the number of cases by outcome.
pub(super) fn page(page: &Page<'_>) -> String {
    let run = page.run;
    let mut tables = Vec::new();
    for part in &page.parts {
        let wide = metric::columns(part.task).filter(|metric| metric.is_shown(Shown::Wide));
        let left_out: Vec<&str> = match run.options.columns.is_empty() {
            true => wide.map(|metric| metric.title).collect(),
            false => Vec::new(),
        };
        tables.extend(part.tables.iter().map(|table| table.clone().without(&left_out)));
        tables.extend(part.published.clone());
    }
    tables.extend(overview::not_ok(run));
    let mut parts: Vec<String> = tables.iter().map(|table| table.text()).collect();
    let counts: Vec<String> = overview::outcomes(run).iter().map(|(what, n)| format!("{n} {what}")).collect();
    parts.push(format!("{}: {}\n", run.name, counts.join(", ")));
    parts.join("\n")
}
