//! Creation, warm-up and memory estimates of the objects of solvers and learners.

use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi::{self as abi, Host, Status, Value};
use gpbench_terms::{ParamValue, Shape, SolverInfo};

use crate::error::CallError;
use crate::host_table::HostTable;
use crate::settings::settings;

/// The function of a table that makes an object.
type CreateFn = unsafe extern "C" fn(*const Host, *const Value, i64, *mut *mut c_void) -> Status;

/// The function of a table that lets an object get ready.
type WarmUpFn = unsafe extern "C" fn(*mut c_void, *const abi::Shape) -> Status;

/// Makes an object with these parameters; those not given take their defaults.
///
/// # Safety
/// `create` is the function of the table that `info` was read from.
pub(crate) unsafe fn create(
    info: &SolverInfo,
    create: CreateFn,
    host: &'static HostTable,
    params: &BTreeMap<String, ParamValue>,
) -> Result<*mut c_void, CallError> {
    let wrong = |what: String| CallError::Parameter { called: info.called(), what };
    let settings = settings(&info.params, params).map_err(wrong)?;
    let values: Vec<Value> = settings.iter().map(ParamValue::to_abi).collect();
    let mut object = std::ptr::null_mut();
    host.take_error();
    // SAFETY: the values are as the schema says and live until the call returns.
    let status = unsafe { create(host.as_ptr(), values.as_ptr(), values.len() as i64, &mut object) };
    if status != Status::DONE {
        return Err(CallError::new("create", status, host, None));
    }
    Ok(object)
}

/// Lets an object get ready for these sizes, unless it has nothing to get ready or is `ready_for` them already.
///
/// # Safety
/// `object` is a live object of the table that `warm_up` is from.
pub(crate) unsafe fn warm_up(
    object: *mut c_void,
    warm_up: Option<WarmUpFn>,
    host: &'static HostTable,
    shape: Shape,
    ready_for: &mut Option<Shape>,
) -> Result<(), CallError> {
    if *ready_for == Some(shape) {
        return Ok(());
    }
    *ready_for = None;
    if let Some(warm_up) = warm_up {
        host.take_error();
        // SAFETY: by this function's contract; the shape lives until the call returns.
        let status = unsafe { warm_up(object, &shape.to_abi()) };
        if status != Status::DONE {
            return Err(CallError::new("warm_up", status, host, None));
        }
    }
    *ready_for = Some(shape);
    Ok(())
}

/// The bytes that an object has estimated, if they are a number of bytes.
pub(crate) fn estimated(bytes: f64) -> Result<f64, CallError> {
    if bytes.is_nan() || bytes < 0.0 {
        return Err(CallError::Misbehaved { during: "estimate", what: format!("answered {bytes} bytes") });
    }
    Ok(bytes)
}
