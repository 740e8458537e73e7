//! The learner: an exact Gaussian process with its initial scales, which runs an act.

use std::cell::Cell;
use std::ffi::c_void;

use gpbench_sdk::abi::{self, Status, reason};
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2, Axis};
use gpbench_sdk::{
    Capabilities, Error, Fit, Learner, Model, Result, Saved, Scales, Stream, Work, Workers, choices, export,
    lapack, params,
};

use crate::{acts, descriptors, files, forks, memory, text};

choices! {
    /// What to do.
    pub enum LearnerAct {
        /// Fit, like any other learner.
        FitWell = "fit_well",

        /// Panic in `begin`.
        PanicInBegin = "panic_in_begin",
        /// Panic in a step.
        PanicInStep = "panic_in_step",
        /// Panic in `model`.
        PanicInModel = "panic_in_model",
        /// Panic in `save`.
        PanicInSave = "panic_in_save",
        /// Panic in `predict`.
        PanicInPredict = "panic_in_predict",
        /// Call abort in `predict`.
        AbortInPredict = "abort_in_predict",
        /// Write through a null pointer in a step.
        Segfault = "segfault",
        /// Exit with status 0 in `model`.
        ExitInModel = "exit_in_model",
        /// Exit while the learner is destroyed.
        ExitInDestroy = "exit_in_destroy",
        /// Loop forever in a step.
        HangInStep = "hang_in_step",
        /// Loop forever in `predict`.
        HangInPredict = "hang_in_predict",
        /// Allocate memory in `predict` until the process fails.
        AllocateInPredict = "allocate_in_predict",
        /// Draw batches forever, whatever the answer.
        DrawForEver = "draw_for_ever",
        /// End the main thread, and loop forever in another one.
        HangWithoutLeader = "hang_without_leader",

        /// Take five steps more after it was told to stop.
        GoOn = "go_on",
        /// Say that it was stopped, which it was not.
        StopUntold = "stop_untold",
        /// Observe the seventh step first.
        JumpAhead = "jump_ahead",
        /// Observe an objective that is not a number.
        ObserveNan = "observe_nan",
        /// Answer an objective that is not a number.
        NanObjective = "nan_objective",
        /// Report an impossible reason.
        WrongReport = "wrong_report",
        /// Return a status that no version has.
        UnknownStatus = "unknown_status",
        /// Return an error from a step.
        Error = "error",
        /// Return an error of escape sequences, HTML and Markdown, after printing the same.
        ForeignText = "foreign_text",
        /// Write into the targets.
        WriteTargets = "write_targets",
        /// Write into the inputs.
        WriteInputs = "write_inputs",
        /// Draw from streams that do not exist, and charge negative numbers, then fit.
        AskWildly = "ask_wildly",

        /// Put a model with NaN.
        NanModel = "nan_model",
        /// Put a model without a kind.
        NoKind = "no_kind",
        /// Put a model of a kind that no version has.
        UnknownKind = "unknown_kind",
        /// Put length scales of the wrong shape.
        WrongShape = "wrong_shape",
        /// Put a negative noise scale.
        NegativeNoise = "negative_noise",
        /// Put a model that predicts better than it does.
        OtherModel = "other_model",
        /// Put no model.
        NoModel = "no_model",
        /// Put wild pointers and names before the model.
        PutWildly = "put_wildly",
        /// Put matrices until memory is spent.
        PutWithoutEnd = "put_without_end",
        /// Predict nothing.
        NoPredictions = "no_predictions",
        /// Predict nothing, without a model.
        NothingAtAll = "nothing_at_all",
        /// Predict NaN.
        NanPredictions = "nan_predictions",
        /// Predict negative variances.
        NegativeVariances = "negative_variances",
        /// Predict variances of NaN.
        NanVariances = "nan_variances",
        /// Predict one infinite variance.
        InfiniteVariance = "infinite_variance",

        /// Work for 1.5 s while it is created.
        WorkInCreate = "work_in_create",
        /// Work for 1.5 s in `model`.
        WorkInModel = "work_in_model",
        /// Work for 1.5 s in `save`.
        WorkInSave = "work_in_save",
        /// Work for 1.5 s in `predict`, without a model.
        WorkInPredict = "work_in_predict",

        /// Write lines that look like records to standard output, then fit.
        PrintStdout = "print_stdout",
        /// Write forged points of the trace into the channel to the engine without end.
        ForgeTrace = "forge_trace",
        /// Fill a file that has no name and is not mapped.
        AllocateMemfd = "allocate_memfd",
        /// Leave a daemon with an empty environment that outlives the process, then fit.
        EscapeUnmarked = "escape_unmarked",
        /// Start threads that sleep, a thousand or until the system refuses, then fit.
        ExhaustThreads = "exhaust_threads",
        /// Remove its checkpoint, then fit.
        RemoveCheckpoint = "remove_checkpoint",
        /// Cut its checkpoint, then fit.
        CutCheckpoint = "cut_checkpoint",
    }
}

