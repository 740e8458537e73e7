//! `gpbench.trace/1`: numbers that a solver reports during a solve.

use gpbench_abi::{self as abi, Problem, Status, Str, Trace};

use crate::arrays::check_name;
use crate::session::{ProblemExtension, Session, serve_problem};
use crate::views;

pub(super) const EXTENSION: ProblemExtension = (abi::id::TRACE, |_| std::ptr::from_ref(&TABLE).cast());

static TABLE: Trace = Trace { size: size_of::<Trace>() as u32, reserved: 0, note: Some(note) };

unsafe extern "C" fn note(problem: *const Problem, iteration: i64, name: *const Str, value: f64) -> Status {
    let body = |session: &Session| {
        // SAFETY: the plugin passes a text or null.
        let name = unsafe { views::text_at(name, "`name`") }?;
        check_name(&name, "name")?;
        session.note(iteration, &name, value);
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    unsafe { serve_problem(problem, "trace.note", body) }
}
