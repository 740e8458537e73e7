//! Costs at which solvers reach targets, and errors along their solves: what profiles are made of.
//!
//! A target is reached at the first evaluation from which on all are within it, the verified end included, as the
//! run's target is: a solver does not know its error, so a value that it leaves again was not reached.

use std::collections::BTreeMap;

use gpbench_record::{CaseStatus, Row, TaskKind, WITHIN, names};
use gpbench_statistics::median;
use gpbench_statistics::profile::{ErrorTrace, Staircase, runtime_profile, runtimes, targets};

use crate::clock::Clock;
use crate::frame::CaseView;
use crate::problem::GroupProblem;
use crate::results::Results;
use crate::systems::{Problems, System, reduced, systems, timed_systems};
use crate::target::{Along, Limits, Point, along};

/// The hardest target of residuals where the budget has no tolerance.
const RESIDUAL: f64 = 1e-5;

/// The hardest target of distances to the exact predictions, over the exact test RMSE, unless the run has one.
const TO_EXACT: f64 = 1e-3;

/// The hardest target of test errors, as an excess over the least one of the solvers.
const EXCESS: f64 = 1e-2;

/// The hardest target of likelihoods, in nats per row below the largest one of the solvers.
const NATS: f64 = 1e-3;

/// The error that targets are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The relative residual of y: as the solver claims it along the solve, and verified at the end.
    Residual,
    /// The distance of the predictions to the exact ones, over the exact test RMSE, verified throughout.
    ToExact,
    /// The test RMSE of training or of a learner, over the least final one of all solvers, less 1.
    TestError,
    /// The exact log marginal likelihood of training or of a learner: how far it is below the largest final one of all
    /// solvers, in nats per row.
    Likelihood,
}

impl Measure {
    /// The errors that profiles of a task are over.
    pub(crate) fn of_task(task: TaskKind) -> [Measure; 2] {
        match task {
            TaskKind::Train | TaskKind::Learn => [Measure::TestError, Measure::Likelihood],
            _ => [Measure::Residual, Measure::ToExact],
        }
    }

    /// Names of the metric along a case and at its end.
    fn metrics(self, task: TaskKind) -> [&'static str; 2] {
        match self {
            Measure::Residual => [names::CLAIMED_Y, names::RESIDUAL_Y],
            Measure::ToExact => [names::RMSE_TO_EXACT; 2],
            Measure::TestError => [names::TEST_RMSE; 2],
            Measure::Likelihood if task == TaskKind::Learn => [names::NLML; 2],
            Measure::Likelihood => [names::LOG_MARGINAL_LIKELIHOOD; 2],
        }
    }

    /// A metric in the units of this measure, in which less is better: a log likelihood as its negative per row.
    fn value(self, row: &Row, metric: f64) -> f64 {
        match self {
            Measure::Likelihood if row.case.task.learning().is_none() => {
                row.n.map_or(f64::NAN, |n| -metric / n as f64)
            }
            _ => metric,
        }
    }

    /// The value that errors of a system are relative to. A verified residual may exceed the tolerance by rounding.
    fn reference(self, system: &System<'_>) -> Option<f64> {
        let ends = || {
            let cases = system.cases.values().flatten();
            let answers = cases.filter(|case| case.is_answer() && self.counts(case));
            answers.filter_map(|case| {
                let [_, end] = self.metrics(case.case().task.kind());
                Some(self.value(case.row(), case.metric(end)?))
            })
        };
        match self {
            Measure::Residual => Some(WITHIN),
            Measure::ToExact => {
                system.shared(|case| case.metric(names::TEST_RMSE_EXACT)).filter(|exact| *exact > 0.0)
            }
            Measure::TestError => ends().reduce(f64::min).filter(|least| *least > 0.0),
            Measure::Likelihood => ends().reduce(f64::min).filter(|least| least.is_finite()),
        }
    }

    /// The error of a value.
    fn error(self, value: f64, reference: f64) -> f64 {
        match self {
            Measure::Residual | Measure::ToExact => value / reference,
            Measure::TestError => value / reference - 1.0,
            Measure::Likelihood => value - reference,
        }
    }

    /// The hardest target of a system.
    fn least(self, system: &System<'_>, reference: f64, limits: Option<&Limits<'_>>) -> f64 {
        match self {
            Measure::Residual => {
                // The tolerance of weights of inducing points is not one of this residual, which they do not have.
                let has_residual =
                    |case: &&CaseView<'_>| !case.is_answer() || case.metric(names::RESIDUAL_Y).is_some();
                let cases = system.cases.values().flatten().filter(has_residual);
                cases.filter_map(|case| case.case().budget.tolerance).reduce(f64::min).unwrap_or(RESIDUAL)
            }
            Measure::ToExact => {
                let limit = limits.and_then(|limits| system.shared(|case| limits.of(case.row())));
                limit.map_or(TO_EXACT, |limit| limit / reference)
            }
            Measure::TestError => EXCESS,
            Measure::Likelihood => NATS,
        }
    }

    /// Whether what a case reached counts. Claims of a failed case and predictions of a learner's own were never
    /// verified, and a process that died is not trusted.
    fn counts(self, case: &CaseView<'_>) -> bool {
        let was_stopped = [CaseStatus::Timeout, CaseStatus::Diverged].contains(&case.status());
        let is_verified = !case.row().has_own_predictions();
        is_verified && (case.is_answer() || self != Measure::Residual && was_stopped)
    }