params! {
    /// Parameters of the misbehaving learner.
    pub struct HostileLearnerParams {
        /// What to do.
        pub act: LearnerAct = LearnerAct::FitWell;
    }
}

/// The misbehaving learner.
pub struct HostileLearner {
    act: LearnerAct,
}

/// State of a fit.
pub struct State {
    act: LearnerAct,
    steps: usize,
    kernel: Kernel,
    noise_scale: f64,
    x: Array2<f64>,
    y: Array1<f64>,
}

thread_local! {
    /// The act of the learner that fits; a learner is called from one thread.
    static ACT: Cell<LearnerAct> = const { Cell::new(LearnerAct::FitWell) };
}

impl Drop for State {
    fn drop(&mut self) {
        if self.act == LearnerAct::ExitInDestroy {
            acts::exit();
        }
    }
}

impl HostileLearner {
    /// The state before the first step.
    fn start(&self, fit: &Fit<'_>) -> State {
        let inputs = fit.inputs();
        let (signal_scale, noise_scale) = (inputs.signal_scale, inputs.noise_scale);
        let length_scale = inputs.length_scale.to_vec();
        let kernel = Kernel { family: inputs.family, signal_scale, length_scale };
        ACT.set(self.act);
        let (x, y) = (fit.x().to_owned(), fit.y().to_owned());
        State { act: self.act, steps: 0, kernel, noise_scale, x, y }
    }
}

impl Learner for HostileLearner {
    type Params = HostileLearnerParams;
    const ID: &'static str = "hostile-learner";
    const DOC: &'static str = "Misbehaves on request, for tests of the harness";
    const CAPABILITIES: Capabilities = Capabilities::KERNEL;
    type State = State;

    fn new(params: HostileLearnerParams) -> Result<Self> {
        if params.act == LearnerAct::WorkInCreate {
            acts::work();
        }
        Ok(HostileLearner { act: params.act })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        assert!(self.act != LearnerAct::PanicInBegin, "a panic in begin, as told");
        Ok(self.start(fit))
    }

    fn step(&self, state: &mut State, fit: &Fit<'_>) -> Result<f64> {
        let drawn = fit.batch(Stream::MAIN, 20);
        match self.act {
            LearnerAct::PanicInStep => panic!("a panic in a step, as told"),
            LearnerAct::Segfault => acts::segfault(),
            LearnerAct::HangInStep => acts::hang(),
            LearnerAct::HangWithoutLeader => forks::hang_without_leader(),
            LearnerAct::DrawForEver => loop {
                let _ = fit.batch(Stream::MAIN, 20);
            },
            LearnerAct::NanObjective => return Ok(f64::NAN),
            LearnerAct::Error => return Err(Error::new("an error, as told")),
            LearnerAct::ForeignText => return Err(text::print()),
            LearnerAct::WriteTargets => acts::overwrite(fit.y().insert_axis(Axis(1)), 0.0),
            LearnerAct::WriteInputs => acts::overwrite(fit.x(), 1.0),
            LearnerAct::PrintStdout => acts::print_to_stdout(),
            LearnerAct::ForgeTrace => descriptors::forge_trace(),
            LearnerAct::AllocateMemfd => memory::fill_memfd(),
            LearnerAct::EscapeUnmarked if state.steps == 0 => forks::escape_unmarked(),
            LearnerAct::ExhaustThreads if state.steps == 0 => forks::exhaust_threads(),
            LearnerAct::RemoveCheckpoint => files::remove_checkpoint(),
            LearnerAct::CutCheckpoint => files::cut_checkpoint(),
            _ => {}
        }
        let rows = drawn?;
        state.steps += 1;
        fit.charge(Work::entries(rows.len() * rows.len()))?;
        Ok(rows.iter().map(|&row| state.y[row].powi(2)).sum::<f64>() / rows.len() as f64)
    }

