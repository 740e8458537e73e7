//! Rankings of methods over data sets, by problem and, where they are by seconds, by kind of machine.
//!
//! Runs of different people have different methods and data sets. A ranking takes those methods and data sets of a
//! problem that leave no cell empty and have the most results, of each method on a data set one run (`one_run`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{CaseStatus, Labels, ReportOptions, Row, TaskKind};
use gpbench_runs::RunRecord;

use super::archive::{Archive, CaseEntry};
use super::facets::Facets;
use super::links::Links;
use super::one_run::OneRunEach;
use super::result_tables::LinkedTable;
use crate::dataset_ranking;
use crate::error::Result;
use crate::frame::{Cases, Frame};
use crate::results::Results;
use crate::run::Run;
use crate::table::{Cell, RowLinks};

/// Fewest data sets of a ranking.
const FEWEST: usize = 3;

/// Most other runs that a caption names.
const MOST_NAMED: usize = 12;

/// A ranking, of a task.
pub(super) struct Ranked {
    pub(super) task: TaskKind,
    pub(super) table: LinkedTable,
}

/// All rankings of an archive, in the order of its problems and machines.
///
/// # Errors
/// If a table cannot be computed.
pub(super) fn rankings(archive: &Archive, links: Links<'_>) -> Result<Vec<Ranked>> {
    let mut pools: BTreeMap<(usize, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (at, entry) in archive.cases.iter().enumerate() {
        if let Some(machine) = pool_of(archive, entry, at) {
            pools.entry((entry.key.problem, machine)).or_default().push(at);
        }
    }
    let mut found = Vec::new();
    for ((problem, machine), cases) in pools {
        let Some(complete) = Complete::of(archive, &cases) else { continue };
        found.extend(ranked(archive, problem, machine, &complete, links)?);
    }
    Ok(found)
}

/// The machine of the ranking that a case takes part in: any machine where learners are ranked by their errors.
/// None for a case that did not run, or of which too little is known.
fn pool_of(archive: &Archive, entry: &CaseEntry, at: usize) -> Option<Option<usize>> {
    let task = archive.task(entry.key);
    let is_learner = task == TaskKind::Learn;
    let has_run = archive.rows()[at].status != CaseStatus::Skipped;
    // Without a journal, it is not known whether predictions are the learner's own.
    let is_known = !is_learner || archive.runs[entry.key.run].has_journal;
    (has_run && is_known).then_some(if is_learner { None } else { Some(entry.key.machine) })
}

/// Methods, data sets and seeds without an empty cell.
struct Complete {
    /// Places of the cases in the archive.
    cases: Vec<usize>,
    methods: BTreeSet<usize>,
    /// Methods of the problem that are left out.
    left_out: BTreeSet<usize>,
    /// Other runs of the same methods on the same data sets, as places of method and run.
    others: BTreeSet<(usize, usize)>,
}

impl Complete {
    /// The largest of some cases; none with fewer than two methods or [`FEWEST`] data sets.
    fn of(archive: &Archive, cases: &[usize]) -> Option<Complete> {
        let OneRunEach { cases, others } = OneRunEach::of(archive, cases);
        let mut seeds: BTreeMap<usize, BTreeMap<usize, BTreeSet<u64>>> = BTreeMap::new();
        for &at in &cases {
            let key = archive.cases[at].key;
            let of_method = seeds.entry(key.method).or_default().entry(key.dataset).or_default();
            of_method.insert(archive.rows()[at].labels.seed);
        }
        let mut order: Vec<usize> = seeds.keys().copied().collect();
        order.sort_by_key(|method| (Reverse(seeds[method].len()), archive.methods.at(*method).name.clone()));
        let mut methods: BTreeSet<usize> = BTreeSet::new();
        let mut common: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        for method in order {
            let own = &seeds[&method];
            let both = if methods.is_empty() { own.clone() } else { shared(&common, own) };
            let grows = (methods.len() + 1) * both.len() >= methods.len() * common.len();
            if both.len() >= FEWEST && grows {
                methods.insert(method);
                common = both;
            }
        }
        let is_in = |at: &usize| {
            let key = archive.cases[*at].key;
            let has_seed = |seeds: &BTreeSet<u64>| seeds.contains(&archive.rows()[*at].labels.seed);
            methods.contains(&key.method) && common.get(&key.dataset).is_some_and(has_seed)
        };
        let cases = once_each(archive, cases.into_iter().filter(is_in));
        let left_out = seeds.into_keys().filter(|method| !methods.contains(method)).collect();
        let others = others.into_iter().filter(|(method, _)| methods.contains(method)).collect();
        (methods.len() > 1).then_some(Complete { cases, methods, left_out, others })
    }
}

/// The data sets and seeds that both have.
fn shared(
    some: &BTreeMap<usize, BTreeSet<u64>>,
    others: &BTreeMap<usize, BTreeSet<u64>>,
) -> BTreeMap<usize, BTreeSet<u64>> {
    let both = |(dataset, seeds): (&usize, &BTreeSet<u64>)| {
        let seeds: BTreeSet<u64> = others.get(dataset)?.intersection(seeds).copied().collect();
        (!seeds.is_empty()).then_some((*dataset, seeds))
    };
    some.iter().filter_map(both).collect()
}

/// Of the rows of one run that state the same case, the one that ended first.
fn once_each(archive: &Archive, cases: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut first: BTreeMap<(usize, &str, u64, u32), usize> = BTreeMap::new();
    for at in cases {
        let Row { labels: Labels { solver, seed, repeat, .. }, finished, .. } = &archive.rows()[at];
        let known = first.entry((archive.cases[at].key.dataset, solver.as_str(), *seed, *repeat));
        let known = known.or_insert(at);
        if archive.rows()[*known].finished > *finished {
            *known = at;
        }
    }
    first.into_values().collect()
}

/// The ranking of some cases, as that of one run.
fn ranked(
    archive: &Archive,
    problem: usize,
    machine: Option<usize>,
    complete: &Complete,
    links: Links<'_>,
) -> Result<Option<Ranked>> {
    let one_problem = |at: &usize| {
        let row = archive.rows()[*at].clone();
        Row { labels: Labels { kernel: String::new(), ..row.labels.clone() }, ..row }
    };
    let rows = complete.cases.iter().map(one_problem).collect();
    let report = ReportOptions { baseline: baseline(archive, complete), ..ReportOptions::default() };
    let run = Run { record: RunRecord { rows, report, ..RunRecord::default() }, warnings: Vec::new() };
    let frame = Frame::new(&run)?;
    let results = Results::new(Cases::of(&frame));
    let Some(mut table) = dataset_ranking::table(&results) else { return Ok(None) };
    let named = archive.problems.at(problem);
    let place =
        machine.map_or_else(String::new, |machine| format!(", on {}", archive.machines.at(machine).label));
    table.title = format!("{}{place}. {}", named.name, table.title);
    if !complete.left_out.is_empty() {
        let names = complete.left_out.iter().map(|method| archive.methods.at(*method).name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        table.caption += &format!(" Not on enough of these data sets and seeds: {names}.");
    }
    table.caption += &other_runs(archive, complete);
    let mut table = table.words("run");
    let mut rows = Vec::new();
    for row in &mut table.rows {
        let solver = row.first().map_or("", |cell| cell.text.as_str());
        let own = own(archive, complete, solver);
        let runs: BTreeSet<usize> = own.iter().map(|at| archive.cases[*at].key.run).collect();
        let titles: Vec<&str> = runs.iter().map(|run| archive.runs[*run].title.as_str()).collect();
        row.push(Cell::from(titles.join(", ")));
        rows.push(row_links(archive, &own, &runs, links));
    }
    Ok(Some(Ranked { task: named.thing.kind, table: LinkedTable { table, rows } }))
}

/// A sentence on other runs of the cases that are ranked; empty where there are none.
fn other_runs(archive: &Archive, complete: &Complete) -> String {
    let words = |(method, run): &(usize, usize)| {
        format!("{} in {}", archive.methods.at(*method).name, archive.runs[*run].title)
    };
    let named: Vec<String> = complete.others.iter().take(MOST_NAMED).map(words).collect();
    let more = match complete.others.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match named.is_empty() {
        true => String::new(),
        false => format!(
            " Of several runs of a solver on a data set, one whose verification agrees is ranked, else the one that \
             ended first. Pages of data sets show the others: {}{more}.",
            named.join(", ")
        ),
    }
}

/// The cases of the row of a solver, which may be a point of a grid.
fn own(archive: &Archive, complete: &Complete, solver: &str) -> Vec<usize> {
    let is_own = |at: &&usize| {
        let labels = &archive.rows()[**at].labels;
        labels.solver == solver || archive.methods.at(archive.cases[**at].key.method).name == solver
    };
    complete.cases.iter().filter(is_own).copied().collect()
}

/// Facets and links of a row of some cases, which are of these runs.
fn row_links(archive: &Archive, own: &[usize], runs: &BTreeSet<usize>, links: Links<'_>) -> RowLinks {
    let method = own.first().map(|at| archive.cases[*at].key.method);
    let address = |method| [("solver", links.method(method)), ("learner", links.method(method))];
    let run = runs.first().filter(|_| runs.len() == 1).map(|run| ("run", links.run(*run)));
    let facets = Facets::of(archive, own.iter().copied()).text();
    RowLinks { facets, links: method.map(address).into_iter().flatten().chain(run).collect() }
}

/// The method that ratios are relative to: the one that most runs name as their baseline, if it takes part.
fn baseline(archive: &Archive, complete: &Complete) -> Option<String> {
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    let runs: BTreeSet<usize> = complete.cases.iter().map(|at| archive.cases[*at].key.run).collect();
    let named = runs.iter().filter_map(|run| archive.runs[*run].baseline.as_deref());
    named.for_each(|name| *votes.entry(name).or_default() += 1);
    let takes_part =
        |name: &str| complete.methods.iter().any(|method| archive.methods.at(*method).name == name);
    let known = votes.into_iter().filter(|(name, _)| takes_part(name));
    known.max_by_key(|(name, count)| (*count, Reverse(*name))).map(|(name, _)| name.to_owned())
}
