//! What a solver saves for the next outer step.

use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;

use super::answer;
use crate::testing::DenseProblem;
use crate::testing::mock_problem::MockProblem;
use crate::testing::run::list;
use crate::text::text;

/// Saved bytes, by key.
pub(in crate::testing) type State = BTreeMap<String, Vec<u8>>;

impl DenseProblem {
    /// Sets what a solver has saved in an earlier outer step.
    #[must_use]
    pub fn state(mut self, state: BTreeMap<String, Vec<u8>>) -> Self {
        self.state = state;
        self
    }
}

static TABLE: abi::State =
    abi::State { size: size_of::<abi::State>() as u32, reserved: 0, load: Some(load), save: Some(save) };

pub(super) fn find(_: &MockProblem<'_>) -> *const c_void {
    answer(&TABLE)
}

unsafe extern "C" fn load(
    problem: *const abi::Problem,
    key: *const abi::Str,
    out: *mut u8,
    capacity: i64,
    len: *mut i64,
) -> Status {
    // SAFETY: called with a living problem and a live text.
    let (problem, key) = unsafe { (MockProblem::of_problem(problem), text(&*key)) };
    let Ok(key) = key else { return Status::INVALID_ARGUMENT };
    let state = problem.state.borrow();
    let bytes = state.get(key).map_or(&[][..], Vec::as_slice);
    let copied = bytes.len().min(capacity as usize);
    // SAFETY: the caller passes `capacity` writable bytes, and a place for the length.
    unsafe {
        if copied > 0 {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, copied);
        }
        *len = bytes.len() as i64;
    }
    Status::DONE
}

unsafe extern "C" fn save(
    problem: *const abi::Problem,
    key: *const abi::Str,
    bytes: *const u8,
    len: i64,
) -> Status {
    // SAFETY: called with a living problem, a live text and as many bytes as it says.
    let (problem, key, bytes) = unsafe { (MockProblem::of_problem(problem), text(&*key), list(bytes, len)) };
    let Ok(key) = key else { return Status::INVALID_ARGUMENT };
    problem.state.borrow_mut().insert(key.to_owned(), bytes);
    Status::DONE
}
