//! Costs at which solvers reach targets, and errors along their solves: what profiles are made of.
//!
//! A target is reached at the first evaluation from which on all are within it, the verified end included, as the
//! run's target is: a solver does not know its error, so a value that it leaves again was not reached.

use std::collections::BTreeMap;

use gpbench_record::{CaseStatus, WITHIN, names};
use gpbench_statistics::median;
use gpbench_statistics::profile::{ErrorTrace, Staircase, runtime_profile, runtimes, targets};

use crate::charts::curve::Clock;
use crate::frame::{CaseView, Cells};
use crate::problem::GroupProblem;
use crate::results::Results;
use crate::systems::{Problems, System, reduced, systems, timed_systems};
use crate::target::Limits;

/// The hardest target of residuals where the budget has no tolerance.
const RESIDUAL: f64 = 1e-5;

/// The hardest target of distances to the exact predictions, over the exact test RMSE, unless the run has one.
const TO_EXACT: f64 = 1e-3;

/// The error that targets are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The relative residual of y: as the solver claims it along the solve, and verified at the end.
    Residual,
    /// The distance of the predictions to the exact ones, over the exact test RMSE, verified throughout.
    ToExact,
}

impl Measure {
    /// Names of the metric along the solve and at its end.
    fn metrics(self) -> [&'static str; 2] {
        match self {
            Measure::Residual => [names::CLAIMED_Y, names::RESIDUAL_Y],
            Measure::ToExact => [names::RMSE_TO_EXACT; 2],
        }
    }

    /// The value that errors of a system are relative to. A verified residual may exceed the tolerance by rounding.
    fn unit(self, system: &System<'_>) -> Option<f64> {
        match self {
            Measure::Residual => Some(WITHIN),
            Measure::ToExact => {
                system.shared(|case| case.metric(names::TEST_RMSE_EXACT)).filter(|exact| *exact > 0.0)
            }
        }
    }

    /// The hardest target of a system, in that unit.
    fn least(self, system: &System<'_>, unit: f64, limits: Option<&Limits<'_>>) -> f64 {
        match self {
            Measure::Residual => {
                let cases = system.cases.values().flatten();
                cases.filter_map(|case| case.case().budget.tolerance).reduce(f64::min).unwrap_or(RESIDUAL)
            }
            Measure::ToExact => {
                let limit = limits.and_then(|limits| system.shared(|case| limits.of(case.row())));
                limit.map_or(TO_EXACT, |limit| limit / unit)
            }
        }
    }

    /// Whether what a case reached counts. Claims of a failed case were never verified, and a process that died is
    /// not trusted.
    fn counts(self, case: &CaseView<'_>) -> bool {
        let was_stopped = [CaseStatus::Timeout, CaseStatus::Diverged].contains(&case.status());
        case.is_answer() || self == Measure::ToExact && was_stopped
    }

    /// The evaluations (cost, error) of a case in order of cost, the verified end of an answer last; none of an
    /// answer without one.
    fn trace(self, case: &CaseView<'_>, clock: Clock, unit: f64) -> Vec<(f64, f64)> {
        let [along, end] = self.metrics();
        let end = case.metric(clock.metric().name).zip(case.metric(end).map(|error| error / unit));
        if !self.counts(case) || case.is_answer() && end.is_none() {
            return Vec::new();
        }
        let point = |point: Cells<'_>| Some((cost_at(&point, clock)?, point.number(along)? / unit));
        let mut trace: Vec<(f64, f64)> = case.trace().filter_map(point).collect();
        trace.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        trace.extend(end.filter(|_| case.is_answer()));
        trace
    }
}

/// The cost of a trace point.
fn cost_at(point: &Cells<'_>, clock: Clock) -> Option<f64> {
    match clock {
        Clock::Iterations => Some(point.count("iteration")? as f64),
        _ => point.number(clock.metric().name),
    }
}

/// What a case spent until it ended.
fn spent(case: &CaseView<'_>, clock: Clock) -> Option<f64> {
    let last = || case.trace().filter_map(|point| cost_at(&point, clock)).reduce(f64::max);
    case.metric(clock.metric().name).or_else(last)
}

