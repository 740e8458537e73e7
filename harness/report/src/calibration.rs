//! Calibration of predictions: a table among the details, and what sampled variances do to its numbers.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{self, METRICS, Metric, Shown};
use gpbench_record::{Learning, names};
use gpbench_statistics::calibration::{sampled_coverage, sampled_nll_bias};

use crate::aggregate::{Group, MeanWithError};
use crate::frame::CaseView;
use crate::layout::{Layout, cell};
use crate::paired::with_interval;
use crate::pairs::differences;
use crate::results::{Results, once_each};
use crate::split::Split;
use crate::table::{Cell, TextTable};

/// Heading of the paired difference to the exact process.
const DIFFERENCE: &str = "coverage 95 % less exact";

/// Words for the exact Gaussian process in tables and legends.
pub(crate) const EXACT: &str = "exact process";

const COVERAGE: &str = "\
`coverage 95 %` is the share of the test rows within the central 95 % intervals of their predictive distributions, noise \
included; other measures of calibration are among the details.";

const CAPTION: &str = "\
Mean ± standard error over seeds; test rows of one seed share its training set, so that one seed has no error. Coverage and \
mean z² of a calibrated predictor are the probability and 1, apart from chance. No coverage and no width is better than \
another: a worse predictor may be nearer to the probability. The exact process with the same hyperparameters shows what the \
model itself gets wrong on these rows; the last column is the mean difference to it, paired by seed, in brackets its 95 % t \
interval from three seeds on.";

/// The table of calibration of a layout's groups; none where no prediction has one.
pub(crate) fn table(results: &Results<'_>, layout: &Layout<'_>) -> Option<TextTable> {
    let has = |group: &Group, metric: &Metric| group.metrics.contains_key(metric.name);
    let measures = METRICS.iter().filter(|metric| metric.is_shown(Shown::Calibration));
    let measures = measures.filter(|metric| layout.groups.iter().any(|group| has(group, metric)));
    let measures: Vec<&Metric> = measures.collect();
    if measures.is_empty() {
        return None;
    }
    let table = TextTable::new(format!("Calibration: {}", layout.title));
    let table = layout.names.iter().fold(table, |table, (title, _)| table.words(title));
    let table = measures.iter().fold(table, |table, metric| table.numbers(metric.title));
    let mut table = table.numbers(DIFFERENCE);
    let exact = exact_of_all(results, &layout.groups, names::CRPS_EXACT);
    for group in layout.groups.iter().filter(|group| measures.iter().any(|metric| has(group, metric))) {
        let words: Vec<String> = layout.names.iter().map(|(_, text)| text(group)).collect();
        let own = |metric: &Metric| group.metrics.get(metric.name).copied();
        add(&mut table, words.clone(), &measures, own, difference(results, group));
        if exact.is_none() && group.metrics.contains_key(names::CRPS_EXACT) {
            let words = renamed(words, |solver| format!("{EXACT} of {solver}"));
            add(&mut table, words, &measures, |metric| own(metric::of_exact(metric)?), None);
        }
    }
    if exact.is_some_and(|of_seeds| !of_seeds.is_empty()) {
        let words = renamed(vec![String::new(); layout.names.len()], |_| EXACT.to_owned());
        let of_seeds = |metric: &Metric| {
            let values = exact_of_all(results, &layout.groups, metric::of_exact(metric)?.name)?;
            MeanWithError::of(&values.values().copied().collect::<Vec<f64>>(), values.len())
        };
        add(&mut table, words, &measures, of_seeds, None);
    }
    table.caption = caption(results, layout);
    Some(table.without_empty_columns())
}

/// Adds a row of words, the measures, and the difference to the exact process.
fn add(
    table: &mut TextTable,
    words: Vec<String>,
    measures: &[&Metric],
    of: impl Fn(&Metric) -> Option<MeanWithError>,
    difference: Option<String>,
) {
    let words = words.into_iter().map(Cell::from);
    let numbers = measures.iter().map(|metric| cell(metric, of(metric).as_ref()));
    table.row(words.chain(numbers).chain([difference.unwrap_or_default().into()]));
}

/// Words of a row with another name of the solver, which is the first.
fn renamed(mut words: Vec<String>, name: impl Fn(&str) -> String) -> Vec<String> {
    words.iter_mut().take(1).for_each(|solver| *solver = name(solver));
    words
}

