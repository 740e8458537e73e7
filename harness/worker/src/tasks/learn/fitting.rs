//! The outer loop of task `learn`: fit until the next evaluation, evaluate the model, write a checkpoint.

use std::cell::RefCell;
use std::rc::Rc;

use gpbench_host::{
    Arrays, CallError, FitEnd, FitLimits, FitOutcome, FitSession, LearnerObject, Library, Pause,
    SolveOutcome, difference,
};
use gpbench_record::{FaultCause, Learning, Message, Solved, StopReason, TaskOutput};
use ndarray::{Array2, ShapeBuilder, s};
use rand::Rng;

use crate::beginning::Beginning;
use crate::evaluate::model::Judge;
use crate::failure::{CaseError, fault, file_fault};
use crate::model_file::{self, Learned};
use crate::process;
use crate::runner::{Startup, load};
use crate::setup::Setup;

use super::checkpoint;
use super::look::{Seen, look, supplied};
use super::problem::{Parts, check};
use super::recorder::{Recorder, Send};
use super::state::{Best, State};

/// The share of the test rows in the first call of the learner's predictions.
const FIRST_SHARE: f64 = 0.3;

/// A case whose library is loaded.
pub(super) struct Fitting<'s> {
    setup: &'s Setup<'s>,
    task: &'s Learning,
    library: Library,
    parts: Parts,
    judge: Judge<'s>,
    startup: Startup<'s>,
    beginning: Beginning,
}

/// A case whose fit has ended and whose files are written.
pub(super) struct Ended {
    pub(super) reason: StopReason,
    pub(super) state: State,
    /// The evaluation whose model is the result, without the model; `None` where no model was finite.
    pub(super) selected: Option<Best>,
    /// Why the learner makes no predictions although it has a model; `None` where it makes them.
    pub(super) declined: Option<String>,
    /// Wall-clock seconds of the learner's predictions on the test rows; NaN where it declines.
    pub(super) predict: f64,
}

