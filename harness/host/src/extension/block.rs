//! `gpbench.block/1`: dense blocks of the matrix.

use gpbench_abi::{self as abi, Block, Mat, Operator, Status};

use crate::callback::Refusal;
use crate::session::{OperatorExtension, Session, serve_operator};
use crate::views::{self, Checked, Extent};

pub(super) const EXTENSION: OperatorExtension = (abi::id::BLOCK, |_, _| std::ptr::from_ref(&TABLE).cast());

static TABLE: Block = Block { size: size_of::<Block>() as u32, reserved: 0, get: Some(get) };

unsafe extern "C" fn get(
    op: *const Operator,
    rows: *const i64,
    n_rows: i64,
    cols: *const i64,
    n_cols: i64,
    out: *mut Mat,
) -> Status {
    let body = |session: &Session| -> Result<(), Refusal> {
        let matrix = session.objects.matrix();
        let (n, m) = matrix.shape();
        // SAFETY: the plugin passes arrays and a matrix that live until this call returns.
        let (rows, cols, out) = unsafe {
            let rows = views::indices(rows, n_rows, n, "rows")?;
            let cols = views::indices(cols, n_cols, m, "cols")?;
            let out = Checked::new(out, "out", Extent::Exactly(rows.len()), Extent::Exactly(cols.len()))?;
            (rows, cols, out)
        };
        if rows.is_empty() || cols.is_empty() {
            return Ok(());
        }
        let entries = rows.len() as f64 * cols.len() as f64;
        session.spend(entries, entries)?;
        // SAFETY: checked above, and the plugin waits for this call.
        matrix.block(&rows, &cols, unsafe { out.view_mut() });
        Ok(())
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { serve_operator(op, "block.get", body) }
}
