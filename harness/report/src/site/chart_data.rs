//! The cases of a data set for the chart of its page, as JSON.
//!
//! ```text
//! {"clocks": [[name, label], ...], "metrics": [[name, label, is logarithmic], ...], "colours": ["#0072B2", ...],
//!  "solvers": [[name, address], ...], "settings": [problem, ...], "runs": [[name, address], ...], "machines": [[label], ...],
//!  "series": [[solver, setting, run, machine, facets], ...], "traced": [metric, ...],
//!  "cases": [[series, seed, id, label, [[clock, ..., traced metric, ...], ...], [clock, ..., metric, ...]], ...]}
//! ```

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::metric::{METRICS, Metric, Style};
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
    let mut rows = Vec::new();
    for at in drawn {
        let (CaseEntry { key, points }, row) = (&archive.cases[at], &archive.rows()[at]);
        let series = lists.series(*key, Facets::of(archive, [at]).text());
        let shown = thinned(points.along.iter().collect(), most);
        let shown: Vec<Value> = shown.into_iter().map(|point| values(point, &along)).collect();
        let end = points.end.as_ref().map(|point| values(point, &whole));
        rows.push(json!([series, row.labels.seed, row.id, row.labels.solver, shown, end]));
    }
    let traced = along.iter().filter_map(|metric| whole.iter().position(|of| of.name == metric.name));
    let axis = |metric: &Metric| json!([metric.name, metric.axis]);
    let quality = |metric: &&Metric| json!([metric.name, metric.axis, metric.style == Style::Scientific]);
    let solver = |at: &usize| json!([archive.methods.at(*at).name, links.method(*at)]);
    let run = |at: &usize| json!([archive.runs[*at].title, links.run(*at)]);
    let data = json!({
        "clocks": CLOCKS.map(|clock| axis(clock.metric())),
        "metrics": whole.iter().map(quality).collect::<Vec<_>>(),
        "colours": palette::hexadecimal().collect::<Vec<_>>(),
        "solvers": lists.methods.all.iter().map(solver).collect::<Vec<_>>(),
        "settings": lists.problems.all.iter().map(|at| archive.problems.at(*at).name.as_str()).collect::<Vec<_>>(),
        "runs": lists.runs.all.iter().map(run).collect::<Vec<_>>(),
        "machines": lists.machines.all.iter().map(|at| [archive.machines.at(*at).label.as_str()]).collect::<Vec<_>>(),
        "series": lists.series,
        "traced": traced.collect::<Vec<_>>(),
        "cases": rows,
    });
    Some(data.to_string())
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
    known: BTreeMap<(Key, String), usize>,
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
    /// The number of the series of a case.
    fn series(&mut self, key: Key, facets: String) -> usize {
        if let Some(number) = self.known.get(&(key, facets.clone())) {
            return *number;
        }
        let solver = self.methods.number(key.method);
        let setting = self.problems.number(key.problem);
        let (run, machine) = (self.runs.number(key.run), self.machines.number(key.machine));
        self.series.push(json!([solver, setting, run, machine, facets]));
        self.known.insert((key, facets), self.series.len() - 1);
        self.series.len() - 1
    }
}

/// The clocks and values of a point; null where one is not known.
fn values(point: &Point, metrics: &[&Metric]) -> Value {
    let of_metric = |metric: &&Metric| {
        let found = point.values.iter().find(|(name, _)| *name == metric.name);
        found.map(|(_, value)| rounded(*value))
    };
    let clocks = point.clocks.iter().map(|clock| clock.map(rounded));
    clocks.chain(metrics.iter().map(of_metric)).collect::<Vec<Option<f64>>>().into()
}

/// The number with four significant digits, which are enough for a chart.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_and_unknown_ones_are_null() {
        let point =
            Point { clocks: [Some(1.0 / 3.0), None, Some(12.0)], values: vec![("test_rmse", 0.123456)] };
        let metrics: Vec<&Metric> =
            METRICS.iter().filter(|metric| ["residual_y", "test_rmse"].contains(&metric.name)).collect();
        assert_eq!(values(&point, &metrics).to_string(), "[0.3333,null,12.0,null,0.1235]");
    }
}
