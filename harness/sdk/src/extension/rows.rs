//! Products with some rows of A, `gpbench.rows/1`.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use gpbench_abi as abi;
use ndarray::{ArrayRef2, ArrayViewMut2};

use crate::error::{Error, Result};
use crate::matrix::{check_shape, view_mut, with_input, with_output};
use crate::{Operator, Select};

impl Operator<'_> {
    /// y = A\[rows, :\] x, with x m x s and y |rows| x s. Counts |rows| m entries.
    pub fn apply_rows<'i>(
        &self,
        rows: impl Into<Select<'i>>,
        x: &ArrayRef2<f64>,
        y: &mut ArrayRef2<f64>,
    ) -> Result<()> {
        let (rows, s) = (rows.into(), x.ncols());
        check_shape("apply_rows: x", x, self.m(), s)?;
        check_shape("apply_rows: y", y, rows.count(self.n()), s)?;
        let apply = self.function(abi::id::ROWS, |table: &abi::Rows| table.apply)?;
        let indices = rows.indices(self.n(), "row")?;
        let (index, count) = indices.raw();
        let status = with_input(x, |x| {
            with_output(y, |y| {
                // SAFETY: live operator, checked indices, matrices of the right shapes that do not overlap.
                unsafe { apply(self.raw(), index, count, x, y) }
            })
        });
        Error::check("rows.apply", status)
    }

    /// u = A\[rows, :\] x, then `transform(u)`, then z += A\[rows, :\]^T u: a minibatch of a
    /// least-squares gradient, for which |rows| m entries are counted once.
    ///
    /// Shapes: x m x s, u |rows| x s, z m x s.
    pub fn apply_rows_and_back<'i>(
        &self,
        rows: impl Into<Select<'i>>,
        x: &ArrayRef2<f64>,
        u: &mut ArrayRef2<f64>,
        z: &mut ArrayRef2<f64>,
        transform: impl FnMut(ArrayViewMut2<'_, f64>),
    ) -> Result<()> {
        let (rows, s) = (rows.into(), x.ncols());
        check_shape("apply_rows_and_back: x", x, self.m(), s)?;
        check_shape("apply_rows_and_back: u", u, rows.count(self.n()), s)?;
        check_shape("apply_rows_and_back: z", z, self.m(), s)?;
        let fused = self.function(abi::id::ROWS, |table: &abi::Rows| table.fused)?;
        let indices = rows.indices(self.n(), "row")?;
        let (index, count) = indices.raw();
        let mut callback = Callback { transform, panic: None };
        let (function, ctx) = callback.raw();
        let status = with_input(x, |x| {
            with_output(u, |u| {
                with_output(z, |z| {
                    // SAFETY: live operator, checked indices, matrices of the right shapes that do not
                    // overlap; the callback outlives the call, which is the only one to use it.
                    unsafe { fused(self.raw(), index, count, x, u, Some(function), ctx, z) }
                })
            })
        });
        if let Some(payload) = callback.panic {
            resume_unwind(payload);
        }
        Error::check("rows.fused", status)
    }
}

/// A closure that the host calls back.
struct Callback<F> {
    transform: F,
    panic: Option<Box<dyn Any + Send>>,
}

impl<F: FnMut(ArrayViewMut2<'_, f64>)> Callback<F> {
    fn raw(&mut self) -> (unsafe extern "C" fn(*mut c_void, *mut abi::Mat), *mut c_void) {
        (Self::call, (&raw mut *self).cast())
    }

    unsafe extern "C" fn call(ctx: *mut c_void, u: *mut abi::Mat) {
        // SAFETY: the host passes on the pointer of `raw`, whose callback outlives the call, once.
        let callback = unsafe { &mut *ctx.cast::<Self>() };
        let transform = &mut callback.transform;
        // No panic may cross the host: it is caught here, and resumed when the host has returned.
        callback.panic = catch_unwind(AssertUnwindSafe(|| {
            assert!(!u.is_null(), "the host passed a null matrix");
            // SAFETY: the host's matrix, not null, ours alone during the call.
            match unsafe { view_mut(&*u, "the transform's argument") } {
                Ok(u) => transform(u),
                Err(error) => panic!("{error}"),
            }
        }))
        .err();
    }
}
