//! `gpbench.columns/1`: updates with some columns of the matrix.

use gpbench_abi::{self as abi, Columns, Mat, Operator, Status};

use crate::session::{OperatorExtension, Session, serve_operator};
use crate::views;

pub(super) const EXTENSION: OperatorExtension = (abi::id::COLUMNS, |_, _| std::ptr::from_ref(&TABLE).cast());

static TABLE: Columns = Columns { size: size_of::<Columns>() as u32, reserved: 0, update: Some(update) };

unsafe extern "C" fn update(
    op: *const Operator,
    cols: *const i64,
    n_cols: i64,
    x: *const Mat,
    y: *mut Mat,
) -> Status {
    let body = |session: &Session| {
        let matrix = session.objects.matrix();
        let (n, m) = matrix.shape();
        // SAFETY: the plugin passes an array and matrices that live until this call returns.
        let (cols, x, y) = unsafe {
            let cols = views::indices(cols, n_cols, m, "cols")?;
            let (x, y) = views::product((x, "x", cols.len()), (y, "y", n))?;
            (cols, x, y)
        };
        if x.cols() == 0 || cols.is_empty() {
            return Ok(());
        }
        let entries = cols.len() as f64 * n as f64;
        session.spend(entries, entries)?;
        // SAFETY: checked above; the two do not overlap, and the plugin waits for this call.
        unsafe { matrix.columns(&cols, x.view(), y.view_mut()) };
        Ok(())
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { serve_operator(op, "columns.update", body) }
}
