//! `prepare`, `solve` and `estimate` of a solver.

use std::ffi::c_void;

use gpbench_abi::{self as abi, Status};

use super::{Object, with};
use crate::frame::kind;
use crate::serve::problem::Problem;

pub(super) unsafe extern "C" fn prepare(solver: *mut c_void, problem: *const abi::Problem) -> Status {
    // SAFETY: promised by the host: an object of ours and a problem that lives during the call.
    unsafe {
        with(solver, |object| {
            if !object.prepares {
                return Ok(());
            }
            let mut problem = Problem::pass(problem, object.number, false, &object.process)?;
            let call = object.about(&[]);
            let done = object.process.call(kind::PREPARE, 0, &call, &[], &mut problem)?;
            Object::check_stop(&done)
        })
    }
}

pub(super) unsafe extern "C" fn solve(
    solver: *mut c_void,
    problem: *const abi::Problem,
    report: *mut abi::Report,
) -> Status {
    // SAFETY: promised by the host: an object of ours, a problem that lives during the call, and a report.
    unsafe {
        with(solver, |object| {
            Object::check_report(report)?;
            let mut problem = Problem::pass(problem, object.number, true, &object.process)?;
            let call = object.about(&[]);
            let done = object.process.call(kind::SOLVE, 0, &call, &[], &mut problem)?;
            problem.copy_iterate();
            object.fill(&done, problem.columns(), &mut *report)
        })
    }
}

pub(super) unsafe extern "C" fn estimate(
    solver: *mut c_void,
    n: i64,
    d: i64,
    s: i64,
    bytes: *mut f64,
) -> Status {
    // SAFETY: promised by the host: an object of ours, and a place for the number.
    unsafe { with(solver, |object| object.estimate(&[n, d, s], bytes)) }
}
