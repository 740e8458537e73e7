//! What crosses the interface when a learner misbehaves, diverges or ends.

use std::cell::Cell;

use gpbench_sdk::abi::Status;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2, Axis};
use gpbench_sdk::{
    Activation, Capabilities, Covariance, Error, Family, Fit, Learner, Model, NetworkShape, NoParams, Reason,
    Result, Saved, Scales, Stream, Work, Workers, choices, export, params,
};
use gpbench_testing::{CallError, FitHost, FitRun};

choices! {
    /// What to do in the third step, or elsewhere.
    enum Act {
        /// Nothing.
        Nothing = "nothing",
        /// Panic in `begin`.
        PanicInBegin = "panic-in-begin",
        /// Panic in the step.
        Panic = "panic",
        /// Fail in the step.
        Fail = "fail",
        /// Have an objective that is not a number.
        NotANumber = "not-a-number",
        /// Find a matrix that is not positive definite.
        NotDefinite = "not-definite",
        /// End.
        End = "end",
        /// Panic in `predict`.
        PanicInPredict = "panic-in-predict",
        /// Predict for one row too few.
        Short = "short",
    }
}

params! {
    /// Parameters.
    struct ActorParams {
        /// What to do.
        act: Act = Act::Nothing;
    }
}

/// Counts its steps and does as told in the third.
struct Actor {
    act: Act,
}

impl Learner for Actor {
    type Params = ActorParams;
    const ID: &'static str = "actor";
    const DOC: &'static str = "Does as told";
    const SOURCE: &'static str = "A paper.";
    const CAPABILITIES: Capabilities = Capabilities::NETWORK.and(Capabilities::FINITE);
    /// Steps taken.
    type State = usize;

    fn new(params: ActorParams) -> Result<Self> {
        Ok(Actor { act: params.act })
    }

    fn begin(&self, _: &Fit<'_>) -> Result<usize> {
        assert!(self.act != Act::PanicInBegin, "mine");
        Ok(0)
    }

    fn step(&self, steps: &mut usize, fit: &Fit<'_>) -> Result<f64> {
        let rows = fit.batch(Stream::MAIN, 10)?;
        let other = fit.batch(Stream::new(3).independent(), 4)?;
        fit.charge(Work { rows: other.len(), entries: 100, features: 7 })?;
        *steps += 1;
        fit.note("steps", *steps as f64)?;
        if *steps == 3 {
            match self.act {
                Act::Panic => panic!("mine"),
                Act::Fail => return Err(Error::new("the third step fails")),
                Act::NotANumber => return Ok(f64::NAN),
                Act::NotDefinite => return Err(Error::NotPositiveDefinite { minor: 1 }),
                _ => {}
            }
        }
        Ok(rows.len() as f64)
    }

    fn finished(&self, &steps: &usize) -> Option<Reason> {
        (self.act == Act::End && steps == 3).then_some(Reason::Converged)
    }

    fn predict(
        &self,
        _: &usize,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        assert!(self.act != Act::PanicInPredict, "mine");
        let rows = x.nrows() - usize::from(self.act == Act::Short);
        Ok((
            Array1::from_elem(rows, workers.threads() as f64),
            x.column(0).iter().take(rows).copied().collect(),
        ))
    }

    fn numbers(&self, &steps: &usize) -> Vec<(&'static str, f64)> {
        vec![("taken", steps as f64)]
    }
}

fn host() -> FitHost {
    FitHost::wave(25).passes(2.0)
}

fn begin<'h>(host: &'h FitHost, act: &'static str) -> std::result::Result<FitRun<'h>, CallError> {
    host.begin::<Actor>(&[("act", act.into())])
}

