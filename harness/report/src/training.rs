//! The table of runs that train: what each solver and estimator came to, and how much sooner than the
//! same solver from cold starts with standard probes.

use gpbench_record::{EstimatorMethod, names};

use crate::aggregate::{Estimate, Group};
use crate::metric::{SECONDS, Style, short};
use crate::reference::{Figure, TrainingReference};
use crate::run::Run;
use crate::table::{Cell, Table};
use crate::tables::with_spread;
use crate::{distance, likelihood};

/// What the columns mean.
pub(crate) const CONVENTIONS: &str = "\
Mean ± standard error over seeds (a seed's timing repeats are averaged first) of the cases that ended ok or \
not_converged; `ok` counts the cases that ended ok, and a mean over fewer seeds than were run says over how many, \
as in `(2 of 3)`. RMSE and NLL (mean negative log-likelihood of a test row) are of \
the prediction under the final hyperparameters, from pathwise samples solved for to the same tolerance; `log \
likelihood` is the exact log marginal likelihood there. `train` is the wall-clock time of all outer steps, without \
that prediction and without looks at test rows; `solver` is the part of prepare and solve in it. Epochs (n² kernel \
entries used) and iterations are sums over the steps. `sooner` is how many times less time the steps took than those \
of the same solver with standard probes and cold starts, `fewer epochs` the same of epochs. Residuals are those of the \
prediction, recomputed in double precision by a process that never loaded the solver.";

const TITLES: [(&str, &str, Style); 10] = [
    (names::RESIDUAL_Y, "residual y", Style::Scientific),
    (names::RESIDUAL_PROBES, "residual probes", Style::Scientific),
    (names::TEST_RMSE, "test RMSE", Style::Fixed),
    (names::TEST_NLL, "test NLL", Style::Fixed),
    (names::LOG_MARGINAL_LIKELIHOOD, "log likelihood", Style::Short),
    (names::STEPS, "steps", Style::Short),
    (names::ITERATIONS, "iterations", Style::Short),
    (names::EPOCHS, "epochs", Style::Short),
    (names::SECONDS_TRAIN, "train [s]", Style::Short),
    (SECONDS, "solver [s]", Style::Short),
];

/// One table for each data set and kernel, and one of the distances to exact training where there was such.
pub(crate) fn results(run: &Run, groups: &[Group]) -> Vec<Table> {
    let tables = models(groups).into_iter().map(|model| of_model(run, groups, model));
    tables.chain(distance::table(run, groups)).collect()
}

/// Ours beside published figures of training.
pub(crate) fn published(run: &Run, groups: &[Group], reference: TrainingReference) -> Option<Table> {
    let mut table = Table::new(format!("Beside the figures of {}", reference.paper.short()));
    for name in ["data set", "solver", "estimator"] {
        table = table.words(name);
    }
    for name in ["RMSE", "NLL", "minutes", "sooner"] {
        table = table.numbers(format!("{name}, here")).numbers(format!("{name}, there"));
    }
    let there = |figure: Option<Figure>, style: Style| {
        let estimate = |Figure { mean, stderr }| Estimate { mean, stderr, seeds: 10, of: 10 };
        figure.map_or_else(String::new, |figure| with_spread(style, &estimate(figure)))
    };
    for group in models(groups).into_iter().flat_map(|model| of(run, groups, model)) {
        let case = likelihood::first(run, group).map(|row| &row.case);
        let Some(theirs) = case.and_then(reference.find) else { continue };
        let here = |name: &str, style: Style, scale: f64| {
            let scaled = |e: &Estimate| Estimate {
                mean: e.mean * scale,
                stderr: e.stderr.map(|stderr| stderr * scale),
                ..*e
            };
            group.metrics.get(name).map_or_else(String::new, |e| with_spread(style, &scaled(e)))
        };
        let ratio = baseline(run, groups, group).and_then(|base| ratio(base, group, names::SECONDS_TRAIN));
        table.row([
            group.problem.dataset.clone(),
            group.solver.clone(),
            group.problem.estimator.clone(),
            here(names::TEST_RMSE, Style::Fixed, 1.0),
            there(theirs.rmse, Style::Fixed),
            here(names::TEST_NLL, Style::Fixed, 1.0),
            there(theirs.nll, Style::Fixed),
            here(names::SECONDS_TRAIN, Style::Short, 1.0 / 60.0),
            there(theirs.minutes, Style::Short),
            ratio.unwrap_or_default(),
            theirs.speed_up.map_or_else(String::new, |ratio| format!("{}×", short(ratio))),
        ]);
    }
    table.caption = reference.conditions.to_owned();
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

/// Iterations of a solve, on average over the steps.
pub(crate) fn iterations_of_a_solve(run: &Run, group: &Group) -> Option<f64> {
    let second = likelihood::first(run, group)?.case.estimator.second_solve;
    let solves = if second { 2.0 } else { 1.0 };
    Some(group.mean(names::ITERATIONS)? / group.mean(names::STEPS)? / solves)
}

/// Data sets with their kernels, each pair once.
pub(crate) fn models(groups: &[Group]) -> Vec<(&str, &str)> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for group in groups {
        let model = (group.problem.dataset.as_str(), group.problem.kernel.as_str());
        if !all.contains(&model) {
            all.push(model);
        }
    }
    all
}

