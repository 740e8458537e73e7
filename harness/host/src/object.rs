//! Creation and memory estimates of the objects of solvers and learners.

use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi::{Host, Status, Value};
use gpbench_terms::{ParamValue, SolverInfo};

use crate::error::CallError;
use crate::host_table::HostTable;
use crate::settings::settings;

/// The function of a table that makes an object.
type CreateFn = unsafe extern "C" fn(*const Host, *const Value, i64, *mut *mut c_void) -> Status;

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

/// The bytes that an object has estimated, if they are a number of bytes.
pub(crate) fn estimated(bytes: f64) -> Result<f64, CallError> {
    if bytes.is_nan() || bytes < 0.0 {
        return Err(CallError::Misbehaved { during: "estimate", what: format!("answered {bytes} bytes") });
    }
    Ok(bytes)
}
