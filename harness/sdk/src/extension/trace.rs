//! Numbers of the solver's own for the trace, `gpbench.trace/1`.

use gpbench_abi as abi;

use crate::Problem;
use crate::error::{Error, Result};
use crate::text::borrow;

impl Problem<'_> {
    /// Adds a number of the solver's own to the trace, such as the variance of a gradient, if the host accepts
    /// them. The clock is paused during the call.
    ///
    /// `name` is up to 64 lower-case letters, digits and underscores. A value that is not finite is
    /// ignored.
    pub fn note(&self, iteration: usize, name: &str, value: f64) -> Result<()> {
        let Some(note) = self.extension::<abi::Trace>(abi::id::TRACE).and_then(|trace| trace.note) else {
            return Ok(());
        };
        // SAFETY: live problem; the name is copied before the call returns.
        Error::check("trace.note", unsafe { note(self.raw(), iteration as i64, &borrow(name), value) })
    }
}
