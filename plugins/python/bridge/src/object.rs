//! Solver and learner objects: the functions of their tables.

mod create;
mod learner;
mod solver;

use std::ffi::c_void;
use std::rc::Rc;

use gpbench_abi::{self as abi, Shape, Status, Str, log_level};

use crate::failure::{Failure, Result};
use crate::frame::{Frame, kind};
use crate::host::{Host, borrow};
use crate::process::{NoRequests, Process};
use crate::region::Region;
use crate::serve;

pub use create::{CREATE, Create};

/// A solver or learner of the child's, as the host holds it.
#[derive(Debug)]
pub struct Object {
    process: Rc<Process>,
    /// Its number in the child.
    number: i64,
    host: Host,
    /// Whether its class has a `prepare` of its own.
    prepares: bool,
    /// Arrays that the last report points to.
    claimed: Vec<f64>,
    names: Vec<String>,
    texts: Vec<Str>,
    values: Vec<f64>,
}

/// Functions of a solver's table.
pub fn solver_functions(table: &mut abi::Solver) {
    table.prepare = Some(solver::prepare);
    table.solve = Some(solver::solve);
    table.estimate = Some(solver::estimate);
    table.destroy = Some(destroy);
    table.warm_up = Some(warm_up);
}

/// Functions of a learner's table.
pub fn learner_functions(table: &mut abi::Learner) {
    table.begin = Some(learner::begin);
    table.fit = Some(learner::fit);
    table.predict = Some(learner::predict);
    table.model = Some(learner::model);
    table.save = Some(learner::save);
    table.load = Some(learner::load);
    table.estimate = Some(learner::estimate);
    table.destroy = Some(destroy);
    table.warm_up = Some(warm_up);
}

/// Runs a method of an object behind the panic wall.
///
/// # Safety
/// `object` is null or what `create` made, used by nobody else during the call.
unsafe fn with(object: *mut c_void, body: impl FnOnce(&mut Object) -> Result<()>) -> Status {
    // SAFETY: promised by the caller.
    let Some(object) = (unsafe { object.cast::<Object>().as_mut() }) else {
        return Status::INVALID_ARGUMENT;
    };
    object.host.wall(|| body(object))
}

unsafe extern "C" fn destroy(object: *mut c_void) {
    if object.is_null() {
        return;
    }
    // SAFETY: promised by the host: an object that `create` made, and its last use.
    let object = unsafe { Box::from_raw(object.cast::<Object>()) };
    let host = object.host;
    host.wall(|| {
        // A child that this side has ended has nothing left to destroy, and its error has been reported.
        if !object.process.is_over()
            && let Err(failure) = object.call(kind::DROP, &[], &[])
        {
            host.log(log_level::WARNING, &format!("destroy: {failure}"));
        }
        Ok(())
    });
}

unsafe extern "C" fn warm_up(object: *mut c_void, shape: *const Shape) -> Status {
    // SAFETY: promised by the host: an object of ours, and a shape that lives during the call.
    unsafe {
        with(object, |object| {
            if shape.is_null() || (*shape).size < size_of::<Shape>() as u32 {
                return Err(Failure::invalid("warm_up: the shape is null or too small"));
            }
            let Shape { family, n, m, d, s, threads, batch, .. } = *shape;
            let integers = [n, m, d, s, i64::from(family), i64::from(threads), batch];
            object.call(kind::WARM, &integers, &[]).map(drop)
        })
    }
}

impl Object {
    /// Makes a call without requests.
    fn call(&self, kind: u16, integers: &[i64], reals: &[f64]) -> Result<Frame> {
        self.process.call(kind, 0, &self.about(integers), reals, &mut NoRequests)
    }

    /// The integers of a call on this object.
    fn about(&self, integers: &[i64]) -> [i64; crate::frame::INTEGERS] {
        let mut all = [0; crate::frame::INTEGERS];
        all[..integers.len()].copy_from_slice(integers);
        all[crate::frame::INTEGERS - 1] = self.number;
        all
    }

    /// The number that `ESTIMATE` yields, into `*bytes`.
    ///
    /// # Safety
    /// `bytes` is null or can be written to.
    unsafe fn estimate(&self, integers: &[i64], bytes: *mut f64) -> Result<()> {
        if bytes.is_null() {
            return Err(Failure::invalid("estimate: a null pointer"));
        }
        let done = self.call(kind::ESTIMATE, integers, &[])?;
        // SAFETY: not null, writable by this function's contract.
        unsafe { bytes.write(self.process.checked(done.number("bytes"))?) };
        Ok(())
    }

    /// Whether preparing ended since the host said to stop.
    fn check_stop(done: &Frame) -> Result<()> {
        let is_stopped = done.field("reason").and_then(|reason| reason.as_str()) == Some("stopped");
        if is_stopped { Err(Failure::Stopped) } else { Ok(()) }
    }

    /// Fails if the host's report cannot be filled.
    ///
    /// # Safety
    /// `report` is null or points to a report that begins with its size.
    unsafe fn check_report(report: *const abi::Report) -> Result<()> {
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if report.is_null() || unsafe { (*report).size } < size_of::<abi::Report>() as u32 {
            return Err(Failure::invalid("the report is null or too small"));
        }
        Ok(())
    }

    /// Fills the host's report from the child's. Its arrays live until the next call.
    fn fill(&mut self, done: &Frame, columns: i64, report: &mut abi::Report) -> Result<()> {
        let process = Rc::clone(&self.process);
        let reason = process.checked(serve::reason(done))?;
        let iterations = process.checked(done.integer("iterations"))?;
        let names = done.field("names").and_then(|names| names.as_array());
        self.names = names.into_iter().flatten().filter_map(|n| n.as_str().map(str::to_owned)).collect();
        self.claimed = self.numbers(done, "claimed", columns)?;
        self.values = self.numbers(done, "values", self.names.len() as i64)?;
        self.names.truncate(self.values.len());
        self.texts = self.names.iter().map(|name| borrow(name)).collect();
        let pointer = |numbers: &[f64]| if numbers.is_empty() { std::ptr::null() } else { numbers.as_ptr() };
        report.reason = reason;
        report.iterations = iterations;
        report.claimed = pointer(&self.claimed);
        report.n_claimed = self.claimed.len() as i64;
        report.names = if self.texts.is_empty() { std::ptr::null() } else { self.texts.as_ptr() };
        report.values = pointer(&self.values);
        report.n_values = self.values.len() as i64;
        create::report_modules(self.host, done);
        Ok(())
    }

    /// So many numbers at the offset that a field names; none if it is null.
    fn numbers(&self, done: &Frame, field: &str, count: i64) -> Result<Vec<f64>> {
        if done.field(field).is_none_or(|value| value.is_null()) {
            return Ok(Vec::new());
        }
        let arena = &self.process.arena;
        let offset = self.process.checked(done.integer(field))?;
        let region = self.process.checked(Region::column(offset, count, arena.size(), field))?;
        Ok(arena.numbers(&region))
    }
}
