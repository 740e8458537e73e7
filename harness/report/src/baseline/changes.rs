//! Differences between cases of the same names in two runs: their results may differ without a change of any program.

use std::collections::BTreeSet;

use gpbench_record::Row;
use gpbench_runs::RunRecord;

use super::cases::{CaseKey, merged};
use crate::frame::Cases;

/// Largest number of differences that the remark names.
const NAMED: usize = 5;

/// The differences.
pub(super) struct Changes {
    /// Cases whose solver or parameters differ.
    pub(super) solvers: BTreeSet<CaseKey>,
    /// A sentence that names the differences.
    pub(super) remark: Option<String>,
}

/// Compares the cases that both runs have.
pub(super) fn changes(old: &Cases<'_>, new: &Cases<'_>) -> Changes {
    let (old_record, new_record) = (old.record(), new.record());
    let (old, new) = (merged(old), merged(new));
    let both = || new.iter().filter_map(|(key, now)| Some((key, old.get(key)?.worst, now.worst)));
    let differs = |was: &Row, now: &Row| {
        let (was, now) = (&was.case.solver, &now.case.solver);
        (&was.plugin, &was.params) != (&now.plugin, &now.params)
    };
    let solvers = both().filter(|(_, was, now)| differs(was, now)).map(|(key, ..)| key.clone()).collect();
    let mut named: Vec<String> = Vec::new();
    for text in both().flat_map(|(_, was, now)| of_case(was, now)) {
        if !named.contains(&text) {
            named.push(text);
        }
    }
    let sets: BTreeSet<&str> = both().map(|(_, _, now)| now.labels.dataset.as_str()).collect();
    named.extend(
        other_contents(old_record, new_record, sets).map(|name| format!("the content of data set `{name}`")),
    );
    let left_out = named.len().saturating_sub(NAMED);
    named.truncate(NAMED);
    if left_out > 0 {
        named.push(format!("and {left_out} more"));
    }
    let remark = (!named.is_empty()).then(|| {
        let named = named.join(", ");
        format!("cases with the same names are not the same: they differ in {named}; so their results may differ too")
    });
    Changes { solvers, remark }
}

/// The data sets among these whose content differs between two runs.
pub(crate) fn other_contents<'n>(
    old: &RunRecord,
    new: &RunRecord,
    among: impl IntoIterator<Item = &'n str>,
) -> impl Iterator<Item = &'n str> {
    let of = |record: &RunRecord, name: &str| record.contents.get(name).cloned();
    among
        .into_iter()
        .filter(move |name| matches!((of(old, name), of(new, name)), (Some(old), Some(new)) if old != new))
}

/// Descriptions of the differences between two cases.
fn of_case(was: &Row, now: &Row) -> Vec<String> {
    let (old, new) = (&was.case, &now.case);
    let mut named = Vec::new();
    let mut name = |differs: bool, what: &str, of: &str| {
        if differs {
            named.push(format!("{what} `{of}`"));
        }
    };
    let labels = &now.labels;
    let rows = was.n.zip(now.n).filter(|(was, now)| was != now);
    name(old.dataset != new.dataset && rows.is_none(), "data set", &labels.dataset);
    name(old.kernel != new.kernel, "kernel", &labels.kernel);
    name(old.budget != new.budget, "the budget of", &labels.solver);
    // Two solvers that are set against each other differ in name.
    let same_entry = old.solver.name == new.solver.name;
    name(same_entry && old.solver.plugin != new.solver.plugin, "the plugin of", &labels.solver);
    let same_plugin = same_entry && old.solver.plugin == new.solver.plugin;
    name(same_plugin && old.solver.params != new.solver.params, "the parameters of", &labels.solver);
    if let Some((was, now)) = rows {
        named.push(format!("data set `{}` ({was} rows, then {now})", labels.dataset));
    }
    if old.task != new.task {
        named.push("the settings of the task".to_owned());
    }
    named
}
