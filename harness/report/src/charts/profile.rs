//! Performance profile (Dolan and Moré 2002): seconds to the tolerance.

use std::collections::BTreeMap;

use gpbench_record::{CaseStatus, names};

use super::curve::Curve;
use super::figure::{Drawn, Figure, series, solvers};
use super::legend::legend;
use super::panel::{Line, Panel};
use super::scale::Axis;
use super::sheet::sheet;
use super::style::heading;
use crate::frame::CaseView;
use crate::papers::DOLAN_2002;
use crate::problem::GroupProblem;
use crate::results::Results;

/// Share of the problems that a solver finishes within a factor of the fastest.
pub(crate) fn figure(results: &Results<'_>) -> Drawn {
    let times = times(results);
    let names = results.cases.solvers();
    if times.len() < 2 || names.len() < 2 {
        return Ok(None);
    }
    let ratios: Vec<Vec<f64>> = names.iter().map(|s| ratios(&times, s)).collect();
    let widest = ratios.iter().flatten().copied().fold(1.0, f64::max);
    let end = (1.15 * widest).max(2.0);
    let line = |(solver, ratios): (&&str, &Vec<f64>)| Line {
        series: series(results, solver),
        curve: steps(ratios, times.len(), end),
        dashed: false,
    };
    let panel = Panel {
        x: Axis { label: "factor of the fastest solver's seconds".to_owned(), log: true },
        y: Axis { label: "share of problems solved".to_owned(), log: false },
        lines: names.iter().zip(&ratios).map(line).collect(),
        ..Panel::default()
    };
    let title = "Performance profile: seconds to the tolerance";
    let svg = sheet((760, 420), |root| {
        heading(root, title)?;
        let top = legend(root, &solvers(results, |_| true))?;
        panel.draw(root, &root.margin(top, 4, 8, 4))
    })?;
    let caption = format!(
        "For each solver, the share of the {} problems (data set, kernel, estimator and seed) that it finished with \
         status ok within a factor of the fastest solver's time. At 1: how often it was the fastest. At the right: how \
         often it finished at all. Higher is better.",
        times.len()
    );
    let figure = Figure::new("performance-profile", "", title.to_owned(), caption, svg);
    Ok(Some(Figure { paper: Some(DOLAN_2002), ..figure }))
}

/// Seconds of each solver on each problem with a tolerance; timing repeats are averaged.
fn times<'a>(results: &'a Results<'_>) -> BTreeMap<(GroupProblem, u64), BTreeMap<&'a str, f64>> {
    let mut repeats: BTreeMap<(GroupProblem, u64), BTreeMap<&str, Vec<CaseView<'_>>>> = BTreeMap::new();
    for case in results.comparable.iter().filter(|case| case.case().budget.tolerance.is_some()) {
        let key = (GroupProblem::of(&case.row().labels), case.seed());
        repeats.entry(key).or_default().entry(case.solver()).or_default().push(case);
    }
    let mean = |repeats: &Vec<CaseView<'_>>| {
        let of_case =
            |case: &CaseView<'_>| case.metric(names::SECONDS).filter(|_| case.status() == CaseStatus::Ok);
        let seconds: Option<Vec<f64>> = repeats.iter().map(of_case).collect();
        seconds.map(|s| s.iter().sum::<f64>() / s.len() as f64).filter(|s| *s > 0.0)
    };
    let of_problem = |by: BTreeMap<&'a str, Vec<CaseView<'_>>>| {
        by.iter().filter_map(|(s, repeats)| Some((*s, mean(repeats)?))).collect()
    };
    let all = repeats.into_iter().map(|(key, by_solver)| (key, of_problem(by_solver)));
    // A problem that no solver finished says nothing about time.
    all.filter(|(_, by): &(_, BTreeMap<&str, f64>)| !by.is_empty()).collect()
}

/// Factors of the fastest, on the problems that the solver finished.
fn ratios<K: Ord>(times: &BTreeMap<K, BTreeMap<&str, f64>>, solver: &str) -> Vec<f64> {
    let ratio = |by_solver: &BTreeMap<&str, f64>| {
        let fastest = by_solver.values().copied().fold(f64::INFINITY, f64::min);
        by_solver.get(solver).map(|seconds| seconds / fastest)
    };
    let mut all: Vec<f64> = times.values().filter_map(ratio).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// The profile as a staircase from 1 to `end`.
fn steps(ratios: &[f64], problems: usize, end: f64) -> Curve {
    let share = |within: f64| {
        ratios.iter().filter(|r| **r <= within * (1.0 + 1e-12)).count() as f64 / problems as f64
    };
    let mut corners = vec![(1.0, share(1.0))];
    for &ratio in ratios.iter().filter(|r| **r > 1.0) {
        corners.push((ratio, corners[corners.len() - 1].1));
        corners.push((ratio, share(ratio)));
    }
    corners.push((end, corners[corners.len() - 1].1));
    let (at, middle): (Vec<f64>, Vec<f64>) = corners.into_iter().unzip();
    Curve { at, low: middle.clone(), high: middle.clone(), middle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_starts_at_the_wins_and_ends_at_the_share_solved() {
        let times = BTreeMap::from([
            (0, BTreeMap::from([("a", 1.0), ("b", 2.0)])),
            (1, BTreeMap::from([("a", 3.0), ("b", 1.0)])),
            (2, BTreeMap::from([("b", 1.0)])),
        ]);
        let a = steps(&ratios(&times, "a"), times.len(), 4.0);
        assert_eq!(a.middle[0], 1.0 / 3.0);
        assert_eq!(*a.middle.last().unwrap(), 2.0 / 3.0);
        let b = steps(&ratios(&times, "b"), times.len(), 4.0);
        assert_eq!(b.at, [1.0, 2.0, 2.0, 4.0]);
        assert_eq!(b.middle, [2.0 / 3.0, 2.0 / 3.0, 1.0, 1.0]);
    }
}
