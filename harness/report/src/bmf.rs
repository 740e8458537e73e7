//! Bencher Metric Format: the measures of a run, as Bencher and its readers take them.
//!
//! A benchmark is a solver on a problem, `pol/matern32/cg`; a run with several estimators names them too. A measure
//! is a metric that comparisons show. Repeats are reduced first, and the value is a mean over seeds: the geometric
//! mean of costs and of errors that span decades, the mean of others. Its bounds are those of the t interval, from
//! three seeds on; those of test errors allow for overlapping splits.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{METRICS, Metric, Shown};
use gpbench_statistics::{Estimate, estimate, geometric_estimate};
use serde_json::{Map, Value, json};

use crate::frame::{CaseView, Cases, Frame};
use crate::pairs::by_seed;
use crate::split::Split;

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
    let has_value =
        |case: &CaseView<'_>| case.is_answer() && case.metric(metric.name).is_some_and(f64::is_finite);
    if !cases.iter().all(has_value) {
        return None;
    }
    let values: Vec<f64> = by_seed(cases.iter().copied(), metric.name).into_values().collect();
    let is_positive = values.iter().all(|value| *value > 0.0);
    if metric.is_compared_as_log() && is_positive {
        return geometric_estimate(&values);
    }
    estimate(&values, Split::of(cases.iter().copied()).extra_variance(metric))
}

fn measure(estimate: &Estimate) -> Value {
    match estimate.printed() {
        Some(of) => json!({ "value": estimate.mean, "lower_value": of.low, "upper_value": of.high }),
        None => json!({ "value": estimate.mean }),
    }
}
