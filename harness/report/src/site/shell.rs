//! The frame of every page of a site: head, heading, filters and scripts.

use maud::{DOCTYPE, Markup, html};

use super::archive::Archive;
use super::block::PageBlock;
use super::facets::Facets;
use super::links::Links;
use crate::export::{Format, shown};

/// Style sheet of all pages.
pub(super) const STYLE: &str = concat!(include_str!("../export/page.css"), include_str!("site.css"));

/// Script of all pages.
pub(super) const SCRIPT: &str = concat!(
    include_str!("../export/tables.js"),
    include_str!("filters.js"),
    include_str!("drawing.js"),
    include_str!("controls.js"),
    include_str!("chart_data.js"),
    include_str!("chart.js"),
    include_str!("chart_input.js"),
    include_str!("start.js")
);

/// Names of their files, in the folder of the site.
pub(super) const STYLE_FILE: &str = "site.css";
pub(super) const SCRIPT_FILE: &str = "site.js";

/// A page.
pub(super) struct Shell<'a> {
    pub(super) title: &'a str,
    pub(super) lead: &'a str,
    /// Counts below the heading.
    pub(super) facts: Vec<(&'static str, String)>,
    /// Ids and headings of sections.
    pub(super) sections: Vec<(&'a str, &'a str)>,
    pub(super) links: Links<'a>,
    /// What the page can be filtered by.
    pub(super) filters: Markup,
    pub(super) main: Markup,
    /// Whether its content stands in it as it is, however long.
    pub(super) is_plain: bool,
    /// Cases of the chart, as JSON.
    pub(super) cases: Option<String>,
}

impl Shell<'_> {
    /// The page as HTML.
    pub(super) fn html(self) -> String {
        // Foreign text is escaped before it is compressed.
        let main = shown(&self.main.into_string(), Format::Html);
        let main = if self.is_plain { PageBlock::Plain(main) } else { PageBlock::new(main) };
        let cases = self.cases.map(|cases| PageBlock::new(in_script(&cases)));
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · gpbench" }
                    link rel="stylesheet" href=(self.links.file(STYLE_FILE));
                }
                body {
                    a.skip href="#main" { "To the content" }
                    header {
                        p.brand { a href=(self.links.file("index.html")) { "gpbench archive" } }
                        h1 { (self.title) }
                        p.lead { (self.lead) }
                        dl.facts { @for (what, number) in &self.facts { div { dt { (what) } dd { (number) } } } }
                    }
                    nav aria-label="Sections" {
                        ul { @for (id, name) in &self.sections { li { a href={ "#" (id) } { (name) } } } }
                    }
                    (self.filters)
                    main id="main" { (in_place(&main)) }
                    footer { "Made by " code { "gpbench site" } " from the journals of these runs." }
                    @if main.is_packed() { script id="content" type="text/plain" data-packed { (main.text()) } }
                    @if let Some(cases) = &cases {
                        script id="cases" type="application/json" data-packed[cases.is_packed()] { (cases.text()) }
                    }
                    script src=(self.links.file(SCRIPT_FILE)) {}
                }
            }
        };
        shown(&page.into_string(), Format::Html)
    }
}

/// The content of a page, or in the place of one that is compressed what a reader without scripts sees.
fn in_place(main: &PageBlock) -> Markup {
    match main {
        PageBlock::Plain(_) => main.text(),
        PageBlock::Packed(_) => html! {
            noscript {
                p.note {
                    "The tables of this page are compressed, and a script shows them. Those of "
                    "the front page need none."
                }
            }
        },
    }
}

/// JSON within an element `script`, which ends at the first `</script` of its text.
fn in_script(json: &str) -> String {
    gpbench_record::text::json(json).replace('<', "\\u003c")
}

/// The form of filters, which scripts show. Lists with one entry are left out.
pub(super) fn filters(archive: &Archive, of: &Facets) -> Markup {
    let threads: Vec<String> = archive.machines.threads().iter().map(usize::to_string).collect();
    let used = |names: Vec<&str>, places: &mut dyn Iterator<Item = usize>| -> Vec<(usize, String)> {
        places.map(|place| (place, names[place].to_owned())).collect()
    };
    let lists = [
        ("dataset", "Data set", used(archive.datasets.names().collect(), &mut of.datasets.iter().copied())),
        (
            "solver",
            "Solver or learner",
            used(archive.methods.names().collect(), &mut of.methods.iter().copied()),
        ),
        ("machine", "Machine", used(archive.machines.labels().collect(), &mut of.machines.iter().copied())),
        (
            "threads",
            "Threads",
            used(threads.iter().map(String::as_str).collect(), &mut of.threads.iter().copied()),
        ),
    ];
    html! {
        form id="filters" aria-label="Filters" hidden {
            @for (name, label, options) in lists.iter().filter(|(_, _, options)| options.len() > 1) {
                label {
                    (label)
                    select name=(name) {
                        option value="" { "all" }
                        @for (place, text) in options { option value=(text) data-at=(place) { (text) } }
                    }
                }
            }
            @if !of.first_day().is_empty() {
                label { "From day" input type="date" name="from" min=(of.first_day()) max=(of.last_day()); }
                label { "To day" input type="date" name="to" min=(of.first_day()) max=(of.last_day()); }
            }
            label { "Words" input type="search" name="words" placeholder="cg pol"; }
            button type="reset" { "Show all" }
            output {}
        }
    }
}
