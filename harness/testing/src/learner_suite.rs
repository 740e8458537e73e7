//! Tests that every learner inherits by one line of [`learner_suite!`](crate::learner_suite).

use std::marker::PhantomData;

use gpbench_abi::Status;
use gpbench_sdk::Learner;
use gpbench_terms::Reason;
use ndarray::{Array1, Axis, s};

use crate::settings::{Settings, assert_refused};
use crate::{CallError, FitHost, FitReport, FitRun, SavedFit, learner_entry};

/// Number of steps before a state is saved.
const SAVED_AFTER: usize = 3;

/// A learner, parameters, and a fit of a few passes under them.
pub struct LearnerSuite<L> {
    host: FitHost,
    settings: Settings,
    learner: PhantomData<L>,
}

/// The tests of a [`LearnerSuite`](crate::LearnerSuite), each a `#[test]` of its own.
///
/// ```ignore
/// gpbench_testing::learner_suite! { LearnerSuite::<MyLearner>::new(FitHost::wave(60).passes(3.0)) }
/// ```
#[macro_export]
macro_rules! learner_suite {
    (tests: $suite:expr; $($test:ident)+) => {
        $(
            #[test]
            fn $test() {
                $suite.$test();
            }
        )+
    };
    ($suite:expr) => {
        $crate::learner_suite! { tests: $suite;
            the_passes_are_spent_and_no_more
            a_pause_changes_no_bit
            passes_granted_later_are_drawn_alike
            a_saved_state_goes_on_bit_by_bit
            a_state_of_other_data_is_refused
            begin_forgets_an_earlier_fit
            the_number_of_threads_changes_no_bit
            predictions_do_not_depend_on_other_rows
            variances_are_positive
            batches_larger_than_the_data_are_all_of_it
            targets_that_are_not_numbers_end_the_fit
            parameters_out_of_range_are_refused
        }
    };
}

impl<L: Learner> LearnerSuite<L> {
    /// A suite with this fit, which must have at least two passes and at least four steps in total.
    #[must_use]
    pub fn new(host: FitHost) -> LearnerSuite<L> {
        LearnerSuite { host, settings: Vec::new(), learner: PhantomData }
    }

    /// Sets parameters; the others have their defaults.
    #[must_use]
    pub fn settings(mut self, settings: impl Into<Settings>) -> Self {
        self.settings = settings.into();
        self
    }

