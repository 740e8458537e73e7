//! Which entries of a table are bold, and the sentence that states the rule.
//!
//! A solver is bold in a column where no other beats it and some solver is beaten: by a paired t test over seeds, adjusted
//! over all pairs of all bold columns of the table (Holm), and by more than the metric's tolerance.

use std::collections::BTreeMap;

use gpbench_record::metric::{Direction, Metric, Shown};
use gpbench_statistics::{Column, Marks, PRINTED_FROM, Tolerance};

use crate::aggregate::Group;
use crate::frame::CaseView;
use crate::results::Results;
use crate::split::Split;

/// The bold entries of a table.
pub(crate) struct Bold {
    /// By the columns given, then by solver.
    pub(crate) marks: Vec<Vec<bool>>,
    /// The rule, for the table's caption; none where there is nothing to compare.
    pub(crate) caption: Option<String>,
}

/// Values of a metric, by solver and by what is paired. Those of a solver that did not end in all seeds are empty.
pub(crate) type ByPair = Vec<BTreeMap<u64, f64>>;

impl Bold {
    /// The bold entries of the groups of a table by their metrics. `is_ranked` tells whether a metric can be compared in all
    /// groups, `may_be_bold` whether a group takes part.
    pub(crate) fn of_groups<'m>(
        results: &Results<'_>,
        groups: &[&Group],
        metrics: &[&'m Metric],
        is_ranked: impl Fn(&Metric) -> bool,
        may_be_bold: impl Fn(&Group) -> bool,
    ) -> Bold {
        let split = Split::of(groups.iter().flat_map(|group| results.of(group)));
        let values = |metric: &Metric, group: &Group| match may_be_bold(group) {
            true => comparable(results, group, metric),
            false => BTreeMap::new(),
        };
        let has_best =
            |metric: &Metric| metric.is_shown(Shown::Best) && metric.direction != Direction::Neither;
        let is_bold = |metric: &Metric| has_best(metric) && is_ranked(metric);
        let column = |metric: &'m Metric| {
            (metric, groups.iter().map(|group| values(metric, group)).collect::<ByPair>())
        };
        let columns = metrics.iter().copied().filter(|metric| is_bold(metric)).map(column);
        let columns: Vec<(&Metric, ByPair)> = columns.collect();
        let mut of_columns = Bold::new(&columns, split, results.cases.noun());
        let mut found = std::mem::take(&mut of_columns.marks).into_iter();
        let none = || vec![false; groups.len()];
        let of_metric =
            |metric: &&Metric| if is_bold(metric) { found.next().unwrap_or_else(none) } else { none() };
        Bold { marks: metrics.iter().map(of_metric).collect(), ..of_columns }
    }

    /// The bold entries of columns of metrics, which have a best value and are paired by seed. `noun` is what the rows are called.
    pub(crate) fn new(columns: &[(&Metric, ByPair)], split: Split, noun: &str) -> Bold {
        let compared = |(metric, values): &(&Metric, ByPair)| compared_column(metric, values.clone(), split);
        let marks = gpbench_statistics::bold(&columns.iter().map(compared).collect::<Vec<Column>>());
        let caption = caption(&marks, columns, split, noun);
        Bold { marks: marks.bold, caption }
    }
}

/// A column of values of a metric, as its pairs are compared.
pub(crate) fn compared_column(metric: &Metric, values: ByPair, split: Split) -> Column {
    Column {
        values,
        is_log: metric.is_compared_as_log(),
        lower_is_better: metric.direction == Direction::Lower,
        smallest: Tolerance { absolute: metric.tolerance.absolute, relative: metric.tolerance.relative },
        extra_variance: split.extra_variance(metric),
    }
}

/// A metric of a group by seed, where it may be compared and all seeds have it; else empty.
pub(crate) fn comparable(results: &Results<'_>, group: &Group, metric: &Metric) -> BTreeMap<u64, f64> {
    match may_compare(results, group, metric) {
        true => whole(results, group, metric),
        false => BTreeMap::new(),
    }
}

/// Whether a metric of a group may be compared: errors of all that ended, costs only where the goal of the budget was reached.
fn may_compare(results: &Results<'_>, group: &Group, metric: &Metric) -> bool {
    let has_ended = results.of(group).all(|case| case.is_answer());
    has_ended && (group.all_ok() || !metric.is_cost())
}

/// A metric by seed, where all seeds have it.
fn whole(results: &Results<'_>, group: &Group, metric: &Metric) -> BTreeMap<u64, f64> {
    let values = results.by_seed(group, metric.name);
    let has_value = |case: CaseView<'_>| values.contains_key(&case.seed());
    if results.of(group).all(has_value) { values } else { BTreeMap::new() }
}

/// The rule and the numbers of seeds and comparisons. None where fewer than two solvers have values in a column.
fn caption(marks: &Marks, columns: &[(&Metric, ByPair)], split: Split, noun: &str) -> Option<String> {
    let has_pair = |values: &ByPair| values.iter().filter(|values| !values.is_empty()).count() > 1;
    let compared: Vec<&(&Metric, ByPair)> = columns.iter().filter(|(_, values)| has_pair(values)).collect();
    let sizes = || compared.iter().flat_map(|(_, values)| values).map(BTreeMap::len).filter(|size| *size > 0);
    let (fewest, most) = (sizes().min()?, sizes().max()?);
    if most < PRINTED_FROM {
        return Some("Nothing is bold: fewer than three seeds.".to_owned());
    }
    let seeds = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    let comparisons = match marks.comparisons {
        1 => "the 1 comparison".to_owned(),
        several => format!("the {several} comparisons"),
    };
    let rule = format!(
        "by a paired t test over {seeds} seeds (Holm over {comparisons} of this table, 5 %) and by more than the metric's tolerance \
         (`gpbench list metrics`)"
    );
    let mut caption = match marks.bold.iter().flatten().any(|bold| *bold) {
        true => format!("Bold: no other {noun} is better {rule}."),
        false => format!("Nothing is bold: no {noun} is worse than another {rule}."),
    };
    let has_test_rows = compared.iter().any(|(metric, _)| metric.is_of_test_rows());
    if let Some(sentence) = split.sentence().filter(|_| has_test_rows) {
        caption = format!("{caption} {sentence}");
    }
    Some(caption)
}
