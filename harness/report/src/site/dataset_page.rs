//! The page of a data set: a chart of its cases, then tables problem by problem.

use std::collections::BTreeSet;

use gpbench_record::Row;
use maud::{Markup, html};

use super::archive::Archive;
use super::chart_data;
use super::data_words::described;
use super::facets::Facets;
use super::links::Links;
use super::measured::Measured;
use super::result_tables::{LinkedTable, RowsOf, tables};
use super::shell::{Shell, filters};
use crate::estimator;
use crate::tasks::section;

/// The page of the data set at a place. `most` is the largest number of points of a case in the chart.
pub(super) fn page(
    archive: &Archive,
    groups: &[Measured],
    place: usize,
    most: usize,
    links: Links<'_>,
) -> String {
    let own: Vec<&Measured> = groups.iter().filter(|measured| measured.key.dataset == place).collect();
    let cases: Vec<usize> =
        (0..archive.cases.len()).filter(|at| archive.cases[*at].key.dataset == place).collect();
    let facets = Facets::of(archive, cases.iter().copied());
    let rows = || cases.iter().map(|at| &archive.rows()[*at]);
    let sizes = |of: fn(&Row) -> Option<usize>| {
        let all: BTreeSet<usize> = rows().filter_map(of).collect();
        all.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
    };
    let mut of_facts = vec![
        ("cases", cases.len().to_string()),
        ("training rows", sizes(|row| row.n)),
        ("inputs", sizes(|row| row.d)),
        ("solvers", facets.methods.len().to_string()),
    ];
    of_facts.retain(|(_, words)| !words.is_empty());
    let lead = rows().next().map(|row| described(&row.case.dataset)).unwrap_or_default();
    let problems: BTreeSet<usize> = own.iter().map(|measured| measured.key.problem).collect();
    let ids: Vec<String> = problems.iter().map(|problem| format!("problem-{problem}")).collect();
    let data = chart_data::cases(archive, &cases, most, links);
    let main = html! {
        @if data.is_some() { (chart(most)) }
        @for (problem, id) in problems.iter().zip(&ids) {
            section id=(id) {
                h2 { (archive.problems.at(*problem).name) }
                p.note { (in_words(archive, &cases, *problem)) }
                @for table in of_problem(archive, &own, *problem, links) { (table.html()) }
            }
        }
    };
    let heads = problems.iter().map(|problem| archive.problems.at(*problem).name.as_str());
    let chart = data.is_some().then_some(("chart", "Chart"));
    let shell = Shell {
        title: &archive.datasets.at(place).name,
        lead: &lead,
        facts: of_facts,
        sections: chart.into_iter().chain(ids.iter().map(String::as_str).zip(heads)).collect(),
        links,
        filters: filters(archive, &facets),
        main,
        is_plain: false,
        cases: data,
    };
    shell.html()
}

/// The place of the chart, which the script fills. `most` is the largest number of points of a case.
fn chart(most: usize) -> Markup {
    html! {
        section id="chart" hidden {
            h2 { "Chart" }
            p.note {
                "One line is one case. A pointer or the arrow keys show the value, the seed and the case of a point, and \
                 a click or Enter keeps it. Drag a rectangle to enlarge it. The address of this page has all choices."
            }
            p.note {
                "A line has its verified end and at most " (most) " points of its trace, the first and the last among \
                 them: half of them evenly spaced, half at equal ratios of their positions, since most traces change \
                 fastest at their beginning. Numbers of the chart have four significant digits."
            }
        }
        noscript { p.note { "The chart needs a script; the tables do not." } }
    }
}

/// What a problem is on a data set, by the first of some cases that is one of it.
fn in_words(archive: &Archive, cases: &[usize], problem: usize) -> String {
    let first = cases.iter().find(|at| archive.cases[**at].key.problem == problem);
    let Some(row) = first.map(|at| &archive.rows()[*at]) else { return String::new() };
    let title = section(row.case.task.kind()).title();
    let origin = &row.case.kernel.origin;
    let family = &row.case.kernel.family;
    match estimator::right_hand_sides(&row.case.task).as_str() {
        "none" => format!("{title}; kernel {family}, hyperparameters {origin}."),
        sides => format!("{title}; right-hand sides {sides}; kernel {family}, hyperparameters {origin}."),
    }
}

fn of_problem(archive: &Archive, own: &[&Measured], problem: usize, links: Links<'_>) -> Vec<LinkedTable> {
    let groups: Vec<&Measured> =
        own.iter().filter(|measured| measured.key.problem == problem).copied().collect();
    tables(archive, &groups, RowsOf::Methods, links)
}
