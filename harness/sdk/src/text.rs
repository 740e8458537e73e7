//! Conversion between the interface's texts and `str`.

use std::ffi::c_char;

use gpbench_abi as abi;

use crate::error::{Error, Result};

/// Reads a text of the interface.
///
/// # Safety
/// The bytes must be readable during `'a`.
pub(crate) unsafe fn text<'a>(text: &abi::Str) -> Result<&'a str> {
    let bad = || Error::InvalidArgument("a text is null, has a negative length or is not UTF-8".into());
    let len = usize::try_from(text.len).map_err(|_| bad())?;
    if len == 0 {
        return Ok("");
    }
    if text.ptr.is_null() {
        return Err(bad());
    }
    // SAFETY: promised by the caller, not null.
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr.cast::<u8>(), len) };
    std::str::from_utf8(bytes).map_err(|_| bad())
}

/// A text of the interface, valid as long as what it borrows.
pub(crate) fn borrow(text: &str) -> abi::Str {
    abi::Str { ptr: text.as_ptr().cast::<c_char>(), len: text.len() as i64 }
}
