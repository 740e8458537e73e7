//! `gpbench.trace/1`: numbers of the solver's own along a solve.

use gpbench_abi::{self as abi, Problem, Status, Str, Trace};

use crate::plugin::session::{ProblemExtension, Session, enter_problem};
use crate::plugin::views;

pub(super) const EXTENSION: ProblemExtension = (abi::id::TRACE, |_| std::ptr::from_ref(&TABLE).cast());

static TABLE: Trace = Trace { size: size_of::<Trace>() as u32, reserved: 0, note: Some(note) };

/// Longest name of a number of the solver's own, in bytes.
const MAX_NAME: usize = 64;

unsafe extern "C" fn note(problem: *const Problem, iteration: i64, name: *const Str, value: f64) -> Status {
    let body = |session: &Session| {
        // SAFETY: the plugin passes a text or null.
        let name = unsafe { views::text_at(name, "`name`") }?;
        let is_plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_plain) {
            let what = "names are up to 64 lower-case letters, digits and underscores";
            return Err(format!("`name` is {name:?}; {what}").into());
        }
        session.note(iteration, &name, value);
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    unsafe { enter_problem(problem, "trace.note", body) }
}
