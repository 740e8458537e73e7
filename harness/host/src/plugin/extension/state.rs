//! What a solver keeps from one outer step to the next.

use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi::{Problem, State, Status, Str};

use super::session::{Refusal, Session, enter_problem};
use super::views;

/// Bytes that a solver has saved, by its own keys.
pub type Kept = BTreeMap<String, Vec<u8>>;

static TABLE: State =
    State { size: size_of::<State>() as u32, reserved: 0, load: Some(load), save: Some(save) };

/// The extension, or null in a session that keeps nothing.
pub(super) fn find(session: &Session) -> *const c_void {
    session.kept.as_ref().map_or(std::ptr::null(), |_| std::ptr::from_ref(&TABLE).cast())
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
        let kept = session.kept.as_ref().map(|kept| kept.borrow());
        let bytes = kept.as_ref().and_then(|kept| kept.get(&key)).map_or(&[][..], Vec::as_slice);
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
    unsafe { enter_problem(problem, "state.load", body) }
}

unsafe extern "C" fn save(problem: *const Problem, key: *const Str, bytes: *const u8, len: i64) -> Status {
    let body = |session: &Session| {
        // SAFETY: the plugin passes a text or null, and `len` bytes that live until this call returns.
        let (key, bytes) = unsafe { (views::text_at(key, "`key`")?, views::bytes(bytes, len, "bytes")?) };
        if let Some(kept) = &session.kept {
            kept.borrow_mut().insert(key, bytes);
        }
        Ok(())
    };
    // SAFETY: the plugin passes its problem or null.
    unsafe { enter_problem(problem, "state.save", body) }
}