    fn predict(
        &self,
        state: &State,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        match self.act {
            LearnerAct::PanicInPredict => panic!("a panic in predict, as told"),
            LearnerAct::AbortInPredict => std::process::abort(),
            LearnerAct::HangInPredict => acts::hang(),
            LearnerAct::AllocateInPredict => acts::allocate(),
            LearnerAct::WorkInPredict => acts::work(),
            LearnerAct::NoPredictions | LearnerAct::NothingAtAll => {
                return Err(Error::Unsupported("no predictions".into()));
            }
            _ => {}
        }
        let State { kernel, noise_scale, x: rows, y, .. } = state;
        let mut h = kernel.gram(rows, rows, workers);
        h.diag_mut().map_inplace(|entry| *entry += noise_scale * noise_scale);
        lapack::cholesky(&mut h)?;
        let mut weights = y.clone().insert_axis(Axis(1));
        lapack::cholesky_solve(&h, &mut weights)?;
        let k = kernel.gram(rows, &x, workers);
        let mut solved = k.clone();
        lapack::cholesky_solve(&h, &mut solved)?;
        let mut mean = k.t().dot(&weights).remove_axis(Axis(1));
        let prior = kernel.signal_scale.powi(2) + noise_scale * noise_scale;
        let mut variance = (&k * &solved).sum_axis(Axis(0)).mapv(|explained| prior - explained);
        match self.act {
            LearnerAct::NanPredictions => mean.fill(f64::NAN),
            LearnerAct::NegativeVariances => variance.fill(-1.0),
            LearnerAct::NanVariances => variance.fill(f64::NAN),
            LearnerAct::InfiniteVariance => variance[0] = f64::INFINITY,
            LearnerAct::OtherModel => mean += 0.01,
            _ => {}
        }
        Ok((mean, variance))
    }

    fn model(&self, state: &State) -> Result<Model> {
        match self.act {
            LearnerAct::PanicInModel => panic!("a panic in model, as told"),
            LearnerAct::ExitInModel => acts::exit(),
            LearnerAct::NoModel | LearnerAct::NothingAtAll | LearnerAct::WorkInPredict => {
                return Err(Error::Unsupported("no model".into()));
            }
            LearnerAct::WorkInModel if state.steps > 3 => acts::work(),
            _ => {}
        }
        let State { kernel, noise_scale, .. } = state;
        let mut length_scale = kernel.length_scale.clone();
        if self.act == LearnerAct::WrongShape {
            length_scale.push(1.0);
        }
        let noise_scale = match self.act {
            LearnerAct::NanModel => f64::NAN,
            LearnerAct::NegativeNoise => -noise_scale,
            _ => *noise_scale,
        };
        let scales = Scales { signal_scale: kernel.signal_scale, noise_scale, length_scale, mean: 0.0 };
        let kind = |kind: Array2<f64>| Model::gp(&scales).with("kind", kind.view());
        Ok(match self.act {
            LearnerAct::NoKind => kind(Array2::zeros((0, 0))),
            LearnerAct::UnknownKind => kind(Array2::from_elem((1, 1), 77.0)),
            _ => Model::gp(&scales),
        })
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        assert!(self.act != LearnerAct::PanicInSave, "a panic in save, as told");
        if self.act == LearnerAct::WorkInSave && state.steps > 3 {
            acts::work();
        }
        saved.put_number("nothing", 0.0);
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, _: &Saved) -> Result<State> {
        Ok(self.start(fit))
    }
}

/// The learner's table, with functions that the SDK cannot express.
pub(crate) fn table() -> abi::Learner {
    let mut table = export::learner::<HostileLearner>();
    table.fit = Some(fit_and_lie);
    table.model = Some(put_and_lie);
    table
}

fn honest() -> abi::Learner {
    export::learner::<HostileLearner>()
}

