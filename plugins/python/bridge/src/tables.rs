//! The static tables that describe a script to the host.

use std::path::Path;
use std::ptr::null;

use gpbench_abi::{self as abi, Str, Value, capability, part_kind, value_kind};
use serde_json::Value as Json;

use crate::description::{Class, Description, Param, Part};
use crate::object::{CREATE, learner_functions, solver_functions};

/// Tables of a script, which live until the process ends.
///
/// # Errors
/// What is wrong with the description, as a sentence.
pub fn plugin(
    description: &Description,
    parts: &[Part],
    script: &Path,
) -> Result<&'static abi::Plugin, String> {
    if description.classes.len() > CREATE.len() {
        let (found, most) = (description.classes.len(), CREATE.len());
        return Err(format!("{} has {found} solvers and learners, of {most} at most", script.display()));
    }
    let (mut solvers, mut learners) = (Vec::new(), Vec::new());
    for (class, create) in description.classes.iter().zip(CREATE) {
        let params = class.params.iter().map(param).collect::<Result<Vec<_>, _>>()?;
        let n_params = params.len() as i64;
        let params = if params.is_empty() { null() } else { params.leak().as_ptr() };
        let (capabilities, create) = (capabilities(class)?, Some(create));
        let (id, doc, source) = (text(&class.id), text(&class.doc), text(&class.source));
        let fact = |name: &str| text(class.facts.get(name).map_or("", String::as_str));
        let facts = abi::Facts {
            step: fact("step"),
            memory: fact("memory"),
            guarantees: fact("guarantees"),
            advice: fact("advice"),
        };
        if class.is_learner() {
            let size = size_of::<abi::Learner>() as u32;
            // SAFETY: numbers, pointers and optional functions, of which zero and null are values.
            let empty: abi::Learner = unsafe { std::mem::zeroed() };
            let mut table = abi::Learner {
                size,
                capabilities,
                id,
                doc,
                source,
                params,
                n_params,
                create,
                facts,
                ..empty
            };
            learner_functions(&mut table);
            learners.push(table);
        } else {
            let size = size_of::<abi::Solver>() as u32;
            // SAFETY: as above.
            let empty: abi::Solver = unsafe { std::mem::zeroed() };
            let mut table =
                abi::Solver { size, capabilities, id, doc, source, params, n_params, create, facts, ..empty };
            solver_functions(&mut table);
            solvers.push(table);
        }
    }
    let parts = parts.iter().map(part).collect::<Result<Vec<_>, _>>()?;
    let name = script.file_stem().unwrap_or_default().to_string_lossy();
    let plugin = abi::Plugin {
        size: size_of::<abi::Plugin>() as u32,
        minor: abi::MINOR,
        name: text(&name),
        version: text(""),
        n_solvers: solvers.len() as i64,
        solvers: first(solvers),
        solver_stride: size_of::<abi::Solver>() as i64,
        n_learners: learners.len() as i64,
        learners: first(learners),
        learner_stride: size_of::<abi::Learner>() as i64,
        n_parts: parts.len() as i64,
        parts: first(parts),
        part_stride: size_of::<abi::Part>() as i64,
    };
    Ok(Box::leak(Box::new(plugin)))
}

/// The first of several tables; null if there are none.
fn first<T>(tables: Vec<T>) -> *const T {
    if tables.is_empty() { null() } else { tables.leak().as_ptr() }
}

fn text(text: &str) -> Str {
    Str::new(text.to_owned().leak())
}

fn capabilities(class: &Class) -> Result<u64, String> {
    // Numpy and its like call BLAS with the threads of the case, and round differently with another number of them.
    let mut bits = capability::BLAS_THREADS;
    for word in &class.capabilities {
        bits |= match word.as_str() {
            "exact" => capability::EXACT,
            "randomized" => capability::RANDOMIZED,
            "warm_start" => capability::WARM_START,
            "dense" => capability::DENSE,
            "inducing" => capability::INDUCING,
            "network" => capability::NETWORK,
            "finite" => capability::FINITE,
            "kernel" => capability::KERNEL,
            "mean" => capability::MEAN,
            other => return Err(format!("class {} states the unknown capability `{other}`", class.class)),
        };
    }
    Ok(bits)
}

fn param(param: &Param) -> Result<abi::Param, String> {
    let wrong =
        || format!("parameter {} of kind {} has the default {}", param.name, param.kind, param.default);
    let none = || Value { kind: value_kind::NONE, reserved: 0, i: 0, f: 0.0, s: text("") };
    let (kind, is_integer) = match param.kind.as_str() {
        "bool" => (value_kind::BOOL, false),
        "int" => (value_kind::INT, true),
        "float" => (value_kind::FLOAT, false),
        "text" => (value_kind::TEXT, false),
        _ => return Err(wrong()),
    };
    let bound = |bound: Option<f64>| match bound {
        None => none(),
        // A bound of whole numbers beyond those of 64 bits bounds nothing more than the nearest one of these.
        Some(bound) if is_integer => Value { kind, i: bound as i64, ..none() },
        Some(bound) => Value { kind, f: bound, ..none() },
    };
    let default = match (&param.default, kind) {
        (Json::Bool(value), value_kind::BOOL) => Value { kind, i: i64::from(*value), ..none() },
        (Json::Number(value), value_kind::INT) => {
            Value { kind, i: value.as_i64().ok_or_else(wrong)?, ..none() }
        }
        (Json::Number(value), value_kind::FLOAT) => {
            Value { kind, f: value.as_f64().ok_or_else(wrong)?, ..none() }
        }
        (Json::String(value), value_kind::TEXT) => Value { kind, s: text(value), ..none() },
        _ => return Err(wrong()),
    };
    let choices: Vec<Str> = param.choices.iter().flatten().map(|choice| text(choice)).collect();
    Ok(abi::Param {
        name: text(&param.name),
        doc: text(&param.doc),
        default,
        min: bound(param.min),
        max: bound(param.max),
        n_choices: choices.len() as i64,
        choices: first(choices),
    })
}

fn part(part: &Part) -> Result<abi::Part, String> {
    let kind = match part.kind.as_str() {
        "FILE" => part_kind::FILE,
        "PACKAGE" => part_kind::PACKAGE,
        "RUNTIME" => part_kind::RUNTIME,
        other => return Err(format!("the part {} is of the unknown kind `{other}`", part.name)),
    };
    Ok(abi::Part {
        kind,
        reserved: 0,
        name: text(&part.name),
        version: text(&part.version),
        path: text(&part.path),
        sha256: text(&part.sha256),
    })
}
