//! Tables of metrics: one row a group, one column a metric.

use gpbench_record::metric::{Metric, Shown, Style};

use crate::aggregate::{Group, MeanWithError};
use crate::bold::Bold;
use crate::number::Format;
use crate::results::Results;
use crate::table::{Cell, Importance, TextTable};

/// A column that a task adds to its metrics: heading, and text of a cell.
pub(crate) type Added<'a> = (String, Box<dyn Fn(&Group) -> String + 'a>);

/// The groups of a table, with the columns beside their metrics.
pub(crate) struct Layout<'a> {
    pub(crate) results: &'a Results<'a>,
    pub(crate) title: String,
    pub(crate) groups: Vec<&'a Group>,
    /// Columns of words before the metrics.
    pub(crate) names: Vec<Added<'a>>,
    /// Columns of numbers after the metrics.
    pub(crate) added: Vec<Added<'a>>,
    /// Sentences of the caption about these, and about times.
    pub(crate) notes: Vec<String>,
    /// Whether a group may be bold.
    pub(crate) may_be_bold: Box<dyn Fn(&Group) -> bool + 'a>,
}

/// Suffix of a metric of a group: empty, or a mark that it has no part in ranks.
pub(crate) type Mark<'a> = &'a dyn Fn(&Group, &str) -> &'static str;

/// A column that a task adds.
pub(crate) fn column<'a>(
    title: impl Into<String>,
    text: impl Fn(&Group) -> Option<String> + 'a,
) -> Added<'a> {
    (title.into(), Box::new(move |group| text(group).unwrap_or_default()))
}

impl Layout<'_> {
    /// The table with these metrics and the task's columns. Where a metric of a group has a suffix, none is bold.
    pub(crate) fn table(&self, metrics: &[&Metric], mark: Mark<'_>) -> TextTable {
        let table = TextTable::new(&self.title);
        let table = self.names.iter().fold(table, |table, (title, _)| table.words(title)).numbers("ok");
        let table = metrics.iter().fold(table, |table, metric| table.numbers(metric.title));
        let mut table = self.added.iter().fold(table, |table, (title, _)| table.numbers(title));
        let is_ranked = |metric: &Metric| self.groups.iter().all(|group| mark(group, metric.name).is_empty());
        let bold = Bold::of_groups(self.results, &self.groups, metrics, is_ranked, &self.may_be_bold);
        for (i, group) in self.groups.iter().enumerate() {
            let mut cells: Vec<Cell> = self.names.iter().map(|(_, text)| text(group).into()).collect();
            cells.push(format!("{}/{}", group.n_ok, group.n).into());
            cells.extend(metrics.iter().zip(&bold.marks).map(|(metric, marks)| {
                let cell = Cell { strong: marks[i], ..cell(metric, group.metrics.get(metric.name)) };
                Cell { text: cell.text + mark(group, metric.name), ..cell }
            }));
            cells.extend(self.added.iter().map(|(_, text)| Cell::from(text(group))));
            table.row(cells);
        }
        let sentences = bold.caption.iter().chain(&self.notes);
        table.caption = sentences.map(String::as_str).collect::<Vec<&str>>().join(" ");
        self.rank(table, metrics).without_empty_columns()
    }

    /// Sets the order in which columns are left out of a text that is too wide.
    fn rank(&self, mut table: TextTable, metrics: &[&Metric]) -> TextTable {
        let (names, others) = table.columns.split_at_mut(self.names.len());
        names.iter_mut().for_each(|column| column.importance = Importance::Key);
        // The first of the others is the number of cases that ended well.
        others[0].importance = Importance::Key;
        let (of_metrics, added) = others[1..].split_at_mut(metrics.len());
        for (column, metric) in of_metrics.iter_mut().zip(metrics) {
            column.importance = match metric {
                _ if metric.is_shown(Shown::Wide) => Importance::Minor,
                _ if metric.is_shown(Shown::Progress) => Importance::Major,
                _ => Importance::Plain,
            };
        }
        // The first of these, such as a speed-up, is what the task is about.
        added.iter_mut().take(1).for_each(|column| column.importance = Importance::Major);
        table
    }
}

/// The cell of a metric's mean; empty without one.
pub(crate) fn cell(metric: &Metric, mean: Option<&MeanWithError>) -> Cell {
    let Some(mean) = mean else { return Cell::default() };
    let text = with_error(metric.style, mean);
    Cell { text, mean: Some(mean.scaled(metric.style.scale())), ..Cell::default() }
}

/// A mean with its standard error and, where seeds have no value, the number of seeds that have one.
pub(crate) fn with_error(style: Style, value: &MeanWithError) -> String {
    let mean = style.format(value.mean);
    let text = match value.stderr {
        Some(stderr) => format!("{mean} ± {}", style.format_spread(value.mean, stderr)),
        None => mean,
    };
    match value {
        MeanWithError { seeds, of, .. } if seeds < of => format!("{text} ({seeds} of {of})"),
        _ => text,
    }
}