/// The systems that a clock can compare.
fn systems_of<'f>(results: &Results<'f>, clock: Clock) -> Problems<'f> {
    if clock == Clock::Seconds { timed_systems(results) } else { systems(&results.cases) }
}

/// What a solver took on a system, target by target: the cost to reach it, or infinity, and what it had spent at its
/// end.
#[derive(Debug, Clone, PartialEq)]
struct Attempt {
    reached: Vec<f64>,
    spent: Vec<f64>,
}

/// The costs of all solvers to all targets.
pub(crate) struct Runtimes<'f> {
    pub(crate) solvers: Vec<&'f str>,
    /// By problem, system and solver.
    problems: Vec<Vec<BTreeMap<&'f str, Attempt>>>,
}

impl<'f> Runtimes<'f> {
    /// The costs of a run; `None` for fewer than two solvers, or where no target is reached.
    pub(crate) fn of(results: &Results<'f>, measure: Measure, clock: Clock) -> Option<Runtimes<'f>> {
        let target = results.cases.options().target.as_ref();
        let target = target.filter(|target| target.metric == names::RMSE_TO_EXACT);
        let limits = target.map(|target| Limits::new(results.cases.rows(), target));
        let of_system = |system: &System<'f>| {
            let unit = measure.unit(system)?;
            let least = measure.least(system, unit, limits.as_ref());
            let targets = targets(Some(least).filter(|least| *least > 0.0 && *least < 1.0)?);
            let attempt = |(solver, repeats): (&&'f str, &Vec<CaseView<'f>>)| {
                let trace = |case: &CaseView<'f>| runtimes(&measure.trace(case, clock, unit), &targets);
                let traces: Vec<Vec<f64>> = repeats.iter().map(trace).collect();
                let reached = (0..targets.len()).map(|at| reduced(traces.iter().map(|times| times[at])));
                let spent = reduced(repeats.iter().map(|case| spent(case, clock).unwrap_or(f64::INFINITY)));
                (*solver, Attempt { reached: reached.collect(), spent: vec![spent; targets.len()] })
            };
            Some(system.cases.iter().map(attempt).collect())
        };
        let problems = systems_of(results, clock).into_values();
        let problems = problems.map(|systems| systems.values().filter_map(of_system).collect::<Vec<_>>());
        let problems = problems.filter(|systems| !systems.is_empty()).collect();
        let runtimes = Runtimes { solvers: results.cases.solvers(), problems };
        let (start, end) = runtimes.ends()?;
        (runtimes.solvers.len() > 1 && start < end).then_some(runtimes)
    }

    /// The costs over the fastest solver's, target by target.
    #[must_use]
    pub(crate) fn over_fastest(mut self) -> Runtimes<'f> {
        for system in self.problems.iter_mut().flatten() {
            let count = system.values().next().map_or(0, |attempt| attempt.reached.len());
            for at in 0..count {
                let fastest =
                    system.values().map(|attempt| attempt.reached[at]).fold(f64::INFINITY, f64::min);
                for attempt in system.values_mut() {
                    attempt.reached[at] = ratio(attempt.reached[at], fastest);
                    attempt.spent[at] = ratio(attempt.spent[at], fastest);
                }
            }
        }
        self
    }

    /// The costs to the hardest target alone.
    pub(crate) fn to_the_hardest(&self) -> Runtimes<'f> {
        let last = |costs: &[f64]| costs.last().copied().into_iter().collect();
        let of_attempt = |(solver, attempt): (&&'f str, &Attempt)| {
            (*solver, Attempt { reached: last(&attempt.reached), spent: last(&attempt.spent) })
        };
        let of_problem = |systems: &Vec<BTreeMap<&'f str, Attempt>>| {
            systems.iter().map(|system| system.iter().map(of_attempt).collect()).collect()
        };
        Runtimes { solvers: self.solvers.clone(), problems: self.problems.iter().map(of_problem).collect() }
    }

    /// The share of (seed, target) pairs that a solver reaches within a cost.
    pub(crate) fn profile(&self, solver: &str) -> Staircase {
        let of_system = |system: &BTreeMap<&str, Attempt>| Some(system.get(solver)?.reached.clone());
        let of_problem = |systems: &Vec<_>| systems.iter().filter_map(of_system).collect();
        runtime_profile(&self.problems.iter().map(of_problem).collect::<Vec<_>>())
    }

    /// The median of what a solver spent on the pairs that it did not reach; `None` where it reached all.
    pub(crate) fn spent_in_vain(&self, solver: &str) -> Option<f64> {
        let attempts = self.problems.iter().flatten().filter_map(|system| system.get(solver));
        let pairs = attempts.flat_map(|attempt| attempt.reached.iter().zip(&attempt.spent));
        let spent: Vec<f64> =
            pairs.filter(|(reached, _)| reached.is_infinite()).map(|(_, spent)| *spent).collect();
        median(&spent)
    }

    /// The least and the largest cost of any solver.
    pub(crate) fn ends(&self) -> Option<(f64, f64)> {
        let attempts = || self.problems.iter().flatten().flat_map(BTreeMap::values);
        let usable = |cost: &&f64| cost.is_finite() && **cost > 0.0;
        let start =
            attempts().flat_map(|attempt| &attempt.reached).filter(usable).copied().reduce(f64::min)?;
        let all = attempts().flat_map(|attempt| attempt.reached.iter().chain(&attempt.spent));
        Some((start, all.filter(usable).copied().reduce(f64::max)?))
    }

    /// Numbers of problems and of systems.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.problems.len(), self.problems.iter().map(Vec::len).sum())
    }
}

