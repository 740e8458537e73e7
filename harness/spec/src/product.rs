//! The product of the axes, cell by cell.

use gpbench_record::{Case, Target};

use crate::axes::{Axes, EstimatorEntry, MOST_CASES, SolverEntry};
use crate::cost::import_bytes;
use crate::error::Mistakes;
use crate::exclude::Rule;
use crate::points::too_many_points;
use crate::source::{At, Location, START};
use crate::spec_case::SpecCase;
use crate::tasks::rules::{CellEntries, Rules};
use crate::typed::Typed;

/// Whether the product of the axes is small enough to be planned; reports a larger one before it fills the memory.
pub(crate) fn is_bounded(axes: &Axes<'_>, seeds: usize, repeats: u32, mistakes: &mut Mistakes) -> bool {
    let estimators = axes.estimators.as_ref().map_or(1, Vec::len);
    let lengths = [axes.datasets.len(), axes.kernels.len(), estimators, axes.solvers.len(), seeds];
    let cases = lengths.iter().fold(repeats as usize, |product, length| product.saturating_mul(*length));
    if cases > MOST_CASES {
        let what = format!("the spec has {cases} cases; at most {MOST_CASES} can be planned");
        let hint = "remove seeds, repeats or entries of the matrix, or write several specs".to_owned();
        mistakes.add(&START, what, hint);
    }
    cases <= MOST_CASES
}

/// The product of the axes without the excluded cells.
///
/// Only cells that no exclude removes are resolved: published hyperparameters, for example, need not exist for a
/// cell that is left out.
pub(crate) fn cells<'a>(
    typed: &Typed,
    rules: &impl Rules<'a>,
    axes: &Axes<'_>,
    seeds: &[At<u64>],
    excludes: &[Rule],
    stop_at: Option<&Target>,
    mistakes: &mut Mistakes,
) -> Vec<SpecCase> {
    let mut cells = Vec::new();
    let mut used = vec![false; excludes.len()];
    let mut possible = 0_usize;
    for (entries, seed) in combinations(axes, seeds) {
        possible += 1;
        let CellEntries { dataset, kernel, estimator, solver, .. } = &entries;
        let of_estimator = estimator.map(|estimator| estimator.name.as_str());
        let names = [
            &[dataset.name.as_str()][..],
            &[&kernel.name],
            of_estimator.as_slice(),
            &[&solver.name, solver.entry()],
        ];
        let mut excluded = false;
        for (used, rule) in used.iter_mut().zip(excludes) {
            let hit = rule.matches(names, seed.value);
            *used |= hit;
            excluded |= hit;
        }
        if !excluded {
            cells.extend(cell(rules, &entries, seed, stop_at, mistakes));
        }
    }
    if possible == 0 && excludes.is_empty() {
        check_datasets(rules, axes, seeds, mistakes);
    }
    // A narrowed matrix may have lost the cells of an exclude.
    if possible > 0 && !typed.axes_overridden {
        for (rule, _) in excludes.iter().zip(&used).filter(|(rule, used)| !rule.wrong && !**used) {
            mistakes.add(&rule.at, "this exclude matches no cell of the matrix", None);
        }
    }
    if possible > 0
        && cells.is_empty()
        && mistakes.is_empty()
        && let Some(rule) = excludes.first()
    {
        mistakes.add(&rule.at, "the excludes leave no cell of the matrix", None);
    }
    cells
}

/// Reports data sets with too few rows where an axis without a right entry leaves no cell to report them for.
fn check_datasets<'a>(rules: &impl Rules<'a>, axes: &Axes<'_>, seeds: &[At<u64>], mistakes: &mut Mistakes) {
    for (dataset, seed) in
        axes.datasets.iter().flat_map(|dataset| seeds.iter().map(move |seed| (dataset, seed)))
    {
        dataset.rows(seed, rules.validation(), mistakes);
    }
}

/// Every combination of entries and a seed.
fn combinations<'c>(
    axes: &'c Axes<'_>,
    seeds: &'c [At<u64>],
) -> impl Iterator<Item = (CellEntries<'c>, &'c At<u64>)> {
    axes.datasets.iter().flat_map(move |dataset| {
        axes.kernels.iter().flat_map(move |kernel| {
            estimators(axes).flat_map(move |estimator| {
                axes.solvers.iter().flat_map(move |solver| {
                    let entries = move |seed: &'c At<u64>| {
                        (CellEntries { dataset, kernel, estimator, solver, seed: seed.value }, seed)
                    };
                    seeds.iter().map(entries)
                })
            })
        })
    })
}

/// Every estimator, or once none for a task without that axis.
fn estimators<'c>(axes: &'c Axes<'_>) -> impl Iterator<Item = Option<&'c EstimatorEntry>> {
    let none = axes.estimators.is_none().then_some(None);
    axes.estimators.iter().flatten().map(Some).chain(none)
}

/// One cell, or `None` for one with a mistake, which has been reported.
fn cell<'a>(
    rules: &impl Rules<'a>,
    entries: &CellEntries<'_>,
    seed: &At<u64>,
    stop_at: Option<&Target>,
    mistakes: &mut Mistakes,
) -> Option<SpecCase> {
    let CellEntries { dataset, kernel, solver, .. } = entries;
    let validation = rules.validation();
    let (rows, params) = (dataset.rows(seed, validation, mistakes), solver.on(&dataset.name));
    let numbers = rows.as_ref().map(|rows| kernel.numbers(dataset, rows.split, rules.prior_mean(), mistakes));
    let task = rules.task(entries, mistakes);
    let n = dataset.n(seed.value, validation.map(|share| share.value));
    check_points(solver, &dataset.name, n, mistakes);
    let (rows, params, numbers, task) = (rows?, params?, numbers??, task?);
    if let (Some(at), Some(_), None) = (&dataset.collapse, task.inducing(), task.learning()) {
        refuse_collapse(at, &dataset.name, &solver.name, mistakes);
    }
    let (seed, budget) = (seed.value, solver.budget);
    Some(SpecCase {
        case: Case {
            task,
            dataset: rows,
            kernel: numbers,
            solver: params,
            budget,
            stop_at: stop_at.cloned(),
            seed,
            repeat: 0,
        },
        plugin_file: solver.library.file.clone(),
        plugin_sha256: solver.library.sha256.clone(),
        import_bytes: import_bytes(&solver.library.composition),
        capabilities: solver.info.capabilities.clone(),
        own_files: dataset.own_files.clone(),
        n,
        d: dataset.d,
    })
}

/// Reports more inducing points than there are training rows to choose them from.
fn check_points(solver: &SolverEntry<'_>, dataset: &str, n: Option<usize>, mistakes: &mut Mistakes) {
    let found = solver.inducing.zip(n).and_then(|(inducing, n)| too_many_points(inducing, dataset, n));
    if let (Some((what, hint)), Some(at)) = (found, &solver.points) {
        mistakes.add(at, what, hint);
    }
}

/// Reports duplicates that are to be collapsed beside inducing points, whose unknowns no rows share.
fn refuse_collapse(at: &Location, dataset: &str, solver: &str, mistakes: &mut Mistakes) {
    let what = format!(
        "data set `{dataset}` collapses duplicates, which does not go with the inducing points of solver \
         `{solver}`"
    );
    let hint = "exclude the pair, or give the solver a data set of its own".to_owned();
    mistakes.add(at, what, hint);
}
