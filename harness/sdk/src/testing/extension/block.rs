//! Entries of A.

use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::Axis;

use super::{answer, choose};
use crate::matrix::view_mut;
use crate::testing::mock_problem::MockProblem;

static TABLE: abi::Block = abi::Block { size: size_of::<abi::Block>() as u32, reserved: 0, get: Some(get) };

pub(super) fn find(_: &MockProblem<'_>) -> *const c_void {
    answer(&TABLE)
}

unsafe extern "C" fn get(
    op: *const abi::Operator,
    rows: *const i64,
    n_rows: i64,
    cols: *const i64,
    n_cols: i64,
    out: *mut abi::Mat,
) -> Status {
    // SAFETY: the caller passes the operator, readable indices and a live matrix.
    unsafe {
        MockProblem::call(op, |problem, a| {
            let rows = a.select(Axis(0), &choose(rows, n_rows, a.nrows())?);
            let part = rows.select(Axis(1), &choose(cols, n_cols, a.ncols())?);
            problem.claim(part.len())?;
            view_mut(&*out, "out")?.assign(&part);
            Ok(())
        })
    }
}
