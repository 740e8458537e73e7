//! Ranking of solvers over data sets, by the time that they take or, of learners without a target, by their test
//! RMSE.
//!
//! It counts data sets, not problems: kernels and estimators of one data set are averaged first, those with which
//! most solvers ran. `first_to_target` has the order within each problem.

use std::collections::{BTreeMap, BTreeSet};

use gpbench_record::{TaskKind, names};
use gpbench_statistics::ranking::{INTERVALS_FROM, Ranked, ranking};
use gpbench_statistics::{Estimate, Interval, geometric_estimate};

use crate::frame::CaseView;
use crate::number::{short, times};
use crate::results::{Results, once_each};
use crate::systems::{Comparison, Goal, Problems, System, systems, timed_systems};
use crate::table::TextTable;

/// Fewest data sets that are ranked over.
const FEWEST: usize = 3;

/// What solvers are ranked by.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// Seconds.
    Seconds(Goal),
    /// Test RMSE, of which ratios say little.
    Error,
}

impl By {
    fn of(results: &Results<'_>) -> Option<By> {
        let learns = || results.cases.tasks() == [TaskKind::Learn];
        Goal::of(results).map(By::Seconds).or_else(|| learns().then_some(By::Error))
    }

    /// The systems that it can be compared on.
    fn problems<'f>(self, results: &Results<'f>) -> Problems<'f> {
        if self == By::Error { systems(&results.cases) } else { timed_systems(results) }
    }

    /// The cost of a case that reached what it is for.
    fn cost(self, case: &CaseView<'_>) -> Option<f64> {
        match self {
            By::Seconds(goal) => goal.seconds(case),
            By::Error => case.metric(names::TEST_RMSE).filter(|_| case.is_answer()),
        }
    }

    fn words(self) -> &'static str {
        match self {
            By::Seconds(goal) => goal.words(),
            By::Error => "test RMSE",
        }
    }
}

/// The ranking of a run with three data sets or more on which some solver has a cost, and two solvers or more.
pub(crate) fn table(results: &Results<'_>) -> Option<TextTable> {
    let by = By::of(results)?;
    let has_own = |solver: &str| {
        results.groups.iter().any(|group| group.solver == solver && results.has_own_predictions(group))
    };
    let compared = Comparison::of(by.problems(results));
    let problems = &compared.problems;
    let taking_part = results.cases.solvers().into_iter().filter(|solver| compared.has(solver));
    let (unverified, solvers): (Vec<&str>, Vec<&str>) = taking_part.partition(|solver| has_own(solver));
    let datasets = once_each(results.groups.iter().map(|group| group.problem.dataset.as_str()));
    let costs =
        datasets.iter().map(|dataset| solvers.iter().map(|s| cost(problems, dataset, s, by)).collect());
    let costs: Vec<Vec<Option<f64>>> = costs.collect();
    let ranked: Vec<Vec<Option<f64>>> =
        costs.into_iter().filter(|of_dataset| of_dataset.iter().any(Option::is_some)).collect();
    if solvers.len() < 2 || ranked.len() < FEWEST {
        return None;
    }
    let baseline = results.cases.baseline_solver().filter(|_| by != By::Error);
    let reference = baseline.and_then(|name| solvers.iter().position(|solver| *solver == name));
    let ranking = ranking(&ranked, reference)?;
    let first = ranking.first(reference).map(|at| solvers[at]);
    let over = reference.map(|at| solvers[at]);
    let title = format!("Ranking over {} data sets: {}", ranked.len(), by.words());
    let mut table = filled(title, results.cases.noun(), &solvers, &ranking.solvers, ranked.len(), over);
    if by == By::Error {
        table = table.without(&[TO_BEST]);
    }
    table.caption = caption(by, seeds(problems), ranked.len(), over) + &compared.words(results.cases.noun());
    if ranked.len() < datasets.len() {
        let left_out = datasets.len() - ranked.len();
        table.caption +=
            &format!(" Data sets on which nothing can be ranked, {left_out} of them, are left out.");
    }
    if !unverified.is_empty() {
        table.caption +=
            &format!(" Not ranked: {}, whose predictions are the learners' own.", unverified.join(", "));
    }
    table.caption.extend(first.map(|first| format!(" {first} ranks first.")));
    Some(table)
}

