//! Cells of a row of a table.

use gpbench_record::metric::{self, Unit};
use gpbench_record::names;
use polars::prelude::{DataFrame, Float64Chunked};

/// Whether a metric is a time.
pub(crate) fn is_time(name: &str) -> bool {
    metric::find(name).is_some_and(|metric| metric.unit == Unit::Seconds)
}

/// The cells of a row: a case, a trace point or a step.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'f> {
    pub(super) table: &'f DataFrame,
    pub(super) row: usize,
    /// Whether its times are shown.
    pub(super) timed: bool,
}

impl Cells<'_> {
    /// A number; `None` where it was not measured, or is a time that is not shown.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        if !self.timed && is_time(name) {
            return None;
        }
        numbers(self.table, name)?.get(self.row)
    }

    /// A whole number.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.table.column(name).ok()?.u64().ok()?.get(self.row)
    }

    /// The numbers whose names begin with a prefix, by name.
    pub(crate) fn beginning_with(&self, prefix: &str) -> impl Iterator<Item = f64> {
        let names = self.table.columns().iter().map(|column| column.name().as_str());
        names.filter(move |name| name.starts_with(prefix)).filter_map(|name| self.number(name))
    }

    /// Seconds of prepare and solve together, where either is known.
    pub(crate) fn solver_seconds(&self) -> Option<f64> {
        let parts = [names::SECONDS_PREPARE, names::SECONDS_SOLVE].map(|name| self.number(name));
        parts.iter().any(Option::is_some).then(|| parts.iter().flatten().sum())
    }
}

/// A column of numbers; `None` where the table has none of this name.
pub(super) fn numbers<'t>(table: &'t DataFrame, name: &str) -> Option<&'t Float64Chunked> {
    table.column(name).ok()?.f64().ok()
}
