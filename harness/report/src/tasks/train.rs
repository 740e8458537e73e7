//! Training: results of each solver and estimator, and their speed-up over the same solver with standard probes and
//! cold starts.

use std::rc::Rc;

use gpbench_record::{Probes, Start, names};

use super::section::{MEANS, RESIDUALS, Section};
use super::solve;
use crate::above_optimum;
use crate::aggregate::Group;
use crate::charts::figure::Drawn;
use crate::charts::{
    calibration, distance, optimum, paths, probes, seconds, section, sweep, training, truncation,
};
use crate::clock::Clock;
use crate::distance::{Spread, differences};
use crate::estimator;
use crate::expected;
use crate::layout::{Layout, column};
use crate::number::percent;
use crate::paired;
use crate::papers::LIN_2024;
use crate::performance;
use crate::results::{Model, Results};
use crate::speed_up::SpeedUps;
use crate::table::TextTable;

/// The section of task `train`.
pub(super) struct Train;

const TRAINING: &str = "\
RMSE, NLL (mean negative log-likelihood of a test row) and residuals are those of the prediction under the final \
hyperparameters, from pathwise samples; `log likelihood` is the exact log marginal likelihood there. `train` is the \
wall-clock time of all outer steps, without that prediction and without trace evaluations; `total` is its part in \
prepare and solve. Epochs and iterations are sums over the steps. `speed-up` is the time of the steps of the same \
solver with standard probes and cold starts over the time of these steps, seed by seed; `epochs ratio` is the same for epochs.";

impl Section for Train {
    fn title(&self) -> &'static str {
        "Training of hyperparameters"
    }

    fn conventions(&self) -> &'static [&'static str] {
        &[MEANS, RESIDUALS, TRAINING]
    }

    fn layouts<'a>(&self, results: &'a Results<'a>) -> Vec<Layout<'a>> {
        let speed_ups = Rc::new(SpeedUps::new(results));
        let ratio = |title: &str, clock: Clock| {
            let speed_ups = Rc::clone(&speed_ups);
            column(title, move |group| speed_ups.text(group, baseline(results, group)?, clock))
        };
        let layout = |model: Model<'_>| {
            let groups = results.of_model(model);
            let is_stated = |group: &&Group| {
                baseline(results, group)
                    .and_then(|base| speed_ups.text(group, base, Clock::Seconds))
                    .is_some()
            };
            let stated = groups.iter().any(is_stated).then(|| speed_ups.caption(&groups));
            let mut notes: Vec<String> = stated.into_iter().collect();
            let mut added = vec![ratio("speed-up", Clock::Seconds), ratio("epochs ratio", Clock::Epochs)];
            if !speed_ups.is_to_target() && expected::is_needed(&speed_ups, &groups) {
                notes.push(expected::caption(&speed_ups, &groups, "the tolerance"));
                added.extend(expected::columns(&speed_ups));
            }
            notes.extend(speed_ups.noise(&groups));
            notes.extend(above_optimum::caption(results, &groups));
            Layout {
                results,
                title: results.model_title(model),
                groups,
                names: vec![
                    column("solver", |group| Some(group.solver.clone())),
                    column("estimator", |group| group.problem.estimator.clone()),
                ],
                added,
                notes,
                may_be_bold: Box::new(|_: &Group| true),
            }
        };
        results.models().into_iter().map(layout).collect()
    }

    fn tables(&self, results: &Results<'_>) -> Vec<TextTable> {
        let tables = paired::with_stated_baseline(results).into_iter().chain(performance::table(results));
        tables.chain(distances(results)).collect()
    }

    fn figures(&self, results: &Results<'_>) -> Vec<Drawn> {
        let mut drawn = solve::profiles(results);
        drawn.push(seconds::training_figure(results));
        for figure in [paths::figure, truncation::figure, distance::figure, probes::figure, section::figure] {
            drawn.extend(results.models().into_iter().map(|model| figure(results, model)));
        }
        drawn.extend(training::figures(results));
        for model in results.models() {
            let (groups, what) = (results.of_model(model), results.model_title(model));
            drawn.push(optimum::training_figure(results, &groups, &what));
            drawn.push(calibration::curve_figure(results, &groups, &what));
            drawn.push(calibration::pit_figure(results, &groups, &what));
        }
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

    fn speed_up(&self, results: &Results<'_>, group: &Group) -> Option<String> {
        SpeedUps::new(results).text(group, baseline(results, group)?, Clock::Seconds)
    }
}

/// The group of the same solver with standard probes and cold starts.
fn baseline<'r>(results: &'r Results<'_>, group: &Group) -> Option<&'r Group> {
    let is_baseline = |other: &&Group| {
        let task = &results.case(other).task;
        other.solver == group.solver
            && matches!(task.probes(), Some(Probes::Standard(_)))
            && estimator::start(task) == Some(Start::Cold)
    };
    results.of_model(Model::of(group)).into_iter().find(is_baseline)
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
