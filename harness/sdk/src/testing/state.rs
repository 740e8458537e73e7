//! What a solver saves for the next outer step.

use std::collections::BTreeMap;

use gpbench_abi as abi;
use gpbench_abi::Status;

use super::world::World;
use crate::operator::text;

/// Saved bytes, by key.
pub(super) type State = BTreeMap<String, Vec<u8>>;

pub(super) static TABLE: abi::State =
    abi::State { size: size_of::<abi::State>() as u32, reserved: 0, load: Some(load), save: Some(save) };

unsafe extern "C" fn load(
    problem: *const abi::Problem,
    key: *const abi::Str,
    out: *mut u8,
    capacity: i64,
    len: *mut i64,
) -> Status {
    // SAFETY: called with the problem of a living world and a live text.
    let (world, key) = unsafe { (&*(*problem).ctx.cast_const().cast::<World<'_>>(), text(&*key)) };
    let Ok(key) = key else { return Status::INVALID_ARGUMENT };
    let state = world.state.borrow();
    let bytes = state.get(key).map_or(&[][..], Vec::as_slice);
    let copied = bytes.len().min(capacity as usize);
    // SAFETY: the caller passes `capacity` writable bytes, and a place for the length.
    unsafe {
        if copied > 0 {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, copied);
        }
        *len = bytes.len() as i64;
    }
    Status::DONE
}

unsafe extern "C" fn save(
    problem: *const abi::Problem,
    key: *const abi::Str,
    bytes: *const u8,
    len: i64,
) -> Status {
    // SAFETY: called with the problem of a living world, a live text and as many bytes as it says.
    let (world, key, bytes) =
        unsafe { (&*(*problem).ctx.cast_const().cast::<World<'_>>(), text(&*key), super::list(bytes, len)) };
    let Ok(key) = key else { return Status::INVALID_ARGUMENT };
    world.state.borrow_mut().insert(key.to_owned(), bytes);
    Status::DONE
}
