//! The table of a [`Solver`].

use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;

use super::object::{self, Object, size, with_object};
use crate::error::Error;
use crate::{ParamValue, Params, Problem, Reason, Report, Solver};

/// Describes a solver. Leaks its schema, which lives until the process ends.
pub fn solver<S: Solver>() -> abi::Solver {
    let params = S::Params::schema().leak();
    abi::Solver {
        size: size_of::<abi::Solver>() as u32,
        reserved: 0,
        capabilities: S::CAPABILITIES.number(),
        id: abi::Str::new(S::ID),
        doc: abi::Str::new(S::DOC),
        params: if params.is_empty() { std::ptr::null() } else { params.as_ptr() },
        n_params: params.len() as i64,
        create: Some(create::<S>),
        prepare: Some(prepare::<S>),
        solve: Some(solve::<S>),
        estimate: Some(estimate::<S>),
        destroy: Some(destroy::<S>),
        source: abi::Str::new(S::SOURCE),
        warm_up: Some(warm_up::<S>),
        facts: S::FACTS.to_abi(),
    }
}

/// A solver, and what it has set up for the problem prepared last.
struct Held<S: Solver> {
    solver: S,
    /// Data set up for a problem; none before the first `prepare`, and after one that failed.
    prepared: Option<S::Prepared>,
}

unsafe extern "C" fn create<S: Solver>(
    host: *const abi::Host,
    values: *const abi::Value,
    n_values: i64,
    out: *mut *mut c_void,
) -> Status {
    let new =
        |values: &[ParamValue]| Ok(Held { solver: S::new(S::Params::from_values(values)?)?, prepared: None });
    // SAFETY: promised by the host.
    unsafe { object::create(host, values, n_values, out, new) }
}

unsafe extern "C" fn warm_up<S: Solver>(solver: *mut c_void, shape: *const abi::Shape) -> Status {
    // SAFETY: promised by the host: an object of ours, and a shape that lives during the call.
    unsafe { with_object::<Held<S>>(solver, |object| object.inner.solver.warm_up(&object::shape(shape)?)) }
}

unsafe extern "C" fn prepare<S: Solver>(solver: *mut c_void, problem: *const abi::Problem) -> Status {
    // SAFETY: promised by the host: an object of ours and a problem that lives during the call.
    unsafe {
        with_object::<Held<S>>(solver, |object| {
            let problem = Problem::new(problem, object.host)?;
            let Held { solver, prepared } = &mut object.inner;
            // Dropped first: two factors may not fit into memory.
            *prepared = None;
            *prepared = Some(solver.prepare(&problem)?);
            Ok(())
        })
    }
}

unsafe extern "C" fn solve<S: Solver>(
    solver: *mut c_void,
    problem: *const abi::Problem,
    report: *mut abi::Report,
) -> Status {
    // SAFETY: promised by the host: an object of ours and a problem that lives during the call.
    unsafe {
        with_object::<Held<S>>(solver, |object| {
            Object::<Held<S>>::check_report(report)?;
            let mut problem = Problem::new(problem, object.host)?;
            let Held { solver, prepared } = &mut object.inner;
            let Some(prepared) = prepared else {
                return Err(Error::InvalidArgument("solve: no problem is prepared".into()));
            };
            let finished = match solver.solve(prepared, &mut problem) {
                // Stopping is an outcome; the norms are those observed last.
                Err(Error::Stopped) => Report::new(Reason::Stopped, problem.seen.0).residuals(problem.seen.1),
                other => other?,
            };
            object.fill(finished, &mut *report);
            Ok(())
        })
    }
}

unsafe extern "C" fn estimate<S: Solver>(
    solver: *mut c_void,
    n: i64,
    d: i64,
    s: i64,
    bytes: *mut f64,
) -> Status {
    // SAFETY: promised by the host: an object of ours.
    unsafe {
        with_object::<Held<S>>(solver, |object| {
            let size = |value| size(value, "estimate");
            if bytes.is_null() {
                return Err(Error::InvalidArgument("estimate: a null pointer".into()));
            }
            // Writable by the interface.
            bytes.write(object.inner.solver.estimate(size(n)?, size(d)?, size(s)?));
            Ok(())
        })
    }
}

unsafe extern "C" fn destroy<S: Solver>(solver: *mut c_void) {
    // SAFETY: promised by the host: an object that `create` made, and its last use.
    unsafe { object::destroy::<Held<S>>(solver) }
}
