//! `gpbench.features/1`: products with random features of the kernel at the points of the matrix's columns.

use gpbench_abi::{self as abi, Features, Mat, Operator, Status};

use crate::callback::Refusal;
use crate::session::{OperatorExtension, Session, serve_operator};
use crate::system::FeatureProducts;
use crate::views;

/// Null where the system has no features.
pub(super) const EXTENSION: OperatorExtension = (abi::id::FEATURES, |session, _| {
    session.objects.system.features().map_or(std::ptr::null(), |_| std::ptr::from_ref(&TABLE).cast())
});

static TABLE: Features = Features {
    size: size_of::<Features>() as u32,
    reserved: 0,
    apply: Some(apply),
    apply_transposed: Some(apply_transposed),
};

/// Largest number of features that a plugin may request.
const MAX_COUNT: i64 = 1 << 24;

unsafe extern "C" fn apply(op: *const Operator, seed: u64, count: i64, w: *const Mat, y: *mut Mat) -> Status {
    let body = |session: &Session| {
        let (features, count) = (products(session)?, checked_count(count)?);
        // SAFETY: the plugin passes matrices that live until this call returns.
        let (w, y) = unsafe { views::product((w, "w", count), (y, "y", session.objects.unknowns())) }?;
        session.spend(0.0, 0.0)?;
        // SAFETY: checked above; the two do not overlap, and the plugin waits for this call.
        let (w, y) = unsafe { (w.view(), y.view_mut()) };
        Ok(features.apply(seed, w, y)?)
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { serve_operator(op, "features.apply", body) }
}

unsafe extern "C" fn apply_transposed(
    op: *const Operator,
    seed: u64,
    count: i64,
    y: *const Mat,
    w: *mut Mat,
) -> Status {
    let body = |session: &Session| {
        let (features, count) = (products(session)?, checked_count(count)?);
        // SAFETY: the plugin passes matrices that live until this call returns.
        let (y, w) = unsafe { views::product((y, "y", session.objects.unknowns()), (w, "w", count)) }?;
        session.spend(0.0, 0.0)?;
        // SAFETY: checked above; the two do not overlap, and the plugin waits for this call.
        let (y, w) = unsafe { (y.view(), w.view_mut()) };
        Ok(features.apply_transposed(seed, y, w)?)
    };
    // SAFETY: the plugin passes its operator or null.
    unsafe { serve_operator(op, "features.apply_transposed", body) }
}

fn products<'s>(session: &'s Session) -> Result<&'s dyn FeatureProducts, Refusal> {
    let features = session.objects.system.features();
    features.ok_or_else(|| Refusal::Unsupported("the system has no random features".into()))
}

fn checked_count(count: i64) -> Result<usize, Refusal> {
    if !(2..=MAX_COUNT).contains(&count) || count % 2 != 0 {
        return Err(Refusal::Invalid(format!("{count} features were asked for; they come in pairs")));
    }
    Ok(count as usize)
}
