//! Outcomes, settings and conditions of measurement of a run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gpbench_record::metric::Style;
use gpbench_record::{
    Budget, Case, CaseStatus, Dataset, DatasetNotes, Environment, Hyperparameters, Labels, Origin,
    ParamValue, Row, Source, counted, disturbance, names, revisions, text,
};

use crate::acquisition;
use crate::checksum;
use crate::estimator;
use crate::frame::Cases;
use crate::in_units;
use crate::number::{Format, range, short};
use crate::places::{self, machine};
use crate::results::once_each;
use crate::run::Run;
use crate::table::TextTable;

/// The outcome of a planned case without a row.
pub(crate) const NOT_RUN: &str = "not run yet";

/// Numbers of cases by their outcome.
pub(crate) fn outcomes(cases: &Cases<'_>) -> Vec<(String, usize)> {
    let count = |s: CaseStatus| (s.to_string(), cases.rows().filter(|r| r.status == s).count());
    let mut counts: Vec<_> = CaseStatus::ALL.map(count).into_iter().filter(|(_, n)| *n > 0).collect();
    if cases.run().missing() > 0 {
        counts.push((NOT_RUN.to_owned(), cases.run().missing()));
    }
    counts
}

/// The cases that did not end `ok`, with their reasons.
pub(crate) fn not_ok(cases: &Cases<'_>) -> Option<TextTable> {
    let mut table = TextTable::new("Cases that did not end ok").words("case").words("status").words("reason");
    for row in cases.rows().filter(|r| r.status != CaseStatus::Ok) {
        table.row([row.labels.to_string(), row.status.to_string(), row.reason.clone()]);
    }
    let table = table.key(&["status", "reason"]);
    (!table.rows.is_empty()).then_some(table)
}

/// The last lines of the logs of cases that did not end `ok`.
pub(crate) fn logs<'f>(cases: &Cases<'f>) -> impl Iterator<Item = (&'f Labels, Cow<'f, str>)> {
    let rows = cases.rows().filter(|row| row.status != CaseStatus::Ok && !row.log_tail.trim().is_empty());
    rows.map(|row| (&row.labels, text::cut(row.log_tail.trim_end(), text::LOG)))
}

/// Tables of data sets, models, acquisition settings and solvers.
pub(crate) fn settings(cases: &Cases<'_>) -> Vec<TextTable> {
    let acquired = acquisition::table(cases);
    [datasets(cases), models(cases)].into_iter().chain(acquired).chain([solvers(cases)]).collect()
}

/// Table of solvers: plugin with its checksum, parameters, budget and, where that states memory, the epochs that products found
/// there.
fn solvers(cases: &Cases<'_>) -> TextTable {
    let mut table = TextTable::new("Solvers")
        .words("solver")
        .words("plugin")
        .words("checksum")
        .words("parameters")
        .words("budget")
        .words("epochs found in memory");
    for name in cases.solvers() {
        let of_solver = || cases.rows().map(|r| &r.case).filter(|c| c.solver.name == name);
        let distinct = |of: fn(&Case) -> String| joined(of_solver().map(of));
        table.row([
            name.to_owned(),
            distinct(|c| c.solver.plugin.clone()),
            checksum::cell(cases.record(), name),
            distinct(|c| parameters(&c.solver.params)),
            distinct(|c| budget(&c.budget)),
            found_in_memory(cases.rows().filter(|row| row.case.solver.name == name)),
        ]);
    }
    table.caption = checksum::caption(cases.record());
    table.without_empty_columns()
}

/// Epochs that products found in memory and did not evaluate; nothing where no memory is stated.
fn found_in_memory<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> String {
    let mut found = rows.filter_map(|row| row.metrics.get(names::EPOCHS_FOUND)).peekable();
    if found.peek().is_some() { range(found) } else { String::new() }
}

/// Data sets, with their size and source.
fn datasets(cases: &Cases<'_>) -> TextTable {
    let mut table = TextTable::new("Data sets")
        .words("data set")
        .words("source")
        .words("target")
        .words("split")
        .numbers("n (training)")
        .numbers("unique inputs")
        .numbers("d");
    let mut names: Vec<&str> = cases.rows().map(|r| r.labels.dataset.as_str()).collect();
    names.dedup();
    for name in names {
        let rows = || cases.rows().filter(|r| r.labels.dataset == name);
        let notes = cases.record().dataset_notes.get(name);
        let number = |of: fn(&Row) -> Option<usize>| joined(rows().filter_map(of).map(|v| v.to_string()));
        table.row([
            name.to_owned(),
            joined(rows().map(|r| source(&r.case.dataset))),
            joined(rows().filter_map(|r| target(&r.case.dataset, notes))),
            notes.and_then(|notes| notes.split.clone()).unwrap_or_default(),
            number(|r| r.n),
            number(|r| r.metrics.get(names::UNIQUE_INPUTS).map(|unique| unique as usize)),
            number(|r| r.d),
        ]);
    }
    table.without_empty_columns()
}

