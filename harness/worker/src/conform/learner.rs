//! A learner of a loaded library, as the conformance suite sees it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use gpbench_gp::model::{Model, Shape};
use gpbench_gp::seed::Streams;
use gpbench_gp::{Family, blas};
use gpbench_host::{
    Arrays, CallError, FitEnd, FitLimits, FitObserver, FitPoint, FitProblem, FitProgress, FitSession,
    HostTable, LearnerObject, Library, LibraryError, Pause,
};
use gpbench_record::{Activation, Covariance, ModelKind as Named, NetworkShape};
use gpbench_testkit::conformance::learners::{
    End, FitObject, FitRequest, Judged, LearnerSubject, ModelKind, SavedFit, Used,
};
use gpbench_testkit::conformance::{Description, Fault, Offer, Setting};
use ndarray::{Array2, Axis, stack};
use rand::Rng as _;
use rayon::ThreadPool;

use crate::channel::Capture;
use crate::evaluate::model::kind_of;

use super::offer::{self, fault, reason};

/// A learner, its library, and its threads.
pub(super) struct LoadedLearner {
    library: Library,
    description: Description,
    pool: Arc<ThreadPool>,
    capture: Capture,
}

impl LoadedLearner {
    /// A learner of a library that has been loaded.
    pub(super) fn new(
        library: Library,
        pool: Arc<ThreadPool>,
        learner: &str,
        capture: Capture,
    ) -> Result<LoadedLearner, LibraryError> {
        let entry = library.learner(learner)?;
        let description = offer::description("learner", &entry.info, library.oddities_of_learner(entry));
        Ok(LoadedLearner { library, description, pool, capture })
    }

    fn object(&self, settings: &[(&str, Setting)]) -> Result<LearnerObject<'_>, Fault> {
        let entry = self.library.learner(&self.description.id).expect("found when it was loaded");
        LearnerObject::create(entry, self.library.host(), &offer::params(settings)).map_err(fault)
    }
}

impl Offer for LoadedLearner {
    fn description(&self) -> &Description {
        &self.description
    }

    fn try_settings(&self, settings: &[(&str, Setting)]) -> Result<(), Fault> {
        self.object(settings)?.destroy().map_err(fault)
    }

    fn blas_threads(&self) -> usize {
        blas::threads()
    }

    fn printed(&self) -> u64 {
        self.capture.bytes()
    }
}

impl LearnerSubject for LoadedLearner {
    fn begin<'s>(
        &'s self,
        request: &FitRequest,
        settings: &[(&str, Setting)],
    ) -> Result<Box<dyn FitObject + 's>, Fault> {
        let (session, record) = session(request, self.library.host());
        let mut learner = self.object(settings)?;
        learner.begin(&session).map_err(|error| refused(request, error)).map(drop)?;
        Ok(Box::new(LiveFit::new(learner, session, record, request, self)))
    }

    fn load<'s>(
        &'s self,
        request: &FitRequest,
        settings: &[(&str, Setting)],
        saved: &SavedFit,
    ) -> Result<Box<dyn FitObject + 's>, Fault> {
        let (state, progress) = saved.0.downcast_ref::<Saved>().expect("a state that `save` has made");
        let (session, record) = session(request, self.library.host());
        let session = session.resuming(progress).expect("progress on as many rows");
        let mut learner = self.object(settings)?;
        learner.load(&session, state.clone()).map_err(fault)?;
        Ok(Box::new(LiveFit::new(learner, session, record, request, self)))
    }
}

/// What the learner has saved, and the host's part of it.
type Saved = (Arrays, FitProgress);

/// Records objectives.
#[derive(Default)]
struct Record(RefCell<Vec<f64>>);

impl FitObserver for Record {
    fn step(&self, _: FitPoint, objective: f64) {
        self.0.borrow_mut().push(objective);
    }
}

/// A learner's object and its fit.
struct LiveFit<'s> {
    learner: LearnerObject<'s>,
    session: FitSession<'static>,
    record: Rc<Record>,
    request: FitRequest,
    reported: u64,
    host: &'static HostTable,
    pool: &'s Arc<ThreadPool>,
}

impl<'s> LiveFit<'s> {
    fn new(
        learner: LearnerObject<'s>,
        session: FitSession<'static>,
        record: Rc<Record>,
        request: &FitRequest,
        subject: &'s LoadedLearner,
    ) -> LiveFit<'s> {
        let (host, pool) = (subject.library.host(), &subject.pool);
        LiveFit { learner, session, record, request: request.clone(), reported: 0, host, pool }
    }
}

