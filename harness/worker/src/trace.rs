//! The trace of a solve: it selects the iterations that are sent, and those whose iterate is evaluated.
//!
//! An evaluation predicts on the test rows, which costs about n_test / n epochs of
//! arithmetic, and one epoch more for the error of the weights where the exact ones are
//! known; neither is counted or timed. Evaluations are evenly spaced in log
//! epochs, ten per decade and at most 60; the residual norms that a solver claims in
//! between cost nothing and are thinned only once there are many. The numbers that the solver
//! reports are thinned in the same way, separately for each name.

use std::collections::BTreeMap;

use gpbench_host::{IterationInfo, Observer};
use gpbench_record::{MOST_TRACE_POINTS, Message, Metrics, TracePoint, names};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

use crate::evaluate::{is_finite, weights};

/// Evaluations per decade of epochs.
const EVALUATIONS_PER_DECADE: f64 = 10.0;

/// Largest number of evaluations of a solve, not counting the last one.
const MAX_EVALUATIONS: u32 = 60;

/// Number of iterations that are all sent before thinning begins.
const ALL_UP_TO: u64 = 200;

/// Ratio of the counts at which thinned iterations are sent.
const THINNING: f64 = 1.05;

/// Largest number of names of numbers that the solver reports; further names are ignored.
pub(crate) const MAX_NAMES: usize = 64;

/// Selects the iterations whose iterate is evaluated: the first, and one whenever the epochs have grown by
/// a tenth of a decade.
#[derive(Debug)]
struct TraceSchedule {
    next: f64,
    left: u32,
}

impl TraceSchedule {
    fn new() -> TraceSchedule {
        TraceSchedule { next: 0.0, left: MAX_EVALUATIONS }
    }

    fn is_due(&mut self, epochs: f64) -> bool {
        if self.left == 0 || epochs < self.next {
            return false;
        }
        self.left -= 1;
        // A first iteration before anything is used must not put the whole grid at zero.
        self.next = epochs.max(1e-3) * 10_f64.powf(1.0 / EVALUATIONS_PER_DECADE);
        true
    }
}

/// Selects the iterations that are sent: the first two hundred, then one whenever the count has grown by a twentieth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Thinning {
    seen: u64,
    next: u64,
}

impl Thinning {
    pub(crate) fn new() -> Thinning {
        Thinning { seen: 0, next: 1 }
    }

    /// Whether the next iteration is sent.
    pub(crate) fn is_due(&mut self) -> bool {
        self.seen += 1;
        if self.seen < self.next {
            return false;
        }
        self.next =
            if self.seen < ALL_UP_TO { self.seen + 1 } else { (self.seen as f64 * THINNING) as u64 + 1 };
        true
    }
}

/// Metrics of an iterate.
pub type Evaluate<'a> = &'a dyn Fn(ArrayView2<f64>) -> Metrics;

/// The goal at which a solve ends: a metric of an iterate, and its largest allowed value.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// Name of the metric.
    pub metric: String,
    /// Largest value.
    pub limit: f64,
}

/// Converts iterations into messages.
pub struct CaseTrace<'a> {
    /// Metrics of an iterate; `None` where iterates are not evaluated.
    evaluate: Option<Evaluate<'a>>,
    send: &'a mut dyn FnMut(Message),
    schedule: TraceSchedule,
    thinning: Thinning,
    own: BTreeMap<String, Thinning>,
    last_evaluated: Option<u64>,
    sent: usize,
    goal: Option<Goal>,
    reached: bool,
}

impl<'a> CaseTrace<'a> {
    /// A trace with these metrics of iterates, if any.
    pub fn new(evaluate: Option<Evaluate<'a>>, send: &'a mut dyn FnMut(Message)) -> CaseTrace<'a> {
        let (schedule, thinning) = (TraceSchedule::new(), Thinning::new());
        CaseTrace {
            evaluate,
            send,
            schedule,
            thinning,
            own: BTreeMap::new(),
            last_evaluated: None,
            sent: 0,
            goal: None,
            reached: false,
        }
    }

    /// Stops the solver at the first evaluated iterate that is good enough.
    #[must_use]
    pub fn until(self, goal: Option<Goal>) -> CaseTrace<'a> {
        CaseTrace { goal, ..self }
    }

    /// Whether an evaluated iterate was good enough.
    pub fn has_reached_goal(&self) -> bool {
        self.reached
    }

    /// Ends the trace with the solution, unless that was evaluated last.
    pub fn close(&mut self, info: IterationInfo<'_>, solution: ArrayView2<f64>) {
        if is_finite(solution) && self.last_evaluated != Some(info.iteration) {
            self.point(info, Some(solution));
        }
    }

    fn point(&mut self, info: IterationInfo<'_>, iterate: Option<ArrayView2<f64>>) {
        let mut metrics = weights::claims(info.claimed);
        if let (Some(evaluate), Some(iterate)) = (self.evaluate, iterate) {
            metrics.extend(&evaluate(iterate));
            self.reached |= self.goal.as_ref().is_some_and(|Goal { metric, limit }| {
                metrics.get(metric).is_some_and(|value| value <= *limit)
            });
        }
        if !metrics.is_empty() {
            self.send(info, metrics);
        }
    }

    /// Sends a point, unless the case has reached its largest number of points.
    fn send(&mut self, info: IterationInfo<'_>, metrics: Metrics) {
        if self.sent == MOST_TRACE_POINTS {
            return;
        }
        self.sent += 1;
        let IterationInfo { iteration, seconds, epochs, .. } = info;
        (self.send)(Message::Trace(TracePoint { iteration, seconds, epochs, metrics }));
    }
}