#[test]
fn batches_charges_and_notes_reach_the_host() {
    let host = host();
    let mut run = begin(&host, "nothing").unwrap();
    let report = run.fit().unwrap();
    assert_eq!((report.reason, report.steps), (Reason::Stopped, 6));
    assert_eq!(report.numbers, [("taken".to_owned(), 6.0)]);
    let objectives: Vec<f64> = run.trace().iter().map(|&(_, objective)| objective).collect();
    assert_eq!(objectives, [10.0, 10.0, 5.0, 10.0, 10.0, 5.0]);
    let used = run.used();
    assert_eq!((used.rows_of_passes, used.rows), (50, 50 + 6 * 8));
    assert_eq!((used.entries, used.features), (600.0, 42.0));
    assert_eq!(run.notes()[4], (5, "steps".to_owned(), 5.0));
}

#[test]
fn a_panic_is_a_status_with_its_text_and_place_and_ends_the_object() {
    let host = host();
    let panicked = |failure: CallError, during: &str| {
        assert_eq!(failure.status(), Some(Status::PANIC));
        assert!(failure.to_string().starts_with(&format!("{during} panicked: mine (")), "{failure}");
        assert!(failure.to_string().contains("learner.rs:"), "{failure}");
    };
    panicked(begin(&host, "panic-in-begin").err().unwrap(), "begin");
    let mut run = begin(&host, "panic").unwrap();
    panicked(run.fit().unwrap_err(), "fit");
    assert!(run.fit().unwrap_err().to_string().contains("panicked before"));
    panicked(begin(&host, "panic-in-predict").unwrap().predict(host.x()).unwrap_err(), "predict");
}

#[test]
fn an_error_is_a_status_with_its_text() {
    let host = host();
    let mut run = begin(&host, "fail").unwrap();
    let failure = run.fit().unwrap_err();
    let text = "the third step fails".to_owned();
    assert_eq!(failure, CallError::Refused { during: "fit", code: Status::ERROR.0, text });
    let failure = begin(&host, "short").unwrap().predict(host.x()).unwrap_err();
    assert_eq!(failure.to_string(), "predict failed: 24 means and 24 variances for 25 rows");
}

#[test]
fn a_step_that_diverges_is_not_observed_and_ends_the_fit() {
    for act in ["not-a-number", "not-definite"] {
        let host = host();
        let mut run = begin(&host, act).unwrap();
        let report = run.fit().unwrap();
        assert_eq!((report.reason, report.steps), (Reason::Diverged, 2), "{act}");
        assert_eq!(run.trace().len(), 2);
        assert_eq!(run.fit().unwrap(), report, "{act}: a fit that has diverged takes no step");
    }
}

#[test]
fn a_learner_may_end_by_itself() {
    let host = host();
    let mut run = begin(&host, "end").unwrap();
    let report = run.fit().unwrap();
    assert_eq!((report.reason, report.steps), (Reason::Converged, 3));
}

/// A charge that is late does not interrupt the step; its observation ends the fit.
#[test]
fn a_step_is_completed_when_the_time_is_up() {
    let host = host().max_epochs(0.4);
    let mut run = begin(&host, "nothing").unwrap();
    let report = run.fit().unwrap();
    assert_eq!((report.reason, report.steps, run.trace().len()), (Reason::Stopped, 3, 3));
}

#[test]
fn predictions_have_the_threads_and_the_shape_of_the_fit() {
    let host = host().threads(5);
    let run = begin(&host, "nothing").unwrap();
    assert!(run.predict(host.x()).unwrap().0.iter().all(|&threads| threads == 5.0));
    let failure = run.predict(&Array2::zeros((3, 4))).unwrap_err();
    assert_eq!(failure.status(), Some(Status::INVALID_ARGUMENT));
    assert!(failure.to_string().contains("4 inputs of 2"), "{failure}");
}

#[test]
fn what_a_learner_does_not_have_is_unsupported() {
    let host = host();
    let run = begin(&host, "nothing").unwrap();
    assert_eq!(run.model().unwrap_err().status(), Some(Status::UNSUPPORTED));
    assert_eq!(run.save().unwrap_err().status(), Some(Status::UNSUPPORTED));
}

