//! The fit as it crosses the interface: functions that draw, count and record.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::{Batches, Status};
use gpbench_terms::Activation;
use ndarray::Array2;
use rand::{Rng as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::FitHost;
use crate::testing::extension::mat;
use crate::text::text;

/// State shared by the callbacks of one fit.
pub(super) struct Session<'h> {
    pub(super) given: &'h FitHost,
    pub(super) passes: Cell<f64>,
    pub(super) streams: RefCell<BTreeMap<u32, Batches>>,
    pub(super) used: Cell<Used>,
    pub(super) trace: RefCell<Vec<(i64, f64)>>,
    pub(super) notes: RefCell<Vec<(i64, String, f64)>>,
    pub(super) batches: RefCell<Vec<(u32, Vec<usize>)>>,
    /// Observations until the fit pauses; none if it does not.
    pub(super) pause_in: Cell<Option<usize>>,
}

/// What a fit has used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Used {
    /// Rows of stream 0, which count passes.
    pub rows_of_passes: u64,
    /// Rows of all streams, and those charged.
    pub rows: u64,
    /// Kernel entries.
    pub entries: f64,
    /// Rows taken through the network.
    pub features: f64,
}

impl<'h> Session<'h> {
    pub(super) fn new(given: &'h FitHost) -> Session<'h> {
        Session {
            given,
            passes: Cell::new(given.passes),
            streams: RefCell::default(),
            used: Cell::default(),
            trace: RefCell::default(),
            notes: RefCell::default(),
            batches: RefCell::default(),
            pause_in: Cell::new(None),
        }
    }

    /// Calls `call` with this fit's table.
    pub(super) fn with_fit<R>(&self, call: impl FnOnce(*const abi::Fit) -> R) -> R {
        let given = self.given;
        let none = abi::Mat { data: std::ptr::null_mut(), rows: 0, cols: 0, ld: 0 };
        let inputs = abi::Inputs {
            size: size_of::<abi::Inputs>() as u32,
            family: given.family.number(),
            x: mat(&given.x),
            basis: given.basis.as_ref().map_or(none, mat),
            signal_scale: given.scales.signal_scale,
            noise_scale: given.scales.noise_scale,
            length_scale: given.scales.length_scale.as_ptr(),
            scales: std::ptr::null(),
        };
        let y = mat(&given.y);
        let sizes = given.network.as_ref().map(|network| {
            let widths: Vec<i64> = network.widths.iter().map(|&width| width as i64).collect();
            (widths, network.random.map_or(0, |count| count as i64))
        });
        let network = sizes.as_ref().map(|(widths, random)| abi::Network {
            size: size_of::<abi::Network>() as u32,
            activation: Activation::Relu.number(),
            widths: widths.as_ptr(),
            n_widths: widths.len() as i64,
            random: *random,
        });
        call(&abi::Fit {
            size: size_of::<abi::Fit>() as u32,
            threads: given.threads,
            seed: given.seed,
            inputs: &inputs,
            y: &y,
            mean: given.scales.mean,
            flags: given.flags,
            network: network.as_ref().map_or(std::ptr::null(), |network| network),
            passes: self.passes.get(),
            ctx: (&raw const *self).cast_mut().cast(),
            batch: Some(batch),
            charge: Some(charge),
            observe: Some(observe),
            extension: Some(extension),
        })
    }

    /// The random words of a stream, the same as the harness's.
    pub(super) fn words(&self) -> impl FnOnce(u64) -> Box<dyn FnMut() -> u64> + use<> {
        let seed = self.given.seed;
        move |stream| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(stream);
            Box::new(move || rng.next_u64())
        }
    }