    /// The evaluations (cost, value) of a case in order of cost, the verified end of an answer last; none of an
    /// answer without one.
    fn trace(self, case: &CaseView<'_>, clock: Clock) -> Vec<(f64, f64)> {
        let row = case.row();
        let Along { points, end } = along(row, self.metrics(row.case.task.kind()));
        let point = |point: &Point| Some((clock.of(point.spent)?, self.value(row, point.value)));
        let end = end.as_ref().and_then(point).filter(|_| case.is_answer());
        if !self.counts(case) || case.is_answer() && end.is_none() {
            return Vec::new();
        }
        let mut trace: Vec<(f64, f64)> = points.iter().filter_map(point).collect();
        trace.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        trace.extend(end);
        trace
    }

    /// What a case spent until it ended.
    fn spent(self, case: &CaseView<'_>, clock: Clock) -> Option<f64> {
        let row = case.row();
        let points = || along(row, self.metrics(row.case.task.kind())).points;
        let last = || points().iter().filter_map(|point| clock.of(point.spent)).reduce(f64::max);
        clock.spent(row).or_else(last)
    }
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
            let reference = measure.reference(system)?;
            let least = measure.least(system, reference, limits.as_ref());
            let targets = targets(Some(least).filter(|least| *least > 0.0 && *least < 1.0)?);
            let attempt = |(solver, repeats): (&&'f str, &Vec<CaseView<'f>>)| {
                let times = |case: &CaseView<'f>| {
                    let mut trace = measure.trace(case, clock);
                    trace.iter_mut().for_each(|(_, value)| *value = measure.error(*value, reference));
                    runtimes(&trace, &targets)
                };
                let traces: Vec<Vec<f64>> = repeats.iter().map(times).collect();
                let reached = (0..targets.len()).map(|at| reduced(traces.iter().map(|times| times[at])));
                let spent = |case: &CaseView<'f>| measure.spent(case, clock).unwrap_or(f64::INFINITY);
                let spent = reduced(repeats.iter().map(spent));
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

/// Errors of predictions along the cases of a problem, by solver: distances to the exact predictions over the exact test
/// RMSE, or for training and learners the test RMSE itself.
pub(crate) fn error_traces<'f>(
    results: &Results<'f>,
    problem: &GroupProblem,
    clock: Clock,
) -> BTreeMap<&'f str, Vec<ErrorTrace>> {
    let measure = predictions(results);
    let mut traces: BTreeMap<&str, Vec<ErrorTrace>> = BTreeMap::new();
    for system in systems_of(results, clock).get(problem).into_iter().flat_map(BTreeMap::values) {
        let Some(reference) = measure.reference(system) else { continue };
        let unit = if measure == Measure::ToExact { reference } else { 1.0 };
        for (solver, cases) in &system.cases {
            let trace = |case: &CaseView<'f>| {
                let mut trace = measure.trace(case, clock);
                trace.iter_mut().for_each(|(_, value)| *value /= unit);
                ErrorTrace { trace, failed: !case.is_answer() }
            };
            traces.entry(*solver).or_default().extend(of_seed(cases.iter().map(trace).collect()));
        }
    }
    traces
}

/// The timing repeats of a seed as one run: one that failed if there is one, or else the one with the median cost (of an even
/// number, the dearer one of the middle two).
fn of_seed(mut repeats: Vec<ErrorTrace>) -> Option<ErrorTrace> {
    let cost = |run: &ErrorTrace| run.trace.last().map_or(f64::INFINITY, |(cost, _)| *cost);
    repeats.sort_by(|a, b| b.failed.cmp(&a.failed).then(cost(a).total_cmp(&cost(b))));
    let at = if repeats.first()?.failed { 0 } else { repeats.len() / 2 };
    Some(repeats.swap_remove(at))
}

/// The error of the predictions of a task.
pub(crate) fn predictions(results: &Results<'_>) -> Measure {
    let is_learned = |task: &TaskKind| Measure::of_task(*task).contains(&Measure::TestError);
    if results.cases.tasks().iter().any(is_learned) { Measure::TestError } else { Measure::ToExact }
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
    fn errors_of_training_are_relative_to_the_best_solver() {
        assert_eq!(Measure::of_task(TaskKind::Learn), [Measure::TestError, Measure::Likelihood]);
        assert_eq!(Measure::of_task(TaskKind::Solve), [Measure::Residual, Measure::ToExact]);
        assert_eq!((Measure::TestError.error(0.75, 0.5), Measure::TestError.error(0.5, 0.5)), (0.5, 0.0));
        assert_eq!(Measure::Likelihood.error(-1.0, -1.25), 0.25);
        let row = gpbench_record::testing::row(gpbench_record::testing::case("cg"), &[]);
        assert_eq!(Measure::Likelihood.value(&row, 60.0), -2.0, "of 30 rows");
    }

    #[test]
    fn repeats_of_a_seed_are_one_run() {
        let run =
            |cost: f64, failed: bool| ErrorTrace { trace: vec![(0.5 * cost, 1.0), (cost, 0.1)], failed };
        let end = |runs: &[ErrorTrace]| of_seed(runs.to_vec()).map(|run| run.trace[1].0);
        assert_eq!(end(&[run(9.0, false), run(1.0, false), run(2.0, false)]), Some(2.0));
        assert_eq!(end(&[run(1.0, false), run(2.0, false)]), Some(2.0));
        assert_eq!(end(&[run(1.0, false), run(2.0, false), run(7.0, true)]), Some(7.0));
        assert_eq!(end(&[]), None);
    }

    #[test]
    fn ratios_are_to_the_fastest_at_each_target() {
        let runtimes = example().over_fastest();
        assert_eq!(runtimes.profile("a").steps(), [(1.0, 0.5), (2.0, 1.0)]);
        assert_eq!(runtimes.profile("b").at(1.0), 0.5);
        assert_eq!(runtimes.spent_in_vain("b"), Some(30.0 / 8.0));
    }
}
