//! `index.html`: the report as one self-contained page.

use gpbench_record::{Row, text};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::attachment::Attachment;
use crate::charts::figure::Figure;
use crate::frame::Cases;
use crate::overview::{self, NOT_RUN};
use crate::page::{Page, Part};
use crate::places;
use crate::supported::{self, Supported};
use crate::table::TextTable;

/// Where the files are that a page links.
#[derive(Clone, Copy)]
pub(crate) enum Links<'l> {
    /// Nowhere: the page has no such links.
    Nowhere,
    /// In the folder of the page, the charts in `figures/`.
    Beside(&'l [&'l str]),
    /// In the page itself, which shows the spec too.
    Within { files: &'l [Attachment], spec: &'l str },
}

impl<'l> Links<'l> {
    /// The links to files, by their names.
    fn files(self) -> Vec<Markup> {
        match self {
            Links::Nowhere => Vec::new(),
            Links::Beside(files) => files.iter().map(|file| html! { a href=(file) { (file) } }).collect(),
            Links::Within { files, .. } => files.iter().map(|file| attached(file, &file.name)).collect(),
        }
    }

    /// The link to a chart.
    fn chart(self, figure: &Figure) -> Option<Markup> {
        match self {
            Links::Nowhere => None,
            Links::Beside(_) => Some(html! { a href={ "figures/" (figure.file) } { "SVG" } }),
            Links::Within { .. } => {
                Some(attached(&Attachment::new(&figure.file, "image/svg+xml", &figure.svg), "SVG"))
            }
        }
    }

    /// The spec, where the page shows it.
    fn spec(self) -> Option<&'l str> {
        match self {
            Links::Within { spec, .. } if !spec.is_empty() => Some(spec),
            _ => None,
        }
    }
}

/// A link that saves a file within the page.
fn attached(Attachment { name, address }: &Attachment, words: &str) -> Markup {
    html! { a href=(address) download=(name) { (words) } }
}

/// The page.
pub(crate) fn page(page: &Page<'_>, links: Links<'_>) -> String {
    let cases = &page.cases;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (cases.record().name) " · gpbench" }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                (head(page))
                (contents(page, links))
                main { (sections(page, links)) }
                script { (PreEscaped(concat!(include_str!("tables.js"), include_str!("page.js")))) }
                footer { "Written by gpbench from the run's journal; rebuild it with " code { "gpbench report" } "." }
            }
        }
    };
    page.into_string()
}

/// All that a page has below its heading.
pub(crate) fn sections(page: &Page<'_>, links: Links<'_>) -> Markup {
    let cases = &page.cases;
    html! {
        @for part in &page.parts { (results(part, page.parts.len() > 1, links)) }
        @if let Some(table) = overview::not_ok(cases) { (section("not-ok", &table)) (logs(cases)) }
        (places(cases))
        (measured(cases))
        section id="references" {
            h2 { "References" }
            ul { @for entry in &page.references { li { (entry) } } }
        }
        @for part in &page.parts { (details(part)) }
        @if let Some(spec) = links.spec() {
            section id="spec" { details { summary { "Spec" } pre { (spec) } } }
        }
    }
}

fn head(page: &Page<'_>) -> Markup {
    let (cases, run) = (&page.cases, page.cases.run());
    let titles: Vec<&str> = page.parts.iter().map(|part| part.title).collect();
    let lead = if titles.is_empty() { "No case has ended yet".to_owned() } else { titles.join(" · ") };
    let count = |of: fn(&Row) -> &str| {
        let mut names: Vec<&str> = cases.rows().map(of).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let facts = [
        ("cases", run.planned()),
        ("data sets", count(|r| &r.labels.dataset)),
        ("solvers", count(|r| &r.labels.solver)),
    ];
    html! {
        header {
            p.brand { "gpbench" }
            h1 { (run.record.name) }
            p.lead { (lead) }
            dl.facts {
                @for (what, number) in facts { div { dt { (what) } dd { (number) } } }
                @for (what, number) in overview::outcomes(cases) {
                    div class={ "outcome " (tone(&what)) } { dt { (what.replace('_', " ")) } dd { (number) } }
                }
            }
            @if run.record.truncated {
                p.note { "The journal's last line is cut short; its case is not counted." }
            }
            @for warning in &run.warnings { p.note { (text::cut(warning, text::REASON)) } }
        }
    }
}

/// Links to the sections of the page and to its files, and a filter of rows.
fn contents(page: &Page<'_>, links: Links<'_>) -> Markup {
    let files = links.files();
    let has = |of: fn(&Part) -> bool| page.parts.iter().any(of);
    let sections = [
        ("results", "Results", true),
        ("supported", supported::TITLE, has(|part| part.supported.is_some())),
        ("published", "Published figures", has(|part| !part.published.is_empty())),
        ("archive", "Beside the archive", has(|part| part.archive.is_some())),
        ("charts", "Charts", has(|part| !part.figures.is_empty())),
        ("not-ok", "Cases that are not ok", overview::not_ok(&page.cases).is_some()),
        ("places", "Where it ran", !places::tables(&page.cases).is_empty()),
        ("measured", "How this was measured", true),
        ("references", "References", true),
        ("details", "Details", has(|part| part.detail_tables().next().is_some())),
        ("spec", "Spec", links.spec().is_some()),
    ];
    html! {
        nav {
            ul { @for (id, name, _) in sections.iter().filter(|section| section.2) { li { a href={ "#" (id) } { (name) } } } }
            @if !files.is_empty() {
                p.note { "Files: " @for (i, file) in files.iter().enumerate() { @if i > 0 { ", " } (file) } }
            }
            label id="filter" hidden { "Show rows with " input type="search" placeholder="cg pol"; }
        }
    }
}

/// CSS class of an outcome: good, neutral or bad.
fn tone(outcome: &str) -> &'static str {
    match outcome {
        "ok" => "good",
        "not_converged" | "skipped" | NOT_RUN => "so-so",
        _ => "bad",
    }
}

