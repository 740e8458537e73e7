//! Linear systems: residuals, epochs and seconds of each solver.

use gpbench_record::{TaskKind, names};

use super::section::{MEANS, RESIDUALS, Section};
use crate::aggregate::Group;
use crate::charts::curve::Clock;
use crate::charts::figure::Drawn;
use crate::charts::{convergence, pareto, profile, progress, seconds, sweep};
use crate::layout::{Layout, column};
use crate::number::times;
use crate::problem::GroupProblem;
use crate::results::Results;

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

    fn figures(&self, results: &Results<'_>) -> Vec<Drawn> {
        let along = results
            .problems()
            .into_iter()
            .flat_map(|problem| along(results, TaskKind::Solve, problem, &results.problem_title(problem)));
        overviews(results).into_iter().chain(along).collect()
    }
}

/// One table a problem: solvers by metrics, with their speed-up over the baseline.
pub(super) fn layouts<'a>(results: &'a Results<'a>) -> Vec<Layout<'a>> {
    let layout = |problem: &'a GroupProblem| {
        let groups: Vec<_> = results.of_problem(problem).collect();
        let baseline = results.cases.baseline_solver();
        let seconds = |group: &Group| results.comparable(group).mean(names::SECONDS);
        let base = baseline.and_then(|name| groups.iter().find(|group| group.solver == name));
        let base = base.and_then(|group| seconds(group));
        let added = baseline.map(|name| {
            column(format!("speed-up over {name}"), move |group| {
                let own = seconds(group).filter(|own| *own > 0.0)?;
                Some(times(base? / own))
            })
        });
        Layout {
            title: results.problem_title(problem),
            groups,
            names: vec![column("solver", |group| Some(group.solver.clone()))],
            added: added.into_iter().collect(),
            may_be_best: Box::new(Group::all_ok),
            by_seed: None,
        }
    };
    results.problems().into_iter().map(layout).collect()
}

/// The charts of all problems together.
pub(super) fn overviews(results: &Results<'_>) -> Vec<Drawn> {
    vec![pareto::figure(results), profile::figure(results), seconds::figure(results)]
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
