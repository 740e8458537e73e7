//! Parts of the operator: products with some rows, updates with some columns, blocks.

use std::ffi::c_void;

use gpbench_abi::{self as abi, Block, Columns, Features, Inputs, Mat, Operator, Rows, Status, Str};

use super::session::{Refusal, Session, enter_operator};
use super::views::{self, Checked, Extent, disjoint};
use super::{features, operator};

/// The extensions of an operator that are the same for all.
#[derive(Debug)]
pub(super) struct OperatorTables {
    rows: Rows,
    columns: Columns,
    block: Block,
    features: Features,
    inputs: std::cell::OnceCell<Inputs>,
    mixed: std::cell::OnceCell<Operator>,
}

pub(super) fn tables() -> OperatorTables {
    OperatorTables {
        rows: Rows {
            size: size_of::<Rows>() as u32,
            reserved: 0,
            apply: Some(rows_apply),
            fused: Some(rows_fused),
        },
        columns: Columns { size: size_of::<Columns>() as u32, reserved: 0, update: Some(columns_update) },
        block: Block { size: size_of::<Block>() as u32, reserved: 0, get: Some(block_get) },
        features: features::table(),
        inputs: std::cell::OnceCell::new(),
        mixed: std::cell::OnceCell::new(),
    }
}

/// The extension of this id, or null.
///
/// # Safety
/// `id` is null or points to a text.
pub(super) unsafe fn find(session: &Session, id: *const Str) -> Result<*const c_void, String> {
    // SAFETY: by this function's contract.
    let id = unsafe { views::text_at(id, "`id`") }?;
    let tables = &session.tables;
    Ok(match id.as_str() {
        abi::id::ROWS => std::ptr::from_ref(&tables.rows).cast(),
        abi::id::COLUMNS => std::ptr::from_ref(&tables.columns).cast(),
        abi::id::BLOCK => std::ptr::from_ref(&tables.block).cast(),
        abi::id::FEATURES => std::ptr::from_ref(&tables.features).cast(),
        abi::id::INPUTS => std::ptr::from_ref(tables.inputs.get_or_init(|| features::inputs(session))).cast(),
        abi::id::MIXED if session.system.matrix().mixed().is_some() => {
            std::ptr::from_ref(tables.mixed.get_or_init(|| operator::mixed_table(session))).cast()
        }
        _ => std::ptr::null(),
    })
}

unsafe extern "C" fn rows_apply(
    op: *const Operator,
    rows: *const i64,
    n_rows: i64,
    x: *const Mat,
    y: *mut Mat,
) -> Status {
    let body = |session: &Session| {
        let matrix = session.matrix();
        let (n, m) = matrix.shape();
        // SAFETY: the plugin passes an array and matrices that live until this call returns.
        let (rows, x, y) = unsafe {
            let rows = views::indices(rows, n_rows, n, "rows")?;
            let x = Checked::new(x, "x", Extent::Exactly(m), Extent::Any)?;
            let y = Checked::new(y, "y", Extent::Exactly(rows.len()), Extent::Exactly(x.cols()))?;
            (rows, x, y)
        };
        disjoint(&[("x", x), ("y", y)])?;
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
    unsafe { enter_operator(op, "rows.apply", body) }
}

unsafe extern "C" fn rows_fused(
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
        let matrix = session.matrix();
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
        session.spend(rows.len() as f64 * m as f64, matrix.evaluated_by_fused(rows.len()))?;
        let mut in_place = |mut product: ndarray::ArrayViewMut2<f64>| {
            // SAFETY: checked above; the plugin writes to `u` only inside `transform`.
            unsafe { buffer.view_mut() }.assign(&product);
            if let Some(transform) = transform {
                // SAFETY: the plugin passes a function and its context together with `u`.
                unsafe { transform(ctx, u) };
                // SAFETY: `buffer` was checked, whatever `transform` did to the struct behind `u`.
                product.assign(&unsafe { buffer.view() });
            }
        };
        // SAFETY: checked above; the three do not overlap, and the plugin waits for this call.
        let (x, z) = unsafe { (x.view(), z.view_mut()) };
        matrix.rows_transposed_fused(&rows, x, &mut in_place, z);
        Ok(())
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { enter_operator(op, "rows.fused", body) }
}

unsafe extern "C" fn columns_update(
    op: *const Operator,
    cols: *const i64,
    n_cols: i64,
    x: *const Mat,
    y: *mut Mat,
) -> Status {
    let body = |session: &Session| {
        let matrix = session.matrix();
        let (n, m) = matrix.shape();
        // SAFETY: the plugin passes an array and matrices that live until this call returns.
        let (cols, x, y) = unsafe {
            let cols = views::indices(cols, n_cols, m, "cols")?;
            let x = Checked::new(x, "x", Extent::Exactly(cols.len()), Extent::Any)?;
            let y = Checked::new(y, "y", Extent::Exactly(n), Extent::Exactly(x.cols()))?;
            (cols, x, y)
        };
        disjoint(&[("x", x), ("y", y)])?;
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
    unsafe { enter_operator(op, "columns.update", body) }
}

unsafe extern "C" fn block_get(
    op: *const Operator,
    rows: *const i64,
    n_rows: i64,
    cols: *const i64,
    n_cols: i64,
    out: *mut Mat,
) -> Status {
    let body = |session: &Session| -> Result<(), Refusal> {
        let matrix = session.matrix();
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
    unsafe { enter_operator(op, "block.get", body) }
}