    fn draw(&self, stream: u32, want: i64) -> Result<Vec<i64>, Status> {
        let n = self.given.x.nrows();
        let want = usize::try_from(want).ok().filter(|&want| want > 0).ok_or(Status::INVALID_ARGUMENT)?;
        let mut used = self.used.get();
        let counts_passes = Batches::counts_passes(stream);
        if counts_passes && Batches::are_spent(used.rows_of_passes, n, self.passes.get()) {
            return Err(Status::STOPPED);
        }
        let fresh = Batches::new(n, stream).ok_or(Status::INVALID_ARGUMENT)?;
        let mut streams = self.streams.borrow_mut();
        let rows = streams.entry(stream).or_insert(fresh).draw(want, self.words()).to_vec();
        used.rows += rows.len() as u64;
        used.rows_of_passes += if counts_passes { rows.len() as u64 } else { 0 };
        self.used.set(used);
        self.batches.borrow_mut().push((stream, rows.iter().map(|&row| row as usize).collect()));
        Ok(rows)
    }
}

/// # Safety
/// `fit` is the table of a living session.
unsafe fn session<'s>(fit: *const abi::Fit) -> &'s Session<'s> {
    // SAFETY: promised by the caller.
    unsafe { &*(*fit).ctx.cast_const().cast::<Session<'s>>() }
}

unsafe extern "C" fn batch(
    fit: *const abi::Fit,
    stream: u32,
    rows: *mut i64,
    want: i64,
    got: *mut i64,
) -> Status {
    // SAFETY: called with a living session's table.
    match unsafe { session(fit) }.draw(stream, want) {
        Err(status) => status,
        Ok(drawn) => {
            // SAFETY: the caller has room for `want` rows, of which there are at most as many, and for their number.
            unsafe {
                std::ptr::copy_nonoverlapping(drawn.as_ptr(), rows, drawn.len());
                *got = drawn.len() as i64;
            }
            Status::DONE
        }
    }
}

unsafe extern "C" fn charge(fit: *const abi::Fit, rows: i64, entries: i64, features: i64) -> Status {
    // SAFETY: called with a living session's table.
    let session = unsafe { session(fit) };
    let Ok(rows) = u64::try_from(rows) else { return Status::INVALID_ARGUMENT };
    if entries < 0 || features < 0 {
        return Status::INVALID_ARGUMENT;
    }
    let mut used = session.used.get();
    used.rows += rows;
    used.entries += entries as f64;
    used.features += features as f64;
    session.used.set(used);
    if used.entries >= session.given.entries { Status::STOPPED } else { Status::DONE }
}

unsafe extern "C" fn observe(fit: *const abi::Fit, step: i64, objective: f64) -> Status {
    // SAFETY: called with a living session's table.
    let session = unsafe { session(fit) };
    session.trace.borrow_mut().push((step, objective));
    let left = session.pause_in.get().map(|left| left.saturating_sub(1));
    session.pause_in.set(left);
    let is_late = session.used.get().entries >= session.given.entries;
    if left == Some(0) || is_late { Status::STOPPED } else { Status::DONE }
}

static TRACE: abi::FitTrace =
    abi::FitTrace { size: size_of::<abi::FitTrace>() as u32, reserved: 0, note: Some(note) };

unsafe extern "C" fn extension(_fit: *const abi::Fit, id: *const abi::Str) -> *const c_void {
    // SAFETY: a live text.
    let id = unsafe { text(&*id) };
    if id == Ok(abi::id::FIT_TRACE) { (&raw const TRACE).cast() } else { std::ptr::null() }
}

unsafe extern "C" fn note(fit: *const abi::Fit, step: i64, name: *const abi::Str, value: f64) -> Status {
    // SAFETY: called with a living session's table and a live text.
    let (session, name) = unsafe { (session(fit), text(&*name)) };
    match name {
        Ok(name) => session.notes.borrow_mut().push((step, name.to_owned(), value)),
        Err(error) => return error.status(),
    }
    Status::DONE
}

/// A matrix of `rows` rows for a prediction: means, variances.
pub(super) fn output(rows: usize) -> Array2<f64> {
    use ndarray::ShapeBuilder as _;
    Array2::zeros((rows, 2).f())
}