/// A metric of the exact process by seed; `None` where it is not the same for all groups, as after training, where each has
/// hyperparameters of its own.
fn exact_of_all(results: &Results<'_>, groups: &[&Group], metric: &str) -> Option<BTreeMap<u64, f64>> {
    let mut of_seeds = BTreeMap::new();
    for (seed, value) in groups.iter().flat_map(|group| results.by_seed(group, metric)) {
        if *of_seeds.entry(seed).or_insert(value) != value {
            return None;
        }
    }
    Some(of_seeds)
}

/// The difference of the coverage of 95 % intervals to that of the exact process, paired by seed, with its interval.
fn difference(results: &Results<'_>, group: &Group) -> Option<String> {
    let [own, exact] =
        [names::COVERAGE_95, names::COVERAGE_95_EXACT].map(|metric| results.by_seed(group, metric));
    let split = Split::of(results.of(group));
    let extra_variance = metric::find(names::COVERAGE_95).map_or(0.0, |metric| split.extra_variance(metric));
    with_interval(&differences(&own, &exact), extra_variance, results.seeds(group).len())
}

/// The caption of the table, with how the seeds of its groups share their data.
fn caption(results: &Results<'_>, layout: &Layout<'_>) -> String {
    let sentence = |group: &&Group| Split::of(results.of(group)).sentence();
    let splits = once_each(layout.groups.iter().filter_map(sentence));
    let sentences: Vec<String> = [CAPTION.to_owned()].into_iter().chain(splits).collect();
    with_sampling_note(results, &sentences.join(" "))
}

/// The explanation of the column of coverage, where there is one, and of what sampled variances do.
pub(crate) fn conventions(results: &Results<'_>) -> Vec<String> {
    let has_coverage = results.groups.iter().any(|group| group.metrics.contains_key(names::COVERAGE_95));
    let coverage = has_coverage.then(|| COVERAGE.to_owned());
    coverage.into_iter().chain(sampling_note(results)).chain(rank_note(results)).collect()
}

/// A caption, and what sampled variances do to what it describes.
pub(crate) fn with_sampling_note(results: &Results<'_>, caption: &str) -> String {
    sampling_note(results).map_or_else(|| caption.to_owned(), |note| format!("{caption} {note}"))
}

/// What the sampling of variances alone does to likelihoods and coverage, as a sentence; none where no variance is sampled.
fn sampling_note(results: &Results<'_>) -> Option<String> {
    let predicted = results.cases.iter().filter(|case| case.metric(names::TEST_NLL).is_some());
    let predicted: Vec<CaseView<'_>> = predicted.collect();
    let samples: Vec<usize> = predicted.iter().filter_map(samples).collect();
    let (fewest, most) = (*samples.iter().min()?, *samples.iter().max()?);
    let which = if samples.len() < predicted.len() { "Some variances" } else { "Variances" };
    let count = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
    let by = match sampled_nll_bias(fewest) {
        Some(bias) => format!("by up to {bias:.4}"),
        None => "without bound".to_owned(),
    };
    Some(format!(
        "{which} are means over {count} posterior samples, which alone raises the NLL {by} and lowers the coverage of 95 % \
         intervals to as little as {:.4}, less where there is noise: smaller differences to the exact process say nothing of a \
         solver.",
        sampled_coverage(fewest)
    ))
}

/// What variances of low rank do to likelihoods and coverage, as a sentence; none where there are none.
fn rank_note(results: &Results<'_>) -> Option<String> {
    let of = |case: CaseView<'_>| {
        let learning = case.case().task.learning()?;
        let model = case.output().learning()?.model?;
        learning.variance_rank.filter(|_| Learning::is_dense(model, case.case().kernel.family))
    };
    let ranks: BTreeSet<usize> = results.cases.iter().filter_map(of).collect();
    let ranks = ranks.iter().map(usize::to_string).collect::<Vec<_>>();
    (!ranks.is_empty()).then(|| {
        format!(
            "Variances of exact processes have rank {}, from as many Lanczos steps: they are wider than the exact ones, so that the \
             NLL differs and more test rows are within their intervals.",
            ranks.join(" or ")
        )
    })
}

/// The number of posterior samples from which the variances of a case are computed; `None` where they are exact or a
/// learner's own.
fn samples(case: &CaseView<'_>) -> Option<usize> {
    case.case().task.variance_samples().or_else(|| samples_of_model(case))
}

/// The same for a learner's model.
fn samples_of_model(case: &CaseView<'_>) -> Option<usize> {
    let model = case.output().learning()?.model?;
    let (family, n) = (case.case().kernel.family, case.row().n?);
    let learning = case.case().task.learning()?;
    let is_sampled = learning.is_iterative(model, family, n) && learning.variance_rank.is_none();
    is_sampled.then_some(Learning::VARIANCE_SAMPLES)
}
