//! The table of a [`Learner`], with the loop around its steps.

use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::Axis;

use super::object::{self, Object, size, with_object};
use crate::error::{Error, Result};
use crate::matrix::{view, view_mut};
use crate::store::{self, Digest};
use crate::{Fit, Learner, ParamValue, Params, Reason, Report, Saved, Workers};

/// Describes a learner. Leaks its schema, which lives until the process ends.
pub fn learner<L: Learner>() -> abi::Learner {
    let params = L::Params::schema().leak();
    abi::Learner {
        size: size_of::<abi::Learner>() as u32,
        reserved: 0,
        capabilities: L::CAPABILITIES.number(),
        id: abi::Str::new(L::ID),
        doc: abi::Str::new(L::DOC),
        params: if params.is_empty() { std::ptr::null() } else { params.as_ptr() },
        n_params: params.len() as i64,
        source: abi::Str::new(L::SOURCE),
        create: Some(create::<L>),
        begin: Some(begin::<L>),
        fit: Some(fit::<L>),
        predict: Some(predict::<L>),
        model: Some(model::<L>),
        save: Some(save::<L>),
        load: Some(load::<L>),
        estimate: Some(estimate::<L>),
        destroy: Some(destroy::<L>),
        warm_up: Some(warm_up::<L>),
        facts: L::FACTS.to_abi(),
    }
}

/// A learner and its fit.
struct Fitted<L: Learner> {
    learner: L,
    /// Digest of its parameters.
    params: Digest,
    /// The fit; none before the first `begin` or `load`, and after one that failed.
    begun: Option<Begun<L::State>>,
}

/// A fit that has begun.
struct Begun<T> {
    /// The learner's own state.
    state: T,
    /// Steps taken.
    steps: usize,
    /// Whether a step has diverged.
    diverged: bool,
    /// Digest of parameters and data.
    digest: Digest,
    /// Number of inputs.
    d: usize,
    threads: usize,
}

impl<T> Begun<T> {
    fn new(state: T, digest: Digest, fit: &Fit<'_>) -> Begun<T> {
        Begun { state, steps: 0, diverged: false, digest, d: fit.d(), threads: fit.workers().threads() }
    }
}

impl<L: Learner> Fitted<L> {
    /// The learner, and the fit that `call` needs.
    fn parts(&mut self, call: &str) -> Result<(&L, &mut Begun<L::State>)> {
        match &mut self.begun {
            Some(begun) => Ok((&self.learner, begun)),
            None => Err(Error::InvalidArgument(format!("{call}: no fit has begun"))),
        }
    }
}

/// Takes steps until the host pauses the fit or it ends.
fn take_steps<L: Learner>(learner: &L, begun: &mut Begun<L::State>, fit: &Fit<'_>) -> Result<Reason> {
    loop {
        if begun.diverged {
            return Ok(Reason::Diverged);
        }
        if let Some(reason) = learner.finished(&begun.state) {
            return Ok(reason);
        }
        fit.step.set(begun.steps + 1);
        match learner.step(&mut begun.state, fit) {
            Ok(objective) if objective.is_finite() => {
                begun.steps += 1;
                match fit.observe(objective) {
                    Err(Error::Stopped) => return Ok(Reason::Stopped),
                    other => other?,
                }
            }
            Ok(_) | Err(Error::NotPositiveDefinite { .. }) => begun.diverged = true,
            Err(Error::Stopped) => return Ok(Reason::Stopped),
            Err(error) => return Err(error),
        }
    }
}

unsafe extern "C" fn create<L: Learner>(
    host: *const abi::Host,
    values: *const abi::Value,
    n_values: i64,
    out: *mut *mut c_void,
) -> Status {
    let new = |values: &[ParamValue]| {
        let params = Digest::of(L::ID).with_params(values);
        Ok(Fitted { learner: L::new(L::Params::from_values(values)?)?, params, begun: None })
    };
    // SAFETY: promised by the host.
    unsafe { object::create(host, values, n_values, out, new) }
}

unsafe extern "C" fn warm_up<L: Learner>(learner: *mut c_void, shape: *const abi::Shape) -> Status {
    // SAFETY: promised by the host: an object of ours, and a shape that lives during the call.
    unsafe {
        with_object::<Fitted<L>>(learner, |object| object.inner.learner.warm_up(&object::shape(shape)?))
    }
}

unsafe extern "C" fn begin<L: Learner>(learner: *mut c_void, fit: *const abi::Fit) -> Status {
    // SAFETY: promised by the host: an object of ours and a fit that lives during the call.
    unsafe {
        with_object::<Fitted<L>>(learner, |object| {
            let fit = Fit::new(fit, object.host)?;
            let Fitted { learner, params, begun } = &mut object.inner;
            // Dropped first: two states may not fit into memory.
            *begun = None;
            *begun = Some(Begun::new(learner.begin(&fit)?, params.with_fit(&fit), &fit));
            Ok(())
        })
    }
}