/// Kernels and right-hand sides, as the spec resolved them, and the hyperparameters that training or learning ended with.
fn models(cases: &Cases<'_>) -> TextTable {
    let mut table = TextTable::new("Models")
        .words("data set")
        .words("kernel")
        .words("hyperparameters")
        .words("learned")
        .words("in the units of the file")
        .words("right-hand sides");
    let mut seen = Vec::new();
    for row in cases.rows() {
        let (kernel, labels) = (&row.case.kernel, &row.labels);
        let key = (&labels.dataset, &labels.kernel, &labels.estimator);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let same = || cases.rows().filter(|r| (&r.labels.dataset, &r.labels.kernel) == (key.0, key.1));
        let used: Vec<Hyperparameters> = same().map(|row| row.case.kernel.hyperparameters()).collect();
        let own = || same().filter(|r| r.labels.estimator == labels.estimator && r.status.is_answer());
        let learned: Vec<Hyperparameters> = own().filter_map(learned).cloned().collect();
        table.row([
            labels.dataset.clone(),
            kernel.family.to_string(),
            of_origin(&kernel.origin, &scales(&used)),
            scales(&learned),
            in_units::hyperparameters(own()),
            estimator::right_hand_sides(&row.case.task),
        ]);
    }
    table.without_empty_columns()
}

/// Origin and text of hyperparameters; the origin alone where none are known, as those of a case that failed before
/// they were found.
fn of_origin(origin: &Origin, scales: &str) -> String {
    if scales.is_empty() { origin.to_string() } else { format!("{origin}: {scales}") }
}

/// The hyperparameters that a case ended with; in rows of earlier versions, those of its last step.
fn learned(row: &Row) -> Option<&Hyperparameters> {
    row.output.learned().or_else(|| Some(&row.output.steps().last()?.hyperparameters))
}

/// Most inputs whose length scales are listed one by one.
const LISTED: usize = 16;

/// Text of hyperparameters, each with its range over some cases. Length scales are listed by the number of their input, from
/// 0 as in names such as `length_scale_0`; of many inputs, the range of all and the shortest.
fn scales(cases: &[Hyperparameters]) -> String {
    let named = |name: &str| {
        let values = || cases.iter().filter_map(|case| case.get(name).copied());
        (values().count() > 0).then(|| range(values()))
    };
    let single = ["noise_scale", "signal_scale", "mean", "length_scale"];
    let mut parts: Vec<String> = single
        .into_iter()
        .filter_map(|name| Some(format!("{} {}", name.replace('_', " "), named(name)?)))
        .collect();
    let each: Vec<(usize, String)> =
        (0..).map_while(|input| Some((input, named(&format!("length_scale_{input}"))?))).collect();
    if !each.is_empty() && each.len() <= LISTED {
        let each: Vec<String> =
            each.iter().map(|(input, length)| format!("{length} of input {input}")).collect();
        parts.push(format!("length scales {}", each.join(", ")));
    } else if !each.is_empty() {
        let lengths =
            |input: usize| cases.iter().filter_map(move |case| case.get(&format!("length_scale_{input}")));
        let all = || (0..each.len()).flat_map(lengths).copied();
        let shortest = |input: &usize| lengths(*input).copied().fold(f64::INFINITY, f64::min);
        let first = (0..each.len()).min_by(|a, b| shortest(a).total_cmp(&shortest(b))).unwrap_or_default();
        parts.push(format!(
            "length scales of {} inputs {}, the shortest of input {first}",
            each.len(),
            range(all())
        ));
    }
    parts.join(", ")
}

