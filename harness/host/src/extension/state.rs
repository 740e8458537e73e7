//! `gpbench.state/1`: data that a solver saves in one outer step for the next.

use std::cell::RefCell;
use std::collections::BTreeMap;

use gpbench_abi::{self as abi, Problem, State, Status, Str};

use crate::callback::Refusal;
use crate::session::{ProblemExtension, Session, serve_problem};
use crate::views;

/// Bytes that a solver has saved, by its own keys.
pub type SolverState = BTreeMap<String, Vec<u8>>;

/// Null in a session without state.
pub(super) const EXTENSION: ProblemExtension = (abi::id::STATE, |session| {
    saved(session).map_or(std::ptr::null(), |_| std::ptr::from_ref(&TABLE).cast())
});

static TABLE: State =
    State { size: size_of::<State>() as u32, reserved: 0, load: Some(load), save: Some(save) };

impl Session<'_> {
    /// Lets the solver load this state and save its own.
    #[must_use]
    pub fn with_state(self, state: SolverState) -> Self {
        self.objects.store.get_or_init(|| RefCell::new(state));
        self
    }

    /// The new state: the values that the solver saved, and the earlier ones that it did not replace. Empty in a
    /// session without state.
    pub fn into_state(self) -> SolverState {
        saved(&self).map(RefCell::take).unwrap_or_default()
    }
}

fn saved<'s>(session: &'s Session) -> Option<&'s RefCell<SolverState>> {
    session.objects.store.get()
}

unsafe extern "C" fn load(
    problem: *const Problem,
    key: *const Str,
    out: *mut u8,
    capacity: i64,
    len: *mut i64,
) -> Status {
    let body = |session: &Session| {
        // SAFETY: the plugin passes a text or null.
        let key = unsafe { views::text_at(key, "`key`") }?;
        let room = usize::try_from(capacity).map_err(|_| format!("`capacity` is {capacity}"))?;
        if len.is_null() || !len.is_aligned() {
            return Err(Refusal::Invalid("`len` is a null or misaligned pointer".into()));
        }
        if out.is_null() && room > 0 {
            return Err(Refusal::Invalid("`out` is a null pointer".into()));
        }
        let state = saved(session).map(RefCell::borrow);
        let bytes = state.as_ref().and_then(|state| state.get(&key)).map_or(&[][..], Vec::as_slice);
        let copied = bytes.len().min(room);
        // SAFETY: the plugin passes room for `capacity` bytes and a place for their number; what is saved
        // is the host's own memory.
        unsafe {
            if copied > 0 {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, copied);
            }
            *len = bytes.len() as i64;
        }
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    unsafe { serve_problem(problem, "state.load", body) }
}

unsafe extern "C" fn save(problem: *const Problem, key: *const Str, bytes: *const u8, len: i64) -> Status {
    let body = |session: &Session| {
        // SAFETY: the plugin passes a text or null, and `len` bytes that live until this call returns.
        let (key, bytes) = unsafe { (views::text_at(key, "`key`")?, views::bytes(bytes, len, "bytes")?) };
        if let Some(state) = saved(session) {
            state.borrow_mut().insert(key, bytes);
        }
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    unsafe { serve_problem(problem, "state.save", body) }
}