unsafe extern "C" fn fit<L: Learner>(
    learner: *mut c_void,
    fit: *const abi::Fit,
    report: *mut abi::Report,
) -> Status {
    // SAFETY: promised by the host: an object of ours, a fit that lives during the call, and a report.
    unsafe {
        with_object::<Fitted<L>>(learner, |object| {
            Object::<Fitted<L>>::check_report(report)?;
            let fit = Fit::new(fit, object.host)?;
            let (learner, begun) = object.inner.parts("fit")?;
            let reason = take_steps(learner, begun, &fit)?;
            let finished =
                Report { numbers: learner.numbers(&begun.state), ..Report::new(reason, begun.steps) };
            object.fill(finished, &mut *report);
            Ok(())
        })
    }
}

unsafe extern "C" fn predict<L: Learner>(
    learner: *mut c_void,
    x: *const abi::Mat,
    out: *mut abi::Mat,
) -> Status {
    // SAFETY: promised by the host: an object of ours, and matrices that live during the call.
    unsafe {
        with_object::<Fitted<L>>(learner, |object| {
            let host = object.host;
            let (learner, begun) = object.inner.parts("predict")?;
            if x.is_null() || out.is_null() {
                return Err(Error::InvalidArgument("predict: a null pointer".into()));
            }
            let (x, mut out) = (view(&*x, "predict: the inputs")?, view_mut(&*out, "predict: the output")?);
            if x.ncols() != begun.d || out.dim() != (x.nrows(), 2) {
                let ((d, shape), given) = ((x.ncols(), out.dim()), begun.d);
                let text = format!("predict: {d} inputs of {given}, and an output of shape {shape:?}");
                return Err(Error::InvalidArgument(text));
            }
            let workers = Workers::of(host, begun.threads);
            let (mean, variance) = learner.predict(&begun.state, x, workers)?;
            if [mean.len(), variance.len()] != [x.nrows(); 2] {
                let (means, variances) = (mean.len(), variance.len());
                let text = format!("{means} means and {variances} variances for {} rows", x.nrows());
                return Err(Error::new(text));
            }
            out.index_axis_mut(Axis(1), 0).assign(&mean);
            out.index_axis_mut(Axis(1), 1).assign(&variance);
            Ok(())
        })
    }
}

unsafe extern "C" fn model<L: Learner>(learner: *mut c_void, store: *const abi::Store) -> Status {
    // SAFETY: promised by the host: an object of ours and a store that lives during the call.
    unsafe {
        with_object::<Fitted<L>>(learner, |object| {
            let (learner, begun) = object.inner.parts("model")?;
            store::put_all(store, &learner.model(&begun.state)?.arrays)
        })
    }
}

unsafe extern "C" fn save<L: Learner>(learner: *mut c_void, store: *const abi::Store) -> Status {
    // SAFETY: promised by the host: an object of ours and a store that lives during the call.
    unsafe {
        with_object::<Fitted<L>>(learner, |object| {
            let (learner, begun) = object.inner.parts("save")?;
            let mut saved = Saved::new();
            learner.save(&begun.state, &mut saved)?;
            let own = [begun.steps as u64, begun.diverged.into(), begun.digest.0];
            saved.put_integers(OWN, own);
            store::put_saved(store, &saved)
        })
    }
}

/// Name of the SDK's own numbers in a saved state: steps, whether they have diverged, and the digest of parameters and data.
const OWN: &str = "sdk_fit";

unsafe extern "C" fn load<L: Learner>(
    learner: *mut c_void,
    fit: *const abi::Fit,
    store: *const abi::Store,
) -> Status {
    // SAFETY: promised by the host: an object of ours, and a fit and a store that live during the call.
    unsafe {
        with_object::<Fitted<L>>(learner, |object| {
            let fit = Fit::new(fit, object.host)?;
            let Fitted { learner, params, begun } = &mut object.inner;
            // Dropped first, as in `begin`.
            *begun = None;
            let saved = store::get_saved(store)?;
            let expected = params.with_fit(&fit);
            let own = saved.get_integers(OWN)?;
            let [steps, diverged, digest] = own[..] else {
                return Err(Error::InvalidArgument(format!("the saved `{OWN}` has {} numbers", own.len())));
            };
            if digest != expected.0 {
                let text = "the saved state belongs to other data or other parameters";
                return Err(Error::InvalidArgument(text.into()));
            }
            let (steps, diverged) = (size(steps as i64, "load")?, diverged != 0);
            let state = learner.load(&fit, &saved)?;
            *begun = Some(Begun { steps, diverged, ..Begun::new(state, expected, &fit) });
            Ok(())
        })
    }
}

unsafe extern "C" fn estimate<L: Learner>(learner: *mut c_void, n: i64, d: i64, bytes: *mut f64) -> Status {
    // SAFETY: promised by the host: an object of ours.
    unsafe {
        with_object::<Fitted<L>>(learner, |object| {
            let size = |value| size(value, "estimate");
            if bytes.is_null() {
                return Err(Error::InvalidArgument("estimate: a null pointer".into()));
            }
            // Writable by the interface.
            bytes.write(object.inner.learner.estimate(size(n)?, size(d)?));
            Ok(())
        })
    }
}

unsafe extern "C" fn destroy<L: Learner>(learner: *mut c_void) {
    // SAFETY: promised by the host: an object that `create` made, and its last use.
    unsafe { object::destroy::<Fitted<L>>(learner) }
}