/// Machine and measurement, as pairs of a name and a value.
pub(crate) fn measured(cases: &Cases<'_>) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    // That of the front of a cluster run has no cases.
    let with_cases = |known: &&Environment| cases.is_empty() || cases.number_in(known) != Some(0);
    let environments: Vec<&Environment> = cases.record().environments.iter().filter(with_cases).collect();
    if let Some((first, later)) = environments.split_first() {
        facts.push(("gpbench", first.gpbench.clone()));
        facts.push(("machine", machine(first)));
        // Runs of several machines have a table of them.
        let later = if places::tables(cases).is_empty() { later } else { &[] };
        facts.extend(later.iter().map(|later| {
            let differences = first.differences(later).join(", ");
            let number = cases.number_in(later).map(|number| format!(", {number} cases")).unwrap_or_default();
            ("continued elsewhere", format!("{} ({differences}){number}", machine(later)))
        }));
        facts.extend(cases.remarks_on_times().into_iter().map(|text| ("times", text)));
        facts.extend(first.load.first().map(|load| ("load at the start", load.to_string())));
        let others = cases.record().environments.iter().filter_map(|e| e.other_load).max_by(f64::total_cmp);
        facts.extend(disturbance(others).map(|text| ("warning", text)));
        facts.push(("threads a case", first.threads.to_string()));
        facts.push(("kernel products", first.cpu_dispatch.clone()));
        facts.push(("BLAS", format!("{}, core type {}", first.blas, first.blas_core)));
        // The table of merged runs has the revision of each.
        let has_table = cases.record().merged.iter().any(|merged| merged.revision.is_some());
        let revisions = revisions(environments).filter(|_| !has_table);
        facts.extend(revisions.map(|all| ("git revision", all)));
    }
    facts.extend(part(cases.run()).map(|part| ("part of a plan", part)));
    let seeds: Vec<u64> = cases.rows().map(|r| r.labels.seed).collect();
    if let (Some(lo), Some(hi)) = (seeds.iter().min(), seeds.iter().max()) {
        facts.push(("seeds", if lo == hi { lo.to_string() } else { format!("{lo} to {hi}") }));
    }
    let clocked = cases.rows().filter(|r| !r.reproducible).count();
    let stopped = format!("{clocked} cases: a clock decided where the solver stopped");
    facts.extend((clocked > 0).then_some(("not reproducible", stopped)));
    facts.extend(warned(cases).map(|text| ("warning", text)));
    facts.extend(far_from_start(cases).map(|text| ("warning", text)));
    facts.extend(acquisition::warnings(cases).map(|text| ("warning", text.to_owned())));
    facts.extend(test_rows(cases).map(|text| ("test rows", text)));
    facts.extend(dataset_warnings(cases).map(|text| ("warning", text)));
    facts.extend(reused(cases).map(|reused| ("re-used", reused)));
    let last = cases.rows().map(|row| row.finished.as_str()).max();
    facts.extend(last.map(|last| ("last case finished", last.to_owned())));
    for (_, value) in &mut facts {
        *value = text::cut(value, text::REASON).into_owned();
    }
    facts
}

/// The number of cases that ended `ok` with a warning, and the first warning; none where no case did.
fn warned(cases: &Cases<'_>) -> Option<String> {
    let mut warned = cases.rows().filter(|row| row.status == CaseStatus::Ok && !row.reason.is_empty());
    let first = warned.next()?;
    let count = 1 + warned.count();
    Some(format!(
        "{count} of {} cases ended ok with a warning, such as {}: {}",
        cases.len(),
        first.labels,
        first.reason
    ))
}

/// Nats per row by which a start from the data may be better than given hyperparameters.
const FAR: f64 = 0.1;

/// The number of models whose given hyperparameters are far from good ones, since a start from the data is much
/// better, and the worst one; none where all are close, or were trained.
fn far_from_start(cases: &Cases<'_>) -> Option<String> {
    let gap = |row: &Row| row.metrics.get(names::BELOW_START).filter(|gap| *gap > FAR);
    let is_given = |row: &&Row| row.case.task.training().is_none() && row.case.task.learning().is_none();
    let given = cases.rows().filter(is_given);
    let far: Vec<(&Row, f64)> = given.filter_map(|row| Some((row, gap(row)?))).collect();
    let (worst, gap) = far.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let models = far.iter().map(|(row, _)| format!("{}/{}", row.labels.dataset, row.labels.kernel));
    let models = counted(once_each(models).len(), "model");
    Some(format!(
        "the hyperparameters of {models} are far from the optimum: on {}, {} ({}), the log likelihood per row of a \
         sample of the rows is {} below that of a start from the data, which hyperparameters = \"data\" takes",
        worst.labels.dataset,
        worst.labels.kernel,
        worst.case.kernel.origin,
        short(*gap)
    ))
}

