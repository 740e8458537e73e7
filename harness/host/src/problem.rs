//! The table of a problem that a plugin receives: right-hand sides, the iterate, the observer.

use std::ffi::c_void;

use gpbench_abi::{Mat, Operator, Problem, Status, Str};

use crate::account::SolveLimits;
use crate::session::{Session, serve_problem};
use crate::{extension, views};

/// Data behind a problem's pointers, which is not moved while the plugin runs.
pub(crate) struct ProblemParts {
    pub(crate) operator: Operator,
    pub(crate) rhs: Mat,
    pub(crate) x: Mat,
}

/// The table of a session.
pub(crate) fn table(session: &Session, parts: &mut ProblemParts) -> Problem {
    let limits = own_limits(session);
    Problem {
        size: size_of::<Problem>() as u32,
        threads: limits.threads as u32,
        seed: limits.seed,
        tolerance: limits.tolerance.unwrap_or(0.0),
        max_epochs: limits.max_epochs.unwrap_or(f64::INFINITY),
        op: &parts.operator,
        rhs: &parts.rhs,
        x: &mut parts.x,
        n_targets: session.objects.system.n_targets() as i64,
        ctx: std::ptr::from_ref(session).cast_mut().cast(),
        observe: Some(observe),
        extension: Some(extension),
    }
}

/// The limits of the solver's own problem. Where duplicates are collapsed, that problem is smaller, and so are its
/// epochs and the norms of its right-hand sides.
fn own_limits(session: &Session) -> SolveLimits {
    let (system, limits) = (session.objects.system, session.account.limits);
    let (rows, _) = system.operator().shape();
    let epochs = (system.epoch_rows() as f64 / rows as f64).powi(2);
    SolveLimits {
        tolerance: limits.tolerance.map(|tolerance| system.solver_tolerance(tolerance)),
        max_epochs: limits.max_epochs.map(|max| max * epochs),
        ..limits
    }
}

unsafe extern "C" fn observe(
    problem: *const Problem,
    iteration: i64,
    norms: *const f64,
    n_norms: i64,
) -> Status {
    let mut answer = Status::DONE;
    let body = |session: &Session| {
        let columns = session.objects.columns();
        // SAFETY: the plugin passes an array that lives until this call returns.
        let norms = unsafe { views::numbers(norms, n_norms, columns, "norms") }?;
        if !norms.is_empty() && norms.len() != columns {
            return Err(format!("`norms` has {} numbers for {columns} columns", norms.len()).into());
        }
        answer = session.observe(iteration, &norms);
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    let status = unsafe { serve_problem(problem, "problem.observe", body) };
    if status.is_error() { status } else { answer }
}

unsafe extern "C" fn extension(problem: *const Problem, id: *const Str) -> *const c_void {
    let mut answer = std::ptr::null();
    let body = |session: &Session| {
        // SAFETY: the plugin passes a text or null.
        let id = unsafe { views::text_at(id, "`id`") }?;
        answer = extension::of_problem(session, &id);
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    unsafe { serve_problem(problem, "problem.extension", body) };
    answer
}
