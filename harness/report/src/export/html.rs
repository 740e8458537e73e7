//! `index.html`: the report as one page that needs nothing beside it.

use gpbench_record::{Status, Task};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::aggregate::{Group, groups};
use crate::bibliography;
use crate::charts::Figure;
use crate::error::Result;
use crate::run::Run;
use crate::table::Table;
use crate::tables;

/// The page.
pub(crate) fn page(run: &Run, figures: &[Figure]) -> Result<String> {
    let groups = groups(run)?;
    let published = tables::published(run, &groups);
    let not_ok = tables::not_ok(run);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (run.name) " · gpbench" }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                (head(run))
                main {
                    (results(run, &groups))
                    @if let Some(table) = &published { (section("published", table)) p.note { (table.caption) } }
                    (charts(figures))
                    @if let Some(table) = &not_ok { (section("not-ok", table)) (logs(run)) }
                    (measured(run))
                    (references(run))
                }
                footer { "Written by gpbench from the run's journal; rebuild it with " code { "gpbench report" } "." }
            }
        }
    };
    Ok(page.into_string())
}

fn head(run: &Run) -> Markup {
    let task = match run.task() {
        Some(Task::Solve) => "Linear systems with the kernel matrix",
        Some(Task::Posterior) => "Gaussian-process posteriors",
        Some(Task::Train) => "Training of hyperparameters",
        Some(Task::Likelihood) => "Estimates of the marginal likelihood",
        None => "No case has ended yet",
    };
    let count = |of: fn(&gpbench_record::Row) -> &str| {
        let mut names: Vec<&str> = run.rows.iter().map(of).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let facts = [
        ("cases", run.planned.unwrap_or(run.rows.len())),
        ("data sets", count(|r| &r.labels.dataset)),
        ("solvers", count(|r| &r.labels.solver)),
    ];
    html! {
        header {
            p.brand { "gpbench" }
            h1 { (run.name) }
            p.lead { (task) }
            dl.facts {
                @for (what, number) in facts { div { dt { (what) } dd { (number) } } }
                @for (what, number) in tables::outcomes(run) {
                    div class={ "outcome " (tone(&what)) } { dt { (what.replace('_', " ")) } dd { (number) } }
                }
            }
            @if run.truncated {
                p.note { "The journal's last line was cut short; the case it belonged to is not counted." }
            }
        }
    }
}

/// Whether an outcome is good, neutral or bad news.
fn tone(outcome: &str) -> &'static str {
    match outcome {
        "ok" => "good",
        "not_converged" | "skipped" | "not run yet" => "so-so",
        _ => "bad",
    }
}

fn results(run: &Run, groups: &[Group]) -> Markup {
    html! {
        section id="results" {
            h2 { "Results" }
            @for table in tables::results(run, groups) {
                h3 { (table.title) }
                (table.html())
                @if !table.caption.is_empty() { p.note { (table.caption) } }
            }
            p.note { (tables::conventions(run).replace('`', "")) }
        }
    }
}

fn section(id: &str, table: &Table) -> Markup {
    html! { section id=(id) { h2 { (table.title) } (table.html()) } }
}

fn charts(figures: &[Figure]) -> Markup {
    html! {
        @if !figures.is_empty() {
            section id="charts" {
                h2 { "Charts" }
                div.charts {
                    @for figure in figures {
                        figure {
                            div role="img" aria-label=(figure.title) { (PreEscaped(&figure.svg)) }
                            figcaption { (figure.caption) }
                        }
                    }
                }
            }
        }
    }
}

fn logs(run: &Run) -> Markup {
    let failed = run.rows.iter().filter(|r| r.status != Status::Ok && !r.log_tail.trim().is_empty());
    html! {
        @for row in failed {
            details {
                summary { "Last lines of " (row.labels) }
                pre { (row.log_tail.trim_end()) }
            }
        }
    }
}

fn measured(run: &Run) -> Markup {
    html! {
        section id="measured" {
            h2 { "How this was measured" }
            dl.pairs { @for (name, value) in tables::measured(run) { dt { (name) } dd { (value) } } }
            @for table in [tables::datasets(run), tables::models(run), tables::solvers(run)] {
                h3 { (table.title) }
                (table.html())
            }
        }
    }
}

fn references(run: &Run) -> Markup {
    html! {
        section id="references" {
            h2 { "References" }
            ul { @for paper in bibliography::cited(run) { li { (paper.entry()) } } }
        }
    }
}
