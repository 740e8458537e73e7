//! Order in which solvers reach the run's target.

use gpbench_record::{Target, TaskKind, metric, names};

use crate::aggregate::{Group, MeanWithError};
use crate::clock::Clock;
use crate::expected::{self, EXPECTED};
use crate::frame::CaseView;
use crate::layout::with_error;
use crate::results::Results;
use crate::speed_up::SpeedUps;
use crate::table::{Cell, TextTable};
use crate::target::Limits;

/// The solvers of each problem in the order in which they reach the target; none where the run has no target.
pub(crate) fn table(results: &Results<'_>) -> Option<TextTable> {
    let target = results.cases.options().target.as_ref()?;
    let reached = metric::find(&target.metric)?;
    let problems = results.problems();
    let several = problems.len() > 1;
    let speed_ups = SpeedUps::new(results);
    let all: Vec<&Group> = results.groups.iter().collect();
    let has_expected = expected::is_needed(&speed_ups, &all);
    let mut table = TextTable::new(format!("First to reach the target: {target}"));
    if several {
        table = table.words("problem");
    }
    table = table.numbers("place").words(results.cases.noun()).numbers("reached");
    let shown = [names::SECONDS_TO_TARGET, names::EPOCHS_TO_TARGET]
        .map(|name| metric::find(name).expect("registered"));
    table = shown
        .iter()
        .fold(table, |table, metric| table.numbers(metric.title))
        .numbers(format!("{} at the end", reached.title));
    if has_expected {
        table = table.numbers(EXPECTED);
    }
    for problem in problems {
        let mut groups: Vec<&Group> = results.of_problem(problem).collect();
        let rank = |group: &Group| rank(group, results.comparable(group));
        groups.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("numbers"));
        for (place, group) in groups.into_iter().enumerate() {
            let is_known = speed_ups.costs(group, Clock::Seconds).level.is_some();
            let of_seeds = || reached_by(group).unwrap_or((0, results.seeds(group).len()));
            let counted = is_known.then(of_seeds).map(|(seeds, of)| format!("{seeds}/{of}"));
            let mut cells: Vec<Cell> =
                if several { vec![results.problem_title(problem).into()] } else { Vec::new() };
            let is_ranked = results.comparable(group).mean(names::SECONDS_TO_TARGET).is_some();
            let place = if is_ranked { (place + 1).to_string() } else { String::new() };
            cells.extend([place, group.solver.clone(), counted.unwrap_or_default()].map(Cell::from));
            cells.extend(shown.iter().chain([&reached]).map(|metric| {
                let mark = results.mark(group, metric.name);
                let text = group.metrics.get(metric.name).map(|mean| with_error(metric.style, mean) + mark);
                Cell::from(text.unwrap_or_default())
            }));
            let expected = || expected::words(&speed_ups.costs(group, Clock::Seconds));
            cells.extend(has_expected.then(|| Cell::from(expected().unwrap_or_default())));
            table.row(cells);
        }
    }
    table.caption = caption(results, target);
    if has_expected {
        table.caption = format!("{} {}", table.caption, expected::caption(&speed_ups, &all, "the target"));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Number of seeds of a group that reach the target, whether or not their times are shown, and of all of its seeds.
fn reached_by(group: &Group) -> Option<(usize, usize)> {
    let metrics = [names::SECONDS_TO_TARGET, names::EPOCHS_TO_TARGET];
    let means = metrics.into_iter().filter_map(|name| group.metrics.get(name));
    means.map(|MeanWithError { seeds, of, .. }| (*seeds, *of)).max()
}

/// Sort key of a group: those with comparable times first, then those that reach the target with more of their seeds, then
/// by mean seconds.
fn rank(group: &Group, comparable: &Group) -> (bool, f64, f64) {
    let seconds = comparable.mean(names::SECONDS_TO_TARGET);
    let reached = reached_by(group).map_or(0.0, |(seeds, of)| seeds as f64 / of as f64);
    (seconds.is_none(), -reached, seconds.unwrap_or(f64::INFINITY))
}

fn caption(results: &Results<'_>, target: &Target) -> String {
    let along = match results.groups.first().map(|group| results.case(group).task.kind()) {
        Some(TaskKind::Train) => "outer step",
        Some(TaskKind::Learn) => "evaluation of the learner's model",
        _ if target.traced() != target.metric => "iteration, by the residual that the solver claims,",
        _ => "evaluation (there are ten in a decade of epochs)",
    };
    let mut caption = format!(
        "A case reaches the target at the first {along} from which on it stays within it, the verified end included. \
         Means are over the seeds that reach it, which are counted under reached. Places are by that count, then by \
         mean seconds; no test stands behind them."
    );
    caption += &unknown_limits(results, target);
    caption
}

/// The sentence about cases whose limit is not known; empty where all are.
fn unknown_limits(results: &Results<'_>, target: &Target) -> String {
    let limits = Limits::new(results.cases.rows(), target);
    let answers = results.groups.iter().flat_map(|group| results.of(group)).filter(CaseView::is_answer);
    let unknown = answers.filter(|case| limits.of(case.row()).is_none()).count();
    let why = match target.solver() {
        Some(solver) => format!("`{solver}` has no answer to the same seeds"),
        None => "there are no exact figures to compare with; `--exact-limit` bounds n".to_owned(),
    };
    match unknown {
        0 => String::new(),
        _ => format!(" The limit of {unknown} cases is not known, so their solvers are not counted: {why}."),
    }
}
