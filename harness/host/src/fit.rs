//! The table of a fit that a learner receives: data, minibatches, the observer.

use std::ffi::c_void;

use gpbench_abi::{Fit, Status, Str};

use crate::fit_session::{FitSession, serve_fit};
use crate::{extension, views};

/// The table of a session, for one call.
pub(crate) fn table(session: &FitSession) -> Fit {
    let (data, limits) = (&*session.data, session.account.limits);
    Fit {
        size: size_of::<Fit>() as u32,
        threads: limits.threads as u32,
        seed: limits.seed,
        inputs: &data.inputs,
        y: &data.y_table,
        mean: data.mean,
        flags: data.flags,
        network: data.network.as_ref().map_or(std::ptr::null(), std::ptr::from_ref),
        passes: session.passes_granted(),
        ctx: std::ptr::from_ref(session).cast_mut().cast(),
        batch: Some(batch),
        charge: Some(charge),
        observe: Some(observe),
        extension: Some(extension),
    }
}

unsafe extern "C" fn batch(fit: *const Fit, stream: u32, rows: *mut i64, want: i64, got: *mut i64) -> Status {
    let body = |session: &FitSession| {
        // SAFETY: the plugin passes a place to write to or null.
        let got = unsafe { got.as_mut() }.ok_or_else(|| "`got` is a null pointer".to_owned())?;
        *got = 0;
        let count = usize::try_from(want).ok().filter(|&count| count > 0);
        let count = count.ok_or_else(|| format!("`want` is {want}; a batch has at least one row"))?;
        if rows.is_null() || !rows.is_aligned() {
            return Err("`rows` is a null or misaligned pointer".to_owned().into());
        }
        // SAFETY: not null and aligned; the plugin says that there is room for `want` rows, of which at most n are
        // used.
        let rows = unsafe { std::slice::from_raw_parts_mut(rows, count.min(session.n())) };
        *got = session.draw(stream, rows)? as i64;
        Ok(())
    };
    // SAFETY: the plugin passes its fit or null.
    unsafe { serve_fit(fit, "fit.batch", body) }
}

unsafe extern "C" fn charge(fit: *const Fit, rows: i64, entries: i64, features: i64) -> Status {
    // SAFETY: the plugin passes its fit or null.
    unsafe { serve_fit(fit, "fit.charge", |session| session.charge(rows, entries, features)) }
}

unsafe extern "C" fn observe(fit: *const Fit, step: i64, objective: f64) -> Status {
    // SAFETY: the plugin passes its fit or null.
    unsafe { serve_fit(fit, "fit.observe", |session| session.observe(step, objective)) }
}

unsafe extern "C" fn extension(fit: *const Fit, id: *const Str) -> *const c_void {
    let mut answer = std::ptr::null();
    let body = |_: &FitSession| {
        // SAFETY: the plugin passes a text or null.
        let id = unsafe { views::text_at(id, "`id`") }?;
        answer = extension::of_fit(&id);
        Ok(())
    };
    // SAFETY: the plugin passes its fit or null.
    unsafe { serve_fit(fit, "fit.extension", body) };
    answer
}
