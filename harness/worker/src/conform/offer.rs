//! What solvers and learners of a loaded library have in common, as the conformance suite sees them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gpbench_gp::blas;
use gpbench_host::{CallError, Library, LibraryError};
use gpbench_record::{Capability, ParamSchema, ParamValue, SolverInfo, StopReason};
use gpbench_testkit::conformance::{Description, Fault, Parameter, Reason, Setting};
use rayon::ThreadPool;

use crate::services;

/// Most threads that a request has.
const THREADS: usize = 3;

/// Loads a library into this process, with threads for what it offers.
pub(super) fn open(file: &Path) -> Result<(Library, Arc<ThreadPool>), LibraryError> {
    // As during calls: what the library offers must leave it so.
    blas::set_threads(1);
    let pool = gpbench_gp::thread_pool(THREADS)
        .map_err(|error| LibraryError::Open { file: file.to_owned(), reason: error.to_string() })?;
    Ok((Library::load(file, services::host(Some(pool.clone())))?, pool))
}

pub(super) fn description(kind: &'static str, info: &SolverInfo, oddities: Vec<String>) -> Description {
    let can = |capability| info.can(capability);
    Description {
        kind,
        id: info.id.clone(),
        doc: info.doc.clone(),
        exact: can(Capability::Exact),
        randomized: can(Capability::Randomized),
        warm_start: can(Capability::WarmStart),
        blas_threads: can(Capability::BlasThreads),
        inducing: can(Capability::Inducing),
        kernel: can(Capability::Kernel),
        network: can(Capability::Network),
        params: info.params.iter().map(parameter).collect(),
        oddities,
    }
}

pub(super) fn params(settings: &[(&str, Setting)]) -> BTreeMap<String, ParamValue> {
    settings.iter().map(|(name, value)| ((*name).to_owned(), param(value))).collect()
}

pub(super) fn reason(reason: StopReason) -> Reason {
    match reason {
        StopReason::Converged => Reason::Converged,
        StopReason::Epochs | StopReason::Time | StopReason::Target => Reason::Stopped,
        StopReason::Iterations => Reason::Iterations,
        StopReason::Stagnated => Reason::Stagnated,
        StopReason::Diverged => Reason::Diverged,
    }
}

pub(super) fn fault(error: CallError) -> Fault {
    Fault { panicked: matches!(error, CallError::Panicked { .. }), text: error.to_string() }
}

fn parameter(info: &ParamSchema) -> Parameter {
    let default = match &info.default {
        ParamValue::Bool(value) => Setting::Bool(*value),
        ParamValue::Int(value) => Setting::Int(*value),
        ParamValue::Float(value) => Setting::Float(*value),
        ParamValue::Text(value) => Setting::Text(value.clone()),
    };
    let ParamSchema { name, doc, min, max, choices, .. } = info.clone();
    Parameter { name, doc, default, min, max, choices }
}

fn param(setting: &Setting) -> ParamValue {
    match setting {
        Setting::Bool(value) => ParamValue::Bool(*value),
        Setting::Int(value) => ParamValue::Int(*value),
        Setting::Float(value) => ParamValue::Float(*value),
        Setting::Text(value) => ParamValue::Text(value.clone()),
    }
}
