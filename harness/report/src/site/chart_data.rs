//! The cases of a data set for the chart of its page, as JSON: lists of what cases share, and columns of numbers.
//!
//! ```text
//! {"clocks": [[name, label], ...], "metrics": [[name, label, is logarithmic], ...], "colours": ["#0072B2", ...],
//!  "solvers": [[name, address], ...], "settings": [problem, ...], "runs": [[name, address], ...], "machines": [[label], ...],
//!  "series": [[solver, setting, run, machine, facets, label], ...], "traced": [metric, ...],
//!  "cases": {"series": [...], "seed": [...], "id": [...], "along": [number of points, ...], "ends": [0 or 1, ...]},
//!  "along": [column of a clock, ..., column of a traced metric, ...],
//!  "ends": [column of a clock, ..., column of a metric, ...]}
//! ```
//!
//! The columns of `along` have the points of all cases, one case after the other, and those of `ends` the end of each
//! case that has one. Numbers have four significant digits, which are enough for a chart; null is one that is not
//! known. Foreign texts are escaped here, since the script shows them as they are.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{METRICS, Metric, Style};
use gpbench_record::text::line;
use serde::Serialize;
use serde_json::{Value, json};

use super::archive::{Archive, CaseEntry, Key};
use super::facets::Facets;
use super::links::Links;
use super::points::{CLOCKS, Point, thinned};
use crate::charts::palette;

/// The JSON of some cases, given by their places in the archive, with at most so many points of each; none where no
/// case has points.
pub(super) fn cases(archive: &Archive, cases: &[usize], most: usize, links: Links<'_>) -> Option<String> {
    let drawn: Vec<usize> =
        cases.iter().copied().filter(|at| !archive.cases[*at].points.is_empty()).collect();
    if drawn.is_empty() {
        return None;
    }
    let all = || drawn.iter().map(|at| &archive.cases[*at].points);
    let along = metrics_of(all().flat_map(|points| &points.along));
    let whole = metrics_of(all().flat_map(|points| points.along.iter().chain(&points.end)));
    let mut lists = Lists::default();
    let (mut of_along, mut of_ends) = (Columns::new(&along), Columns::new(&whole));
    let mut cases = CaseColumns::default();
    for at in drawn {
        let (CaseEntry { key, points }, row) = (&archive.cases[at], &archive.rows()[at]);
        cases.series.push(lists.series(*key, Facets::of(archive, [at]).text(), &row.labels.solver));
        cases.seed.push(row.labels.seed);
        cases.id.push(line(&row.id));
        let shown = thinned(points.along.iter().collect(), most);
        cases.along.push(shown.len());
        shown.into_iter().for_each(|point| of_along.add(point));
        cases.ends.push(u8::from(points.end.is_some()));
        points.end.iter().for_each(|point| of_ends.add(point));
    }
    let traced = along.iter().filter_map(|metric| whole.iter().position(|of| of.name == metric.name));
    let axis = |metric: &Metric| json!([metric.name, metric.axis]);
    let quality = |metric: &&Metric| json!([metric.name, metric.axis, metric.style == Style::Scientific]);
    let solver = |at: &usize| json!([line(&archive.methods.at(*at).name), links.method(*at)]);
    let run = |at: &usize| json!([archive.runs[*at].title, links.run(*at)]);
    let data = json!({
        "clocks": CLOCKS.map(|clock| axis(clock.metric())),
        "metrics": whole.iter().map(quality).collect::<Vec<_>>(),
        "colours": palette::hexadecimal().collect::<Vec<_>>(),
        "solvers": lists.methods.all.iter().map(solver).collect::<Vec<_>>(),
        "settings": lists.problems.all.iter().map(|at| line(&archive.problems.at(*at).name)).collect::<Vec<_>>(),
        "runs": lists.runs.all.iter().map(run).collect::<Vec<_>>(),
        "machines": lists.machines.all.iter().map(|at| [archive.machines.at(*at).label.as_str()]).collect::<Vec<_>>(),
        "series": lists.series,
        "traced": traced.collect::<Vec<_>>(),
        "cases": cases,
        "along": of_along.columns,
        "ends": of_ends.columns,
    });
    Some(data.to_string())
}

