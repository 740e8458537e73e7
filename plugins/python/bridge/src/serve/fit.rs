//! A fit, and the requests of a learner's `begin`, `fit` and `load`.

use gpbench_abi::{self as abi, Mat, Status, Str};

use super::store::Store;
use super::{column, spaces};
use crate::arena::copy_matrix;
use crate::failure::{Failure, Result};
use crate::frame::{Frame, Wrong, kind};
use crate::host::{answer, borrow};
use crate::process::{NoRequests, Process, Reply, Server, refuse};
use crate::region::Region;

/// A fit of the host's.
#[derive(Debug)]
pub struct Fit<'a> {
    table: &'a abi::Fit,
    inputs: &'a abi::Inputs,
    y: Mat,
    /// The saved state that is loaded, if one is.
    store: Option<Store<'a>>,
}

impl<'a> Fit<'a> {
    /// Checks a fit of the interface.
    ///
    /// # Safety
    /// `raw` is null or points to a fit that lives during `'a`.
    pub unsafe fn new(raw: *const abi::Fit, store: Option<Store<'a>>) -> Result<Fit<'a>> {
        let bad = |why: &str| Failure::invalid(format!("the fit {why}"));
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if raw.is_null() || unsafe { (*raw).size } < size_of::<abi::Fit>() as u32 {
            return Err(bad("is null or too small"));
        }
        // SAFETY: as above.
        let table = unsafe { &*raw };
        if table.batch.is_none() || table.charge.is_none() || table.observe.is_none() {
            return Err(bad("lacks a function"));
        }
        if table.inputs.is_null() || table.y.is_null() {
            return Err(bad("has no inputs or no targets"));
        }
        // SAFETY: they live as long as the fit.
        let (inputs, y) = unsafe { (&*table.inputs, *table.y) };
        let is_sound = |mat: &Mat| mat.rows >= 0 && mat.cols >= 0 && mat.ld >= mat.rows;
        if !is_sound(&inputs.x) || !is_sound(&y) || (y.rows, y.cols) != (inputs.x.rows, 1) {
            return Err(bad("has inputs and targets of different shapes"));
        }
        if inputs.length_scale.is_null() || (!inputs.basis.data.is_null() && !is_sound(&inputs.basis)) {
            return Err(bad("has no length scales, or malformed inducing points"));
        }
        Ok(Fit { table, inputs, y, store })
    }

    /// Passes that the host grants.
    pub fn passes(&self) -> f64 {
        self.table.passes
    }

    /// Copies the data into the arena.
    pub fn pass(&self, object: i64, process: &Process) -> Result<()> {
        let (x, table) = (self.inputs.x, self.table);
        let basis =
            if self.inputs.basis.data.is_null() { column(std::ptr::null(), 0) } else { self.inputs.basis };
        let widths = self.widths()?;
        let outputs = widths.last().copied().unwrap_or(x.cols);
        let (n, d, m, layers) = (x.rows, x.cols, basis.rows, widths.len() as i64);
        if m > 0 && basis.cols != d {
            return Err(Failure::invalid("the inducing points have another number of inputs"));
        }
        // SAFETY: null, or alive as long as the fit.
        let network = unsafe { table.network.as_ref() };
        let (random, activation) = network.map_or((0, 0), |network| (network.random, network.activation));
        let integers = [
            n,
            d,
            m,
            outputs,
            i64::from(self.inputs.family & !abi::family::SCALED),
            table.flags as i64,
            table.seed as i64,
            i64::from(table.threads),
            layers,
            random,
            i64::from(activation),
            0,
            0,
            object,
        ];
        let reals = [table.mean, table.passes];
        let answer = process.call(kind::FITDATA, 0, &integers, &reals, &mut NoRequests)?;
        let shapes = [
            ("x", n, d),
            ("y", n, 1),
            ("basis", m, d),
            ("length_scale", outputs, 1),
            ("widths", layers, 1),
            ("scales", 2, 1),
        ];
        let arena = &process.arena;
        let [to_x, to_y, to_basis, to_length_scale, to_widths, to_scales] =
            process.checked(spaces(&answer, shapes, arena))?;
        let scales = [self.inputs.signal_scale, self.inputs.noise_scale];
        let copies = [
            (x, to_x),
            (self.y, to_y),
            (Mat { rows: m, cols: if m > 0 { d } else { 0 }, ..basis }, to_basis),
            (column(self.inputs.length_scale, outputs), to_length_scale),
            // Whole numbers of the same size as the entries, which are only copied.
            (column(widths.as_ptr().cast(), layers), to_widths),
            (column(scales.as_ptr(), 2), to_scales),
        ];
        for (from, to) in copies {
            if !to.is_empty() {
                // SAFETY: the host's matrices, and as large ones in the arena.
                unsafe { copy_matrix(&from, &arena.mat(&to)) };
            }
        }
        Ok(())
    }

    /// Widths of the network's layers.
    fn widths(&self) -> Result<Vec<i64>> {
        // SAFETY: null, or alive as long as the fit.
        let Some(network) = (unsafe { self.table.network.as_ref() }) else { return Ok(Vec::new()) };
        let count = usize::try_from(network.n_widths).ok().filter(|&n| n > 0 && !network.widths.is_null());
        let count = count.ok_or_else(|| Failure::invalid("the network has no layers"))?;
        // SAFETY: not null; so many by the interface.
        Ok(unsafe { std::slice::from_raw_parts(network.widths, count) }.to_vec())
    }

    fn batch(&self, request: &Frame, process: &Process) -> Result<Reply> {
        let [want, stream, offset, ..] = *request.integers();
        let region = Region::column(offset, want, process.arena.size(), "rows")?;
        let stream = u32::try_from(stream).map_err(|_| Wrong(format!("the stream {stream}")))?;
        let mut got = 0;
        let batch = self.table.batch.expect("checked when made");
        let rows = process.arena.address(&region).cast::<i64>();
        // SAFETY: live fit, room for `want` rows, and a place for their number.
        let status = unsafe { batch(self.table, stream, rows, want, &mut got) };
        Ok(Reply::with(status, &[got]))
    }

    fn note(&self, request: &Frame) -> Result<Reply> {
        let (step, name) = (request.integer("iteration")?, request.text("name")?);
        let value = request.number("value")?;
        let Some(ask) = self.table.extension else { return Ok(Reply::default()) };
        // SAFETY: live fit, static id; by its contract the answer is such a table that lives as long as it.
        let trace = unsafe { answer::<abi::FitTrace>(ask(self.table, &Str::new(abi::id::FIT_TRACE))) };
        let Some(note) = trace.and_then(|trace| trace.note) else { return Ok(Reply::default()) };
        // SAFETY: live fit; the name is copied before the call returns.
        Ok(unsafe { note(self.table, step, &borrow(name), value) }.into())
    }
}

impl Server for Fit<'_> {
    fn serve(&mut self, request: &Frame, process: &Process) -> Result<Reply> {
        let [first, second, third, ..] = *request.integers();
        let status: Status = match request.kind {
            kind::BATCH => return self.batch(request, process),
            kind::NOTE => return self.note(request),
            kind::CHARGE => {
                let charge = self.table.charge.expect("checked when made");
                // SAFETY: live fit.
                unsafe { charge(self.table, first, second, third) }
            }
            kind::OBSERVE => {
                let observe = self.table.observe.expect("checked when made");
                // SAFETY: live fit.
                unsafe { observe(self.table, first, request.real()) }
            }
            kind::GET => match &mut self.store {
                Some(store) => return store.serve(request, process),
                None => return Ok(refuse(request, process)),
            },
            _ => return Ok(refuse(request, process)),
        };
        Ok(status.into())
    }
}
