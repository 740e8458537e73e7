//! `gpbench.fit-trace/1`: numbers that a learner reports during a fit.

use gpbench_abi::{self as abi, Fit, FitTrace, Status, Str};

use crate::arrays::check_name;
use crate::fit_session::{FitExtension, FitSession, serve_fit};
use crate::views;

pub(super) const EXTENSION: FitExtension = (abi::id::FIT_TRACE, || std::ptr::from_ref(&TABLE).cast());

static TABLE: FitTrace = FitTrace { size: size_of::<FitTrace>() as u32, reserved: 0, note: Some(note) };

unsafe extern "C" fn note(fit: *const Fit, step: i64, name: *const Str, value: f64) -> Status {
    let body = |session: &FitSession| {
        // SAFETY: the plugin passes a text or null.
        let name = unsafe { views::text_at(name, "`name`") }?;
        check_name(&name, "name")?;
        session.note(step, &name, value);
        Ok(())
    };
    // SAFETY: the plugin passes its fit or null.
    unsafe { serve_fit(fit, "fit-trace.note", body) }
}
