//! Tables of the machines, merged runs and contents that the cases of a run come from.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{Environment, Row};
use gpbench_runs::OtherContent;

use crate::frame::Cases;
use crate::table::TextTable;

/// The machines of a cluster run or of a merged run, the runs that were merged, and their names for different contents; none
/// of a run on one computer.
pub(crate) fn tables(cases: &Cases<'_>) -> Vec<TextTable> {
    let is_of_cluster = cases.rows().any(|row| row.place.is_some());
    let machines = (is_of_cluster || !cases.record().merged.is_empty()).then(|| machines(cases));
    let tables = machines.into_iter().chain(merged(cases)).chain([other_contents(cases)]);
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// Processor, cores, memory and system of a machine.
pub(crate) fn machine(e: &Environment) -> String {
    let gib = e.memory_bytes as f64 / f64::from(1 << 30);
    format!("{}, {} cores, {gib:.0} GiB, {}", e.cpu, e.cores, e.os)
}

/// A row for each kind of machine: its cases, and the nodes of a cluster.
fn machines(cases: &Cases<'_>) -> TextTable {
    let mut table = TextTable::new("Machines").words("machine").words("differs in");
    table = table.numbers("rows").numbers("nodes").words("times");
    let mut rows: BTreeMap<Option<&str>, Vec<&Row>> = BTreeMap::new();
    cases.rows().for_each(|row| rows.entry(row.environment.as_deref()).or_default().push(row));
    let kinds: Vec<(String, &Environment)> =
        cases.record().environments.iter().map(|known| (known.kind(), known)).collect();
    let with_rows: Vec<&(String, &Environment)> =
        kinds.iter().filter(|(kind, _)| rows.contains_key(&Some(kind.as_str()))).collect();
    let timed = cases.timed_environment().map(Environment::kind).filter(|_| rows.len() > 1);
    for (kind, known) in &with_rows {
        let rows = rows.remove(&Some(kind.as_str())).unwrap_or_default();
        let times = timed.as_ref().map(|timed| if timed == kind { "shown" } else { "left out" });
        let differences = with_rows[0].1.differences(known).join(", ");
        add(&mut table, machine(known), differences, &rows, times.unwrap_or_default());
    }
    let others: Vec<&Row> = rows.into_values().flatten().collect();
    if !others.is_empty() {
        add(&mut table, "not known".to_owned(), String::new(), &others, "");
    }
    table.caption = attempts(cases).unwrap_or_default();
    table.without_empty_columns()
}

fn add(table: &mut TextTable, machine: String, differences: String, rows: &[&Row], times: &str) {
    let nodes: BTreeSet<&str> =
        rows.iter().filter_map(|row| Some(row.place.as_ref()?.node.as_str())).collect();
    let nodes = if nodes.is_empty() { String::new() } else { nodes.len().to_string() };
    table.row([machine, differences, rows.len().to_string(), nodes, times.to_owned()]);
}

/// A sentence on the rows of later attempts at their task on a cluster; none where all are of the first.
fn attempts(cases: &Cases<'_>) -> Option<String> {
    let attempts = || cases.rows().filter_map(|row| Some(row.place.as_ref()?.attempt));
    let later = attempts().filter(|attempt| *attempt > 1).count();
    let most = attempts().max().filter(|_| later > 0)?;
    Some(format!(
        "{later} of {} rows are of a later attempt than the first at their task; the last attempt is number {most}.",
        cases.len()
    ))
}

/// A row for each run that was merged.
fn merged(cases: &Cases<'_>) -> Option<TextTable> {
    let mut table = TextTable::new("Runs that were merged").words("run").words("shard").words("git revision");
    table = table.numbers("rows").numbers("left out");
    for merged in &cases.record().merged {
        let shard = merged.shard.map(|shard| shard.to_string()).unwrap_or_default();
        let left_out = if merged.left_out > 0 { merged.left_out.to_string() } else { String::new() };
        let revision = merged.revision.clone().unwrap_or_default();
        table.row([merged.run.clone(), shard, revision, merged.rows.to_string(), left_out]);
    }
    if cases.record().merged.iter().any(|merged| merged.left_out > 0) {
        table.caption = "Rows are left out where another run has a row of the same case.".to_owned();
    }
    (!cases.record().merged.is_empty()).then(|| table.without_empty_columns())
}

/// A row for each name whose data or plugin has another content than that of the same name in other runs.
fn other_contents(cases: &Cases<'_>) -> TextTable {
    let mut table =
        TextTable::new("Data and plugins that differ between the runs").words("name").words("runs");
    table = table.words("SHA-256").words("beside").words("SHA-256 of that");
    for other in &cases.record().other_contents {
        let OtherContent { kind, name, sha256, beside, beside_sha256, runs } = other;
        let name = format!("{kind} {name}");
        table.row([name, runs.join(", "), sha256.clone(), beside.clone(), beside_sha256.clone()]);
    }
    table.caption =
        "Rows of different contents are not averaged: those of the later content have a name with a number."
            .to_owned();
    table
}
