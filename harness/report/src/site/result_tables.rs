//! Tables of results: qualities of all machines in one table, and times in a table for each kind of machine.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{self, Metric, Shown};
use gpbench_statistics::ranking::ranking;
use gpbench_statistics::{geometric_estimate, ratio};
use maud::{Markup, html};

use super::archive::{Archive, Key};
use super::links::Links;
use super::measured::Measured;
use crate::layout::cell;
use crate::pairs::differences;
use crate::ratio::Ratio;
use crate::table::{Cell, RowLinks, TextTable};

/// What the rows of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowsOf {
    /// The methods on one data set and problem.
    Methods,
    /// The data sets and problems of one method.
    Datasets,
}

/// A table with the links of its rows.
pub(super) struct LinkedTable {
    pub(super) table: TextTable,
    pub(super) rows: Vec<RowLinks>,
}

impl LinkedTable {
    /// The table under its title, above its caption. A page hides it where a filter leaves no row.
    pub(super) fn html(&self) -> Markup {
        let TextTable { title, caption, .. } = &self.table;
        html! {
            div.block {
                @if !title.is_empty() { h3 { (title) } }
                (self.table.html_with(&self.rows))
                @if !caption.is_empty() { p.note { (caption) } }
            }
        }
    }
}

/// The tables of some groups, all of one task: qualities, then the times of each kind of machine.
pub(super) fn tables(
    archive: &Archive,
    groups: &[&Measured],
    rows_of: RowsOf,
    links: Links<'_>,
) -> Vec<LinkedTable> {
    let Some(first) = groups.first() else { return Vec::new() };
    let shown =
        |metric: &&Metric| groups.iter().any(|measured| measured.group.metrics.contains_key(metric.name));
    let columns: Vec<&Metric> =
        metric::columns(first.task).filter(|metric| !metric.is_shown(Shown::Wide)).filter(shown).collect();
    let (of_machine, of_all): (Vec<&Metric>, Vec<&Metric>) =
        columns.into_iter().partition(|metric| metric.unit.depends_on_machine());
    let maker = Maker { archive, rows_of, links };
    let quality = maker.table("Results", groups, &of_all, None);
    let machines: BTreeSet<usize> = groups.iter().map(|measured| measured.key.machine).collect();
    let times = machines.into_iter().filter_map(|machine| {
        let has_times = |measured: &&&Measured| {
            let is_timed = |metric: &&Metric| measured.group.metrics.contains_key(metric.name);
            measured.key.machine == machine && of_machine.iter().any(is_timed)
        };
        let own: Vec<&Measured> = groups.iter().filter(has_times).copied().collect();
        let title = format!("Times on {}", archive.machines.at(machine).label);
        let ranks = Ranks::new(&own, rows_of);
        (!own.is_empty()).then(|| maker.table(&title, &own, &of_machine, Some(&ranks)))
    });
    std::iter::once(quality).chain(times).collect()
}

/// What all tables of some groups share.
struct Maker<'a> {
    archive: &'a Archive,
    rows_of: RowsOf,
    links: Links<'a>,
}

impl Maker<'_> {
    /// A table of metrics, with ranks where it is one of times.
    fn table(
        &self,
        title: &str,
        groups: &[&Measured],
        metrics: &[&Metric],
        ranks: Option<&Ranks>,
    ) -> LinkedTable {
        let table = self.names().iter().fold(TextTable::new(title), |table, name| table.words(*name));
        let table = table.numbers("ok");
        let table = metrics.iter().fold(table, |table, metric| table.numbers(metric.title));
        let mut table = table.numbers("rank").numbers("over the fastest").words("verification");
        let mut rows = Vec::new();
        for (at, measured) in in_order(groups, ranks) {
            let mut cells: Vec<Cell> = self.words_of(measured).into_iter().map(Cell::from).collect();
            cells.push(format!("{}/{}", measured.group.n_ok, measured.group.n).into());
            cells.extend(metrics.iter().map(|of| cell(of, measured.group.metrics.get(of.name))));
            let [rank, ratio] = ranks.map(|ranks| ranks.words(at)).unwrap_or_default();
            // The table of times has the rows of the one above it.
            let verification = match ranks {
                Some(_) => String::new(),
                None => self.archive.runs[measured.key.run].verification.words(),
            };
            cells.extend([rank, ratio, verification].map(Cell::from));
            table.row(cells);
            rows.push(RowLinks { facets: measured.facets.text(), links: self.links_of(measured.key) });
        }
        table.caption = match ranks {
            Some(ranks) => ranks.caption().to_owned(),
            None => MEANS.to_owned(),
        };
        LinkedTable { table: table.without_empty_columns(), rows }
    }

    fn names(&self) -> &'static [&'static str] {
        match self.rows_of {
            RowsOf::Methods => &["solver", "run"],
            RowsOf::Datasets => &["data set", "problem", "solver", "run"],
        }
    }

    fn words_of(&self, measured: &Measured) -> Vec<String> {
        let Key { dataset, problem, run, .. } = measured.key;
        let of_run = self.archive.runs[run].title.clone();
        let solver = measured.group.solver.clone();
        match self.rows_of {
            RowsOf::Methods => vec![solver, of_run],
            RowsOf::Datasets => {
                let dataset = self.archive.datasets.at(dataset).name.clone();
                vec![dataset, self.archive.problems.at(problem).name.clone(), solver, of_run]
            }
        }
    }

    fn links_of(&self, key: Key) -> Vec<(&'static str, String)> {
        let mut links = vec![("run", self.links.run(key.run))];
        match self.rows_of {
            RowsOf::Methods => links.push(("solver", self.links.method(key.method))),
            RowsOf::Datasets => links.push(("data set", self.links.dataset(key.dataset))),
        }
        links
    }
}

