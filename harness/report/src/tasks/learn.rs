//! Learners: quality of predictions and of learned hyperparameters.

use gpbench_record::{TargetScaling, metric, names};

use super::section::{MEANS, Section};
use super::solve;
use crate::above_optimum;
use crate::aggregate::Group;
use crate::charts::figure::Drawn;
use crate::charts::{calibration, grid as grid_chart, learning, optimum, size};
use crate::cost::exponents;
use crate::frame::CaseView;
use crate::grid;
use crate::layout::{Layout, column};
use crate::paired;
use crate::performance;
use crate::problem::GroupProblem;
use crate::results::{OWN_PREDICTIONS, Results, once_each};
use crate::speed_up::SpeedUps;
use crate::table::TextTable;

/// The section of task `learn`.
pub(super) struct Learn;

const LEARNING: &str = "\
NLML is the exact negative log marginal likelihood over n, with all constants, of the hyperparameters and features that \
were learned; where it cannot be evaluated the bound is among the details. RMSE and NLL (mean negative log-likelihood of a \
test row) are computed from the learned model by a process that never loads the learner. Where `predictions` are the \
learner's own, it hands out no model to compute them from: they are taken at its word, and its row is never bold. RMSE, \
 NLL, CRPS and widths are in units of the standardised target, or in those of the file where the heading says so. A pass is n rows drawn as minibatches. `step` and \
`total` are wall-clock seconds of the learner, without evaluations. Where a parameter has a grid, a value \
is chosen for each seed, never by test rows: the one whose number under `chosen by` is smallest. That is what the spec \
selects by, or else the NLML; where no value has it, the bound; where no value has that, what the learner says that it \
minimises. `chosen` are these values, and `whole grid` is the time of all values.";

impl Section for Learn {
    fn title(&self) -> &'static str {
        "Learners"
    }

    fn conventions(&self) -> &'static [&'static str] {
        &[MEANS, LEARNING]
    }

    fn layouts<'a>(&self, results: &'a Results<'a>) -> Vec<Layout<'a>> {
        let layout = |problem: &'a GroupProblem| {
            let groups: Vec<&Group> = results.of_problem(problem).collect();
            let is_centred = groups
                .first()
                .is_some_and(|group| results.case(group).dataset.targets == TargetScaling::Centred);
            let title = results.problem_title(problem);
            let noise = SpeedUps::new(results).noise(&groups);
            let notes = noise.into_iter().chain(above_optimum::caption(results, &groups)).collect();
            Layout {
                results,
                title: if is_centred { format!("{title}, in the units of the file") } else { title },
                groups,
                names: vec![
                    column("learner", |group| Some(group.solver.clone())),
                    column("predictions", |group| {
                        results.has_own_predictions(group).then(|| OWN_PREDICTIONS.to_owned())
                    }),
                ],
                added: vec![
                    column("chosen", |group| choice(results, group)),
                    column("chosen by", |group| chosen_by(results, group)),
                ],
                notes,
                may_be_bold: Box::new(|group: &Group| !results.has_own_predictions(group)),
            }
        };
        results.problems().into_iter().map(layout).collect()
    }

    fn tables(&self, results: &Results<'_>) -> Vec<TextTable> {
        let tables = paired::table(results).into_iter().chain(performance::table(results));
        tables.chain(exponents(results)).collect()
    }

    fn figures(&self, results: &Results<'_>) -> Vec<Drawn> {
        let mut drawn = solve::profiles(results);
        drawn.push(size::cost_figure(results));
        for problem in results.problems() {
            let what = results.problem_title(problem);
            drawn.push(learning::figure(results, problem, &what));
            drawn.push(learning::own_numbers_figure(results, problem, &what));
            drawn.push(size::quality_figure(results, problem, &what));
            drawn.push(grid_chart::figure(results, problem, &what));
            let groups: Vec<&Group> = results.of_problem(problem).collect();
            drawn.push(optimum::learning_figure(results, &groups, &what));
            drawn.push(calibration::curve_figure(results, &groups, &what));
            drawn.push(calibration::pit_figure(results, &groups, &what));
        }
        drawn
    }

    fn seconds(&self) -> &'static str {
        names::SECONDS
    }
}

/// Titles of the metrics by which values of a grid were chosen.
fn chosen_by(results: &Results<'_>, group: &Group) -> Option<String> {
    let of_case = |case| metric::find(grid::chosen_by(&case, &results.whole)?);
    let titles = once_each(results.of(group).filter_map(of_case).map(|metric| metric.title));
    (!titles.is_empty()).then(|| titles.join(", "))
}

/// The chosen values of a grid, in the order of the seeds, and the number of values without an answer.
fn choice(results: &Results<'_>, group: &Group) -> Option<String> {
    let of_case = |case| {
        let values: Vec<String> = grid::point(&case)?.params.values().map(ToString::to_string).collect();
        Some(values.join(" "))
    };
    let chosen: Vec<String> = once_each(results.of(group).filter_map(of_case));
    if chosen.is_empty() {
        return None;
    }
    let is_own = |case: &CaseView<'_>| {
        grid::point(case).is_some_and(|grid| grid.entry == group.solver) && case.is_of(&group.problem)
    };
    let failed = results.whole.iter().filter(is_own).filter(|case| !case.is_answer()).count();
    let failed = if failed > 0 { format!(" ({failed} failed)") } else { String::new() };
    Some(format!("{}{failed}", chosen.join(", ")))
}