impl FitObject for LiveFit<'_> {
    fn begin_again(&mut self, request: &FitRequest) -> Result<(), Fault> {
        let (session, record) = session(request, self.host);
        self.learner.begin(&session).map_err(|error| refused(request, error)).map(drop)?;
        (self.session, self.record, self.request) = (session, record, request.clone());
        Ok(())
    }

    fn fit(&mut self) -> Result<End, Fault> {
        let outcome = self.learner.fit(&self.session).map_err(fault)?;
        self.reported = outcome.reported_steps;
        Ok(match outcome.end {
            FitEnd::Paused => End::Paused,
            FitEnd::Ended(why) => End::Ended(reason(why)),
        })
    }

    fn predict(&mut self, x: &Array2<f64>) -> Result<Array2<f64>, Fault> {
        self.learner.predict(x.view()).map_err(fault)
    }

    fn judge(&mut self, x: &Array2<f64>) -> Result<Option<Judged>, Fault> {
        let Some(arrays) = self.learner.model().map_err(fault)? else { return Ok(None) };
        let wrong = |what: String| Fault { panicked: false, text: format!("the model: {what}") };
        let named = kind_of(&arrays).ok_or_else(|| wrong("it has no known `kind`".into()))?;
        let FitRequest { x: rows, y, .. } = &self.request;
        let shape = Shape { rows: rows.nrows(), inputs: rows.ncols() };
        let model = Model::parse(named, covariance(&self.request), shape, &arrays)
            .map_err(|error| wrong(error.to_string()))?;
        let judged = model.posterior(rows.view(), y.view(), self.pool).and_then(|posterior| {
            let predicted = posterior.predict(x.view())?;
            let columns = [predicted.mean.view(), predicted.variance.view()];
            let predictions = stack(Axis(1), &columns).expect("as many means as variances");
            let kind = match named {
                Named::Features => ModelKind::Features,
                Named::Experts => ModelKind::Experts,
                Named::Gp | Named::NetworkGp | Named::Inducing | Named::NetworkInducing => ModelKind::Process,
            };
            Ok(Judged { kind, predictions, objective: posterior.objective()? })
        });
        judged.map(Some).map_err(|error| wrong(error.to_string()))
    }

    fn save(&mut self) -> Result<Option<SavedFit>, Fault> {
        let saved = self.learner.save().map_err(fault)?;
        Ok(saved.map(|arrays| SavedFit(Box::new((arrays, self.session.progress())))))
    }

    fn used(&self) -> Used {
        let cost = self.session.progress().cost;
        Used {
            objectives: self.record.0.borrow().clone(),
            reported: self.reported,
            passes: cost.passes(self.session.n()),
            batches: self.session.batches(),
            rows: cost.rows,
            entries: cost.entries.used,
            features: cost.features,
            late_draws: self.session.late_draws(),
        }
    }

    fn end(self: Box<Self>) -> Result<(), Fault> {
        self.learner.destroy().map_err(fault)
    }
}

/// The kernel of a request: the linear one on a network's outputs, or else a stationary one.
fn covariance(request: &FitRequest) -> Covariance {
    match request {
        FitRequest { network: Some(_), .. } => Covariance::Linear,
        FitRequest { rbf: true, .. } => Covariance::Stationary(Family::Rbf),
        FitRequest { rbf: false, .. } => Covariance::Stationary(Family::Matern32),
    }
}

/// The fault of a fit that did not begin, with the kernel that it was asked for.
fn refused(request: &FitRequest, error: CallError) -> Fault {
    let kernel = match &request.network {
        Some(widths) => format!("the linear kernel on a network of widths {widths:?}"),
        None => format!("the kernel family {}", covariance(request)),
    };
    let fault = fault(error);
    Fault { text: format!("{} (asked for {kernel})", fault.text), ..fault }
}

/// The session of a request, and what it records.
fn session(request: &FitRequest, host: &'static HostTable) -> (FitSession<'static>, Rc<Record>) {
    let FitRequest { x, y, basis, network, passes, pause, threads, seed, rbf: _ } = request;
    let record = Rc::new(Record::default());
    let kernel_inputs = network.as_ref().map_or(x.ncols(), |widths| *widths.last().unwrap_or(&1));
    let shape =
        network.clone().map(|widths| NetworkShape { widths, activation: Activation::Relu, random: None });
    let problem = FitProblem {
        x: x.view(),
        y: y.view(),
        basis: basis.as_ref().map(|basis| basis.view()),
        covariance: covariance(request),
        signal_scale: 1.0,
        noise_scale: 0.5,
        length_scale: &vec![1.0; kernel_inputs],
        shared_length_scale: network.is_some(),
        mean: 0.0,
        trained_mean: false,
        network: shape.as_ref(),
    };
    let limits =
        FitLimits { passes: *passes, max_epochs: None, seconds: None, threads: *threads, seed: *seed };
    // Batches do not depend on the learner's own seed.
    let batch_key = Streams::new(1, &["conformance"]).stream("batch").next_u64();
    let session = FitSession::new(problem, limits, batch_key, host, record.clone());
    session.pause(if *pause { Pause::EachStep } else { Pause::Never });
    (session, record)
}
