//! The choice among the values of a grid, such as learning rates: of each data set, kernel, seed and entry the one
//! whose selected number is smallest. The others stay in the journal; their time is a part of the price.

use std::collections::BTreeMap;

use gpbench_record::{GridPoint, ModelSelection, names};

use crate::frame::{CaseView, Cases};
use crate::pairs::mean;

/// The grid that a learner's case is a point of. Those of solvers are shown whole.
pub(crate) fn point<'f>(case: &CaseView<'f>) -> Option<&'f GridPoint> {
    case.case().task.learning()?;
    case.case().grid()
}

/// Key of a choice: data set, kernel, estimator, seed, and the grid's entry in the spec.
type Within<'f> = (&'f str, &'f str, Option<&'f str>, u64, &'f str);

fn within<'f>(case: &CaseView<'f>) -> Option<Within<'f>> {
    Some((case.dataset(), case.kernel(), case.estimator(), case.seed(), &point(case)?.entry))
}

/// The cases with the chosen value of each grid alone, under the name of the grid's entry, and with the price of the whole
/// grid ([`names::SECONDS_GRID`]).
pub(crate) fn chosen<'f>(cases: &Cases<'f>) -> Cases<'f> {
    let mut grids: BTreeMap<Within<'f>, Vec<CaseView<'f>>> = BTreeMap::new();
    for case in cases.iter() {
        if let Some(within) = within(&case) {
            grids.entry(within).or_default().push(case);
        }
    }
    let choices: BTreeMap<Within<'f>, (&'f str, Option<f64>)> =
        grids.iter().map(|(within, cases)| (*within, (best(cases), price(cases)))).collect();
    let mut chosen = cases.with(|case| match within(case) {
        None => Some(*case),
        Some(within) => {
            let (best, price) = choices[&within];
            (case.solver() == best).then(|| case.chosen(within.4, price))
        }
    });
    chosen.axis = entries(cases);
    chosen
}

/// Names on the solver axis, with that of the entry for the values of a grid.
fn entries<'f>(cases: &Cases<'f>) -> Vec<&'f str> {
    let entry = |name: &&'f str| {
        let case = cases.iter().find(|case| case.solver() == *name);
        case.as_ref().and_then(point).map_or(*name, |grid| grid.entry.as_str())
    };
    let mut names: Vec<&str> = cases.axis.iter().map(entry).collect();
    names.dedup();
    names
}

/// The metric by which a case was chosen among the values of its grid in all cases: none without a grid, or where no value
/// has an answer.
pub(crate) fn chosen_by(case: &CaseView<'_>, whole: &Cases<'_>) -> Option<&'static str> {
    let own = within(case)?;
    criterion(&whole.iter().filter(|other| within(other) == Some(own)).collect::<Vec<_>>())
}

/// The name on the solver axis of the best value; of the first where none has an answer.
fn best<'f>(cases: &[CaseView<'f>]) -> &'f str {
    let name = criterion(cases);
    let mut best: Option<(f64, &str)> = None;
    for value in values(cases) {
        let score = name.and_then(|name| mean(value.iter().filter_map(|case| of(case, name))));
        if let Some(score) = score.filter(|score| best.is_none_or(|(least, _)| *score < least)) {
            best = Some((score, value[0].solver()));
        }
    }
    best.map_or(cases[0].solver(), |(_, name)| name)
}

