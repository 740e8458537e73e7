//! Products with some rows of A.

use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::Axis;

use super::{answer, choose};
use crate::matrix::{view, view_mut};
use crate::testing::mock_problem::MockProblem;

static TABLE: abi::Rows =
    abi::Rows { size: size_of::<abi::Rows>() as u32, reserved: 0, apply: Some(apply), fused: Some(fused) };

pub(super) fn find(_: &MockProblem<'_>) -> *const c_void {
    answer(&TABLE)
}

unsafe extern "C" fn apply(
    op: *const abi::Operator,
    rows: *const i64,
    n_rows: i64,
    x: *const abi::Mat,
    y: *mut abi::Mat,
) -> Status {
    // SAFETY: the caller passes the operator, readable indices and live matrices that do not overlap.
    unsafe {
        MockProblem::call(op, |problem, a| {
            let part = a.select(Axis(0), &choose(rows, n_rows, a.nrows())?);
            problem.claim(part.len())?;
            view_mut(&*y, "y")?.assign(&part.dot(&view(&*x, "x")?));
            Ok(())
        })
    }
}

unsafe extern "C" fn fused(
    op: *const abi::Operator,
    rows: *const i64,
    n_rows: i64,
    x: *const abi::Mat,
    u: *mut abi::Mat,
    transform: Option<unsafe extern "C" fn(ctx: *mut c_void, u: *mut abi::Mat)>,
    ctx: *mut c_void,
    z: *mut abi::Mat,
) -> Status {
    // SAFETY: as in `apply`; the transform is the caller's own.
    unsafe {
        MockProblem::call(op, |problem, a| {
            let part = a.select(Axis(0), &choose(rows, n_rows, a.nrows())?);
            problem.claim(part.len())?;
            view_mut(&*u, "u")?.assign(&part.dot(&view(&*x, "x")?));
            if let Some(transform) = transform {
                transform(ctx, u);
            }
            let mut z = view_mut(&*z, "z")?;
            z += &part.t().dot(&view(&*u, "u")?);
            Ok(())
        })
    }
}
