//! Numbers of the solver's own for the trace.

use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;

use super::answer;
use crate::testing::mock_problem::MockProblem;
use crate::text::text;

static TABLE: abi::Trace = abi::Trace { size: size_of::<abi::Trace>() as u32, reserved: 0, note: Some(note) };

pub(super) fn find(_: &MockProblem<'_>) -> *const c_void {
    answer(&TABLE)
}

unsafe extern "C" fn note(
    problem: *const abi::Problem,
    iteration: i64,
    name: *const abi::Str,
    value: f64,
) -> Status {
    // SAFETY: called with a living problem and a live text.
    let (problem, name) = unsafe { (MockProblem::of_problem(problem), text(&*name)) };
    match name {
        Ok(name) => problem.notes.borrow_mut().push((iteration, name.to_owned(), value)),
        Err(error) => return error.status(),
    }
    Status::DONE
}
