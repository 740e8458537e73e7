//! The page of a run: verification, data sets and solvers, then its report.

use std::collections::BTreeSet;

use maud::{PreEscaped, html};

use super::archive::Archive;
use super::facets::Facets;
use super::links::Links;
use super::shell::{Shell, filters};
use crate::tasks::section;

/// The page of the run at a place.
pub(super) fn page(archive: &Archive, place: usize, links: Links<'_>) -> String {
    let run = &archive.runs[place];
    let own = || archive.cases.iter().filter(|entry| entry.key.run == place).map(|entry| entry.key);
    let datasets: BTreeSet<usize> = own().map(|key| key.dataset).collect();
    let methods: BTreeSet<usize> = own().map(|key| key.method).collect();
    let machines: BTreeSet<usize> = own().map(|key| key.machine).collect();
    let titles: Vec<&str> = run.tasks.iter().map(|task| section(*task).title()).collect();
    let facts = vec![
        ("cases", run.planned.to_string()),
        ("ok", run.ok.to_string()),
        ("data sets", datasets.len().to_string()),
        ("solvers", methods.len().to_string()),
    ];
    let list =
        |places: &BTreeSet<usize>, name: &dyn Fn(usize) -> String, address: &dyn Fn(usize) -> String| {
            html! {
                @for (i, place) in places.iter().enumerate() {
                    @if i > 0 { ", " }
                    a href=(address(*place)) { (name(*place)) }
                }
            }
        };
    let dataset = |place: usize| archive.datasets.at(place).name.clone();
    let method = |place: usize| archive.methods.at(place).name.clone();
    let lead = titles.join(" · ");
    let main = html! {
        section id="verification" {
            h2 { "Verification" }
            p class=(run.verification.tone()) { (run.verification.sentence()) }
            @if let Some(table) = run.verification.table() { (table.html()) }
        }
        section id="pages" {
            h2 { "Data sets and solvers" }
            dl.pairs {
                dt { "data sets" } dd { (list(&datasets, &dataset, &|place: usize| links.dataset(place))) }
                dt { "solvers" } dd { (list(&methods, &method, &|place: usize| links.method(place))) }
                @for machine in &machines { dt { "machine" } dd { (archive.machines.at(*machine).label) } }
            }
        }
        (PreEscaped(&run.body))
    };
    let shell = Shell {
        title: &run.title,
        lead: &lead,
        facts,
        sections: vec![
            ("verification", "Verification"),
            ("pages", "Data sets and solvers"),
            ("measured", "How this was measured"),
            ("references", "References"),
        ],
        links,
        filters: filters(archive, &Facets::default()),
        main,
        is_plain: false,
        cases: None,
    };
    shell.html()
}
