//! Training: results of each solver and estimator, and their speed-up over the same solver with standard probes and
//! cold starts.

use gpbench_record::{Probes, Start, names};

use super::section::{MEANS, RESIDUALS, Section};
use crate::aggregate::Group;
use crate::charts::figure::Drawn;
use crate::charts::{
    distance, pareto, paths, probes, profile, seconds, section, sweep, training, truncation,
};
use crate::distance::{Spread, differences};
use crate::estimator;
use crate::layout::{Layout, column};
use crate::number::{percent, times};
use crate::papers::LIN_2024;
use crate::results::{Model, Results};
use crate::table::TextTable;

/// The section of task `train`.
pub(super) struct Train;

const TRAINING: &str = "\
RMSE, NLL (mean negative log-likelihood of a test row) and residuals are those of the prediction under the final \
hyperparameters, from pathwise samples; `log likelihood` is the exact log marginal likelihood there. `train` is the \
wall-clock time of all outer steps, without that prediction and without trace evaluations; `total` is its part in \
prepare and solve. Epochs and iterations are sums over the steps. `speed-up` is the time of the steps of the same \
solver with standard probes and cold starts over the time of these steps; `fewer epochs` is the same for epochs.";

impl Section for Train {
    fn title(&self) -> &'static str {
        "Training of hyperparameters"
    }

    fn conventions(&self) -> &'static [&'static str] {
        &[MEANS, RESIDUALS, TRAINING]
    }

    fn layouts<'a>(&self, results: &'a Results<'a>) -> Vec<Layout<'a>> {
        let ratio = |title: &str, metric: &'static str| {
            column(title, move |group| ratio(results, group, metric).map(times))
        };
        let layout = |model: Model<'_>| Layout {
            title: results.model_title(model),
            groups: results.of_model(model),
            names: vec![
                column("solver", |group| Some(group.solver.clone())),
                column("estimator", |group| group.problem.estimator.clone()),
            ],
            added: vec![ratio("speed-up", names::SECONDS_TRAIN), ratio("fewer epochs", names::EPOCHS)],
            may_be_best: Box::new(Group::all_ok),
            by_seed: None,
        };
        results.models().into_iter().map(layout).collect()
    }

    fn tables(&self, results: &Results<'_>) -> Vec<TextTable> {
        distances(results).into_iter().collect()
    }

    fn figures(&self, results: &Results<'_>) -> Vec<Drawn> {
        let mut drawn =
            vec![pareto::figure(results), profile::figure(results), seconds::training_figure(results)];
        for figure in [paths::figure, truncation::figure, distance::figure, probes::figure, section::figure] {
            drawn.extend(results.models().into_iter().map(|model| figure(results, model)));
        }
        drawn.extend(training::figures(results));
        for problem in results.problems() {
            drawn.extend(sweep::figures(results, problem, &results.problem_title(problem)));
        }
        drawn
    }

    fn papers(&self) -> &'static [&'static str] {
        &[LIN_2024]
    }

    fn seconds(&self) -> &'static str {
        names::SECONDS_TRAIN
    }

    fn speed_up(&self, results: &Results<'_>, group: &Group) -> Option<f64> {
        ratio(results, group, names::SECONDS_TRAIN)
    }
}

/// Ratio of a metric of the same solver with standard probes and cold starts to that of a group.
fn ratio(results: &Results<'_>, group: &Group, metric: &str) -> Option<f64> {
    let is_baseline = |other: &&Group| {
        let task = &results.case(other).task;
        other.solver == group.solver
            && matches!(task.probes(), Some(Probes::Standard(_)))
            && estimator::start(task) == Some(Start::Cold)
    };
    let baseline = results.of_model(Model::of(group)).into_iter().find(is_baseline)?;
    let [baseline, own] = [baseline, group].map(|group| results.comparable(group).mean(metric));
    Some(baseline? / own?).filter(|ratio| ratio.is_finite())
}

/// The table of distances to exact training; none where nothing was trained exactly.
fn distances(results: &Results<'_>) -> Option<TextTable> {
    let mut table = TextTable::new("Distance to exact training");
    table = ["data set", "solver", "estimator"].into_iter().fold(table, TextTable::words);
    table = ["median", "95 % below", "largest"].into_iter().fold(table, TextTable::numbers);
    for model in results.models() {
        for group in results.of_model(model) {
            let Some(spread) = Spread::of(&differences(results, group)) else { continue };
            let names = [results.model_title(model), group.solver.clone(), group.estimator().to_owned()];
            table.row(names.into_iter().chain([spread.median, spread.most, spread.largest].map(percent)));
        }
    }
    table.caption =
        "|θ − θ exact| / θ exact over all trained scales, outer steps and seeds. θ exact is the result of \
                     training with exact gradients after the same step from the same start."
            .to_owned();
    (!table.rows.is_empty()).then_some(table)
}
