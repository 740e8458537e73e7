//! Extensions of the interface. Each extension has its own file with its table, its data and its lookup; this file
//! lists them.

mod block;
mod columns;
mod features;
mod fit_trace;
pub(crate) mod inputs;
mod mixed;
mod parallel_for;
mod parts;
mod process;
mod rows;
mod script;
mod state;
mod targets;
mod trace;
mod volatile;

use std::ffi::c_void;

use gpbench_abi::Operator;

use crate::fit_session::FitExtension;
use crate::host_table::{HostExtension, HostTable};
use crate::session::{OperatorExtension, ProblemExtension, Session};

pub use state::SolverState;
pub use volatile::VolatileObjects;

/// Extensions of the operator.
const OF_OPERATOR: [OperatorExtension; 6] = [
    rows::EXTENSION,
    columns::EXTENSION,
    block::EXTENSION,
    inputs::EXTENSION,
    features::EXTENSION,
    mixed::EXTENSION,
];

/// Extensions of the problem.
const OF_PROBLEM: [ProblemExtension; 4] =
    [targets::EXTENSION, state::EXTENSION, volatile::EXTENSION, trace::EXTENSION];

/// Extensions of the fit.
const OF_FIT: [FitExtension; 1] = [fit_trace::EXTENSION];

/// Extensions of the host.
const OF_HOST: [HostExtension; 4] =
    [parallel_for::EXTENSION, script::EXTENSION, process::EXTENSION, parts::EXTENSION];

/// The operator's extension of this id, or null.
pub(crate) fn of_operator(session: &Session, op: &Operator, id: &str) -> *const c_void {
    find(&OF_OPERATOR, id).map_or(std::ptr::null(), |table| table(session, op))
}

/// The problem's extension of this id, or null.
pub(crate) fn of_problem(session: &Session, id: &str) -> *const c_void {
    find(&OF_PROBLEM, id).map_or(std::ptr::null(), |table| table(session))
}

/// The fit's extension of this id, or null.
pub(crate) fn of_fit(id: &str) -> *const c_void {
    find(&OF_FIT, id).map_or(std::ptr::null(), |table| table())
}

/// The host's extension of this id, or null.
pub(crate) fn of_host(host: Option<&'static HostTable>, id: &str) -> *const c_void {
    find(&OF_HOST, id).map_or(std::ptr::null(), |table| table(host))
}

fn find<T: Copy>(list: &[(&str, T)], id: &str) -> Option<T> {
    list.iter().find(|(name, _)| *name == id).map(|(_, table)| *table)
}