impl<'s> Fitting<'s> {
    /// Sends [`Message::Loading`] and loads the library; see [`load`].
    pub(super) fn load(
        setup: &'s Setup<'s>,
        task: &'s Learning,
        send: &mut dyn FnMut(Message),
    ) -> Result<Fitting<'s>, CaseError> {
        let parts = Parts::new(setup, task)?;
        let judge = Judge::new(setup, task);
        let (library, startup) = load(setup, send)?;
        check(&library.learner(&setup.job.case.solver.plugin)?.info, &setup.kernel, task)?;
        let beginning = startup.beginning(&library);
        Ok(Fitting { setup, task, library, parts, judge, startup, beginning })
    }

    /// The measurements of the case.
    pub(super) fn solved(&self, outcome: SolveOutcome, output: TaskOutput) -> Solved {
        self.startup.solved_by((&self.library, &self.beginning), outcome, 0, output)
    }

    /// Fits, evaluates and selects models, predicts, and writes the result to its file.
    pub(super) fn run(&self, send: &mut dyn FnMut(Message)) -> Result<Ended, CaseError> {
        let Setup { job, rows, .. } = self.setup;
        let (mut state, saved) = self.begun()?;
        state.record.points().iter().for_each(|point| send(Message::Trace(point.clone())));
        state.looks.iter().for_each(|look| send(Message::Step(look.clone())));

        let send: Send = RefCell::new(send);
        let recorder = Rc::new(Recorder::new(state.record.clone(), &send));
        let entry = self.library.learner(&job.case.solver.plugin)?;
        let mut session = self.session(recorder.clone());
        let params = &job.case.solver.params;
        let create = || LearnerObject::create(entry, self.library.host(), params);
        // It is the library's first object, so that none of its time counts.
        let (learner, _) = self.beginning.create(create);
        let mut learner = learner?;
        let estimate = session.aside(|| learner.estimate(rows.n(), rows.d()))?;
        let shape = self.parts.problem(self.setup, self.task).shape(job.threads);
        self.startup.check_memory("learner", estimate + process::adopted_bytes() as f64)?;
        self.beginning.warm_up(|| learner.warm_up(shape))?;
        let mut over = None;
        match saved {
            None => over = learner.begin(&session)?,
            Some(saved) => {
                let other =
                    || fault(FaultCause::Checkpoint, "the checkpoint is one of another number of rows");
                session = session.resuming(&state.progress).ok_or_else(other)?;
                learner.load(&session, saved)?;
            }
        }
        let (mut reason, seen) = match over {
            None => self.fit(&mut learner, &session, &recorder, &mut state, &send)?,
            Some(reason) => (reason, Seen::Best),
        };
        let has_model = state.best.as_ref().is_some_and(|best| best.kind.is_some());
        let mut declined = None;
        let began = process::now();
        let predictions = match (over, reason) {
            (Some(_), _) | (None, StopReason::Diverged) => None,
            (None, _) => match self.predictions(&mut learner) {
                Err(error) if error.is_singular() => {
                    reason = StopReason::Diverged;
                    state.divergence = Some(error.to_string());
                    None
                }
                Err(error) if error.is_unsupported() && has_model => {
                    declined = Some(error.to_string());
                    None
                }
                predictions => Some(predictions?),
            },
        };
        let predict = difference(process::now(), began);
        if !has_model {
            // No model shows that the predictions need no further fit, so that their time counts too.
            session.excuse(predict);
        }
        // Destroyed before the result counts, because a plugin that crashes while it frees its memory has corrupted
        // memory.
        process::look();
        session.aside(|| drop(learner));
        state.progress = session.progress();

        let mut selected = state.best.take();
        let model = selected.as_mut().and_then(|best| best.model.take());
        let last = if let Seen::Worse(last) = seen { Some(last) } else { None };
        model_file::write(&job.solution_file, &Learned { model, last, predictions })
            .map_err(file_fault(FaultCause::Storage))?;
        let predict = if declined.is_some() { f64::NAN } else { predict.wall };
        Ok(Ended { reason, state, selected, declined, predict })
    }

    /// The state that an earlier process has reached and the learner's saved state, or else the initial state.
    fn begun(&self) -> Result<(State, Option<Arrays>), CaseError> {
        let file = self.setup.job.checkpoint_file.as_ref();
        let read = file.map(|file| checkpoint::read(file).map_err(file_fault(FaultCause::Checkpoint)));
        let read = read.transpose()?.flatten();
        Ok(read.map_or_else(|| (State::new(), None), |(state, saved)| (state, Some(saved))))
    }

    /// The session of the fit.
    fn session<'r>(&self, recorder: Rc<Recorder<'r>>) -> FitSession<'r> {
        let Setup { job, rows, .. } = self.setup;
        let streams = rows.streams(self.setup.kernel.family);
        let limits = FitLimits {
            passes: self.task.passes as f64,
            max_epochs: None,
            seconds: job.case.budget.seconds,
            threads: job.threads,
            seed: streams.stream("learner").next_u64(),
        };
        let problem = self.parts.problem(self.setup, self.task);
        let batch_key = streams.stream("batch").next_u64();
        FitSession::new(problem, limits, batch_key, self.library.host(), recorder)
    }

    /// Alternates fits and evaluations until the fit ends. Returns the stop reason and the last evaluation.
    fn fit(
        &self,
        learner: &mut LearnerObject,
        session: &FitSession,
        recorder: &Recorder,
        state: &mut State,
        send: &Send,
    ) -> Result<(StopReason, Seen), CaseError> {
        let (job, n) = (self.setup.job, self.setup.rows.n());
        loop {
            session.pause(self.next_look(state.progress.cost.passes(n)));
            let FitOutcome { end, values, .. } = learner.fit(session)?;
            let model = supplied(learner, session, end)?;
            (state.progress, state.record) = (session.progress(), recorder.record());
            state.values = values;
            let seen = look(&self.judge, self.task, model, end, n, state)?;
            let reason = match (end, &seen) {
                (_, Seen::Diverged) => Some(StopReason::Diverged),
                (FitEnd::Ended(reason), _) => Some(reason),
                (FitEnd::Paused, _) => self.has_stagnated(state).then_some(StopReason::Stagnated),
            };
            let look = state.looks.last_mut().expect("the look that has just been taken");
            look.reason = reason.unwrap_or(look.reason);
            (send.borrow_mut())(Message::Step(look.clone()));
            if let Some(reason) = reason {
                return Ok((reason, seen));
            }
            if let Some(file) = &job.checkpoint_file
                && let Some(saved) = session.aside(|| learner.save())?
            {
                state.progress = session.progress();
                checkpoint::write(file, state, &saved).map_err(file_fault(FaultCause::Storage))?;
            }
        }
    }

    /// The pause for the first evaluation after this many passes. The end of the budget also pauses the fit.
    fn next_look(&self, passes: f64) -> Pause {
        let next = self.task.looks.iter().map(|look| *look as f64).find(|look| *look > passes);
        next.map_or(Pause::Never, Pause::AtPasses)
    }

    fn has_stagnated(&self, state: &State) -> bool {
        let patience = self.task.patience;
        patience > 0 && state.looks_without_a_new_best() >= patience
    }

    /// The learner's own predictions on the test rows, m x 2, requested in two parts of unequal size, because the
    /// prediction of a row must not depend on other rows.
    fn predictions(&self, learner: &mut LearnerObject) -> Result<Array2<f64>, CallError> {
        let x = self.setup.rows.split.x_test.view();
        let first = (FIRST_SHARE * x.nrows() as f64) as usize;
        let mut all = Array2::zeros((x.nrows(), 2).f());
        for part in [0..first, first..x.nrows()] {
            if !part.is_empty() {
                let own = learner.predict(x.slice(s![part.clone(), ..]))?;
                all.slice_mut(s![part, ..]).assign(&own);
            }
        }
        Ok(all)
    }
}