/// Heading of ratios to the best solver of each data set.
const TO_BEST: &str = "over the best";

/// The table, by mean rank.
fn filled(
    title: String,
    noun: &str,
    solvers: &[&str],
    ranked: &[Ranked],
    datasets: usize,
    over: Option<&str>,
) -> TextTable {
    let mut table = TextTable::new(title).words(noun).numbers("mean rank").numbers("solved").numbers(TO_BEST);
    if let Some(over) = over {
        table = table.numbers(format!("over {over}"));
    }
    let mut order: Vec<(&&str, &Ranked)> = solvers.iter().zip(ranked).collect();
    order.sort_by(|(_, a), (_, b)| a.mean_rank.mean.total_cmp(&b.mean_rank.mean));
    let interval = |estimate: &Estimate| estimate.interval.filter(|_| datasets >= INTERVALS_FROM);
    let ratio = |ratio: Option<Estimate>| {
        ratio.map_or_else(String::new, |ratio| with_interval(times(ratio.mean), interval(&ratio), short))
    };
    let rank = |rank: f64| format!("{rank:.1}");
    for (solver, of_solver) in order {
        let mean = of_solver.mean_rank;
        let mean = with_interval(rank(mean.mean), interval(&mean), rank);
        let solved = format!("{}/{datasets}", of_solver.solved);
        let own = [(*solver).to_owned(), mean, solved, ratio(of_solver.to_best)];
        let over =
            over.map(|over| if over == *solver { "1×".to_owned() } else { ratio(of_solver.over_reference) });
        table.row(own.into_iter().chain(over));
    }
    table.major(&[noun, "mean rank"])
}

/// `2.9× [2.7, 3.2]`; without an interval the number alone.
fn with_interval(number: String, interval: Option<Interval>, end: impl Fn(f64) -> String) -> String {
    match interval {
        Some(Interval { low, high }) => format!("{number} [{}, {}]", end(low), end(high)),
        None => number,
    }
}

/// The cost of a solver on a data set: the geometric mean over seeds of each problem, then over problems. `None`
/// unless it has a cost of all seeds of all of its problems.
fn cost(problems: &Problems<'_>, dataset: &str, solver: &str, by: By) -> Option<f64> {
    let of_system = |system: &System<'_>| {
        system.cost(solver, |case| by.cost(case)).filter(|cost| cost.is_finite() && *cost > 0.0)
    };
    let of_problem = |systems: &BTreeMap<u64, System<'_>>| {
        let costs: Option<Vec<f64>> = systems.values().map(of_system).collect();
        Some(geometric_estimate(&costs?)?.mean)
    };
    let of_dataset = problems.iter().filter(|(problem, _)| problem.dataset == dataset);
    let costs: Option<Vec<f64>> = of_dataset.map(|(_, systems)| of_problem(systems)).collect();
    Some(geometric_estimate(&costs?)?.mean)
}

/// Least and largest number of seeds of a problem.
fn seeds(problems: &Problems<'_>) -> [usize; 2] {
    let counts: BTreeSet<usize> = problems.values().map(BTreeMap::len).collect();
    [counts.first(), counts.last()].map(|count| count.copied().unwrap_or_default())
}

fn caption(by: By, [fewest, most]: [usize; 2], datasets: usize, over: Option<&str>) -> String {
    let seeds = match (fewest, most) {
        (1, 1) => "1 seed".to_owned(),
        _ if fewest == most => format!("{most} seeds"),
        _ => format!("{fewest} to {most} seeds"),
    };
    let mut caption = format!(
        "Mean over data sets of a solver's rank by its {}: of each data set the geometric mean over {seeds}, kernels and \
         estimators averaged. A solver without a value of every seed has not solved a data set and shares its last ranks. \
         Mean ranks{} depend on which solvers take part",
        by.words(),
        if by == By::Error { "" } else { " and ratios to the best" }
    );
    caption += &match over {
        Some(over) => format!("; ratios of seconds to those of {over} do not."),
        None => ".".to_owned(),
    };
    caption += match datasets {
        INTERVALS_FROM.. => " Brackets are 95 % t intervals over data sets.",
        _ => " There are too few data sets for an interval.",
    };
    caption
}
