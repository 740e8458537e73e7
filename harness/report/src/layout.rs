//! Tables of metrics: one row a group, one column a metric.

use gpbench_record::metric::{Direction, Metric, Shown, Style};

use crate::aggregate::{Group, MeanWithError};
use crate::number::Format;
use crate::table::{Cell, Importance, Table};

/// A column that a task adds to its metrics: heading, and text of a cell.
pub(crate) type Added<'a> = (String, Box<dyn Fn(&Group) -> String + 'a>);

/// The groups of a table, with what names them and what the task adds to their metrics.
pub(crate) struct Layout<'a> {
    pub(crate) title: String,
    pub(crate) groups: Vec<&'a Group>,
    /// Columns of words before the metrics.
    pub(crate) names: Vec<Added<'a>>,
    /// Columns of numbers after the metrics.
    pub(crate) added: Vec<Added<'a>>,
    /// Whether a group may be called the best of its column.
    pub(crate) may_be_best: Box<dyn Fn(&Group) -> bool + 'a>,
}

/// A column that a task adds.
pub(crate) fn column<'a>(
    title: impl Into<String>,
    text: impl Fn(&Group) -> Option<String> + 'a,
) -> Added<'a> {
    (title.into(), Box::new(move |group| text(group).unwrap_or_default()))
}

impl Layout<'_> {
    /// The table with these metrics, and what the task adds.
    pub(crate) fn table(&self, metrics: &[&Metric]) -> Table {
        let table = Table::new(&self.title);
        let table = self.names.iter().fold(table, |table, (title, _)| table.words(title)).numbers("ok");
        let table = metrics.iter().fold(table, |table, metric| table.numbers(metric.title));
        let mut table = self.added.iter().fold(table, |table, (title, _)| table.numbers(title));
        let (candidates, _): (Vec<&Group>, Vec<&Group>) =
            self.groups.iter().partition(|group| (self.may_be_best)(group));
        let best: Vec<Option<String>> = metrics.iter().map(|metric| best(metric, &candidates)).collect();
        for group in &self.groups {
            let best = |j: usize| best[j].as_deref().filter(|_| (self.may_be_best)(group));
            let mut cells: Vec<Cell> = self.names.iter().map(|(_, text)| text(group).into()).collect();
            cells.push(format!("{}/{}", group.n_ok, group.n).into());
            cells.extend(metrics.iter().enumerate().map(|(j, metric)| cell(metric, group, best(j))));
            cells.extend(self.added.iter().map(|(_, text)| Cell::from(text(group))));
            table.row(cells);
        }
        self.rank(table, metrics).without_empty_columns()
    }

    /// Says which columns a terminal that is too narrow lacks first, and which last.
    fn rank(&self, mut table: Table, metrics: &[&Metric]) -> Table {
        let (names, others) = table.columns.split_at_mut(self.names.len());
        names.iter_mut().for_each(|column| column.importance = Importance::Major);
        // The first of the others is the number of cases that ended well.
        for (column, metric) in others.iter_mut().skip(1).zip(metrics) {
            column.importance = match metric {
                _ if metric.is_shown(Shown::Progress) => Importance::Major,
                _ if metric.is_shown(Shown::Wide) => Importance::Minor,
                _ => Importance::Plain,
            };
        }
        table
    }
}

/// The best mean of a column as it is written, of a metric whose best value is marked, if there is a choice.
fn best(metric: &Metric, candidates: &[&Group]) -> Option<String> {
    let mut means: Vec<f64> = candidates.iter().filter_map(|group| group.mean(metric.name)).collect();
    means.sort_by(f64::total_cmp);
    let best = match metric.direction {
        Direction::Lower => means.first(),
        Direction::Higher => means.last(),
        Direction::Neither => None,
    };
    let is_marked = metric.is_shown(Shown::Best) && means.len() > 1;
    best.filter(|_| is_marked).map(|best| metric.style.format(*best))
}

fn cell(metric: &Metric, group: &Group, best: Option<&str>) -> Cell {
    let Some(mean) = group.metrics.get(metric.name) else { return Cell::default() };
    let strong = best == Some(metric.style.format(mean.mean).as_str());
    Cell { text: with_error(metric.style, mean), strong }
}

/// A mean with its standard error; where seeds have no value, also over how many seeds it is.
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
