//! Updates with some columns of A.

use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::Axis;

use super::{answer, choose};
use crate::matrix::{view, view_mut};
use crate::testing::mock_problem::MockProblem;

static TABLE: abi::Columns =
    abi::Columns { size: size_of::<abi::Columns>() as u32, reserved: 0, update: Some(update) };

pub(super) fn find(_: &MockProblem<'_>) -> *const c_void {
    answer(&TABLE)
}

unsafe extern "C" fn update(
    op: *const abi::Operator,
    cols: *const i64,
    n_cols: i64,
    x: *const abi::Mat,
    y: *mut abi::Mat,
) -> Status {
    // SAFETY: the caller passes the operator, readable indices and live matrices that do not overlap.
    unsafe {
        MockProblem::call(op, |problem, a| {
            let part = a.select(Axis(1), &choose(cols, n_cols, a.ncols())?);
            problem.claim(part.len())?;
            let mut y = view_mut(&*y, "y")?;
            y += &part.dot(&view(&*x, "x")?);
            Ok(())
        })
    }
}
