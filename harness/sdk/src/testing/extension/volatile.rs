//! Objects that a solver keeps in memory for the next outer step.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::rc::Rc;

use gpbench_abi as abi;
use gpbench_abi::Status;

use super::answer;
use crate::testing::DenseProblem;
use crate::testing::mock_problem::MockProblem;
use crate::text::text;

/// Objects that a solver keeps, shared by the problems of one training. Freed with the last of them.
#[derive(Debug, Clone, Default)]
pub struct Kept(Rc<RefCell<BTreeMap<String, Object>>>);

impl Kept {
    /// Bytes that are kept, as the solver says.
    #[must_use]
    pub fn bytes(&self) -> i64 {
        self.0.borrow().values().map(|object| object.bytes).sum()
    }
}

#[derive(Debug)]
struct Object {
    object: *mut c_void,
    bytes: i64,
    free: unsafe extern "C" fn(*mut c_void),
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: handed over by the solver together with its function.
        unsafe { (self.free)(self.object) };
    }
}

impl DenseProblem {
    /// Sets what a solver keeps from outer step to outer step. Without it, nothing can be kept.
    #[must_use]
    pub fn kept(mut self, kept: &Kept) -> Self {
        self.kept = Some(kept.clone());
        self
    }
}

static TABLE: abi::Volatile = abi::Volatile {
    size: size_of::<abi::Volatile>() as u32,
    reserved: 0,
    keep: Some(keep),
    take: Some(take),
};

pub(super) fn find(problem: &MockProblem<'_>) -> *const c_void {
    answer(problem.given.kept.as_ref().map(|_| &TABLE))
}

unsafe extern "C" fn keep(
    problem: *const abi::Problem,
    key: *const abi::Str,
    object: *mut c_void,
    bytes: i64,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
) -> Status {
    // SAFETY: called with a living problem and a live text.
    let (problem, key) = unsafe { (MockProblem::of_problem(problem), text(&*key)) };
    let (Ok(key), Some(free), Some(kept)) = (key, free, &problem.given.kept) else {
        return Status::INVALID_ARGUMENT;
    };
    let before = kept.0.borrow_mut().insert(key.to_owned(), Object { object, bytes, free });
    drop(before);
    Status::DONE
}

unsafe extern "C" fn take(
    problem: *const abi::Problem,
    key: *const abi::Str,
    object: *mut *mut c_void,
) -> Status {
    // SAFETY: called with a living problem and a live text.
    let (problem, key) = unsafe { (MockProblem::of_problem(problem), text(&*key)) };
    let Ok(key) = key else { return Status::INVALID_ARGUMENT };
    let found = problem.given.kept.as_ref().and_then(|kept| kept.0.borrow_mut().remove(key));
    let found = found.map_or(std::ptr::null_mut(), |found| std::mem::ManuallyDrop::new(found).object);
    // SAFETY: the caller passes a place for the pointer.
    unsafe { *object = found };
    Status::DONE
}