/// The groups with their places: the fastest first in a table of times.
fn in_order<'m>(groups: &[&'m Measured], ranks: Option<&Ranks>) -> Vec<(usize, &'m Measured)> {
    let mut order: Vec<(usize, &'m Measured)> = groups.iter().copied().enumerate().collect();
    if let Some(ranks) = ranks {
        // Stable: equal ranks keep their order.
        order.sort_by(|a, b| ranks.of(a.0).total_cmp(&ranks.of(b.0)));
    }
    order
}

/// Explanation of the cells.
const MEANS: &str = "Mean ± standard error over seeds, of the cases that ended ok or not_converged; ok counts the \
                     cases that ended ok.";

/// Ranks of methods by their seconds, on one kind of machine.
struct Ranks {
    /// From 1; methods without a cost share the last ones. Empty where nothing is ranked.
    ranks: Vec<f64>,
    /// Ratio to the fastest of those that reached the goal with all seeds, in words.
    over_fastest: Vec<Option<String>>,
}

impl Ranks {
    fn new(groups: &[&Measured], rows_of: RowsOf) -> Ranks {
        let cost = |measured: &&Measured| {
            let is_ranked = measured.has_goal && measured.group.all_ok();
            let seconds: Vec<f64> = measured.seconds.values().copied().collect();
            geometric_estimate(&seconds).filter(|_| is_ranked).map(|found| found.mean)
        };
        let costs: Vec<Option<f64>> = groups.iter().map(cost).collect();
        let is_comparison = rows_of == RowsOf::Methods && costs.iter().flatten().count() > 1;
        let found = ranking(std::slice::from_ref(&costs), None).filter(|_| is_comparison);
        let known = costs.iter().enumerate().filter_map(|(at, cost)| Some((at, (*cost)?)));
        let fastest = known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at);
        let over_fastest = |(at, cost): (usize, &Option<f64>)| {
            let fastest = fastest.filter(|_| cost.is_some())?;
            Some(if at == fastest { "1×".to_owned() } else { over(groups[at], groups[fastest]) })
        };
        Ranks {
            ranks: found.map(|found| found.ranks[0].clone()).unwrap_or_default(),
            over_fastest: costs.iter().enumerate().map(over_fastest).collect(),
        }
    }

    /// The rank of a group; the same of all where nothing is ranked.
    fn of(&self, at: usize) -> f64 {
        self.ranks.get(at).copied().unwrap_or(0.0)
    }

    /// Rank, and ratio to the fastest; empty without a cost.
    fn words(&self, at: usize) -> [String; 2] {
        match (self.ranks.get(at), &self.over_fastest[at]) {
            (Some(rank), Some(over)) => [rank.to_string(), over.clone()],
            _ => Default::default(),
        }
    }

    fn caption(&self) -> &'static str {
        if self.ranks.is_empty() {
            return "Seconds of this kind of machine alone.";
        }
        "Seconds of this kind of machine alone. Ranks are by geometric means over seeds of the seconds of prepare and solve, of \
         methods all of whose cases reached the residual. `over the fastest` is the geometric mean of the ratios of common seeds; \
         brackets are 95 % t intervals over seeds, from three common seeds on."
    }
}

/// The ratio of the seconds of two methods on common seeds, with its interval; empty without a common seed.
fn over(own: &Measured, fastest: &Measured) -> String {
    let logs = |measured: &Measured| -> BTreeMap<u64, f64> {
        measured.seconds.iter().map(|(seed, seconds)| (*seed, seconds.ln())).collect()
    };
    let ratios = differences(&logs(own), &logs(fastest));
    let stated = |estimate| Ratio::Stated { estimate, of: ratios.len() }.words();
    ratio(&ratios).map(stated).unwrap_or_default()
}
