//! The page of a solver or a learner: its plugin, its parameters, and its results on all data sets.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Case, PartRecord, TaskKind, text};
use maud::html;

use super::archive::{Archive, RunEntry};
use super::facets::Facets;
use super::links::Links;
use super::measured::Measured;
use super::result_tables::{RowsOf, tables};
use super::shell::{Shell, filters};
use crate::overview;
use crate::table::{RowLinks, TextTable};
use crate::tasks::section;

/// The page of the method at a place.
pub(super) fn page(archive: &Archive, groups: &[Measured], place: usize, links: Links<'_>) -> String {
    let method = archive.methods.at(place);
    let cases: Vec<usize> =
        (0..archive.cases.len()).filter(|at| archive.cases[*at].key.method == place).collect();
    let facets = Facets::of(archive, cases.iter().copied());
    let runs: BTreeSet<usize> = cases.iter().map(|at| archive.cases[*at].key.run).collect();
    let own: Vec<&Measured> = groups.iter().filter(|measured| measured.key.method == place).collect();
    let tasks: BTreeSet<TaskKind> = own.iter().map(|measured| measured.task).collect();
    let source = runs.iter().find_map(|run| archive.runs[*run].sources.get(&method.thing.plugin));
    let lead = format!("Plugin {}", method.thing.plugin);
    let (parameters, rows) = parameters(archive, &cases, links);
    let main = html! {
        section id="parameters" {
            h2 { "Parameters" }
            div.block { (parameters.html_with(&rows)) }
        }
        section id="source" {
            h2 { "Source" }
            @if let Some(entry) = source {
                p { (text::cut(&text::line(entry), text::REASON)) }
            } @else {
                p.note { "The plugin names no publication." }
            }
            @if let Some(table) = libraries(archive, &runs, place) { (table.html()) p.note { (table.caption) } }
        }
        @for task in &tasks {
            section id=(task.as_str()) {
                h2 { (section(*task).title()) }
                @for table in tables(archive, &of_task(&own, *task), RowsOf::Datasets, links) { (table.html()) }
            }
        }
    };
    let of_tasks = tasks.iter().map(|task| (task.as_str(), section(*task).title()));
    let shell = Shell {
        title: &method.name,
        lead: &lead,
        facts: vec![
            ("cases", cases.len().to_string()),
            ("data sets", facets.datasets.len().to_string()),
            ("runs", runs.len().to_string()),
        ],
        sections: [("parameters", "Parameters"), ("source", "Source")].into_iter().chain(of_tasks).collect(),
        links,
        filters: filters(archive, &facets),
        main,
        is_plain: false,
        cases: None,
    };
    shell.html()
}

fn of_task<'m>(own: &[&'m Measured], task: TaskKind) -> Vec<&'m Measured> {
    own.iter().filter(|measured| measured.task == task).copied().collect()
}

/// All parameters with which a method ran, with the data sets and runs of each choice.
fn parameters(archive: &Archive, cases: &[usize], links: Links<'_>) -> (TextTable, Vec<RowLinks>) {
    let mut choices: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &at in cases {
        let case: &Case = &archive.rows()[at].case;
        choices.entry(overview::parameters(&case.solver.params)).or_default().push(at);
    }
    let mut table = TextTable::default().words("parameters").words("data sets").words("run").numbers("cases");
    let mut rows = Vec::new();
    for (parameters, own) in choices {
        let facets = Facets::of(archive, own.iter().copied());
        let datasets: Vec<&str> =
            facets.datasets.iter().map(|place| archive.datasets.at(*place).name.as_str()).collect();
        let runs: BTreeSet<usize> = own.iter().map(|at| archive.cases[*at].key.run).collect();
        let titles: Vec<&str> = runs.iter().map(|run| archive.runs[*run].title.as_str()).collect();
        let parameters = if parameters.is_empty() { "none".to_owned() } else { parameters };
        table.row([parameters, datasets.join(", "), titles.join(", "), own.len().to_string()]);
        let first = runs.first().filter(|_| runs.len() == 1);
        let link = first.map(|run| ("run", links.run(*run)));
        rows.push(RowLinks { facets: facets.text(), links: link.into_iter().collect() });
    }
    (table, rows)
}

/// The libraries, or scripts with their parts, that a method was in each of some runs.
fn libraries(archive: &Archive, runs: &BTreeSet<usize>, place: usize) -> Option<TextTable> {
    let mut table = TextTable::default().words("run").words("file").words("SHA-256").words("parts");
    for run in runs {
        let entry = &archive.runs[*run];
        let given = archive.methods.at(place).given.as_str();
        for checksum in entry.libraries_of(given) {
            let (file, parts) = file_of(entry, checksum);
            table.row([entry.title.clone(), file, checksum.to_owned(), parts]);
        }
    }
    table.caption =
        "The checksum of a plugin's library, or of a script with all that it is made of.".to_owned();
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// The file name of a library and the parts of a script, by its checksum, as far as the run's environments name
/// them.
fn file_of(run: &RunEntry, checksum: &str) -> (String, String) {
    let known = run.environments.iter().flat_map(|environment| {
        let own = environment.plugins.iter().filter(|(_, sha256)| *sha256 == checksum);
        own.map(move |(file, _)| (file.clone(), environment.plugin_parts.get(file)))
    });
    let part =
        |PartRecord { name, version, .. }: &PartRecord| format!("{name} {version}").trim_end().to_owned();
    let words = |(file, parts): (String, Option<&Vec<PartRecord>>)| {
        let parts: Vec<String> = parts.into_iter().flatten().map(part).collect();
        (file, parts.join(", "))
    };
    known.map(words).next().unwrap_or_default()
}
