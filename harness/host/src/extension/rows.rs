//! `gpbench.rows/1`: products with some rows of the matrix.

use std::ffi::c_void;

use gpbench_abi::{self as abi, Mat, Operator, Rows, Status};
use ndarray::ArrayViewMut2;

use crate::session::{OperatorExtension, Session, serve_operator};
use crate::views::{self, Checked, Extent, disjoint};

pub(super) const EXTENSION: OperatorExtension = (abi::id::ROWS, |_, _| std::ptr::from_ref(&TABLE).cast());

static TABLE: Rows =
    Rows { size: size_of::<Rows>() as u32, reserved: 0, apply: Some(apply), fused: Some(fused) };

unsafe extern "C" fn apply(
    op: *const Operator,
    rows: *const i64,
    n_rows: i64,
    x: *const Mat,
    y: *mut Mat,
) -> Status {
    let body = |session: &Session| {
        let matrix = session.objects.matrix();
        let (n, m) = matrix.shape();
        // SAFETY: the plugin passes an array and matrices that live until this call returns.
        let (rows, x, y) = unsafe {
            let rows = views::indices(rows, n_rows, n, "rows")?;
            let (x, y) = views::product((x, "x", m), (y, "y", rows.len()))?;
            (rows, x, y)
        };
        if x.cols() == 0 || rows.is_empty() {
            return Ok(());
        }
        let entries = rows.len() as f64 * m as f64;
        session.spend(entries, entries)?;
        // SAFETY: checked above; the two do not overlap, and the plugin waits for this call.
        unsafe { matrix.rows(&rows, x.view(), y.view_mut()) };
        Ok(())
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { serve_operator(op, "rows.apply", body) }
}

unsafe extern "C" fn fused(
    op: *const Operator,
    rows: *const i64,
    n_rows: i64,
    x: *const Mat,
    u: *mut Mat,
    transform: Option<unsafe extern "C" fn(ctx: *mut c_void, u: *mut Mat)>,
    ctx: *mut c_void,
    z: *mut Mat,
) -> Status {
    let body = |session: &Session| {
        let matrix = session.objects.matrix();
        let (n, m) = matrix.shape();
        // SAFETY: the plugin passes an array and matrices that live until this call returns.
        let (rows, x, buffer, z) = unsafe {
            let rows = views::indices(rows, n_rows, n, "rows")?;
            let x = Checked::new(x, "x", Extent::Exactly(m), Extent::Any)?;
            let buffer = Checked::new(u, "u", Extent::Exactly(rows.len()), Extent::Exactly(x.cols()))?;
            (rows, x, buffer, Checked::new(z, "z", Extent::Exactly(m), Extent::Exactly(x.cols()))?)
        };
        disjoint(&[("x", x), ("u", buffer), ("z", z)])?;
        if x.cols() == 0 || rows.is_empty() {
            return Ok(());
        }
        session.spend(rows.len() as f64 * m as f64, matrix.evaluated_by_rows_and_back(rows.len()))?;
        let mut in_place = |mut product: ArrayViewMut2<f64>| {
            // SAFETY: checked above; the plugin writes to `u` only inside `transform`.
            unsafe { buffer.view_mut() }.assign(&product);
            if let Some(transform) = transform {
                // SAFETY: the plugin passes a function and its context together with `u`.
                unsafe { transform(ctx, u) };
                // SAFETY: `buffer` was checked, and `transform` cannot change it through the struct behind `u`.
                product.assign(&unsafe { buffer.view() });
            }
        };
        // SAFETY: checked above; the three do not overlap, and the plugin waits for this call.
        let (x, z) = unsafe { (x.view(), z.view_mut()) };
        matrix.rows_and_back(&rows, x, &mut in_place, z);
        Ok(())
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { serve_operator(op, "rows.fused", body) }
}
