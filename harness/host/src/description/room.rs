//! Limit on the memory of a description.

use std::cell::Cell;

use gpbench_abi::Str;

use crate::views;

/// Largest number of bytes of all texts of a description, plus 64 for each of its entries. Without this limit, a few
/// tables that are listed repeatedly could exhaust the memory.
const MAX_BYTES: usize = 16 << 20;

/// The bytes left of [`MAX_BYTES`].
pub(super) struct Room(Cell<usize>);

impl Room {
    /// All of [`MAX_BYTES`].
    pub(super) fn full() -> Room {
        Room(Cell::new(MAX_BYTES))
    }

    fn take(&self, bytes: usize) -> Result<(), String> {
        let left = self.0.get().checked_sub(bytes + 64);
        self.0.set(left.ok_or_else(|| format!("the description takes more than {MAX_BYTES} bytes"))?);
        Ok(())
    }

    /// A copy of a text, if there is room for it.
    ///
    /// # Safety
    /// If `text.ptr` is not null it points to `text.len` bytes.
    pub(super) unsafe fn text(&self, text: Str, name: &str) -> Result<String, String> {
        // SAFETY: by this function's contract.
        let text = unsafe { views::text(text, name)? };
        self.take(text.len())?;
        Ok(text)
    }
}
