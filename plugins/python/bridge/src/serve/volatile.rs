//! Objects of the child's that stay in memory from one outer step to the next. The host holds a number in their place.

use std::ffi::c_void;
use std::rc::{Rc, Weak};

use gpbench_abi::{self as abi, Status};

use crate::failure::Result;
use crate::frame::Frame;
use crate::host::borrow;
use crate::process::{Process, Reply};

/// What the host holds: the number of an object, and the process that keeps it.
struct Kept {
    process: Weak<Process>,
    handle: i64,
}

/// Serves `KEEP`.
pub fn keep(
    problem: &abi::Problem,
    table: Option<&abi::Volatile>,
    request: &Frame,
    process: &Rc<Process>,
) -> Result<Reply> {
    let (key, handle) = (request.text("key")?, request.integer("handle")?);
    let bytes = request.integer("bytes")?;
    let Some(keep) = table.and_then(|table| table.keep) else { return Ok(Status::UNSUPPORTED.into()) };
    let kept = Box::into_raw(Box::new(Kept { process: Rc::downgrade(process), handle }));
    // SAFETY: live problem; the key is copied before the call returns; `free` takes what was made above.
    let status = unsafe { keep(problem, &borrow(key), kept.cast(), bytes, Some(free)) };
    if status != Status::DONE {
        // SAFETY: after an error the object is still this side's. The child drops its own by the status.
        drop(unsafe { Box::from_raw(kept) });
    }
    Ok(status.into())
}

/// Serves `TAKE`: the number of the object, or -1.
pub fn take(
    problem: &abi::Problem,
    table: Option<&abi::Volatile>,
    request: &Frame,
    process: &Rc<Process>,
) -> Result<Reply> {
    let key = request.text("key")?;
    let Some(take) = table.and_then(|table| table.take) else {
        return Ok(Reply::with(Status::DONE, &[-1]));
    };
    let mut object: *mut c_void = std::ptr::null_mut();
    // SAFETY: live problem, a text and a place for the pointer.
    let status = unsafe { take(problem, &borrow(key), &mut object) };
    if status != Status::DONE || object.is_null() {
        return Ok(Reply::with(status, &[-1]));
    }
    // SAFETY: only `keep` hands objects over, and each comes back once.
    let kept = unsafe { Box::from_raw(object.cast::<Kept>()) };
    let is_here = Weak::ptr_eq(&kept.process, &Rc::downgrade(process));
    Ok(Reply::with(Status::DONE, &[if is_here { kept.handle } else { -1 }]))
}

unsafe extern "C" fn free(object: *mut c_void) {
    // SAFETY: the host passes what `keep` has made, once.
    let kept = unsafe { Box::from_raw(object.cast::<Kept>()) };
    if let Some(process) = kept.process.upgrade() {
        process.release(kept.handle);
    }
}