fn results(part: &Part, several: bool, links: Links<'_>) -> Markup {
    html! {
        section id="results" {
            h2 { "Results" @if several { ": " (part.title) } }
            @for table in &part.tables { (titled(table)) }
            p.note { (part.conventions.replace('`', "")) }
        }
        (claims(part))
        @for table in &part.published { (section("published", table)) p.note { (table.caption.replace('`', "")) } }
        @if let Some(table) = &part.archive {
            (section("archive", table)) p.note { (table.caption.replace('`', "")) }
        }
        (charts(part, links))
    }
}

/// The sentences that pairs support, with the rule by which they were found.
fn claims(part: &Part) -> Markup {
    html! {
        @if let Some(Supported { sentences, rule }) = &part.supported {
            section id="supported" {
                h2 { (supported::TITLE) }
                ul { @for sentence in sentences { li { (sentence) } } }
                p.note { (rule) }
            }
        }
    }
}

fn titled(table: &TextTable) -> Markup {
    html! {
        h3 { (table.title) }
        (table.html())
        @if !table.caption.is_empty() { p.note { (table.caption.replace('`', "")) } }
    }
}

fn details(part: &Part) -> Markup {
    html! {
        @if part.detail_tables().next().is_some() {
            section id="details" {
                details {
                    summary { "Details of " (part.task) }
                    @for table in part.detail_tables() { (titled(table)) }
                    dl.pairs { @for (title, doc) in &part.glossary { dt { (title) } dd { (doc) } } }
                }
            }
        }
    }
}

fn section(id: &str, table: &TextTable) -> Markup {
    html! { section id=(id) { h2 { (table.title) } (table.html()) } }
}

/// The charts, with links to their files where these exist.
fn charts(part: &Part, links: Links<'_>) -> Markup {
    html! {
        @if !part.figures.is_empty() {
            section id="charts" {
                h2 { "Charts" }
                @for text in &part.remarks { p.note { (text.replace('`', "")) } }
                p.note.needs-script hidden {
                    "A click on a name in a legend hides or shows it in all charts. "
                    button id="show-all" type="button" hidden { "Show all" }
                }
                div.charts {
                    @for figure in &part.figures {
                        figure {
                            div role="img" aria-label=(figure.title) { (PreEscaped(&figure.svg)) }
                            figcaption {
                                (figure.caption)
                                @if let Some(link) = links.chart(figure) { " " (link) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn logs(cases: &Cases<'_>) -> Markup {
    html! {
        @for (labels, log) in overview::logs(cases) {
            details {
                summary { "Last lines of " (labels) }
                pre { (log) }
            }
        }
    }
}

fn places(cases: &Cases<'_>) -> Markup {
    let tables = places::tables(cases);
    html! {
        @if !tables.is_empty() {
            section id="places" { h2 { "Where it ran" } @for table in &tables { (titled(table)) } }
        }
    }
}

fn measured(cases: &Cases<'_>) -> Markup {
    html! {
        section id="measured" {
            h2 { "How this was measured" }
            dl.pairs { @for (name, value) in overview::measured(cases) { dt { (name) } dd { (value) } } }
            @for table in overview::settings(cases) { (titled(&table)) }
        }
    }
}
