//! Linear systems: residuals, epochs and seconds of each solver.

use std::rc::Rc;

use gpbench_record::TaskKind;

use super::section::{MEANS, RESIDUALS, Section};
use crate::aggregate::Group;
use crate::charts::figure::Drawn;
use crate::charts::{convergence, pareto, precision, profile, progress, runtime, seconds, sweep};
use crate::clock::Clock;
use crate::expected;
use crate::layout::{Layout, column};
use crate::paired;
use crate::performance;
use crate::problem::GroupProblem;
use crate::results::Results;
use crate::speed_up::SpeedUps;
use crate::table::TextTable;

/// The section of task `solve`.
pub(super) struct Solve;

/// Definition of times and memory.
pub(super) const SECONDS: &str = "\
Times are wall-clock seconds of prepare and solve, without loading, verification and trace points. Memory is the peak \
resident memory of the case's process.";

impl Section for Solve {
    fn title(&self) -> &'static str {
        "Linear systems with the kernel matrix"
    }

    fn conventions(&self) -> &'static [&'static str] {
        &[MEANS, RESIDUALS, SECONDS]
    }

    fn layouts<'a>(&self, results: &'a Results<'a>) -> Vec<Layout<'a>> {
        layouts(results)
    }

    fn tables(&self, results: &Results<'_>) -> Vec<TextTable> {
        paired::table(results).into_iter().chain(performance::table(results)).collect()
    }

    fn figures(&self, results: &Results<'_>) -> Vec<Drawn> {
        let along = results
            .problems()
            .into_iter()
            .flat_map(|problem| along(results, TaskKind::Solve, problem, &results.problem_title(problem)));
        overviews(results).into_iter().chain(along).collect()
    }
}

/// One table a problem: solvers by metrics, with their speed-up over the baseline and, where a seed missed the tolerance,
/// expected running times.
pub(super) fn layouts<'a>(results: &'a Results<'a>) -> Vec<Layout<'a>> {
    let speed_ups = Rc::new(SpeedUps::new(results));
    let layout = |problem: &'a GroupProblem| {
        let groups: Vec<&'a Group> = results.of_problem(problem).collect();
        let (mut added, mut notes) = (Vec::new(), Vec::new());
        let baseline = results.cases.baseline_solver();
        if let Some(base) = groups.iter().copied().find(|group| Some(group.solver.as_str()) == baseline) {
            let title = format!("speed-up over {}", base.solver);
            let is_stated = |group: &&Group| speed_ups.text(group, base, Clock::Seconds).is_some();
            notes.extend(groups.iter().any(is_stated).then(|| speed_ups.caption(&groups)));
            let speed_ups = Rc::clone(&speed_ups);
            added.push(column(title, move |group| speed_ups.text(group, base, Clock::Seconds)));
        }
        if !speed_ups.is_to_target() && expected::is_needed(&speed_ups, &groups) {
            notes.push(expected::caption(&speed_ups, &groups, "the tolerance"));
            added.extend(expected::columns(&speed_ups));
        }
        notes.extend(speed_ups.noise(&groups));
        Layout {
            results,
            title: results.problem_title(problem),
            groups,
            names: vec![column("solver", |group| Some(group.solver.clone()))],
            added,
            notes,
            may_be_bold: Box::new(|_: &Group| true),
        }
    };
    results.problems().into_iter().map(layout).collect()
}

/// The charts of all problems together.
pub(super) fn overviews(results: &Results<'_>) -> Vec<Drawn> {
    let mut drawn = profiles(results);
    drawn.push(seconds::figure(results));
    drawn
}

/// Quality against costs, over all problems.
pub(super) fn profiles(results: &Results<'_>) -> Vec<Drawn> {
    vec![
        pareto::figure(results),
        precision::figure(results),
        runtime::figure(results, Clock::Epochs),
        runtime::figure(results, Clock::Seconds),
        profile::figure(results),
    ]
}

/// The charts along the solves of a problem.
pub(super) fn along(results: &Results<'_>, task: TaskKind, problem: &GroupProblem, what: &str) -> Vec<Drawn> {
    let mut drawn = vec![
        progress::residual_figure(results, problem, what),
        progress::quality_figure(results, problem, what, Clock::Seconds),
        progress::quality_figure(results, problem, what, Clock::Epochs),
        convergence::errors_figure(results, task, problem, what),
        convergence::own_numbers_figure(results, problem, what),
    ];
    drawn.extend(sweep::figures(results, problem, what));
    drawn
}
