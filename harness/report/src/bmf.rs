//! Bencher Metric Format: the measures of a run, as Bencher and its readers take them.
//!
//! A benchmark is a solver on a problem, `pol/matern32/cg`; a run with several estimators names them too. A measure
//! is a metric that comparisons show. Repeats are reduced first, and the value is a mean over seeds: the geometric
//! mean of costs and of errors that span decades, the mean of others. Its bounds are those of the t interval, from
//! three seeds on.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{METRICS, Metric, Shown, Style, Unit};
use gpbench_statistics::{Estimate, estimate, geometric_mean, median};
use serde_json::{Map, Value, json};

use crate::frame::{CaseView, Cases, Frame, is_time};

/// The measures of a run: `{"pol/matern32/cg": {"seconds": {"value", "lower_value", "upper_value"}}}`. A measure is
/// left out where a repeat has no value of it: a mean over the others would be one of another problem.
pub fn bmf(frame: &Frame<'_>) -> Value {
    let cases = Cases::of(frame).with_times_of_one_kind().with_comparable_times();
    let estimators: BTreeSet<Option<&str>> = cases.iter().map(|case| case.estimator()).collect();
    let mut benchmarks: BTreeMap<String, Vec<CaseView<'_>>> = BTreeMap::new();
    for case in cases.iter() {
        let estimator = case.estimator().filter(|_| estimators.len() > 1);
        let names = [Some(case.dataset()), Some(case.kernel()), estimator, Some(case.solver())];
        let name = names.into_iter().flatten().collect::<Vec<_>>().join("/");
        benchmarks.entry(name).or_default().push(case);
    }
    let measured = benchmarks.into_iter().map(|(name, cases)| (name, measures(&cases)));
    Value::Object(measured.filter(|(_, measures)| !measures.is_empty()).map(|(k, v)| (k, v.into())).collect())
}

/// The measures of a benchmark.
fn measures(cases: &[CaseView<'_>]) -> Map<String, Value> {
    let shown = METRICS.iter().filter(|metric| metric.is_shown(Shown::Compare));
    shown.filter_map(|metric| Some((metric.name.to_owned(), measure(&over_seeds(cases, metric)?)))).collect()
}

/// The mean of a metric over the seeds of all cases; none where a case has no value.
fn over_seeds(cases: &[CaseView<'_>], metric: &Metric) -> Option<Estimate> {
    let mut repeats: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for case in cases {
        let value = case.metric(metric.name).filter(|value| case.is_answer() && value.is_finite())?;
        repeats.entry(case.seed()).or_default().push(value);
    }
    let mean = |values: &Vec<f64>| Some(values.iter().sum::<f64>() / values.len() as f64);
    let reduced = |values: &Vec<f64>| if is_time(metric.name) { median(values) } else { mean(values) };
    let values: Vec<f64> = repeats.values().filter_map(reduced).collect();
    let is_positive = values.iter().all(|value| *value > 0.0);
    if is_ratio(metric) && is_positive { geometric_mean(&values) } else { estimate(&values, 0.0) }
}

/// Whether values of a metric are compared as ratios: costs, and errors that span decades.
fn is_ratio(metric: &Metric) -> bool {
    let is_cost = matches!(metric.unit, Unit::Seconds | Unit::Epochs | Unit::Count | Unit::Bytes);
    is_cost || metric.style == Style::Scientific
}

fn measure(estimate: &Estimate) -> Value {
    match estimate.printed() {
        Some(of) => json!({ "value": estimate.mean, "lower_value": of.low, "upper_value": of.high }),
        None => json!({ "value": estimate.mean }),
    }
}
