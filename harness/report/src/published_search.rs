//! Searches by Thompson sampling beside those that Lin et al. 2023 published.
//!
//! Objectives are drawn at random and sizes differ, so levels are not comparable: gains over random search are.

use std::collections::BTreeMap;

use gpbench_record::Source;
use gpbench_record::metric::Style;
use serde::Deserialize;

use crate::aggregate::MeanWithError;
use crate::layout::with_error;
use crate::number::short;
use crate::papers::LIN_2023;
use crate::problem::GroupProblem;
use crate::reference::Reference;
use crate::results::Results;
use crate::search::Measure;
use crate::search_pool::Pool;
use crate::table::TextTable;

const FILE: &str = include_str!("../../../benchmarks/reference/lin2023-thompson.toml");

/// Largest logarithm of the ratio of two length scales that count as the same.
const NEAR: f64 = 0.14;

/// The published searches.
#[derive(Debug, Deserialize)]
pub(crate) struct Searches {
    length_scales: Vec<f64>,
    after_steps: Vec<u64>,
    sizes: Sizes,
    random_search: Random,
    methods: Vec<Method>,
    solvers: BTreeMap<String, Vec<String>>,
}

/// Sizes of the published searches.
#[derive(Debug, Deserialize)]
struct Sizes {
    /// Rows of the design.
    n: f64,
    /// Outer steps.
    steps: u64,
}

/// Random search.
#[derive(Debug, Deserialize)]
struct Random {
    best: Vec<Printed>,
    all: Printed,
    after: Vec<f64>,
}

/// A method with a budget.
#[derive(Debug, Deserialize)]
struct Method {
    method: String,
    budget: String,
    /// Final values, by length scale.
    best: Vec<Printed>,
    /// Final value over all objectives.
    all: Printed,
    /// Means over all objectives after some steps.
    after: Vec<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Printed {
    mean: f64,
}

/// Gains of a published method over random search along its steps.
pub(crate) struct Gains {
    /// The method and its budget.
    pub(crate) name: String,
    /// The solver of ours that it stands for: its id in its plugin.
    pub(crate) plugin: String,
    /// Share of the steps, and gain.
    pub(crate) path: Vec<(f64, f64)>,
}

impl Searches {
    /// The searches that a reference publishes, where it does.
    pub(crate) fn of(reference: &Reference) -> Option<Searches> {
        (reference.paper.short == LIN_2023)
            .then(|| toml::from_str(FILE).expect("a test reads the built-in file"))
    }

    /// Gains of the methods that these solvers, given by their ids in their plugins, stand for.
    pub(crate) fn gains(&self, plugins: &[&str]) -> Vec<Gains> {
        let of_method = |method: &Method| {
            let plugin = plugins.iter().find(|plugin| self.is_of(method, plugin))?;
            let name = format!("{} {}, published", method.method, method.budget);
            Some(Gains { name, plugin: (*plugin).to_owned(), path: self.path(method) })
        };
        self.methods.iter().filter_map(of_method).collect()
    }

    fn is_of(&self, method: &Method, plugin: &str) -> bool {
        self.solvers.get(&method.method).is_some_and(|own| own.iter().any(|own| own == plugin))
    }

    fn path(&self, method: &Method) -> Vec<(f64, f64)> {
        let share = |step: u64| step as f64 / self.sizes.steps as f64;
        let start = (0.0, 0.0);
        let later = self.after_steps.iter().zip(&method.after).zip(&self.random_search.after);
        let later = later.map(|((step, best), random)| (share(*step), best - random));
        let end = (1.0, method.all.mean - self.random_search.all.mean);
        [start].into_iter().chain(later).chain([end]).collect()
    }

    /// Index of the published length scale with the same n l^d, and this length scale converted to the published n.
    fn place(&self, n: usize, d: usize, length_scale: f64) -> Option<(usize, f64)> {
        let here = length_scale * (n as f64 / self.sizes.n).powf(1.0 / d as f64);
        let distance = |there: &f64| (here / there).ln().abs();
        let places = self.length_scales.iter().enumerate();
        let (place, nearest) = places.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))?;
        (distance(nearest) <= NEAR).then_some((place, here))
    }
}

