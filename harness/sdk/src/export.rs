//! From a [`Solver`] to the tables of the interface. No panic passes.
//!
//! Authors of plugins use [`export_plugin!`](crate::export_plugin) alone.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gpbench_abi as abi;
use gpbench_abi::Status;

use crate::error::{Error, Result};
use crate::text::borrow;
use crate::{Params, Problem, Reason, Report, Solver, Value};

/// Exports solvers as a plugin: the entry function with its tables.
///
/// To be called once, in `lib.rs` of a crate of type `cdylib`.
///
/// ```ignore
/// gpbench_sdk::export_plugin! { name: "my-solvers", solvers: [Mine, Yours] }
/// ```
#[macro_export]
macro_rules! export_plugin {
    (name: $name:expr, solvers: [$($solver:ty),+ $(,)?] $(,)?) => {
        /// The plugin's entry, called once by the host after loading.
        ///
        /// # Safety
        /// `host` is null or points to the host's table, which lives until the process ends.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn gpbench_plugin_v1(
            host: *const $crate::abi::Host,
        ) -> *const $crate::abi::Plugin {
            static PLUGIN: ::std::sync::OnceLock<&'static $crate::abi::Plugin> = ::std::sync::OnceLock::new();
            // SAFETY: promised by the caller.
            unsafe {
                $crate::export::enter(host, || {
                    *PLUGIN.get_or_init(|| {
                        $crate::export::plugin(
                            $name,
                            ::std::env!("CARGO_PKG_VERSION"),
                            ::std::vec![$($crate::export::solver::<$solver>()),+],
                        )
                    })
                })
            }
        }
    };
}

/// Runs the entry function, catching panics; null if it fails.
///
/// # Safety
/// `host` is null or points to the host's table, which lives until the process ends.
pub unsafe fn enter(
    host: *const abi::Host,
    describe: impl FnOnce() -> &'static abi::Plugin,
) -> *const abi::Plugin {
    // SAFETY: promised by the caller.
    let Ok(host) = (unsafe { sound(host) }) else { return std::ptr::null() };
    let mut plugin = std::ptr::null();
    catch(host, || {
        plugin = describe();
        Ok(())
    });
    plugin
}

/// Describes a plugin. Leaks the description, which lives until the process ends.
pub fn plugin(name: &'static str, version: &'static str, solvers: Vec<abi::Solver>) -> &'static abi::Plugin {
    let solvers = solvers.leak();
    Box::leak(Box::new(abi::Plugin {
        size: size_of::<abi::Plugin>() as u32,
        minor: abi::MINOR,
        name: abi::Str::new(name),
        version: abi::Str::new(version),
        solvers: solvers.as_ptr(),
        n_solvers: solvers.len() as i64,
        solver_stride: size_of::<abi::Solver>() as i64,
        learners: std::ptr::null(),
        n_learners: 0,
        learner_stride: size_of::<abi::Learner>() as i64,
    }))
}

/// Describes a solver. Leaks its schema, which lives until the process ends.
pub fn solver<S: Solver>() -> abi::Solver {
    let params = S::Params::schema().leak();
    abi::Solver {
        size: size_of::<abi::Solver>() as u32,
        reserved: 0,
        capabilities: S::CAPABILITIES.0,
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
    }
}

/// A solver object as the host holds it.
struct Object<S> {
    solver: S,
    host: &'static abi::Host,
    /// Whether a panic has left it in an unknown state.
    broken: bool,
    /// Arrays that the last report points to.
    claimed: Vec<f64>,
    names: Vec<abi::Str>,
    values: Vec<f64>,
}

/// Checks the host's table.
///
/// # Safety
/// `host` is null or points to the host's table, which lives until the process ends.
unsafe fn sound(host: *const abi::Host) -> Result<&'static abi::Host> {
    let bad = || Error::InvalidArgument("the host's table is null, too small or lacks a function".into());
    // SAFETY: promised by the caller; only the first field is read before the size is known.
    if host.is_null() || unsafe { (*host).size } < size_of::<abi::Host>() as u32 {
        return Err(bad());
    }
    // SAFETY: as above.
    let host = unsafe { &*host };
    if host.set_error.is_none() { Err(bad()) } else { Ok(host) }
}

/// Calls a plugin's code: an error or a panic becomes a status, and its text goes to the host.
fn catch(host: &abi::Host, call: impl FnOnce() -> Result<()>) -> Status {
    let (status, text) = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return Status::DONE,
        Ok(Err(Error::Stopped)) => return Status::STOPPED,
        Ok(Err(error)) => (error.status(), error.to_string()),
        Err(payload) => {
            let text = format!("panicked: {}", panic_text(&*payload));
            // Dropping a payload could panic again.
            std::mem::forget(payload);
            (Status::PANIC, text)
        }
    };
    if let Some(set_error) = host.set_error {
        // SAFETY: live host; the text is copied before the call returns.
        unsafe { set_error(host, status, &borrow(&text)) };
    }
    status
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("(no text)")
}

