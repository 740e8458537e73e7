//! Tables of a plugin, which may be shorter or longer than this version's.

use std::mem::MaybeUninit;

/// Largest number of entries of a list; no library has as many.
pub(super) const MAX_ENTRIES: i64 = 4096;

/// Copies a foreign table that begins with its size and has at least `least` bytes, those of version 1.0. Fields that
/// a later version appended are zero if the table lacks them; fields that are unknown here are ignored.
///
/// # Safety
/// `table` is null or points to a table that begins with its true size. `T` holds
/// only integers, pointers and optional functions.
pub(super) unsafe fn table<T>(table: *const T, least: usize, what: &str) -> Result<T, String> {
    if table.is_null() {
        return Err(format!("{what} is a null pointer"));
    }
    if !table.is_aligned() {
        return Err(format!("{what} is a misaligned pointer"));
    }
    // SAFETY: not null and aligned; begins with its size by this function's contract.
    let size = unsafe { table.cast::<u32>().read() } as usize;
    if size < least {
        return Err(format!("{what} has {size} bytes, fewer than the {least} of version 1.0"));
    }
    // The size of a table is a multiple of its alignment; where it is not, the last field may be incomplete.
    let known = size.min(size_of::<T>()) / align_of::<T>() * align_of::<T>();
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: the table has so many bytes, by its own size, and the copy has room for them; all bit patterns are
    // values of such a table.
    unsafe {
        copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(table.cast(), known);
        Ok(copy.assume_init())
    }
}

/// Reads `count` tables of at least `least` bytes at a distance of `stride` bytes.
///
/// # Safety
/// As for [`table`], for each of them.
pub(super) unsafe fn entries<T, E>(
    (first, count, stride): (*const T, i64, i64),
    least: usize,
    what: &str,
    read: impl Fn(T, &str) -> Result<E, String>,
) -> Result<Vec<E>, String> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if !(1..=MAX_ENTRIES).contains(&count) {
        return Err(format!("the library lists {count} {what}s"));
    }
    let Some(stride) = usize::try_from(stride).ok().filter(|&stride| (least..1 << 20).contains(&stride))
    else {
        return Err(format!(
            "the {what}s are at a distance of {stride} bytes, where each has at least {least}"
        ));
    };
    let mut out = Vec::new();
    for index in 0..count as usize {
        let place = format!("{what} number {}", index + 1);
        let entry = first.wrapping_byte_add(index * stride);
        // SAFETY: one of the `count` tables, or null with the first.
        let entry = unsafe { table(if first.is_null() { first } else { entry }, least, &place) }?;
        out.push(read(entry, &place)?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;
    use std::ptr::{from_ref, null};

    use gpbench_abi::{Facts, Learner, Plugin, Solver, Status, Str};

    use super::*;
    use crate::description::PLUGIN_BYTES;
    use crate::description::entry::LEARNER_BYTES;

    /// A table with the fields that a later version may append.
    #[repr(C)]
    struct Grown<T> {
        today: T,
        texts: *const Str,
        call: Option<unsafe extern "C" fn() -> Status>,
    }

    /// Today's table, followed by unrelated memory.
    #[repr(C)]
    struct Followed<T> {
        today: T,
        others: [u64; 2],
    }

    fn bytes<T>(table: &T) -> &[u8] {
        // SAFETY: the tables of the interface have no padding.
        unsafe { std::slice::from_raw_parts(from_ref(table).cast(), size_of::<T>()) }
    }

    /// Asserts that a host whose tables have grown reads the whole of today's table, and nothing else.
    fn is_read_by_a_later_host<T>(today: T, least: usize) {
        let table_of_today = Followed { today, others: [u64::MAX; 2] };
        // SAFETY: as many bytes as the larger table has.
        let read = unsafe { table(from_ref(&table_of_today).cast::<Grown<T>>(), least, "it") }.unwrap();
        assert_eq!(bytes(&read.today), bytes(&table_of_today.today));
        assert!(read.texts.is_null() && read.call.is_none());
    }

    unsafe extern "C" fn destroy(_: *mut std::ffi::c_void) {}

    fn solver() -> Solver {
        Solver {
            size: size_of::<Solver>() as u32,
            reserved: 0,
            capabilities: 3,
            id: Str::new("id"),
            doc: Str::new("doc"),
            params: null(),
            n_params: 0,
            create: None,
            prepare: None,
            solve: None,
            estimate: None,
            destroy: Some(destroy),
            source: Str::new("source"),
            warm_up: None,
            facts: Facts::none(),
        }
    }

    #[test]
    fn tables_of_today_are_whole_to_a_host_whose_tables_have_grown() {
        is_read_by_a_later_host(solver(), offset_of!(Solver, source));
        let learner = Learner {
            size: size_of::<Learner>() as u32,
            reserved: 0,
            capabilities: 3,
            id: Str::new("id"),
            doc: Str::new("doc"),
            params: null(),
            n_params: 0,
            source: Str::new("source"),
            create: None,
            begin: None,
            fit: None,
            predict: None,
            model: None,
            save: None,
            load: None,
            estimate: None,
            destroy: Some(destroy),
            warm_up: None,
            facts: Facts::none(),
        };
        is_read_by_a_later_host(learner, offset_of!(Learner, source));
        let plugin = Plugin {
            size: size_of::<Plugin>() as u32,
            minor: 3,
            name: Str::new("name"),
            version: Str::new("version"),
            solvers: null(),
            n_solvers: 0,
            solver_stride: 8,
            learners: null(),
            n_learners: 0,
            learner_stride: 8,
            parts: null(),
            n_parts: 0,
            part_stride: 8,
        };
        is_read_by_a_later_host(plugin, PLUGIN_BYTES);
    }

    /// Fields that a later version appends change none of these.
    #[test]
    fn sizes_of_earlier_versions_stay() {
        assert_eq!((PLUGIN_BYTES, offset_of!(Solver, source)), (88, 104));
        assert_eq!((offset_of!(Learner, source), LEARNER_BYTES), (64, 152));
    }

    #[test]
    fn a_field_that_a_table_has_in_part_is_left_out() {
        let whole = solver();
        let size = |bytes: usize| Solver { size: bytes as u32, ..solver() };
        for (bytes, known) in [(offset_of!(Solver, warm_up) - 1, offset_of!(Solver, warm_up) - 8), (107, 104)]
        {
            // SAFETY: a table with more bytes than it says.
            let read = unsafe { table(&size(bytes), 104, "it") }.unwrap();
            assert_eq!((read.source.len, read.source.ptr.is_null()), (0, known == 104));
            assert_eq!(read.id.len, whole.id.len);
        }
    }
}