/// Our gains over random search beside the published ones, data set by data set; none where no data set has a published
/// length scale.
pub(crate) fn table(results: &Results<'_>, reference: &Reference, pool: &Pool<'_>) -> Option<TextTable> {
    let searches = Searches::of(reference).filter(|_| pool.measure == Measure::Best)?;
    let title = if pool.title.is_empty() { String::new() } else { format!(": {}", pool.title) };
    let mut table = TextTable::new(format!("Gains over random search beside those of {LIN_2023}{title}"))
        .words("data set")
        .words("solver")
        .words("method there")
        .numbers("length scale at n = 50 000, here")
        .numbers("length scale, there")
        .numbers("gain, here");
    let budgets = ["small", "large"];
    table =
        budgets.iter().fold(table, |table, budget| table.numbers(format!("gain, there, {budget} budget")));
    for problem in pool.problems() {
        let Some((n, d, length_scale)) = size(results, problem) else { continue };
        let Some((place, here)) = searches.place(n, d, length_scale) else { continue };
        let own = pool.of_problem(problem);
        for solver in &own.solvers {
            let plugin = plugin(results, solver);
            let methods = || searches.methods.iter().filter(|method| searches.is_of(method, plugin));
            let there = |budget: &str| {
                let method = methods().find(|method| method.budget == budget)?;
                let gain = method.best.get(place)?.mean - searches.random_search.best.get(place)?.mean;
                Some(format!("{gain:.2}"))
            };
            let gains: Vec<f64> =
                own.of(solver).filter_map(|search| search.gain(search.stops.len())).collect();
            let gain = MeanWithError::of(&gains, own.targets().len());
            let words = [
                results.problem_title(problem),
                (*solver).to_owned(),
                methods().next().map_or_else(String::new, |method| method.method.clone()),
                short(here),
                searches.length_scales[place].to_string(),
                gain.map_or_else(String::new, |gain| with_error(Style::Fixed, &gain)),
            ];
            let there = budgets.iter().map(|budget| there(budget).unwrap_or_default());
            table.row(words.into_iter().chain(there));
        }
    }
    table.caption = CAPTION.to_owned();
    (!table.rows.is_empty()).then_some(table)
}

const CAPTION: &str = "\
Gains are final values less those of random search, means over seeds. A data set stands beside the published length scale \
with the nearest n l^d, which decides how dense the design is. The published searches have n = 50 000, 30 steps of 1000 \
points, other objectives (from a product kernel) and other budgets; order and size of the gains are comparable, their \
digits are not. Hours on an A100 are not compared.";

/// Rows of the design, inputs and length scale of a problem's objective.
fn size(results: &Results<'_>, problem: &GroupProblem) -> Option<(usize, usize, f64)> {
    match &results.cases_of(problem).next()?.case().dataset.source {
        Source::Objective(objective) => Some((objective.n, objective.d, objective.length_scale)),
        _ => None,
    }
}

/// Id of a solver in its plugin.
pub(crate) fn plugin<'f>(results: &Results<'f>, solver: &str) -> &'f str {
    let case = results.cases.iter().find(|case| case.solver() == solver);
    case.map_or("", |case| &case.case().solver.plugin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searches() -> Searches {
        Searches::of(&Reference::named("lin2023").unwrap()).unwrap()
    }

    #[test]
    fn the_built_in_file_is_whole() {
        let searches = searches();
        let (lengths, steps) = (searches.length_scales.len(), searches.after_steps.len());
        assert_eq!(searches.methods.len(), 8);
        assert_eq!((searches.random_search.best.len(), searches.random_search.after.len()), (lengths, steps));
        for method in &searches.methods {
            assert_eq!((method.best.len(), method.after.len()), (lengths, steps), "{}", method.method);
            // The mean over all objectives is that of the length scales, up to their rounding.
            let mean = method.best.iter().map(|best| best.mean).sum::<f64>() / lengths as f64;
            assert!((mean - method.all.mean).abs() < 0.01, "{} {}", method.method, method.budget);
        }
        assert!(Searches::of(&Reference::named("lin2024").unwrap()).is_none());
    }

    #[test]
    fn gains_run_from_the_design_to_the_last_step() {
        let gains = searches().gains(&["cholesky", "cg"]);
        let names: Vec<&str> = gains.iter().map(|gains| gains.name.as_str()).collect();
        assert_eq!(names, ["CG small, published", "CG large, published"]);
        assert_eq!((gains[0].path.len(), gains[0].path[0]), (6, (0.0, 0.0)));
        let (share, gain) = gains[0].path[5];
        assert!(share == 1.0 && (gain - 0.965).abs() < 1e-9);
    }

    #[test]
    fn length_scales_are_compared_at_the_same_density() {
        let place = |n: usize, length: f64| searches().place(n, 8, length).map(|(place, _)| place);
        assert_eq!(place(50_000, 0.1), Some(0));
        // 2000 rows with 1.5 times the length scale are as dense.
        assert_eq!((place(2000, 0.3), place(2000, 0.5), place(2000, 0.75)), (Some(1), Some(2), Some(4)));
        assert_eq!(place(2000, 3.0), None);
    }
}
