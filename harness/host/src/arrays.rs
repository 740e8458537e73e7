//! Named matrices that cross the interface: a learner's model or its state.

use std::cell::RefCell;
use std::collections::BTreeMap;

use gpbench_abi::{Mat, Status, Store, Str};
use gpbench_numerics::layout::column_major;
use ndarray::{Array2, ShapeBuilder};

use crate::callback::{Callbacks, Refusal};

use crate::services::Services;
use crate::views::{self, Checked, Extent};

/// Matrices by name, each column-major.
pub type Arrays = BTreeMap<String, Array2<f64>>;

/// Longest name of a matrix or a number of the plugin's own, in bytes.
const MAX_NAME: usize = 64;

/// Largest number of bytes of the matrices of a store.
pub const MOST_BYTES: usize = 8 << 30;

/// Checks a name of the plugin's own, called `what` in errors.
pub(crate) fn check_name(name: &str, what: &str) -> Result<(), String> {
    let is_plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_plain) {
        let rule = "names are up to 64 lower-case letters, digits and underscores";
        return Err(format!("`{what}` is {name:?}; {rule}"));
    }
    Ok(())
}

/// Matrices that the plugin puts or gets.
pub(crate) struct ArrayStore {
    callbacks: Callbacks,
    arrays: RefCell<Arrays>,
    /// Whether the plugin may get matrices but not put them.
    sealed: bool,
}

impl ArrayStore {
    /// An empty store, to be filled.
    pub(crate) fn empty(services: &'static dyn Services) -> ArrayStore {
        ArrayStore { callbacks: Callbacks::new(services), arrays: RefCell::default(), sealed: false }
    }

    /// A store of these arrays, which the plugin may get but not replace.
    pub(crate) fn holding(services: &'static dyn Services, arrays: Arrays) -> ArrayStore {
        let by_columns = |array: Array2<f64>| match array.t().is_standard_layout() {
            true => array,
            false => column_major(&array),
        };
        let arrays = arrays.into_iter().map(|(name, array)| (name, by_columns(array))).collect();
        ArrayStore { callbacks: Callbacks::new(services), arrays: RefCell::new(arrays), sealed: true }
    }

    /// The table that the plugin is given. It is valid while the store is neither moved nor dropped.
    pub(crate) fn table(&self) -> Store {
        Store {
            size: size_of::<Store>() as u32,
            reserved: 0,
            ctx: std::ptr::from_ref(self).cast_mut().cast(),
            put: Some(put),
            get: Some(get),
        }
    }

    /// Message about the latest call with invalid arguments.
    pub(crate) fn take_complaint(&self) -> Option<String> {
        self.callbacks.take_complaint()
    }

    /// The matrices that were put.
    pub(crate) fn into_arrays(self) -> Arrays {
        self.arrays.into_inner()
    }
}

/// Serves a call of the store.
///
/// # Safety
/// `store` is null or the store that the plugin was given.
unsafe fn serve_store(
    store: *const Store,
    call: &str,
    body: impl FnOnce(&ArrayStore) -> Result<(), Refusal>,
) -> Status {
    // SAFETY: by this function's contract; the context of that table is its store.
    match unsafe { store.as_ref().and_then(|store| store.ctx.cast_const().cast::<ArrayStore>().as_ref()) } {
        None => Status::INVALID_ARGUMENT,
        Some(store) => store.callbacks.serve(call, || body(store)),
    }
}

unsafe extern "C" fn put(store: *const Store, name: *const Str, value: *const Mat) -> Status {
    let body = |store: &ArrayStore| {
        if store.sealed {
            return Err(Refusal::Unsupported("nothing can be put while a state is loaded".into()));
        }
        // SAFETY: the plugin passes a text or null, and a matrix or null.
        let (name, value) = unsafe {
            (views::text_at(name, "`name`")?, Checked::new(value, "value", Extent::Any, Extent::Any)?)
        };
        check_name(&name, "name")?;
        // SAFETY: the plugin passes a matrix that is not written until this call returns.
        let value = unsafe { value.view() };
        let stored: usize = store.arrays.borrow().values().map(|array| 8 * array.len()).sum();
        if stored.saturating_add(value.len().saturating_mul(8)) > MOST_BYTES {
            return Err(format!("all matrices together take more than {MOST_BYTES} bytes").into());
        }
        let mut copy = Array2::zeros(value.dim().f());
        copy.assign(&value);
        store.arrays.borrow_mut().insert(name, copy);
        Ok(())
    };
    // SAFETY: the plugin passes its store or null.
    unsafe { serve_store(store, "store.put", body) }
}