impl Observer for CaseTrace<'_> {
    fn wants_iterate(&mut self, info: IterationInfo<'_>) -> bool {
        self.evaluate.is_some() && self.schedule.is_due(info.epochs)
    }

    fn record(&mut self, info: IterationInfo<'_>, iterate: Option<ArrayView2<f64>>) {
        let due = self.thinning.is_due();
        if iterate.is_some() {
            self.last_evaluated = Some(info.iteration);
        }
        if due || iterate.is_some() {
            self.point(info, iterate);
        }
    }

    fn wants_stop(&mut self) -> bool {
        self.reached
    }

    fn note(&mut self, info: IterationInfo<'_>, name: &str, value: f64) {
        if !self.own.contains_key(name) && self.own.len() == MAX_NAMES {
            return;
        }
        if self.own.entry(name.to_owned()).or_insert_with(Thinning::new).is_due() {
            let metric = (names::of_solver(name), value);
            self.send(info, Metrics::from_iter([metric]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_even_in_log_epochs_and_few() {
        let mut schedule = TraceSchedule::new();
        let taken: Vec<u32> = (1..=100_000).filter(|&epoch| schedule.is_due(f64::from(epoch))).collect();
        assert_eq!(taken[0], 1);
        assert!((40..=MAX_EVALUATIONS as usize).contains(&taken.len()), "{}", taken.len());
        let late: Vec<_> = taken.iter().filter(|&&epoch| (1000..10_000).contains(&epoch)).collect();
        assert!((9..=11).contains(&late.len()), "{late:?}");
    }

    #[test]
    fn an_evaluation_before_the_first_epoch_leaves_the_grid_in_place() {
        let mut schedule = TraceSchedule::new();
        assert!(schedule.is_due(0.0));
        assert!(!schedule.is_due(0.0));
        assert!(schedule.is_due(1.0));
        assert!(!schedule.is_due(1.1));
    }

    #[test]
    fn there_are_never_more_than_the_most() {
        let mut schedule = TraceSchedule::new();
        let taken = (0..200).filter(|&decade| schedule.is_due(1.5_f64.powi(decade))).count();
        assert_eq!(taken, MAX_EVALUATIONS as usize);
    }

    #[test]
    fn many_iterations_are_thinned() {
        let mut thinning = Thinning::new();
        let due: Vec<u64> = (1..=1_000_000).filter(|_| thinning.is_due()).collect();
        assert_eq!(due[..ALL_UP_TO as usize], (1..=ALL_UP_TO).collect::<Vec<_>>());
        assert!(due.len() < 400, "{}", due.len());
    }

    #[test]
    fn a_solve_ends_at_the_first_evaluation_that_is_good_enough() {
        let evaluate = |iterate: ArrayView2<f64>| Metrics::from_iter([("error".to_owned(), iterate[[0, 0]])]);
        let mut send = |_: Message| ();
        let goal = Goal { metric: "error".to_owned(), limit: 0.1 };
        let mut trace = CaseTrace::new(Some(&evaluate), &mut send).until(Some(goal));
        for (iteration, error, stops) in [(1, 0.5, false), (2, 0.1, true)] {
            let info = IterationInfo { iteration, seconds: 0.0, epochs: 0.0, claimed: &[] };
            trace.record(info, None);
            trace.record(info, Some(ndarray::arr2(&[[error]]).view()));
            assert_eq!(trace.wants_stop(), stops);
        }
    }

    #[test]
    fn a_trace_has_no_more_points_than_a_case_may_have() {
        let mut sent = 0;
        let mut send = |_: Message| sent += 1;
        let mut trace = CaseTrace::new(None, &mut send);
        let info = IterationInfo { iteration: 1, seconds: 0.0, epochs: 0.0, claimed: &[] };
        for round in 0..100_000 {
            trace.note(info, &format!("name{}", round % (2 * MAX_NAMES)), 1.0);
        }
        assert!(sent <= MOST_TRACE_POINTS, "{sent}");
    }
}
