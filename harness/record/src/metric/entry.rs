//! What the registry says of a metric.

use super::task_sets::{PREDICTING, TO_EXACT};
use crate::TaskKind;

/// A metric.
#[derive(Debug, PartialEq)]
pub struct Metric {
    /// Name in journals, specs and JSON.
    pub name: &'static str,
    /// One sentence of documentation, with a leading space.
    pub(super) doc: &'static str,
    /// Heading of a table's column.
    pub title: &'static str,
    /// Label of a chart's axis.
    pub axis: &'static str,
    /// Unit of its values.
    pub unit: Unit,
    /// Format of its values.
    pub style: Style,
    /// Which values are better.
    pub direction: Direction,
    /// Tasks that have the metric.
    pub tasks: &'static [TaskKind],
    /// Tasks whose results table has it as a column.
    pub columns: &'static [TaskKind],
    /// The amount by which `gpbench check` lets it get worse.
    pub tolerance: Tolerance,
    /// Places where it is shown. A metric without a place is in the table of details.
    pub shown: &'static [Shown],
}

impl Metric {
    /// One sentence of documentation.
    pub fn doc(&self) -> &'static str {
        self.doc.trim_start()
    }

    /// Whether the metric is shown in a place.
    pub fn is_shown(&self, place: Shown) -> bool {
        self.shown.contains(&place)
    }

    /// Whether a task has the metric.
    pub fn is_of(&self, task: TaskKind) -> bool {
        self.tasks.contains(&task)
    }

    /// Whether it is measured on the test rows: a metric of the tasks that predict, and of no others.
    pub fn is_of_test_rows(&self) -> bool {
        self.tasks == PREDICTING || self.tasks == TO_EXACT
    }

    /// Whether values are compared as logarithms and shown as ratios: costs, and errors that span decades.
    pub fn is_compared_as_log(&self) -> bool {
        self.is_cost() || self.style == Style::Scientific
    }

    /// Whether it is a cost: seconds, epochs, bytes, or a number of things.
    pub fn is_cost(&self) -> bool {
        matches!(self.unit, Unit::Seconds | Unit::Epochs | Unit::Bytes | Unit::Count)
    }
}

/// Unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number without a unit, in units of the standardised data, or in those of a file.
    One,
    /// Natural logarithm of a likelihood, which may have either sign.
    Nats,
    /// A number of things, such as iterations.
    Count,
    /// Multiples of n^2 kernel entries.
    Epochs,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// The unit as a word; empty for a number without one.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::One => "",
            Unit::Nats => "nats",
            Unit::Count => "count",
            Unit::Epochs => "epochs",
            Unit::Seconds => "s",
            Unit::Bytes => "bytes",
        }
    }

    /// Whether values may differ between two runs of the same program on the same input.
    pub fn depends_on_machine(self) -> bool {
        matches!(self, Unit::Seconds | Unit::Bytes)
    }
}

/// Format of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Four decimals.
    Fixed,
    /// Two significant digits and an exponent.
    Scientific,
    /// Three significant digits.
    Short,
    /// Bytes as MiB.
    Memory,
}

/// Which values of a metric are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smaller values are better.
    Lower,
    /// Larger values are better.
    Higher,
    /// No value is better than another.
    Neither,
}

/// The amount by which a metric may get worse: the larger of two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Bound in the units of the metric.
    pub absolute: f64,
    /// Bound as a fraction of the earlier absolute value.
    pub relative: f64,
}

/// Default bounds of a metric.
pub const DEFAULT_TOLERANCE: Tolerance = Tolerance { absolute: 0.0, relative: 0.1 };

/// A place where a metric is shown or used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// A column in which rows that no other beats are bold.
    Best,
    /// A column that is left out on a terminal, for width.
    Wide,
    /// A chart along the trace of a solve.
    Trace,
    /// A chart along the steps of training.
    Steps,
    /// A chart of the results of training.
    Trained,
    /// A separate chart or table.
    Own,
    /// A column of the comparison of runs.
    Compare,
    /// The line printed when a case ends.
    Progress,
    /// A value that a new baseline of `gpbench check` records, since the machine's speed does not change it.
    Baseline,
    /// A column of the table of calibration, which is among the details.
    Calibration,
}