/// Fits, and performs the act.
unsafe extern "C" fn fit_and_lie(
    learner: *mut c_void,
    fit: *const abi::Fit,
    report: *mut abi::Report,
) -> Status {
    let act = ACT.get();
    // SAFETY: the host's own arguments; its tables are complete.
    let observe = |step: i64, objective: f64| unsafe {
        (*fit).observe.expect("a complete table")(fit, step, objective)
    };
    // SAFETY: as above.
    let draw = |stream: u32, want: i64| unsafe {
        let (mut rows, mut got) = ([0; 64], 0);
        (*fit).batch.expect("a complete table")(fit, stream, rows.as_mut_ptr(), want, &mut got)
    };
    match act {
        LearnerAct::StopUntold => {
            // SAFETY: the host passes a report.
            unsafe { (*report).reason = reason::STOPPED };
            return Status::DONE;
        }
        LearnerAct::JumpAhead if observe(7, 1.0).is_error() => return Status::INVALID_ARGUMENT,
        LearnerAct::ObserveNan if observe(1, f64::NAN).is_error() => return Status::INVALID_ARGUMENT,
        LearnerAct::AskWildly => {
            for stream in [1 << 16, u32::MAX, (1 << 30) | (1 << 29)] {
                draw(stream, 1);
            }
            for want in [0, -1, i64::MIN] {
                draw(1, want);
            }
            // SAFETY: as above, with null where that must be noticed.
            unsafe {
                let (null, mut got) = (std::ptr::null_mut(), 0);
                (*fit).batch.expect("a complete table")(fit, 1, null, 1, &mut got);
                (*fit).charge.expect("a complete table")(fit, -1, i64::MIN, -1);
                (*fit).extension.expect("a complete table")(fit, std::ptr::null());
            }
        }
        _ => {}
    }
    // SAFETY: the host's own arguments, passed on.
    let status = unsafe { honest().fit.expect("a complete table")(learner, fit, report) };
    if status != Status::DONE {
        return status;
    }
    // SAFETY: the report has been filled, so it is not null.
    let report = unsafe { &mut *report };
    match act {
        LearnerAct::GoOn => (1..=5).for_each(|further| {
            observe(report.iterations + further, 1.0);
        }),
        LearnerAct::WrongReport => report.reason = -77,
        LearnerAct::UnknownStatus => return Status(-4242),
        _ => {}
    }
    status
}

/// Gives the model, and performs the act.
unsafe extern "C" fn put_and_lie(learner: *mut c_void, store: *const abi::Store) -> Status {
    // SAFETY: the host's own argument; its table is complete.
    let put = |name: *const abi::Str, value: *const abi::Mat| unsafe {
        (*store).put.expect("a complete table")(store, name, value)
    };
    let mut data = [1.0; 4];
    let matrix = |rows: i64, cols: i64, ld: i64, data: *mut f64| abi::Mat { data, rows, cols, ld };
    match ACT.get() {
        LearnerAct::PutWildly => {
            let (good, null) = (abi::Str::new("a"), std::ptr::null_mut());
            for name in ["", "A", "a b", "a/../b", "\u{7}"] {
                put(&abi::Str::new(name), &matrix(1, 1, 1, data.as_mut_ptr()));
            }
            put(std::ptr::null(), &matrix(1, 1, 1, data.as_mut_ptr()));
            put(&good, std::ptr::null());
            for wild in [
                matrix(1, 1, 1, null),
                matrix(-1, 1, 1, data.as_mut_ptr()),
                matrix(2, 2, 1, data.as_mut_ptr()),
                matrix(i64::MAX, i64::MAX, i64::MAX, data.as_mut_ptr()),
            ] {
                put(&good, &wild);
            }
        }
        LearnerAct::PutWithoutEnd => {
            let mut large = vec![1.0; 1 << 21];
            let names: Vec<String> = (0..4096).map(|index| format!("a{index}")).collect();
            for name in &names {
                let name = abi::Str { ptr: name.as_ptr().cast(), len: name.len() as i64 };
                put(&name, &matrix(1 << 21, 1, 1 << 21, large.as_mut_ptr()));
            }
        }
        _ => {}
    }
    // SAFETY: the host's own arguments, passed on.
    unsafe { honest().model.expect("a complete table")(learner, store) }
}
