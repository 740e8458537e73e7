//! Makes objects. The interface does not tell `create` which solver it belongs to, so each class of a script has a
//! function of its own.

use std::ffi::c_void;

use gpbench_abi::{self as abi, Status, Value, log_level, part_kind, value_kind};
use serde_json::{Map, Value as Json};

use super::Object;
use crate::failure::{Failure, Result};
use crate::frame::{Frame, kind};
use crate::host::{self, Host, borrow};
use crate::process;
use crate::script;

/// Type of the functions that make objects.
pub type Create = unsafe extern "C" fn(*const abi::Host, *const Value, i64, *mut *mut c_void) -> Status;

/// One for each class of a script, in the order of its description.
pub const CREATE: [Create; 64] = {
    macro_rules! functions {
        ($($tens:literal)*) => { [$(
            create::<{ $tens * 8 }>, create::<{ $tens * 8 + 1 }>, create::<{ $tens * 8 + 2 }>,
            create::<{ $tens * 8 + 3 }>, create::<{ $tens * 8 + 4 }>, create::<{ $tens * 8 + 5 }>,
            create::<{ $tens * 8 + 6 }>, create::<{ $tens * 8 + 7 }>,
        )*] };
    }
    functions!(0 1 2 3 4 5 6 7)
};

unsafe extern "C" fn create<const INDEX: usize>(
    host: *const abi::Host,
    values: *const Value,
    n_values: i64,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: promised by the host.
    let Some(host) = (unsafe { Host::new(host) }) else { return Status::INVALID_ARGUMENT };
    host.wall(|| {
        let count =
            usize::try_from(n_values).ok().filter(|&n| !out.is_null() && (n == 0 || !values.is_null()));
        let count = count.ok_or_else(|| Failure::invalid("create: a null pointer or a negative count"))?;
        let values: &[Value] = match count {
            0 => &[],
            // SAFETY: not null; `n_values` of them by the interface.
            _ => unsafe { std::slice::from_raw_parts(values, count) },
        };
        let object = make(INDEX, host, values)?;
        // SAFETY: not null, writable by the interface.
        unsafe { out.write(Box::into_raw(Box::new(object)).cast()) };
        Ok(())
    })
}

fn make(index: usize, host: Host, values: &[Value]) -> Result<Object> {
    let script = script::current()?;
    let missing = || Failure::invalid("create: the script has no such class");
    let class = script.description.classes.get(index).ok_or_else(missing)?;
    if class.params.len() != values.len() {
        let (given, wanted) = (values.len(), class.params.len());
        return Err(Failure::invalid(format!("create: {given} values for {wanted} parameters")));
    }
    let mut params = Map::new();
    for (param, value) in class.params.iter().zip(values) {
        params.insert(param.name.clone(), read(value)?);
    }
    let process = script::process(script, host, wants_gpu(&params))?;
    let number = process.new_object();
    let content = process::create(number, &class.class, class.is_learner(), Json::Object(params));
    let ready = process.call_with(kind::CREATE, &content)?;
    if let Some(versions) = ready.field("versions").and_then(Json::as_object).filter(|all| !all.is_empty()) {
        let versions = versions.iter().filter_map(|(name, of)| Some(format!("{name} {}", of.as_str()?)));
        host.log(log_level::INFO, &versions.collect::<Vec<_>>().join(", "));
    }
    report_modules(host, &ready);
    let prepares = ready.field("prepare").and_then(Json::as_bool).unwrap_or(true);
    Ok(Object {
        process,
        number,
        host,
        prepares,
        claimed: Vec::new(),
        names: Vec::new(),
        texts: Vec::new(),
        values: Vec::new(),
    })
}

/// Whether a parameter `device` names a GPU.
fn wants_gpu(params: &Map<String, Json>) -> bool {
    params.get("device").and_then(Json::as_str).is_some_and(|device| device.starts_with("cuda"))
}

fn read(value: &Value) -> Result<Json> {
    Ok(match value.kind {
        value_kind::BOOL => Json::Bool(value.i != 0),
        value_kind::INT => value.i.into(),
        value_kind::FLOAT => value.f.into(),
        // SAFETY: the value's text lives until the call returns.
        value_kind::TEXT => unsafe { host::read(&value.s) }?.into(),
        other => return Err(Failure::invalid(format!("create: a value of unknown kind {other}"))),
    })
}

/// Tells the host about local files that were imported without being described.
pub(crate) fn report_modules(host: Host, frame: &Frame) {
    for module in frame.field("modules").and_then(Json::as_array).into_iter().flatten() {
        let text = |name: &str| module.get(name).and_then(Json::as_str).unwrap_or_default();
        let (path, sha256) = (text("path"), text("sha256"));
        let line = format!(
            "{path} was imported, but gpbench did not see that when it read the script: name it in `gpbench_uses`"
        );
        host.log(log_level::WARNING, &line);
        let name = path.rsplit('/').next().unwrap_or(path);
        host.add_part(&abi::Part {
            kind: part_kind::FILE,
            reserved: 0,
            name: borrow(name),
            version: borrow(""),
            path: borrow(path),
            sha256: borrow(sha256),
        });
    }
}
