//! The problem as a plugin sees it: right-hand sides, the iterate, the observer.

use std::ffi::c_void;

use gpbench_abi::{self as abi, Mat, Operator, Problem, Status, Str, Targets, Trace};
use ndarray::ArrayView2;

use super::session::{Session, enter_problem};
use super::{state, views};

/// Everything that a problem's pointers lead to. Stays in one place while the plugin runs.
pub(super) struct ProblemParts {
    pub(super) operator: Operator,
    pub(super) rhs: Mat,
    pub(super) x: Mat,
}

/// The table that leads back to `session`.
pub(super) fn table(session: &Session, parts: &mut ProblemParts) -> Problem {
    let terms = session.own_terms();
    Problem {
        size: size_of::<Problem>() as u32,
        threads: terms.threads as u32,
        seed: terms.seed,
        tolerance: terms.tolerance.unwrap_or(0.0),
        max_epochs: terms.max_epochs.unwrap_or(f64::INFINITY),
        op: &parts.operator,
        rhs: &parts.rhs,
        x: &mut parts.x,
        n_targets: 1,
        ctx: std::ptr::from_ref(session).cast_mut().cast(),
        observe: Some(observe),
        extension: Some(extension),
    }
}

/// A column-major array as a matrix of the interface.
pub(super) fn mat(array: ArrayView2<f64>) -> Mat {
    let (rows, cols) = array.dim();
    // The distance of columns that are one or none, or empty, says nothing.
    let distance = if rows == 0 || cols <= 1 { rows as isize } else { array.strides()[1] };
    let by_columns = rows <= 1 || array.strides()[0] == 1;
    assert!(by_columns && distance >= rows as isize, "what crosses is column-major");
    Mat { data: array.as_ptr().cast_mut(), rows: rows as i64, cols: cols as i64, ld: distance as i64 }
}

unsafe extern "C" fn observe(
    problem: *const Problem,
    iteration: i64,
    norms: *const f64,
    n_norms: i64,
) -> Status {
    let mut answer = Status::DONE;
    let body = |session: &Session| {
        let columns = session.system.columns();
        // SAFETY: the plugin passes an array that lives until this call returns.
        let norms = unsafe { views::numbers(norms, n_norms, columns, "norms") }?;
        if !norms.is_empty() && norms.len() != columns {
            return Err(format!("`norms` has {} numbers for {columns} columns", norms.len()).into());
        }
        answer = session.observe(iteration, &norms);
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    let status = unsafe { enter_problem(problem, "problem.observe", body) };
    if status.is_error() { status } else { answer }
}

unsafe extern "C" fn extension(problem: *const Problem, id: *const Str) -> *const c_void {
    let mut answer = std::ptr::null();
    let body = |session: &Session| {
        // SAFETY: the plugin passes a text or null.
        let id = unsafe { views::text_at(id, "`id`") }?;
        match id.as_str() {
            abi::id::TARGETS => {
                let targets = session.targets.get_or_init(|| parts_of_targets(session));
                answer =
                    targets.as_ref().map_or(std::ptr::null(), |targets| std::ptr::from_ref(targets).cast());
            }
            abi::id::STATE => answer = state::find(session),
            abi::id::TRACE => answer = std::ptr::from_ref(&TRACE).cast(),
            _ => {}
        }
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    unsafe { enter_problem(problem, "problem.extension", body) };
    answer
}

/// Longest name of a number of the solver's own, in bytes.
const MAX_NAME: usize = 64;

static TRACE: Trace = Trace { size: size_of::<Trace>() as u32, reserved: 0, note: Some(note) };

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

/// The parts of pathwise targets, where the probes are such.
fn parts_of_targets(session: &Session) -> Option<Targets> {
    let targets = session.system.posed();
    (targets.f_train.ncols() > 0).then(|| Targets {
        size: size_of::<Targets>() as u32,
        reserved: 0,
        f: mat(targets.f_train.view()),
        noise: mat(targets.noise.view()),
    })
}