/// The cases as columns.
#[derive(Default, Serialize)]
struct CaseColumns<'a> {
    series: Vec<usize>,
    seed: Vec<u64>,
    id: Vec<Cow<'a, str>>,
    /// Numbers of points before the ends.
    along: Vec<usize>,
    /// 1 of a case with an end, else 0.
    ends: Vec<u8>,
}

/// The metrics that some points have, in the order of the registry.
fn metrics_of<'p>(points: impl Iterator<Item = &'p Point>) -> Vec<&'static Metric> {
    let known: BTreeSet<&str> = points.flat_map(|point| &point.values).map(|(name, _)| *name).collect();
    METRICS.iter().filter(|metric| known.contains(metric.name)).collect()
}

/// The things that cases of a page are of, each with a number of its own on the page.
#[derive(Default)]
struct Lists {
    methods: Numbered,
    problems: Numbered,
    runs: Numbered,
    machines: Numbered,
    series: Vec<Value>,
    known: BTreeMap<(Key, String, String), usize>,
}

/// Places of the archive in the order of their numbers.
#[derive(Default)]
struct Numbered {
    all: Vec<usize>,
}

impl Numbered {
    fn number(&mut self, place: usize) -> usize {
        self.all.iter().position(|known| *known == place).unwrap_or_else(|| {
            self.all.push(place);
            self.all.len() - 1
        })
    }
}

impl Lists {
    /// The number of the series of a case: of all that it shares with the cases of other seeds.
    fn series(&mut self, key: Key, facets: String, label: &str) -> usize {
        let known = (key, facets, label.to_owned());
        if let Some(number) = self.known.get(&known) {
            return *number;
        }
        let solver = self.methods.number(key.method);
        let setting = self.problems.number(key.problem);
        let (run, machine) = (self.runs.number(key.run), self.machines.number(key.machine));
        self.series.push(json!([solver, setting, run, machine, known.1, line(label)]));
        self.known.insert(known, self.series.len() - 1);
        self.series.len() - 1
    }
}

/// Points as columns: one for each clock, and one for each of some metrics.
struct Columns<'m> {
    metrics: &'m [&'static Metric],
    columns: Vec<Vec<Value>>,
}

impl<'m> Columns<'m> {
    /// Columns without a point.
    fn new(metrics: &'m [&'static Metric]) -> Columns<'m> {
        Columns { metrics, columns: vec![Vec::new(); CLOCKS.len() + metrics.len()] }
    }

    /// Adds a point.
    fn add(&mut self, point: &Point) {
        let of_metric = |metric: &&'static Metric| {
            let found = point.values.iter().find(|(name, _)| *name == metric.name);
            found.map(|(_, value)| *value)
        };
        let values = point.clocks.iter().copied().chain(self.metrics.iter().map(of_metric));
        self.columns.iter_mut().zip(values).for_each(|(column, value)| column.push(number(value)));
    }
}

/// A number with four significant digits; null where it is not known or not finite. A whole number has no decimal
/// point.
fn number(value: Option<f64>) -> Value {
    let Some(value) = value else { return Value::Null };
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    let is_whole = rounded.fract() == 0.0 && rounded.abs() < 1e15;
    if is_whole { (rounded as i64).into() } else { rounded.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_four_digits_and_unknown_numbers_are_null() {
        let metrics: Vec<&'static Metric> =
            METRICS.iter().filter(|metric| ["residual_y", "test_rmse"].contains(&metric.name)).collect();
        let mut columns = Columns::new(&metrics);
        let point = |seconds: f64, rmse: f64| Point {
            clocks: [Some(seconds), None, Some(12.0)],
            values: vec![("test_rmse", rmse)],
        };
        columns.add(&point(1.0 / 3.0, 0.123456));
        columns.add(&point(2.0, f64::NAN));
        let found = json!(columns.columns).to_string();
        assert_eq!(found, "[[0.3333,2],[null,null],[12,12],[null,null],[0.1235,null]]");
    }

    #[test]
    fn numbers_are_rounded_and_whole_ones_have_no_decimal_point() {
        for (value, text) in [(0.0, "0"), (-3.0, "-3"), (123_456.0, "123500"), (1.0e-9, "1e-9")] {
            assert_eq!(number(Some(value)).to_string(), text);
        }
        assert_eq!(number(Some(f64::INFINITY)), Value::Null);
    }
}