    fn begin<'h>(&self, host: &'h FitHost) -> FitRun<'h> {
        host.begin::<L>(&self.settings).unwrap_or_else(|failure| panic!("`begin` failed: {failure:?}"))
    }

    /// A fit in one call.
    fn whole<'h>(&self, host: &'h FitHost) -> FitRun<'h> {
        let mut run = self.begin(host);
        fit(&mut run);
        run
    }

    /// Asserts that two runs have taken the same steps and predict the same.
    fn assert_same(&self, a: &FitRun<'_>, b: &FitRun<'_>) {
        let bits = |run: &FitRun<'_>| -> Vec<(i64, u64)> {
            run.trace().iter().map(|&(step, objective)| (step, objective.to_bits())).collect()
        };
        let steps = bits(a).len().min(bits(b).len());
        // A resumed run has only the last steps.
        let last = |run: &FitRun<'_>| bits(run).split_off(bits(run).len() - steps);
        assert_eq!(last(a), last(b), "steps and objectives");
        assert_eq!(self.predict(a), self.predict(b), "predictions");
        assert_eq!(a.used(), b.used(), "rows, entries and features");
    }

    fn predict(&self, run: &FitRun<'_>) -> (Array1<f64>, Array1<f64>) {
        run.predict(self.host.x()).unwrap_or_else(|failure| panic!("`predict` failed: {failure:?}"))
    }

    /// Every step is observed, and the fit ends when the passes are spent.
    pub fn the_passes_are_spent_and_no_more(&self) {
        let mut run = self.begin(&self.host);
        let report = fit(&mut run);
        let steps: Vec<i64> = run.trace().iter().map(|&(step, _)| step).collect();
        assert!(steps.len() > SAVED_AFTER, "a suite needs a fit of more than {SAVED_AFTER} steps");
        assert_eq!(steps, (1..=report.steps).collect::<Vec<_>>());
        assert_eq!(report.reason, Reason::Stopped);
        let before = run.used();
        assert_eq!(fit(&mut run), report, "a fit whose passes are spent takes no step");
        assert_eq!(run.used(), before);
    }

    /// A fit that pauses after every step has the same bits as the fit in one call.
    pub fn a_pause_changes_no_bit(&self) {
        let whole = self.whole(&self.host);
        let mut turns = self.begin(&self.host);
        for _ in 0..whole.trace().len() {
            turns.steps(1).expect("a step");
            // A prediction between two steps changes nothing either.
            self.predict(&turns);
            look(&turns);
        }
        self.assert_same(&whole, &turns);
    }

    /// Passes granted one by one have the same batches as passes granted together, because a refused step draws
    /// nothing. Steps may differ by a schedule over the passes.
    pub fn passes_granted_later_are_drawn_alike(&self) {
        let whole = self.whole(&self.host);
        let mut turns = self.begin(&self.host);
        for pass in 1..=self.host.granted() as usize {
            turns.grant(pass as f64);
            fit(&mut turns);
        }
        let passes = |run: &FitRun<'_>| run.used().rows_of_passes;
        assert_eq!((whole.trace().len(), passes(&whole)), (turns.trace().len(), passes(&turns)));
        assert_eq!(whole.batches(), turns.batches());
    }

    /// A learner that continues from a saved state takes the same steps, if it saves states.
    pub fn a_saved_state_goes_on_bit_by_bit(&self) {
        let whole = self.whole(&self.host);
        let mut first = self.begin(&self.host);
        first.steps(SAVED_AFTER).expect("steps");
        let Some(saved) = saved(&first) else { return };
        drop(first);
        let mut second = self.host.resume::<L>(&self.settings, &saved).expect("a state of the same fit");
        assert_eq!(second.save().expect("a state"), saved, "a state is the same after loading");
        fit(&mut second);
        assert_eq!(second.trace().first().map(|&(step, _)| step), Some(SAVED_AFTER as i64 + 1));
        self.assert_same(&whole, &second);
    }

    /// A state of other data is an error.
    pub fn a_state_of_other_data_is_refused(&self) {
        let mut run = self.begin(&self.host);
        run.steps(1).expect("a step");
        let Some(saved) = saved(&run) else { return };
        let mut other = self.host.clone();
        other.y *= 1.5;
        let failure = other.resume::<L>(&self.settings, &saved).err().expect("other targets are refused");
        assert_eq!(failure.status(), Some(Status::INVALID_ARGUMENT));
    }

    /// A second `begin` on the same object begins anew.
    pub fn begin_forgets_an_earlier_fit(&self) {
        let whole = self.whole(&self.host);
        let mut again = self.whole(&self.host);
        again.begin().expect("a second `begin`");
        fit(&mut again);
        self.assert_same(&whole, &again);
    }

    /// Fits and predictions have the same bits on one thread and on several.
    pub fn the_number_of_threads_changes_no_bit(&self) {
        let hosts = [1, 2, 7].map(|threads| self.host.clone().threads(threads));
        let [one, two, seven] = hosts.each_ref().map(|host| self.whole(host));
        self.assert_same(&one, &two);
        self.assert_same(&one, &seven);
    }

    /// Predictions at some rows are those at all of them, in any order.
    pub fn predictions_do_not_depend_on_other_rows(&self) {
        let run = self.whole(&self.host);
        let (mean, variance) = self.predict(&run);
        let x = self.host.x();
        let rows = 0..x.nrows();
        for order in [rows.clone().rev().collect::<Vec<_>>(), vec![0], rows.step_by(3).collect()] {
            let part = run.predict(&x.select(Axis(0), &order)).expect("predictions");
            let close = |a: &Array1<f64>, b: &Array1<f64>| {
                let scale = b.iter().fold(f64::MIN_POSITIVE, |scale: f64, b| scale.max(b.abs()));
                a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-10 * scale)
            };
            assert!(close(&part.0, &mean.select(Axis(0), &order)), "means of the rows {order:?}");
            assert!(close(&part.1, &variance.select(Axis(0), &order)), "variances of the rows {order:?}");
        }
        assert_eq!(run.predict(&x.slice(s![..0, ..])).expect("no rows").0.len(), 0);
    }

    /// Predictions are finite and their variances positive, right after `begin` and at the end.
    pub fn variances_are_positive(&self) {
        for run in [self.begin(&self.host), self.whole(&self.host)] {
            let (mean, variance) = self.predict(&run);
            assert!(mean.iter().all(|mean| mean.is_finite()));
            assert!(variance.iter().all(|&variance| variance > 0.0 && variance.is_finite()));
        }
    }

    /// With a `batch` larger than the data, if there is such a parameter, each step uses all rows.
    pub fn batches_larger_than_the_data_are_all_of_it(&self) {
        if !learner_entry::<L>().info.params.iter().any(|param| param.name == "batch") {
            return;
        }
        let n = self.host.x().nrows();
        let mut settings = self.settings.clone();
        settings.retain(|(name, _)| *name != "batch");
        settings.push(("batch", (10 * n as i64).into()));
        let mut run = self.host.begin::<L>(&settings).expect("a batch larger than the data");
        fit(&mut run);
        let main = |stream: u32| gpbench_abi::Batches::counts_passes(stream);
        assert!(run.batches().iter().all(|(stream, rows)| !main(*stream) || rows.len() == n));
    }

    /// Targets with NaN are an error or diverge, at once or at their first batch.
    pub fn targets_that_are_not_numbers_end_the_fit(&self) {
        let mut host = self.host.clone();
        host.y[1] = f64::NAN;
        let outcome = host.begin::<L>(&self.settings).and_then(|mut run| {
            let report = run.fit()?;
            assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()));
            Ok(report)
        });
        assert!(outcome.is_err() || outcome.is_ok_and(|report| report.reason == Reason::Diverged));
    }

    /// Values that are outside a parameter's range, of another kind, or not among its choices are refused with its
    /// name.
    pub fn parameters_out_of_range_are_refused(&self) {
        assert_refused(&learner_entry::<L>().info.params, |value| {
            self.host.begin::<L>(&[value]).err().expect("a value out of range is refused")
        });
    }
}

fn fit(run: &mut FitRun<'_>) -> FitReport {
    run.fit().unwrap_or_else(|failure| panic!("`fit` failed: {failure:?}"))
}

/// Requests the model, which a learner may lack.
fn look(run: &FitRun<'_>) {
    match run.model() {
        Err(error) if is_unsupported(&error) => {}
        other => assert!(other.expect("a model").array("kind").is_some(), "the model has no kind"),
    }
}

/// The saved state, if the learner saves states.
fn saved(run: &FitRun<'_>) -> Option<SavedFit> {
    match run.save() {
        Err(error) if is_unsupported(&error) => None,
        other => Some(other.expect("a state")),
    }
}

fn is_unsupported(error: &CallError) -> bool {
    error.status() == Some(Status::UNSUPPORTED)
}
