//! Objects that stay in memory from one outer step of training to the next, `gpbench.volatile/1`.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gpbench_abi as abi;

use crate::Problem;
use crate::error::{Error, Result};
use crate::text::borrow;

/// An object of any type, behind a pointer that C can hold.
type Kept = Box<dyn Any>;

impl Problem<'_> {
    /// Keeps an object of `bytes` bytes in memory for the next outer step, in place of an earlier one under `key`.
    /// Drops it if the host keeps none.
    ///
    /// It never outlives the process, and results must not depend on whether it is found: save by
    /// [`save_state`](Self::save_state) what is needed to make it again, to the last bit.
    pub fn keep<T: Any>(&self, key: &str, object: T, bytes: usize) -> Result<()> {
        let Some(keep) = self.extension::<abi::Volatile>(abi::id::VOLATILE).and_then(|table| table.keep)
        else {
            return Ok(());
        };
        let kept: *mut Kept = Box::into_raw(Box::new(Box::new(object)));
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        // SAFETY: live problem; the key is copied before the call returns; `free` takes what was made above.
        let status = unsafe { keep(self.raw(), &borrow(key), kept.cast(), bytes, Some(free)) };
        Error::check("volatile.keep", status).inspect_err(|_| {
            // SAFETY: after an error the object is still this side's.
            drop(unsafe { Box::from_raw(kept) });
        })
    }

    /// Takes the object that was kept under `key` in the last outer step; none if there is none, or if it is of another
    /// type.
    pub fn take<T: Any>(&self, key: &str) -> Result<Option<T>> {
        let Some(take) = self.extension::<abi::Volatile>(abi::id::VOLATILE).and_then(|table| table.take)
        else {
            return Ok(None);
        };
        let mut object: *mut c_void = std::ptr::null_mut();
        // SAFETY: live problem, a text and a place for the pointer.
        Error::check("volatile.take", unsafe { take(self.raw(), &borrow(key), &mut object) })?;
        if object.is_null() {
            return Ok(None);
        }
        // SAFETY: only `keep` hands objects over, as `Kept` behind a pointer, and each comes back once.
        let kept = unsafe { Box::from_raw(object.cast::<Kept>()) };
        Ok(kept.downcast().ok().map(|object| *object))
    }
}

/// Frees an object that `keep` has handed over.
unsafe extern "C" fn free(object: *mut c_void) {
    // SAFETY: the host passes what `keep` has made, once.
    let kept = unsafe { Box::from_raw(object.cast::<Kept>()) };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(kept))) {
        // Dropping a payload could panic again.
        std::mem::forget(payload);
    }
}
