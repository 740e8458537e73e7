//! The table of an operator that a plugin receives: products, the diagonal, entries that a plugin charges.
//!
//! It is the matrix of a [`LinearSystem`](crate::LinearSystem).

use std::ffi::c_void;

use gpbench_abi::{Mat, Operator, Status, Str};

use crate::callback::Refusal;
use crate::extension;
use crate::session::{Session, serve_operator};
use crate::views::{self, Checked, Extent};

/// The table of a session.
pub(crate) fn table(session: &Session) -> Operator {
    let (n, m) = session.objects.system.operator().shape();
    Operator {
        size: size_of::<Operator>() as u32,
        flags: 0,
        ctx: std::ptr::from_ref(session).cast_mut().cast(),
        n: n as i64,
        m: m as i64,
        apply: Some(apply),
        diag: Some(diag),
        charge: Some(charge),
        extension: Some(extension),
    }
}

/// A product is refused if it exceeds the remaining budget, so that the budget is never exceeded.
unsafe extern "C" fn apply(op: *const Operator, x: *const Mat, y: *mut Mat) -> Status {
    let body = |session: &Session| {
        let matrix = session.objects.matrix();
        let (n, m) = matrix.shape();
        // SAFETY: the plugin passes matrices that live until this call returns.
        let (x, y) = unsafe { views::product((x, "x", m), (y, "y", n)) }?;
        if x.cols() == 0 {
            return Ok(());
        }
        session.spend(n as f64 * m as f64, matrix.evaluated_by_apply())?;
        let found = matrix.entries_found();
        // SAFETY: checked above; the two do not overlap, and the plugin waits for this call.
        let (x, mut y) = unsafe { (x.view(), y.view_mut()) };
        matrix.apply(x, y.view_mut());
        session.account.find(matrix.entries_found() - found);
        if session.objects.is_of_iterate(x) {
            session.account.pause();
            session.objects.keep_product(x, y.view());
            session.account.resume();
        }
        Ok(())
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { serve_operator(op, "operator.apply", body) }
}

unsafe extern "C" fn diag(op: *const Operator, out: *mut Mat) -> Status {
    let body = |session: &Session| {
        let diagonal = session.objects.system.operator().diagonal();
        let diagonal = diagonal
            .ok_or_else(|| Refusal::Unsupported("K(X, Z) with inducing points has no diagonal".to_owned()))?;
        // SAFETY: the plugin passes a matrix that lives until this call returns.
        let out = unsafe { Checked::new(out, "out", Extent::Exactly(diagonal.len()), Extent::Exactly(1))? };
        // SAFETY: checked above, and the plugin waits for this call.
        unsafe { out.view_mut() }.column_mut(0).assign(&diagonal);
        Ok(())
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { serve_operator(op, "operator.diag", body) }
}

unsafe extern "C" fn charge(op: *const Operator, entries: i64) -> Status {
    let body = |session: &Session| {
        if entries < 0 {
            return Err(Refusal::Invalid(format!("{entries} entries were reported")));
        }
        if session.account.charge(entries as f64) { Ok(()) } else { Err(Refusal::Stopped) }
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { serve_operator(op, "operator.charge", body) }
}

unsafe extern "C" fn extension(op: *const Operator, id: *const Str) -> *const c_void {
    let mut answer = std::ptr::null();
    // SAFETY: the plugin passes its operator and a text, or null.
    unsafe {
        serve_operator(op, "operator.extension", |session| {
            answer = extension::of_operator(session, &*op, &views::text_at(id, "`id`")?);
            Ok(())
        })
    };
    answer
}