unsafe extern "C" fn get(
    store: *const Store,
    name: *const Str,
    out: *mut f64,
    capacity: i64,
    rows: *mut i64,
    cols: *mut i64,
) -> Status {
    let body = |store: &ArrayStore| {
        // SAFETY: the plugin passes a text or null, and places to write to or null.
        let (name, rows, cols) = unsafe { (views::text_at(name, "`name`")?, rows.as_mut(), cols.as_mut()) };
        let (Some(rows), Some(cols)) = (rows, cols) else {
            return Err("`rows` or `cols` is a null pointer".to_owned().into());
        };
        let arrays = store.arrays.borrow();
        let Some(array) = arrays.get(&name) else {
            (*rows, *cols) = (-1, -1);
            return Ok(());
        };
        (*rows, *cols) = (array.nrows() as i64, array.ncols() as i64);
        let capacity = usize::try_from(capacity).map_err(|_| format!("`capacity` is {capacity}"))?;
        let count = capacity.min(array.len());
        if count > 0 && (out.is_null() || !out.is_aligned()) {
            return Err(format!("`out` is a null or misaligned pointer to {capacity} entries").into());
        }
        let entries = array.as_slice_memory_order().expect("stored column by column");
        if count > 0 {
            // SAFETY: not null and aligned, and the plugin says that there is room for `capacity` entries; ours are
            // no part of its memory.
            unsafe { std::ptr::copy_nonoverlapping(entries.as_ptr(), out, count) };
        }
        Ok(())
    };
    // SAFETY: the plugin passes its store or null.
    unsafe { serve_store(store, "store.get", body) }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::views::mat;

    fn put_in(store: &ArrayStore, name: &'static str, value: &Array2<f64>) -> Status {
        // SAFETY: a live store, a text and a matrix.
        unsafe { put(&store.table(), &Str::new(name), &mat(value.view())) }
    }

    fn get_from(store: &ArrayStore, name: &'static str, out: &mut [f64]) -> (Status, i64, i64) {
        let (mut rows, mut cols) = (7, 7);
        // SAFETY: a live store, a text and places to write to.
        let status = unsafe {
            get(&store.table(), &Str::new(name), out.as_mut_ptr(), out.len() as i64, &mut rows, &mut cols)
        };
        (status, rows, cols)
    }

    #[test]
    fn arrays_are_kept_by_name_and_replaced() {
        let store = ArrayStore::empty(&());
        let value = array![[1.0, 3.0], [2.0, f64::NAN]].reversed_axes();
        assert_eq!(put_in(&store, "a_1", &array![[5.0]]), Status::DONE);
        assert_eq!(put_in(&store, "a_1", &value), Status::DONE);
        let mut out = [0.0; 3];
        assert_eq!(get_from(&store, "a_1", &mut out), (Status::DONE, 2, 2));
        assert_eq!(out, [1.0, 3.0, 2.0]);
        assert_eq!(get_from(&store, "b", &mut out), (Status::DONE, -1, -1));
        let arrays = store.into_arrays();
        assert_eq!(arrays.len(), 1);
        assert!(arrays["a_1"][[1, 1]].is_nan());
    }

    #[test]
    fn wrong_names_pointers_and_times_are_refused() {
        let store = ArrayStore::empty(&());
        for name in ["", "A", "a b", "a-b", "é"] {
            assert_eq!(put_in(&store, name, &array![[1.0]]), Status::INVALID_ARGUMENT, "{name}");
            assert!(store.take_complaint().is_some_and(|what| what.starts_with("store.put: `name` is")));
        }
        put_in(&store, "a", &array![[1.0]]);
        let (mut rows, mut cols) = (0, 0);
        // SAFETY: a live store, and null where that must be noticed.
        unsafe {
            let (table, name, nothing) = (store.table(), Str::new("a"), std::ptr::null_mut());
            assert_eq!(put(&table, &name, std::ptr::null()), Status::INVALID_ARGUMENT);
            assert_eq!(put(std::ptr::null(), &name, std::ptr::null()), Status::INVALID_ARGUMENT);
            assert_eq!(get(&table, &name, nothing, 1, &mut rows, &mut cols), Status::INVALID_ARGUMENT);
            assert_eq!(get(&table, &name, nothing, -1, &mut rows, &mut cols), Status::INVALID_ARGUMENT);
            assert_eq!(
                get(&table, &name, nothing, 0, std::ptr::null_mut(), &mut cols),
                Status::INVALID_ARGUMENT
            );
            assert_eq!(get(&table, &name, nothing, 0, &mut rows, &mut cols), Status::DONE);
        }
        let store = ArrayStore::holding(&(), store.into_arrays());
        assert_eq!(put_in(&store, "b", &array![[1.0]]), Status::UNSUPPORTED);
        assert_eq!(get_from(&store, "a", &mut [0.0]), (Status::DONE, 1, 1));
    }
}