/// A cost over the fastest one; infinite where no solver reached the target.
fn ratio(cost: f64, fastest: f64) -> f64 {
    match fastest.is_finite() {
        true if cost <= fastest => 1.0,
        true => cost / fastest,
        false => f64::INFINITY,
    }
}

/// Distances to the exact predictions along the solves of a problem, by solver.
pub(crate) fn error_traces<'f>(
    results: &Results<'f>,
    problem: &GroupProblem,
    clock: Clock,
) -> BTreeMap<&'f str, Vec<ErrorTrace>> {
    let mut traces: BTreeMap<&str, Vec<ErrorTrace>> = BTreeMap::new();
    for system in systems_of(results, clock).get(problem).into_iter().flat_map(BTreeMap::values) {
        let Some(unit) = Measure::ToExact.unit(system) else { continue };
        for (solver, cases) in &system.cases {
            let trace = |case: &CaseView<'f>| ErrorTrace {
                trace: Measure::ToExact.trace(case, clock, unit),
                failed: !case.is_answer(),
            };
            traces.entry(*solver).or_default().extend(cases.iter().map(trace));
        }
    }
    traces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One problem with one system: `a` reaches both targets, `b` the first.
    fn example() -> Runtimes<'static> {
        let attempt =
            |reached: [f64; 2], spent: f64| Attempt { reached: reached.to_vec(), spent: vec![spent; 2] };
        let system =
            BTreeMap::from([("a", attempt([2.0, 8.0], 8.0)), ("b", attempt([1.0, f64::INFINITY], 30.0))]);
        Runtimes { solvers: vec!["a", "b"], problems: vec![vec![system]] }
    }

    #[test]
    fn pairs_that_were_not_reached_have_a_budget() {
        let runtimes = example();
        assert_eq!(runtimes.ends(), Some((1.0, 30.0)));
        assert_eq!((runtimes.spent_in_vain("a"), runtimes.spent_in_vain("b")), (None, Some(30.0)));
        assert_eq!((runtimes.profile("a").height(), runtimes.profile("b").height()), (1.0, 0.5));
        let hardest = runtimes.to_the_hardest();
        assert_eq!((hardest.profile("a").at(8.0), hardest.profile("b").height()), (1.0, 0.0));
    }

    #[test]
    fn ratios_are_to_the_fastest_at_each_target() {
        let runtimes = example().over_fastest();
        assert_eq!(runtimes.profile("a").steps(), [(1.0, 0.5), (2.0, 1.0)]);
        assert_eq!(runtimes.profile("b").at(1.0), 0.5);
        assert_eq!(runtimes.spent_in_vain("b"), Some(30.0 / 8.0));
    }
}