#[test]
fn the_table_says_what_the_trait_says() {
    let table = export::learner::<Actor>();
    assert_eq!(table.capabilities, 64 + 128);
    assert_eq!((table.id.len, table.source.len, table.n_params), (5, 8, 1));
}

thread_local! {
    /// Number of values of `Counted` that are alive.
    static ALIVE: Cell<usize> = const { Cell::new(0) };
}

/// State of a fit; counts itself while it is alive.
struct Counted;

impl Counted {
    fn new() -> Counted {
        assert_eq!(ALIVE.get(), 0, "the state of an earlier fit is dropped first");
        ALIVE.set(1);
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

/// Requires that no state of an earlier fit is alive when it begins.
struct Frugal;

impl Learner for Frugal {
    type Params = NoParams;
    const ID: &'static str = "frugal";
    const DOC: &'static str = "Counts its states";
    type State = Counted;

    fn new(_: NoParams) -> Result<Self> {
        Ok(Frugal)
    }

    fn begin(&self, _: &Fit<'_>) -> Result<Counted> {
        Ok(Counted::new())
    }

    fn step(&self, _: &mut Counted, _: &Fit<'_>) -> Result<f64> {
        Err(Error::Stopped)
    }

    fn predict(
        &self,
        _: &Counted,
        x: ArrayView2<'_, f64>,
        _: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        Ok((Array1::zeros(x.nrows()), Array1::ones(x.nrows())))
    }

    fn save(&self, _: &Counted, _: &mut Saved) -> Result<()> {
        Ok(())
    }

    fn load(&self, _: &Fit<'_>, _: &Saved) -> Result<Counted> {
        Ok(Counted::new())
    }
}

#[test]
fn a_state_is_dropped_before_the_next_fit_begins() {
    let host = FitHost::wave(9);
    let mut run = host.begin::<Frugal>(&[]).unwrap();
    let saved = run.save().unwrap();
    run.begin().unwrap();
    drop(run);
    assert_eq!(ALIVE.get(), 0);
    drop(host.resume::<Frugal>(&[], &saved).unwrap());
    assert_eq!(ALIVE.get(), 0);
}

/// Tells what it is given, as its model.
struct Told;

impl Learner for Told {
    type Params = NoParams;
    const ID: &'static str = "told";
    const DOC: &'static str = "Tells what it is given";
    /// What it was given.
    type State = Vec<f64>;

    fn new(_: NoParams) -> Result<Self> {
        Ok(Told)
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<Vec<f64>> {
        let inputs = fit.inputs();
        let network = fit.network();
        assert_eq!(inputs.family, fit.family());
        Ok(vec![
            fit.n() as f64,
            fit.d() as f64,
            fit.mean(),
            inputs.signal_scale,
            inputs.noise_scale,
            inputs.length_scale.len() as f64,
            f64::from(fit.has_shared_length_scale()),
            f64::from(fit.trains_mean()),
            fit.passes(),
            fit.seed() as f64,
            inputs.basis.map_or(0, |z| z.nrows()) as f64,
            network.map_or(0, |network| network.widths[0]) as f64,
            network.map_or(0, |network| network.random.unwrap_or(0)) as f64,
            f64::from(fit.family() == Covariance::Linear),
        ])
    }

    fn step(&self, _: &mut Vec<f64>, _: &Fit<'_>) -> Result<f64> {
        Err(Error::Stopped)
    }

    fn predict(
        &self,
        _: &Vec<f64>,
        x: ArrayView2<'_, f64>,
        _: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        Ok((Array1::zeros(x.nrows()), Array1::ones(x.nrows())))
    }

    fn model(&self, told: &Vec<f64>) -> Result<Model> {
        let scales = Scales { signal_scale: 1.0, noise_scale: 1.0, length_scale: vec![1.0], mean: 0.0 };
        let told = Array1::from(told.clone()).insert_axis(Axis(1));
        Ok(Model::gp(&scales).with("told", told.view()))
    }

    fn save(&self, _: &Vec<f64>, saved: &mut Saved) -> Result<()> {
        saved.put("matrix", Array2::from_shape_fn((2, 3), |(i, j)| (10 * i + j) as f64).view());
        saved.put("nothing", Array2::zeros((0, 3)).view());
        saved.put_list("list", &[0.1, f64::NAN]);
        saved.put_number("number", -0.0);
        saved.put_integers("integers", [0, u64::MAX, (1 << 53) | 1]);
        Ok(())
    }

    fn load(&self, _: &Fit<'_>, saved: &Saved) -> Result<Vec<f64>> {
        assert_eq!(saved.get("matrix")?[[1, 2]], 12.0);
        assert_eq!(saved.get("nothing")?.dim(), (0, 3));
        assert!(saved.get_list("list")?[1].is_nan());
        assert!(saved.get_number("number")?.is_sign_negative());
        assert_eq!(saved.get_integers("integers")?, [0, u64::MAX, (1 << 53) | 1]);
        assert!(saved.get("missing").unwrap_err().to_string().contains("no `missing`"));
        assert!(saved.get_shaped("matrix", (3, 2)).unwrap_err().to_string().contains("expected (3, 2)"));
        assert!(saved.get_integers("list").unwrap_err().to_string().contains("not whole numbers"));
        saved.get_number("list").map(|_| Vec::new())
    }
}

#[test]
fn a_fit_says_what_the_host_has_set() {
    let told = |host: &FitHost| {
        let run = host.begin::<Told>(&[]).unwrap();
        run.model().unwrap().array("told").unwrap().iter().copied().collect::<Vec<f64>>()
    };
    assert_eq!(
        told(&FitHost::wave(9)),
        [9.0, 2.0, 0.0, 1.0, 0.3, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    );
    let scales = Scales { signal_scale: 1.5, noise_scale: 0.5, length_scale: vec![], mean: -1.0 };
    let network = NetworkShape { activation: Activation::Relu, widths: vec![4, 3], random: Some(10) };
    let host = FitHost::wave(9)
        .scales(scales)
        .network(network)
        .family(Covariance::Linear)
        .basis(&Array2::zeros((5, 2)))
        .shared_length_scale()
        .trained_mean()
        .passes(7.0)
        .seed(3);
    assert_eq!(told(&host), [9.0, 2.0, -1.0, 1.5, 0.5, 3.0, 1.0, 1.0, 7.0, 3.0, 5.0, 4.0, 10.0, 1.0]);
}

/// The learner reads all that it has saved; its last answer, of a list that is no number, is its own error.
#[test]
fn a_saved_state_has_what_was_put() {
    let host = FitHost::wave(9);
    let saved = host.begin::<Told>(&[]).unwrap().save().unwrap();
    let failure = host.resume::<Told>(&[], &saved).err().unwrap();
    assert_eq!(failure.to_string(), "load failed: the saved `list` is (2, 1), expected (1, 1)");
}

#[test]
fn a_state_belongs_to_its_data_seed_and_scales() {
    let host = FitHost::wave(9);
    let saved = host.begin::<Told>(&[]).unwrap().save().unwrap();
    let scales = Scales { signal_scale: 1.0, noise_scale: 0.31, length_scale: vec![1.0; 2], mean: 0.0 };
    let others = [
        FitHost::wave(10),
        host.clone().seed(1),
        host.clone().family(Family::Matern32),
        host.clone().scales(scales),
        host.clone().trained_mean(),
        host.clone().basis(&Array2::zeros((1, 2))),
    ];
    for other in others {
        let failure = other.resume::<Told>(&[], &saved).err().unwrap();
        assert!(failure.to_string().contains("other data or other parameters"), "{failure}");
    }
    // Neither passes nor threads are part of it.
    let failure = host.clone().passes(5.0).threads(1).resume::<Told>(&[], &saved).err().unwrap();
    assert!(failure.to_string().contains("`list`"), "{failure}");
}
