//! The functions of a learner.

use std::ffi::c_void;

use gpbench_abi::{self as abi, Mat, Status};

use super::{Object, with};
use crate::arena::copy_matrix;
use crate::failure::{Failure, Result};
use crate::frame::{Frame, flag, kind};
use crate::process::{NoRequests, Server};
use crate::serve::fit::Fit;
use crate::serve::spaces;
use crate::serve::store::Store;

pub(super) unsafe extern "C" fn begin(learner: *mut c_void, fit: *const abi::Fit) -> Status {
    // SAFETY: promised by the host: an object of ours and a fit that lives during the call.
    unsafe {
        with(learner, |object| {
            let mut fit = Fit::new(fit, None)?;
            fit.pass(object.number, &object.process)?;
            let done = object.serve(kind::BEGIN, &[], &mut fit)?;
            Object::check_stop(&done)
        })
    }
}

pub(super) unsafe extern "C" fn fit(
    learner: *mut c_void,
    fit: *const abi::Fit,
    report: *mut abi::Report,
) -> Status {
    // SAFETY: promised by the host: an object of ours, a fit that lives during the call, and a report.
    unsafe {
        with(learner, |object| {
            Object::check_report(report)?;
            let mut fit = Fit::new(fit, None)?;
            let done = object.serve(kind::FIT, &[fit.passes()], &mut fit)?;
            object.fill(&done, 0, &mut *report)
        })
    }
}

pub(super) unsafe extern "C" fn predict(learner: *mut c_void, x: *const Mat, out: *mut Mat) -> Status {
    // SAFETY: promised by the host: an object of ours, and matrices that live during the call.
    unsafe {
        with(learner, |object| {
            if x.is_null() || out.is_null() {
                return Err(Failure::invalid("predict: a null pointer"));
            }
            let (x, out) = (*x, *out);
            if x.rows < 0 || x.cols < 0 || (out.rows, out.cols) != (x.rows, 2) {
                return Err(Failure::invalid(
                    "predict: the output does not have two columns and a row an input",
                ));
            }
            let (m, d) = (x.rows, x.cols);
            let answer = object.call(kind::PREDICT, &[m, d], &[])?;
            let process = &object.process;
            let found = spaces(&answer, [("x", m, d), ("out", m, 2)], &process.arena);
            let [to, from] = process.checked(found)?;
            copy_matrix(&x, &process.arena.mat(&to));
            let call = object.about(&[m, d]);
            process.call(kind::PREDICT, flag::FILLED, &call, &[], &mut NoRequests)?;
            copy_matrix(&process.arena.mat(&from), &out);
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn model(learner: *mut c_void, store: *const abi::Store) -> Status {
    // SAFETY: promised by the host: an object of ours and a store that lives during the call.
    unsafe { with(learner, |object| object.put(kind::MODEL, "has no model", store)) }
}

pub(super) unsafe extern "C" fn save(learner: *mut c_void, store: *const abi::Store) -> Status {
    // SAFETY: promised by the host: an object of ours and a store that lives during the call.
    unsafe { with(learner, |object| object.put(kind::SAVE, "cannot save its state", store)) }
}

pub(super) unsafe extern "C" fn load(
    learner: *mut c_void,
    fit: *const abi::Fit,
    store: *const abi::Store,
) -> Status {
    // SAFETY: promised by the host: an object of ours, and a fit and a store that live during the call.
    unsafe {
        with(learner, |object| {
            let mut fit = Fit::new(fit, Some(Store::new(store)?))?;
            fit.pass(object.number, &object.process)?;
            object.serve(kind::LOAD, &[], &mut fit).map(drop)
        })
    }
}

pub(super) unsafe extern "C" fn estimate(learner: *mut c_void, n: i64, d: i64, bytes: *mut f64) -> Status {
    // SAFETY: promised by the host: an object of ours, and a place for the number.
    unsafe { with(learner, |object| object.estimate(&[n, d, 0], bytes)) }
}

impl Object {
    /// Makes a call whose requests a server serves.
    fn serve(&self, kind: u16, reals: &[f64], server: &mut dyn Server) -> Result<Frame> {
        self.process.call(kind, 0, &self.about(&[]), reals, server)
    }

    /// Makes a call that puts matrices into the host's store, unless the learner has none to put.
    ///
    /// # Safety
    /// `store` is null or points to a store that lives during the call.
    unsafe fn put(&self, kind: u16, lacks: &str, store: *const abi::Store) -> Result<()> {
        // SAFETY: by this function's contract.
        let mut store = unsafe { Store::new(store) }?;
        let done = self.serve(kind, &[], &mut store)?;
        match done.field("own").and_then(|own| own.as_bool()) {
            Some(true) => Err(Failure::Error(Status::UNSUPPORTED, format!("the learner {lacks} of its own"))),
            _ => Ok(()),
        }
    }
}
