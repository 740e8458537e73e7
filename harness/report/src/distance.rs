//! How far training went from exact training (Lin et al. 2024, Figures 5 and 8).

use gpbench_record::{EstimatorMethod, Hyperparameters, Row, Scale, Training};

use crate::aggregate::Group;
use crate::metric::short;
use crate::run::Run;
use crate::table::Table;
use crate::tables::in_group;
use crate::training::{models, of, title};

/// Median of absolute values, what 95 % of them stay below, and the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) most: f64,
    pub(crate) largest: f64,
}

impl Spread {
    /// The spread of some values; `None` where there are none.
    pub(crate) fn of(values: &[f64]) -> Option<Spread> {
        let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let last = sizes.len().checked_sub(1)?;
        let rank = |share: f64| sizes[(share * last as f64).round() as usize];
        Some(Spread { median: rank(0.5), most: rank(0.95), largest: sizes[last] })
    }
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", short(100.0 * share))
}

/// The table of distances, one row a solver and estimator; none where nothing was trained exactly.
pub(crate) fn table(run: &Run, groups: &[Group]) -> Option<Table> {
    let mut table = Table::new("Distance to exact training");
    table = ["data set", "solver", "estimator"].into_iter().fold(table, Table::words);
    table = ["median", "95 % below", "largest"].into_iter().fold(table, Table::numbers);
    for model in models(groups) {
        for group in of(run, groups, model) {
            let Some(spread) = Spread::of(&differences(run, group)) else { continue };
            let names = [title(model, groups), group.solver.clone(), group.problem.estimator.clone()];
            table.row(names.into_iter().chain([spread.median, spread.most, spread.largest].map(percent)));
        }
    }
    table.caption =
        "|θ − θ exact| / θ exact over all trained scales, outer steps and seeds, where θ exact is what \
                     training with exact gradients came to after the same step from the same start."
            .to_owned();
    (!table.rows.is_empty()).then_some(table)
}

/// (theta - theta_exact) / theta_exact of every hyperparameter after every step, over all seeds; empty where there
/// is no exact training to compare with, and for exact training itself.
pub(crate) fn differences(run: &Run, group: &Group) -> Vec<f64> {
    let own = run.rows.iter().filter(|row| in_group(row, group) && row.status.is_answer() && !is_exact(row));
    own.filter_map(|row| Some((row, exact(run, row)?))).flat_map(|(row, exact)| between(row, exact)).collect()
}

/// The exact training that a case is to be compared with: of the same rows, in as many steps of the same kind.
fn exact<'a>(run: &'a Run, row: &Row) -> Option<&'a Row> {
    let training = row.case.train.as_ref().filter(|train| train.replay.is_empty()).map(outline)?;
    let labels = &row.labels;
    run.rows.iter().filter(|other| is_exact(other) && other.status.is_answer()).find(|other| {
        (&other.labels.dataset, &other.labels.kernel, other.labels.seed)
            == (&labels.dataset, &labels.kernel, labels.seed)
            && other.case.train.as_ref().map(outline).as_ref() == Some(&training)
    })
}

/// What decides how training goes: all but where the likelihood is laid out afterwards.
fn outline(training: &Training) -> Training {
    Training { landscape: None, ..training.clone() }
}

/// Whether a row is of exact training.
pub(crate) fn is_exact(row: &Row) -> bool {
    row.case.estimator.method == EstimatorMethod::Exact
}

/// The differences of the scales that were trained.
fn between(row: &Row, exact: &Row) -> Vec<f64> {
    let fixed = row.case.train.as_ref().map_or(&[][..], |train| &train.fixed);
    // Not of a mean, which may be 0: nothing is relative to that.
    let is_trained =
        |name: &str| Scale::ALL.iter().any(|scale| name.starts_with(scale.name()) && !fixed.contains(scale));
    let exact = path(exact);
    let mut differences = Vec::new();
    for (step, own) in path(row) {
        let Some((_, exact)) = exact.iter().find(|(other, _)| *other == step) else { continue };
        let of_name = |(name, value): (&String, &f64)| Some(value / exact.get(name)? - 1.0);
        let trained = own.iter().filter(|(name, _)| is_trained(name));
        differences.extend(trained.filter_map(of_name).filter(|difference| difference.is_finite()));
    }
    differences
}

/// Hyperparameters after each step, by the number of steps taken. Those of the first step are given, not found.
fn path(row: &Row) -> Vec<(u64, &Hyperparameters)> {
    let later = row.steps.iter().filter(|step| step.step > 0).map(|step| (step.step, &step.hyperparameters));
    let last = row.steps.last().map(|step| (step.step + 1, &row.hyperparameters));
    later.chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_of_absolute_values() {
        let values: Vec<f64> = (-100..=100).map(f64::from).collect();
        let Spread { median, most, largest } = Spread::of(&values).unwrap();
        assert_eq!((median, most, largest), (50.0, 95.0, 100.0));
        assert_eq!(Spread::of(&[]), None);
    }
}