/// Description of the part of a plan that the run has.
fn part(run: &Run) -> Option<String> {
    let (planned, elsewhere) = (run.planned(), run.record.unlisted);
    match run.record.shard {
        Some(shard) => {
            let whole = planned + elsewhere;
            Some(format!("shard {shard}: {planned} of {whole} cases; `gpbench merge` unites shards"))
        }
        None if elsewhere > 0 => {
            Some(format!("{elsewhere} of {planned} cases are of shards that were not merged"))
        }
        None => None,
    }
}

/// Number of cases that ran in earlier runs, and the names of these.
fn reused(cases: &Cases<'_>) -> Option<String> {
    let runs: Vec<&str> = cases.rows().filter_map(|row| row.reused_from.as_deref()).collect();
    let (count, from) = (runs.len(), joined(runs.into_iter().map(str::to_owned)));
    let which = if cases.record().merged.is_empty() { "earlier runs" } else { "the runs that were merged" };
    (count > 0).then(|| format!("{count} of {} cases ran in {which}: {from}", cases.len()))
}

fn joined(values: impl Iterator<Item = String>) -> String {
    once_each(values).join("; ")
}

/// Parameters, as `name = value`.
pub(crate) fn parameters(params: &BTreeMap<String, ParamValue>) -> String {
    let each: Vec<String> = params.iter().map(|(name, value)| format!("{name} = {}", param(value))).collect();
    each.join(", ")
}

fn param(value: &ParamValue) -> String {
    match value {
        ParamValue::Bool(v) => v.to_string(),
        ParamValue::Int(v) => v.to_string(),
        ParamValue::Float(v) => v.to_string(),
        ParamValue::Text(v) => v.clone(),
    }
}

fn budget(budget: &Budget) -> String {
    let parts = [
        budget.tolerance.map(|v| format!("tolerance {v}")),
        budget.max_epochs.map(|v| format!("{v} epochs")),
        budget.seconds.map(|v| format!("{v} s")),
        budget.memory_bytes.map(|v| format!("{} MiB", Style::Memory.format(v as f64))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Where the rows of a data set come from.
pub(crate) fn source(dataset: &Dataset) -> String {
    let from = match &dataset.source {
        Source::Registry { name } => format!("UCI, {name}"),
        Source::File { path, options } => match &options.test {
            Some(test) => format!("{path}, test rows {test}"),
            None => path.clone(),
        },
        Source::Toy { name, .. } => format!("built in, {name}"),
        Source::GpDraw(draw) => {
            format!("draw from a GP ({}, length scale {})", draw.kernel, draw.length_scale)
        }
        Source::Objective(objective) => acquisition::objective(objective),
    };
    if dataset.collapse_duplicates { format!("{from}; duplicates collapsed") } else { from }
}

/// The target column of a user's own file.
fn target(dataset: &Dataset, notes: Option<&DatasetNotes>) -> Option<String> {
    let Source::File { options, .. } = &dataset.source else { return None };
    let default = || Some(format!("{} (the last column)", notes?.default_target.as_ref()?));
    options.target.clone().or_else(default)
}

/// How the test rows of data sets that have a file for them lie to the training rows.
fn test_rows(cases: &Cases<'_>) -> impl Iterator<Item = String> {
    let notes = cases.record().dataset_notes.iter();
    notes.filter_map(|(name, notes)| Some(format!("data set `{name}`: {}", notes.test_rows.as_ref()?)))
}

/// The warnings of data sets, each with the name of its data set.
fn dataset_warnings(cases: &Cases<'_>) -> impl Iterator<Item = String> {
    let notes = cases.record().dataset_notes.iter();
    notes.flat_map(|(name, notes)| {
        notes.warnings.iter().map(move |warning| format!("data set `{name}`: {warning}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(lengths: &[f64]) -> Hyperparameters {
        let each = lengths.iter().enumerate().map(|(k, length)| (format!("length_scale_{k}"), *length));
        each.chain([("noise_scale".to_owned(), 0.1)]).collect()
    }

    #[test]
    fn length_scales_name_their_input() {
        assert_eq!(scales(&[]), "");
        let two = scales(&[case(&[0.5, 2.0]), case(&[0.25, 2.0])]);
        assert_eq!(two, "noise scale 0.100, length scales 0.250 to 0.500 of input 0, 2 of input 1");
        let mut many = [3.0; 40];
        many[7] = 0.5;
        assert!(
            scales(&[case(&many)])
                .ends_with("length scales of 40 inputs 0.500 to 3, the shortest of input 7")
        );
    }
}
