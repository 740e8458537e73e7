//! Models and saved states as they cross the interface.

use std::collections::BTreeMap;

use gpbench_abi as abi;
use ndarray::{Array2, ArrayView1, Axis, ShapeBuilder};

use crate::error::{Error, Result};
use crate::matrix::with_input;
use crate::text::borrow;
use crate::{Fit, ParamValue, Saved};

/// Name under which the names of a saved state's arrays are, byte by byte, each ended by a zero: a store lists none.
const NAMES: &str = "sdk_names";

/// Puts arrays into the host's store.
///
/// # Safety
/// `store` is null or points to a store that lives during the call.
pub(crate) unsafe fn put_all(store: *const abi::Store, arrays: &BTreeMap<String, Array2<f64>>) -> Result<()> {
    // SAFETY: promised by the caller.
    let put = unsafe { check(store) }?.0;
    for (name, array) in arrays {
        // SAFETY: a live store, name and matrix, which are copied before the call returns.
        let status = with_input(array, |value| unsafe { put(store, &borrow(name), value) });
        Error::check("put", status)?;
    }
    Ok(())
}

/// Puts a saved state into the host's store.
///
/// # Safety
/// As for [`put_all`].
pub(crate) unsafe fn put_saved(store: *const abi::Store, saved: &Saved) -> Result<()> {
    let bytes: Vec<f64> = saved
        .arrays
        .keys()
        .flat_map(|name| name.bytes().chain([0]).map(f64::from).collect::<Vec<_>>())
        .collect();
    let mut all = saved.clone();
    all.put_list(NAMES, &bytes);
    // SAFETY: promised by the caller.
    unsafe { put_all(store, &all.arrays) }
}

/// Takes a saved state out of the host's store.
///
/// # Safety
/// As for [`put_all`].
pub(crate) unsafe fn get_saved(store: *const abi::Store) -> Result<Saved> {
    // SAFETY: promised by the caller.
    let names = unsafe { get(store, NAMES) }?;
    let bytes: Vec<u8> = names.iter().map(|&byte| byte as u8).collect();
    let mut saved = Saved::new();
    for name in bytes.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let name = std::str::from_utf8(name)
            .map_err(|_| Error::InvalidArgument("the saved state's names are not texts".into()))?;
        // SAFETY: promised by the caller.
        saved.arrays.insert(name.to_owned(), unsafe { get(store, name) }?);
    }
    Ok(saved)
}

type Put = unsafe extern "C" fn(*const abi::Store, *const abi::Str, *const abi::Mat) -> abi::Status;
type Get = unsafe extern "C" fn(
    *const abi::Store,
    *const abi::Str,
    *mut f64,
    i64,
    *mut i64,
    *mut i64,
) -> abi::Status;

/// The functions of the host's store.
///
/// # Safety
/// As for [`put_all`].
unsafe fn check(store: *const abi::Store) -> Result<(Put, Get)> {
    let bad = || Error::InvalidArgument("the store is null, too small or lacks a function".into());
    // SAFETY: promised by the caller; only the first field is read before the size is known.
    if store.is_null() || unsafe { (*store).size } < size_of::<abi::Store>() as u32 {
        return Err(bad());
    }
    // SAFETY: as above.
    let table = unsafe { &*store };
    table.put.zip(table.get).ok_or_else(bad)
}

/// A matrix of the host's store.
///
/// # Safety
/// As for [`put_all`].
unsafe fn get(store: *const abi::Store, name: &str) -> Result<Array2<f64>> {
    // SAFETY: promised by the caller.
    let get = unsafe { check(store) }?.1;
    let (mut rows, mut cols) = (-1, -1);
    // SAFETY: a live store and name, room for no entry, and places for the shape.
    let status = unsafe { get(store, &borrow(name), std::ptr::null_mut(), 0, &mut rows, &mut cols) };
    Error::check("get", status)?;
    let lacks = || Error::InvalidArgument(format!("the saved state has no `{name}`"));
    let shape = usize::try_from(rows).ok().zip(usize::try_from(cols).ok()).ok_or_else(lacks)?;
    let mut array = Array2::zeros(shape.f());
    let capacity = array.len() as i64;
    // SAFETY: as above; the array is column-major and has room for `capacity` entries.
    let status = unsafe { get(store, &borrow(name), array.as_mut_ptr(), capacity, &mut rows, &mut cols) };
    Error::check("get", status)?;
    Ok(array)
}

/// Digest of the data and parameters that a saved state belongs to (Fowler, Noll and Vo's FNV-1a, by 64-bit words).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest(pub(crate) u64);

impl Digest {
    /// Digest of a learner's id.
    pub(crate) fn of(id: &str) -> Digest {
        Digest(0xcbf2_9ce4_8422_2325).with_text(id)
    }

    /// The digest extended by parameters.
    pub(crate) fn with_params(self, values: &[ParamValue]) -> Digest {
        values.iter().fold(self, |digest, value| digest.with_text(&format!("{value:?}")))
    }

    /// The digest extended by all of a fit except what may differ between processes: threads and passes.
    pub(crate) fn with_fit(self, fit: &Fit<'_>) -> Digest {
        let inputs = fit.inputs();
        let sizes = [fit.n() as u64, fit.d() as u64, fit.seed(), fit.flags(), inputs.family.number() as u64];
        let network = fit.network().map_or(String::new(), |network| format!("{network:?}"));
        let scales = [fit.mean(), inputs.signal_scale, inputs.noise_scale];
        let digest = sizes.into_iter().fold(self, Digest::with).with_text(&network);
        let digest = digest.with_numbers(ArrayView1::from(&scales));
        let digest = digest.with_numbers(ArrayView1::from(inputs.length_scale)).with_numbers(fit.y());
        let columns = |digest: Digest, x: ndarray::ArrayView2<'_, f64>| {
            x.axis_iter(Axis(1)).fold(digest, Digest::with_numbers)
        };
        inputs.basis.into_iter().fold(columns(digest, inputs.x), columns)
    }

    fn with(self, word: u64) -> Digest {
        // The multiplication carries upwards only; the rotation brings the high bits down.
        Digest((self.0.rotate_left(23) ^ word).wrapping_mul(0x0000_0100_0000_01b3))
    }

    fn with_text(self, text: &str) -> Digest {
        text.bytes().map(u64::from).fold(self.with(text.len() as u64), Digest::with)
    }

    fn with_numbers(self, numbers: ArrayView1<'_, f64>) -> Digest {
        numbers.iter().map(|number| number.to_bits()).fold(self, Digest::with)
    }
}
