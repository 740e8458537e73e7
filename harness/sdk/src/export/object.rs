//! Objects of a plugin as the host holds them, and the panic wall around their calls.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gpbench_abi as abi;
use gpbench_abi::Status;

use crate::error::{Error, Result};
use crate::text::{borrow, text};
use crate::{ParamValue, Report, Shape, panic_location};

/// A solver or learner as the host holds it.
pub(super) struct Object<T> {
    pub(super) inner: T,
    pub(super) host: &'static abi::Host,
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
pub(super) unsafe fn sound(host: *const abi::Host) -> Result<&'static abi::Host> {
    let bad = || Error::InvalidArgument("the host's table is null, too small or lacks a function".into());
    // SAFETY: promised by the caller; only the first field is read before the size is known.
    if host.is_null() || unsafe { (*host).size } < size_of::<abi::Host>() as u32 {
        return Err(bad());
    }
    // SAFETY: as above.
    let host = unsafe { &*host };
    panic_location::install_hook();
    if host.set_error.is_none() { Err(bad()) } else { Ok(host) }
}

/// Calls a plugin's code: an error or a panic becomes a status, and its text goes to the host.
pub(super) fn catch(host: &abi::Host, call: impl FnOnce() -> Result<()>) -> Status {
    panic_location::put(None);
    let (status, text) = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return Status::DONE,
        Ok(Err(Error::Stopped)) => return Status::STOPPED,
        Ok(Err(error)) => (error.status(), error.to_string()),
        Err(payload) => {
            let at = panic_location::take().map_or_else(String::new, |location| format!(" ({location})"));
            let text = format!("panicked: {}{at}", panic_text(&*payload));
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
/// `object` is null or what `create::<T>` made, used by nobody else during the call.
pub(super) unsafe fn with_object<T>(
    object: *mut c_void,
    call: impl FnOnce(&mut Object<T>) -> Result<()>,
) -> Status {
    // SAFETY: promised by the caller.
    let Some(object) = (unsafe { object.cast::<Object<T>>().as_mut() }) else {
        return Status::INVALID_ARGUMENT;
    };
    let host = object.host;
    if object.broken {
        return catch(host, || Err(Error::new("this object panicked before and cannot continue")));
    }
    // Marked before and cleared after, so that a panic leaves the mark.
    object.broken = true;
    catch(host, || {
        let outcome = call(object);
        object.broken = false;
        outcome
    })
}

/// Makes an object from the host's values.
///
/// # Safety
/// As the interface has it for `create`.
pub(super) unsafe fn create<T>(
    host: *const abi::Host,
    values: *const abi::Value,
    n_values: i64,
    out: *mut *mut c_void,
    new: impl FnOnce(&[ParamValue]) -> Result<T>,
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
        let values = values.iter().map(|value| unsafe { read_value(value) }).collect::<Result<Vec<_>>>()?;
        let inner = new(&values)?;
        let (claimed, names, values) = (Vec::new(), Vec::new(), Vec::new());
        let object = Box::new(Object { inner, host, broken: false, claimed, names, values });
        // SAFETY: not null, writable by the interface.
        unsafe { out.write(Box::into_raw(object).cast()) };
        Ok(())
    })
}

/// Destroys an object.
///
/// # Safety
/// `object` is null or what `create::<T>` made, and this is its last use.
pub(super) unsafe fn destroy<T>(object: *mut c_void) {
    if object.is_null() {
        return;
    }
    // SAFETY: promised by the caller.
    let object = unsafe { Box::from_raw(object.cast::<Object<T>>()) };
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

impl<T> Object<T> {
    /// Checks the host's report.
    ///
    /// # Safety
    /// `report` is null or points to a report that begins with its size.
    pub(super) unsafe fn check_report(report: *const abi::Report) -> Result<()> {
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if report.is_null() || unsafe { (*report).size } < size_of::<abi::Report>() as u32 {
            return Err(Error::InvalidArgument("the report is null or too small".into()));
        }
        Ok(())
    }

    /// Fills the host's report. Its arrays live until the next call.
    pub(super) fn fill(&mut self, finished: Report, report: &mut abi::Report) {
        self.claimed = finished.residuals;
        (self.names, self.values) =
            finished.numbers.into_iter().map(|(name, value)| (abi::Str::new(name), value)).unzip();
        let pointer = |numbers: &[f64]| if numbers.is_empty() { std::ptr::null() } else { numbers.as_ptr() };
        report.reason = finished.reason.number();
        report.iterations = i64::try_from(finished.iterations).unwrap_or(i64::MAX);
        report.claimed = pointer(&self.claimed);
        report.n_claimed = self.claimed.len() as i64;
        report.names = if self.names.is_empty() { std::ptr::null() } else { self.names.as_ptr() };
        report.values = pointer(&self.values);
        report.n_values = self.values.len() as i64;
    }
}

/// Reads a value of the interface.
///
/// # Safety
/// A text's bytes are readable.
unsafe fn read_value(value: &abi::Value) -> Result<ParamValue> {
    // SAFETY: promised by the caller.
    let read = ParamValue::from_abi(value, |raw| unsafe { text(&raw) }.map(str::to_owned))?;
    read.ok_or_else(|| Error::InvalidArgument(format!("a value of unknown kind {}", value.kind)))
}

/// A size of the interface.
pub(super) fn size(value: i64, call: &str) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::InvalidArgument(format!("{call}: a negative size")))
}

/// The sizes of a call.
///
/// # Safety
/// `shape` is null or points to a shape that begins with its size.
pub(super) unsafe fn shape(shape: *const abi::Shape) -> Result<Shape> {
    let bad = |why: &str| Error::InvalidArgument(format!("warm_up: {why}"));
    // SAFETY: promised by the caller; only the first field is read before the size is known.
    if shape.is_null() || unsafe { (*shape).size } < size_of::<abi::Shape>() as u32 {
        return Err(bad("the shape is null or too small"));
    }
    // SAFETY: as above, and large enough.
    Shape::from_abi(unsafe { &*shape }).ok_or_else(|| bad("a negative size"))
}