/// The metric that a value is chosen by: the first that any value has.
fn criterion(cases: &[CaseView<'_>]) -> Option<&'static str> {
    criteria(cases.first()?).into_iter().find(|name| cases.iter().any(|case| of(case, name).is_some()))
}

/// Metrics that a value may be chosen by, the preferred first; none is of test rows.
fn criteria(case: &CaseView<'_>) -> Vec<&'static str> {
    let selected = match case.case().task.learning().map(|learning| learning.select) {
        Some(ModelSelection::ValidationNll) => Some(names::VALIDATION_NLL),
        Some(ModelSelection::ValidationRmse) => Some(names::VALIDATION_RMSE),
        Some(ModelSelection::Objective) => Some(names::CLAIMED_OBJECTIVE),
        Some(ModelSelection::Last | ModelSelection::Nlml) | None => None,
    };
    selected.into_iter().chain([names::NLML, names::BOUND, names::CLAIMED_OBJECTIVE]).collect()
}

fn of(case: &CaseView<'_>, name: &str) -> Option<f64> {
    case.metric(name).filter(|value| case.is_answer() && value.is_finite())
}

/// Seconds of all values, failed ones included, their timing repeats averaged.
fn price(cases: &[CaseView<'_>]) -> Option<f64> {
    let of_value = |value: Vec<CaseView<'_>>| mean(value.iter().filter_map(seconds));
    let seconds: Vec<f64> = values(cases).into_iter().filter_map(of_value).collect();
    (!seconds.is_empty()).then(|| seconds.iter().sum())
}

/// Seconds of a case; of one that ended without a result, those up to the last that it reported.
fn seconds(case: &CaseView<'_>) -> Option<f64> {
    let of_evaluation = case.steps().next_back().and_then(|evaluation| evaluation.solver_seconds());
    let of_trace = case.trace().next_back().and_then(|point| point.number(names::SECONDS));
    case.solver_seconds().or_else(|| [of_evaluation, of_trace].into_iter().flatten().reduce(f64::max))
}

/// The cases of each value, its timing repeats, in the order of the spec.
fn values<'f>(cases: &[CaseView<'f>]) -> Vec<Vec<CaseView<'f>>> {
    let mut all: Vec<Vec<CaseView<'f>>> = Vec::new();
    for case in cases {
        match all.iter_mut().find(|value| value[0].solver() == case.solver()) {
            Some(value) => value.push(*case),
            None => all.push(vec![*case]),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Axes, CaseStatus, Learning, ParamValue, Row, Task, testing};
    use gpbench_runs::RunRecord;

    use super::*;
    use crate::frame::Frame;
    use crate::run::Run;

    /// A case of a grid of learning rates.
    fn row(seed: u64, rate: f64, nlml: f64) -> Row {
        let name = format!("scgd@learning_rate={rate}");
        let mut case = testing::case(&name);
        case.seed = seed;
        let params = BTreeMap::from([("learning_rate".to_owned(), ParamValue::Float(rate))]);
        case.task = Task::Learn(Box::new(Learning {
            passes: 3,
            looks: vec![3],
            select: ModelSelection::Nlml,
            patience: 0,
            inducing: None,
            shared_length_scale: false,
            nlml_rows: 4096,
            exact_rows: Learning::EXACT_ROWS,
            variance_rank: None,
            optimum: false,
            grid: Some(GridPoint { entry: "scgd".to_owned(), params }),
        }));
        testing::row(case, &[("nlml", nlml), ("test_rmse", rate), ("seconds_solve", 10.0 * rate)])
    }

    fn run(rows: Vec<Row>) -> Run {
        let mut solver: Vec<String> = rows.iter().map(|row| row.labels.solver.clone()).collect();
        solver.dedup();
        let axes = Axes { solver, ..Axes::default() };
        Run { record: RunRecord { rows, axes, ..RunRecord::default() }, warnings: Vec::new() }
    }

    #[test]
    fn each_seed_has_the_value_with_the_least_likelihood_and_the_price_of_all() {
        let rows = vec![row(0, 0.1, 2.0), row(1, 0.1, 1.0), row(0, 0.3, 1.5), row(1, 0.3, 3.0)];
        let run = run(rows);
        let frame = Frame::new(&run).unwrap();
        let all = Cases::of(&frame);
        let chosen = chosen(&all);
        let shown: Vec<_> = chosen
            .iter()
            .map(|case| (case.solver(), case.seed(), case.metric("test_rmse").unwrap()))
            .collect();
        assert_eq!(shown, [("scgd", 1, 0.1), ("scgd", 0, 0.3)]);
        assert!(chosen.iter().all(|case| case.metric("seconds_grid") == Some(4.0)));
        assert_eq!(chosen.axis, ["scgd"]);
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn a_value_that_failed_is_not_chosen_but_paid_for() {
        let mut failed = row(0, 1.0, -9.0);
        failed.status = CaseStatus::Diverged;
        let both = run(vec![failed.clone(), row(0, 0.1, 2.0)]);
        let frame = Frame::new(&both).unwrap();
        let (all, chosen) = (Cases::of(&frame), chosen(&Cases::of(&frame)));
        assert_eq!((chosen.len(), chosen.at(0).metric("test_rmse")), (1, Some(0.1)));
        assert_eq!(chosen.at(0).metric("seconds_grid"), Some(11.0));
        assert_eq!(chosen_by(&chosen.at(0), &all), Some("nlml"));
        // Where all have failed, the first stands for them.
        let alone = run(vec![failed]);
        let frame = Frame::new(&alone).unwrap();
        let (all, chosen) = (Cases::of(&frame), super::chosen(&Cases::of(&frame)));
        assert_eq!((chosen.at(0).status(), chosen_by(&chosen.at(0), &all)), (CaseStatus::Diverged, None));
    }

    #[test]
    fn where_no_likelihood_is_known_the_bound_decides() {
        let rows = [(0.1, 3.0), (0.3, 2.0)].map(|(rate, bound)| {
            let mut row = row(0, rate, f64::NAN);
            row.metrics.insert("bound", bound);
            row
        });
        let run = run(rows.into());
        let frame = Frame::new(&run).unwrap();
        let chosen = chosen(&Cases::of(&frame));
        assert_eq!(chosen.at(0).metric("test_rmse"), Some(0.3));
        assert_eq!(chosen_by(&chosen.at(0), &Cases::of(&frame)), Some("bound"));
    }

    #[test]
    fn cases_without_grids_are_left_as_they_are() {
        let run = run(vec![testing::row(testing::case("cg"), &[("nlml", 1.0)])]);
        let frame = Frame::new(&run).unwrap();
        let chosen = chosen(&Cases::of(&frame));
        assert_eq!((chosen.len(), chosen.at(0).solver(), &chosen.axis[..]), (1, "cg", &["cg"][..]));
        assert_eq!(chosen.at(0).metric("seconds_grid"), None);
    }
}
