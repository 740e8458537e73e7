//! Tables of metrics: one row a group, one column a metric.

use std::collections::BTreeMap;

use gpbench_record::metric::{Direction, Metric, Shown, Style};

use crate::aggregate::{Group, MeanWithError};
use crate::number::Format;
use crate::pairs::unbeaten;
use crate::table::{Cell, Importance, TextTable};

/// A column that a task adds to its metrics: heading, and text of a cell.
pub(crate) type Added<'a> = (String, Box<dyn Fn(&Group) -> String + 'a>);

/// The groups of a table, with the columns beside their metrics.
pub(crate) struct Layout<'a> {
    pub(crate) title: String,
    pub(crate) groups: Vec<&'a Group>,
    /// Columns of words before the metrics.
    pub(crate) names: Vec<Added<'a>>,
    /// Columns of numbers after the metrics.
    pub(crate) added: Vec<Added<'a>>,
    /// Whether a group may be marked as the best of its column.
    pub(crate) may_be_best: Box<dyn Fn(&Group) -> bool + 'a>,
    /// Values of a metric by seed, where paired comparisons decide what is marked; else the best mean is.
    pub(crate) by_seed: Option<BySeed<'a>>,
}

/// Values of a metric of a group by seed.
pub(crate) type BySeed<'a> = Box<dyn Fn(&Group, &str) -> BTreeMap<u64, f64> + 'a>;

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
    /// The table with these metrics and the task's columns. Where a metric of a group has a suffix, none is the best.
    pub(crate) fn table(&self, metrics: &[&Metric], mark: Mark<'_>) -> TextTable {
        let table = TextTable::new(&self.title);
        let table = self.names.iter().fold(table, |table, (title, _)| table.words(title)).numbers("ok");
        let table = metrics.iter().fold(table, |table, metric| table.numbers(metric.title));
        let mut table = self.added.iter().fold(table, |table, (title, _)| table.numbers(title));
        let marked: Vec<Vec<bool>> = metrics.iter().map(|metric| self.marked(metric, mark)).collect();
        for (i, group) in self.groups.iter().enumerate() {
            let mut cells: Vec<Cell> = self.names.iter().map(|(_, text)| text(group).into()).collect();
            cells.push(format!("{}/{}", group.n_ok, group.n).into());
            cells.extend(metrics.iter().zip(&marked).map(|(metric, marked)| {
                let Cell { text, strong } = cell(metric, group, marked[i]);
                Cell { text: text + mark(group, metric.name), strong }
            }));
            cells.extend(self.added.iter().map(|(_, text)| Cell::from(text(group))));
            table.row(cells);
        }
        self.rank(table, metrics).without_empty_columns()
    }

    /// Marks the best groups in the column of a metric.
    fn marked(&self, metric: &Metric, mark: Mark<'_>) -> Vec<bool> {
        // No group is the best of some that cannot be compared.
        let is_ranked = self.groups.iter().all(|group| mark(group, metric.name).is_empty());
        let may_be: Vec<bool> =
            self.groups.iter().map(|group| is_ranked && (self.may_be_best)(group)).collect();
        let candidates: Vec<&Group> =
            self.groups.iter().zip(&may_be).filter(|(_, may_be)| **may_be).map(|(group, _)| *group).collect();
        let mut of_candidates = match &self.by_seed {
            _ if !metric.is_shown(Shown::Best) => vec![false; candidates.len()],
            None => with_best_mean(metric, &candidates),
            Some(by_seed) => {
                let values: Vec<BTreeMap<u64, f64>> =
                    candidates.iter().map(|group| by_seed(group, metric.name)).collect();
                unbeaten(&values, metric.direction)
            }
        }
        .into_iter();
        may_be.into_iter().map(|may_be| may_be && of_candidates.next().unwrap_or_default()).collect()
    }

    /// Sets the order in which columns are left out of a text that is too wide.
    fn rank(&self, mut table: TextTable, metrics: &[&Metric]) -> TextTable {
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

/// Marks the groups with the best formatted mean of a metric; none where there is no choice.
fn with_best_mean(metric: &Metric, candidates: &[&Group]) -> Vec<bool> {
    let mut means: Vec<f64> = candidates.iter().filter_map(|group| group.mean(metric.name)).collect();
    means.sort_by(f64::total_cmp);
    let best = match metric.direction {
        Direction::Lower => means.first(),
        Direction::Higher => means.last(),
        Direction::Neither => None,
    };
    let best = best.filter(|_| means.len() > 1).map(|best| metric.style.format(*best));
    let written = |group: &&Group| group.mean(metric.name).map(|mean| metric.style.format(mean));
    candidates.iter().map(|group| best.is_some() && written(group) == best).collect()
}

fn cell(metric: &Metric, group: &Group, strong: bool) -> Cell {
    let Some(mean) = group.metrics.get(metric.name) else { return Cell::default() };
    Cell { text: with_error(metric.style, mean), strong }
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
