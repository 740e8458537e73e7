//! Rows with and without their times.

use gpbench_record::metric::{self, Unit};
use gpbench_record::{Metrics, Row, Step, TracePoint};

/// Whether a row has seconds that a table could show.
pub(crate) fn is_timed(row: &Row) -> bool {
    row.status.is_answer() && row.metrics.iter().any(|(name, _)| is_time(name))
}

/// Whether a metric is a time.
pub(crate) fn is_time(name: &str) -> bool {
    metric::find(name).is_some_and(|metric| metric.unit == Unit::Seconds)
}

/// A row without its seconds.
pub(crate) fn without_times(row: &Row) -> Row {
    let point = |point: &TracePoint| TracePoint {
        seconds: f64::NAN,
        metrics: untimed(&point.metrics),
        ..point.clone()
    };
    let step = |step: &Step| Step { metrics: untimed(&step.metrics), ..step.clone() };
    let mut output = row.output.clone();
    output.set_steps(row.output.steps().iter().map(step).collect());
    Row {
        metrics: untimed(&row.metrics),
        trace: row.trace.iter().map(point).collect(),
        output,
        ..row.clone()
    }
}

fn untimed(metrics: &Metrics) -> Metrics {
    metrics.iter().filter(|(name, _)| !is_time(name)).map(|(name, value)| (name.to_owned(), value)).collect()
}