/// What tells a model from the others: the data set, and the kernel where it varies.
pub(crate) fn title((dataset, kernel): (&str, &str), groups: &[Group]) -> String {
    match groups.iter().any(|group| group.problem.kernel != kernel) {
        true => format!("{dataset} · {kernel}"),
        false => dataset.to_owned(),
    }
}

/// The groups of a model, solver by solver.
pub(crate) fn of<'a>(run: &Run, groups: &'a [Group], (dataset, kernel): (&str, &str)) -> Vec<&'a Group> {
    let is_of = |group: &&Group| group.problem.dataset == dataset && group.problem.kernel == kernel;
    let mut found: Vec<&Group> = groups.iter().filter(is_of).collect();
    let solvers = run.solvers();
    // Stable: estimators keep the order of the spec.
    found.sort_by_key(|group| solvers.iter().position(|solver| *solver == group.solver));
    found
}

fn of_model(run: &Run, groups: &[Group], model: (&str, &str)) -> Table {
    let mut table = Table::new(title(model, groups)).words("solver").words("estimator").numbers("ok");
    table = TITLES.iter().fold(table, |table, (_, title, _)| table.numbers(*title));
    table = table.numbers("sooner").numbers("fewer epochs");
    let shown = of(run, groups, model);
    for group in &shown {
        let base = baseline(run, groups, group);
        let mut cells: Vec<Cell> = vec![
            group.solver.as_str().into(),
            group.problem.estimator.as_str().into(),
            format!("{}/{}", group.n_ok, group.n).into(),
        ];
        let cell = |name: &str, style: Style| {
            group.metrics.get(name).map_or_else(String::new, |estimate| with_spread(style, estimate))
        };
        cells.extend(TITLES.iter().map(|(name, _, style)| cell(name, *style).into()));
        cells.extend([names::SECONDS_TRAIN, names::EPOCHS].map(|name| {
            let ratio = base.and_then(|base| ratio(base, group, name));
            ratio.unwrap_or_default().into()
        }));
        table.row(cells);
    }
    table.without_empty_columns()
}

/// The same solver on the same data with standard probes and cold starts.
fn baseline<'a>(run: &Run, groups: &'a [Group], group: &Group) -> Option<&'a Group> {
    let model = (group.problem.dataset.as_str(), group.problem.kernel.as_str());
    of(run, groups, model).into_iter().find(|other| other.solver == group.solver && is_baseline(run, other))
}

/// How many times less of a metric a group has than another.
fn ratio(base: &Group, group: &Group, name: &str) -> Option<String> {
    let ratio = base.mean(name)? / group.mean(name)?;
    ratio.is_finite().then(|| format!("{}×", short(ratio)))
}

/// Whether a group has standard probes and cold starts.
fn is_baseline(run: &Run, group: &Group) -> bool {
    let case = likelihood::first(run, group).map(|row| &row.case.estimator);
    case.is_some_and(|estimator| estimator.method == EstimatorMethod::Standard && !estimator.warm_start)
}
