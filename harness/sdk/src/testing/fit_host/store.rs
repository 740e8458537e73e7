//! The host's store of named matrices.

use std::cell::RefCell;
use std::collections::BTreeMap;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::{Array2, ShapeBuilder};

use crate::matrix::view;
use crate::text::text;

/// Matrices by name.
pub(super) type Arrays = BTreeMap<String, Array2<f64>>;

/// Calls `call` with a store of these matrices, and answers those that are in it then.
pub(super) fn with_store<R>(arrays: Arrays, call: impl FnOnce(*const abi::Store) -> R) -> (R, Arrays) {
    let arrays = RefCell::new(arrays);
    let table = abi::Store {
        size: size_of::<abi::Store>() as u32,
        reserved: 0,
        ctx: (&raw const arrays).cast_mut().cast(),
        put: Some(put),
        get: Some(get),
    };
    let answer = call(&table);
    (answer, arrays.into_inner())
}

/// # Safety
/// `store` is the table of a living store.
unsafe fn arrays<'s>(store: *const abi::Store) -> &'s RefCell<Arrays> {
    // SAFETY: promised by the caller.
    unsafe { &*(*store).ctx.cast_const().cast() }
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}

unsafe extern "C" fn put(store: *const abi::Store, name: *const abi::Str, value: *const abi::Mat) -> Status {
    // SAFETY: called with a living store, a live text and a live matrix.
    let (arrays, name, value) = unsafe { (arrays(store), text(&*name), view(&*value, "a stored matrix")) };
    let (Ok(name), Ok(value)) = (name, value) else { return Status::INVALID_ARGUMENT };
    if !is_name(name) {
        return Status::INVALID_ARGUMENT;
    }
    let mut copy = Array2::zeros(value.dim().f());
    copy.assign(&value);
    arrays.borrow_mut().insert(name.to_owned(), copy);
    Status::DONE
}

unsafe extern "C" fn get(
    store: *const abi::Store,
    name: *const abi::Str,
    out: *mut f64,
    capacity: i64,
    rows: *mut i64,
    cols: *mut i64,
) -> Status {
    // SAFETY: called with a living store and a live text.
    let (arrays, name) = unsafe { (arrays(store).borrow(), text(&*name)) };
    let Ok(name) = name else { return Status::INVALID_ARGUMENT };
    let array = arrays.get(name);
    let shape = array.map_or((-1, -1), |array| (array.nrows() as i64, array.ncols() as i64));
    // SAFETY: the caller has places for the shape, and room for `capacity` entries.
    unsafe {
        (*rows, *cols) = shape;
        if let Some(array) = array {
            let count = array.len().min(usize::try_from(capacity).unwrap_or(0));
            // Column-major since `put`.
            std::ptr::copy_nonoverlapping(array.as_ptr(), out, count);
        }
    }
    Status::DONE
}
