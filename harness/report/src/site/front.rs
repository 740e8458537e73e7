//! The front page: rankings, data sets, solvers and learners, and runs.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{CaseStatus, TaskKind};
use maud::html;

use super::archive::{Archive, CaseEntry};
use super::data_words::described;
use super::facets::Facets;
use super::links::Links;
use super::rankings::Ranked;
use super::result_tables::LinkedTable;
use super::shell::{Shell, filters};
use crate::table::{RowLinks, TextTable};
use crate::tasks::section;

/// The front page.
pub(super) fn page(archive: &Archive, rankings: &[Ranked], links: Links<'_>) -> String {
    let facets = Facets::of(archive, 0..archive.cases.len());
    let tasks: BTreeSet<TaskKind> = rankings.iter().map(|ranked| ranked.task).collect();
    let lead = "Runs of solvers and learners for Gaussian processes: what they computed, what of it was verified, \
                and how long it took on each kind of machine.";
    let main = html! {
        section id="rankings" {
            h2 { "Rankings" }
            p.note {
                "Over the data sets that all ranked methods ran on, problem by problem. Seconds are ranked within one \
                 kind of machine alone. A data set's own page has the ranks on it."
            }
            @if rankings.is_empty() { p { "No problem has two methods on three data sets." } }
            @for task in &tasks {
                h3 { (section(*task).title()) }
                @for ranked in rankings.iter().filter(|ranked| ranked.task == *task) { (ranked.table.html()) }
            }
        }
        section id="datasets" { h2 { "Data sets" } (datasets(archive, links).html()) }
        section id="solvers" { h2 { "Solvers and learners" } (methods(archive, links).html()) }
        section id="runs" {
            h2 { "Runs" }
            (runs(archive, links).html())
            @if !archive.without_rows.is_empty() {
                p.note { "Reports that keep no rows, and are not verifiable: " (archive.without_rows.join(", ")) "." }
            }
        }
    };
    let shell = Shell {
        title: "Archive",
        lead,
        facts: vec![
            ("runs", archive.runs.len().to_string()),
            ("cases", archive.cases.len().to_string()),
            ("data sets", facets.datasets.len().to_string()),
            ("solvers", facets.methods.len().to_string()),
            ("kinds of machines", facets.machines.len().to_string()),
        ],
        sections: vec![
            ("rankings", "Rankings"),
            ("datasets", "Data sets"),
            ("solvers", "Solvers and learners"),
            ("runs", "Runs"),
        ],
        links,
        filters: filters(archive, &facets),
        main,
        is_plain: true,
        cases: None,
    };
    shell.html()
}

/// The places of the cases of each of some things, by its place.
fn by(archive: &Archive, of: impl Fn(&CaseEntry) -> usize) -> BTreeMap<usize, Vec<usize>> {
    let mut cases: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    archive.cases.iter().enumerate().for_each(|(at, entry)| cases.entry(of(entry)).or_default().push(at));
    cases
}

/// A row for each data set.
fn datasets(archive: &Archive, links: Links<'_>) -> LinkedTable {
    let mut table =
        TextTable::default().words("data set").words("source").numbers("n (training)").numbers("d");
    table = table.numbers("solvers").numbers("runs").numbers("cases");
    let mut rows = Vec::new();
    for (place, cases) in by(archive, |entry| entry.key.dataset) {
        let facets = Facets::of(archive, cases.iter().copied());
        let runs: BTreeSet<usize> = cases.iter().map(|at| archive.cases[*at].key.run).collect();
        let of_rows = || cases.iter().map(|at| &archive.rows()[*at]);
        let largest = |size: Option<usize>| size.map_or_else(String::new, |size| size.to_string());
        let source = of_rows().next().map(|row| described(&row.case.dataset)).unwrap_or_default();
        table.row([
            archive.datasets.at(place).name.clone(),
            source,
            largest(of_rows().filter_map(|row| row.n).max()),
            largest(of_rows().filter_map(|row| row.d).max()),
            facets.methods.len().to_string(),
            runs.len().to_string(),
            cases.len().to_string(),
        ]);
        rows.push(RowLinks { facets: facets.text(), links: vec![("data set", links.dataset(place))] });
    }
    LinkedTable { table, rows }
}

/// A row for each solver or learner.
fn methods(archive: &Archive, links: Links<'_>) -> LinkedTable {
    let mut table = TextTable::default().words("solver").words("plugin").words("tasks").numbers("data sets");
    table = table.numbers("runs").numbers("cases").numbers("ok");
    let mut rows = Vec::new();
    for (place, cases) in by(archive, |entry| entry.key.method) {
        let facets = Facets::of(archive, cases.iter().copied());
        let runs: BTreeSet<usize> = cases.iter().map(|at| archive.cases[*at].key.run).collect();
        let tasks: BTreeSet<TaskKind> = cases.iter().map(|at| archive.task(archive.cases[*at].key)).collect();
        let tasks: Vec<&str> = tasks.iter().map(|task| task.as_str()).collect();
        let ok = cases.iter().filter(|at| archive.rows()[**at].status == CaseStatus::Ok).count();
        let method = archive.methods.at(place);
        table.row([
            method.name.clone(),
            method.thing.plugin.clone(),
            tasks.join(", "),
            facets.datasets.len().to_string(),
            runs.len().to_string(),
            cases.len().to_string(),
            ok.to_string(),
        ]);
        rows.push(RowLinks { facets: facets.text(), links: vec![("solver", links.method(place))] });
    }
    LinkedTable { table, rows }
}

/// A row for each run, also for those without any row.
fn runs(archive: &Archive, links: Links<'_>) -> LinkedTable {
    let mut table = TextTable::default().words("run").words("last case").words("tasks").numbers("cases");
    table = table.numbers("ok").words("machine").words("verification");
    let cases = by(archive, |entry| entry.key.run);
    let mut rows = Vec::new();
    for (place, run) in archive.runs.iter().enumerate() {
        let own = cases.get(&place).map(Vec::as_slice).unwrap_or_default();
        let facets = Facets::of(archive, own.iter().copied());
        let machines = facets.machines.iter().map(|machine| archive.machines.at(*machine).label.as_str());
        let tasks: Vec<&str> = run.tasks.iter().map(|task| task.as_str()).collect();
        table.row([
            run.title.clone(),
            facets.last_day().to_owned(),
            tasks.join(", "),
            run.planned.to_string(),
            run.ok.to_string(),
            machines.collect::<Vec<_>>().join("; "),
            run.verification.words(),
        ]);
        rows.push(RowLinks { facets: facets.text(), links: vec![("run", links.run(place))] });
    }
    table.caption =
        "Times are never verified. Runs that were published before journals were kept are not verifiable."
            .to_owned();
    LinkedTable { table, rows }
}