/// Calls a method of an object, catching panics. After a panic the object is not called again.
///
/// # Safety
/// `solver` is null or what `create::<S>` made, used by nobody else during the call.
unsafe fn with_object<S>(solver: *mut c_void, call: impl FnOnce(&mut Object<S>) -> Result<()>) -> Status {
    // SAFETY: promised by the caller.
    let Some(object) = (unsafe { solver.cast::<Object<S>>().as_mut() }) else {
        return Status::INVALID_ARGUMENT;
    };
    let host = object.host;
    if object.broken {
        return catch(host, || Err(Error::new("this solver panicked before and cannot continue")));
    }
    // Marked before and cleared after, so that a panic leaves the mark.
    object.broken = true;
    catch(host, || {
        let outcome = call(object);
        object.broken = false;
        outcome
    })
}

unsafe extern "C" fn create<S: Solver>(
    host: *const abi::Host,
    values: *const abi::Value,
    n_values: i64,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: promised by the host.
    let Ok(host) = (unsafe { sound(host) }) else { return Status::INVALID_ARGUMENT };
    catch(host, || {
        let bad = |why: &str| Error::InvalidArgument(format!("create: {why}"));
        let count = usize::try_from(n_values).map_err(|_| bad("a negative number of values"))?;
        if out.is_null() || (values.is_null() && count > 0) {
            return Err(bad("a null pointer"));
        }
        let values: &[abi::Value] = match count {
            0 => &[],
            // SAFETY: not null; `n_values` of them by the interface.
            _ => unsafe { std::slice::from_raw_parts(values, count) },
        };
        // SAFETY: the values' texts live until this call returns.
        let values = values.iter().map(|value| unsafe { Value::read(value) }).collect::<Result<Vec<_>>>()?;
        let solver = S::new(S::Params::from_values(&values)?)?;
        let (claimed, names, values) = (Vec::new(), Vec::new(), Vec::new());
        let object = Box::new(Object { solver, host, broken: false, claimed, names, values });
        // SAFETY: not null, writable by the interface.
        unsafe { out.write(Box::into_raw(object).cast()) };
        Ok(())
    })
}

unsafe extern "C" fn prepare<S: Solver>(solver: *mut c_void, problem: *const abi::Problem) -> Status {
    // SAFETY: promised by the host: an object of ours and a problem that lives during the call.
    unsafe {
        with_object::<S>(solver, |object| {
            let problem = Problem::new(problem, object.host)?;
            object.solver.prepare(&problem)
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
        with_object::<S>(solver, |object| {
            // The size is the host's; only the first field is read before it is known.
            if report.is_null() || (*report).size < size_of::<abi::Report>() as u32 {
                return Err(Error::InvalidArgument("the report is null or too small".into()));
            }
            let mut problem = Problem::new(problem, object.host)?;
            let finished = match object.solver.solve(&mut problem) {
                // Stopping is an outcome; the norms are those observed last.
                Err(Error::Stopped) => Report::new(Reason::Stopped, problem.seen.0).residuals(problem.seen.1),
                other => other?,
            };
            object.fill(finished, &mut *report);
            Ok(())
        })
    }
}

impl<S> Object<S> {
    /// Fills the host's report. Its arrays live until the next call.
    fn fill(&mut self, finished: Report, report: &mut abi::Report) {
        self.claimed = finished.residuals;
        (self.names, self.values) =
            finished.numbers.into_iter().map(|(name, value)| (abi::Str::new(name), value)).unzip();
        let pointer = |numbers: &[f64]| if numbers.is_empty() { std::ptr::null() } else { numbers.as_ptr() };
        report.reason = finished.reason.code();
        report.iterations = i64::try_from(finished.iterations).unwrap_or(i64::MAX);
        report.claimed = pointer(&self.claimed);
        report.n_claimed = self.claimed.len() as i64;
        report.names = if self.names.is_empty() { std::ptr::null() } else { self.names.as_ptr() };
        report.values = pointer(&self.values);
        report.n_values = self.values.len() as i64;
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
        with_object::<S>(solver, |object| {
            let size = |value: i64| {
                usize::try_from(value).map_err(|_| Error::InvalidArgument("estimate: a negative size".into()))
            };
            if bytes.is_null() {
                return Err(Error::InvalidArgument("estimate: a null pointer".into()));
            }
            // Writable by the interface.
            bytes.write(object.solver.estimate(size(n)?, size(d)?, size(s)?));
            Ok(())
        })
    }
}

unsafe extern "C" fn destroy<S: Solver>(solver: *mut c_void) {
    if solver.is_null() {
        return;
    }
    // SAFETY: promised by the host: an object that `create` made, and its last use.
    let object = unsafe { Box::from_raw(solver.cast::<Object<S>>()) };
    let host = object.host;
    catch(host, || {
        // After a panic the object's state is unknown, so it is leaked rather than dropped.
        if object.broken {
            std::mem::forget(object)
        } else {
            drop(object)
        }
        Ok(())
    });
}
