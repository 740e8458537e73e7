//! Data of a fit, and the host's calls during it.

use std::cell::{Cell, RefCell};

use gpbench_abi as abi;
use gpbench_terms::{Activation, Covariance, LogLevel, NetworkShape};
use ndarray::{ArrayView1, ArrayView2};

use crate::error::{Error, Result};
use crate::extension::{answer, read_inputs};
use crate::matrix::view;
use crate::problem::log_line;
use crate::text::borrow;
use crate::{Inputs, Workers};

/// Training data, kernel, starting values and budget of a fit, and the host's minibatches.
///
/// A handle of the host's tables: it lives until the call that it is passed to returns.
#[derive(Debug)]
pub struct Fit<'a> {
    raw: *const abi::Fit,
    table: &'a abi::Fit,
    host: &'a abi::Host,
    inputs: Inputs<'a>,
    y: ArrayView1<'a, f64>,
    network: Option<NetworkShape>,
    /// Number of the step under way, counted from 1.
    pub(crate) step: Cell<usize>,
    is_stopped: Cell<bool>,
    buffer: RefCell<Vec<i64>>,
}

/// Streams of batches, for [`Fit::batch`]: a number, and how the stream is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream(u32);

impl Stream {
    /// The stream that counts passes: each pass is a permutation of all rows, drawn anew, and is given in batches.
    pub const MAIN: Stream = Stream(0);

    /// A further stream like [`MAIN`](Self::MAIN), which counts rows but no passes. `MAIN` for 0.
    pub const fn new(number: u16) -> Stream {
        Stream(number as u32)
    }

    /// A stream with the same permutation in each pass, for subsets that do not change.
    #[must_use]
    pub const fn same_each_pass(self) -> Stream {
        Stream(self.0 | abi::stream::SAME_EACH_PASS)
    }

    /// A stream whose batches are each drawn from all rows, without repeats inside a batch; a pass is n rows.
    #[must_use]
    pub const fn independent(self) -> Stream {
        Stream(self.0 | abi::stream::INDEPENDENT)
    }
}

impl<'a> Fit<'a> {
    /// Checks a fit of the interface.
    ///
    /// # Safety
    /// `raw` is null or points to a fit that lives during `'a`, whose matrices do not change meanwhile.
    pub(crate) unsafe fn new(raw: *const abi::Fit, host: &'a abi::Host) -> Result<Fit<'a>> {
        let bad = |why: &str| Error::InvalidArgument(format!("the fit {why}"));
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if raw.is_null() || unsafe { (*raw).size } < size_of::<abi::Fit>() as u32 {
            return Err(bad("is null or too small"));
        }
        // SAFETY: as above.
        let table = unsafe { &*raw };
        let functions = [table.batch.is_some(), table.charge.is_some(), table.observe.is_some()];
        if functions.contains(&false) || table.extension.is_none() {
            return Err(bad("lacks a function"));
        }
        if table.inputs.is_null() || table.y.is_null() {
            return Err(bad("has no inputs or no targets"));
        }
        // SAFETY: promised by the interface: null, or alive as long as the fit.
        let network = unsafe { table.network.as_ref() }.map(|network| {
            // SAFETY: as above.
            unsafe { read_network(network) }
        });
        let network = network.transpose()?;
        let scales = network.as_ref().map(NetworkShape::outputs);
        // SAFETY: promised by the interface: alive and unchanged as long as the fit.
        let inputs = unsafe { read_inputs(&*table.inputs, scales) }?;
        // SAFETY: as above.
        let y = unsafe { view(&*table.y, "the targets") }?;
        if y.dim() != (inputs.x.nrows(), 1) {
            return Err(bad(&format!(
                "has inputs and targets of shapes {:?} and {:?}",
                inputs.x.dim(),
                y.dim()
            )));
        }
        let y = y.index_axis_move(ndarray::Axis(1), 0);
        let (step, is_stopped, buffer) = (Cell::new(0), Cell::new(false), RefCell::default());
        Ok(Fit { raw, table, host, inputs, y, network, step, is_stopped, buffer })
    }

    /// Number of training rows.
    pub fn n(&self) -> usize {
        self.inputs.x.nrows()
    }

    /// Number of inputs.
    pub fn d(&self) -> usize {
        self.inputs.x.ncols()
    }

    /// Inputs, kernel family, the scales to start from, and inducing points chosen by the host.
    ///
    /// With a network, the family is that of the kernel on the network's outputs, and `length_scale` has one
    /// entry for each of them.
    pub fn inputs(&self) -> Inputs<'a> {
        self.inputs
    }

    /// Training inputs, n x d.
    pub fn x(&self) -> ArrayView2<'a, f64> {
        self.inputs.x
    }

    /// Training targets, n, centred.
    pub fn y(&self) -> ArrayView1<'a, f64> {
        self.y
    }

    /// Covariance function.
    pub fn family(&self) -> Covariance {
        self.inputs.family
    }

    /// Prior mean to start from.
    pub fn mean(&self) -> f64 {
        self.table.mean
    }

    /// Whether all inputs have one length scale, which is trained as one number. The starting
    /// `length_scale` then repeats it, and so does the model's.
    pub fn has_shared_length_scale(&self) -> bool {
        self.table.flags & abi::fit_flag::SHARED_LENGTH_SCALE != 0
    }

    /// Whether a constant prior mean is trained too.
    pub fn trains_mean(&self) -> bool {
        self.table.flags & abi::fit_flag::TRAINED_MEAN != 0
    }

    /// The network between inputs and kernel; none where the kernel is on the inputs.
    pub fn network(&self) -> Option<&NetworkShape> {
        self.network.as_ref()
    }

    /// Passes over the training rows that the host will grant at most, for schedules.
    pub fn passes(&self) -> f64 {
        self.table.passes
    }

    /// Seed for the learner's own random numbers.
    pub fn seed(&self) -> u64 {
        self.table.seed
    }

    /// Threads that the learner may use, ready for work.
    pub fn workers(&self) -> Workers<'a> {
        Workers::of(self.host, self.table.threads.max(1) as usize)
    }

    /// The next rows of a stream's shuffle: `size` of them, fewer at the end of a pass, all n where `size` is larger.
    ///
    /// Learners with the same seed and batch size get the same rows. Fails with [`Error::Stopped`] on
    /// [`Stream::MAIN`] when the passes are spent.
    pub fn batch(&self, stream: Stream, size: usize) -> Result<Vec<usize>> {
        let mut rows = Vec::new();
        self.batch_into(stream, size, &mut rows)?;
        Ok(rows)
    }

    /// As [`batch`](Self::batch), into a vector that is used again.
    pub fn batch_into(&self, stream: Stream, size: usize, rows: &mut Vec<usize>) -> Result<()> {
        let want = size.min(self.n());
        if want == 0 {
            return Err(Error::InvalidArgument("batch: a size of zero".into()));
        }
        let mut buffer = self.buffer.borrow_mut();
        buffer.resize(want, 0);
        let mut got = 0;
        let batch = self.table.batch.expect("checked when made");
        // SAFETY: live fit, room for `want` rows, and a place for their number.
        let status = unsafe { batch(self.raw, stream.0, buffer.as_mut_ptr(), want as i64, &mut got) };
        Error::check("batch", status)?;
        let bad = |what: String| Error::Failed(format!("the host's `batch` {what}"));
        let got = usize::try_from(got).ok().filter(|got| (1..=want).contains(got));
        let got = got.ok_or_else(|| bad(format!("did not give between 1 and {want} rows")))?;
        let row = |&row: &i64| {
            let row = usize::try_from(row).ok().filter(|&row| row < self.n());
            row.ok_or_else(|| bad("gave a row that does not exist".into()))
        };
        rows.clear();
        for index in &buffer[..got] {
            rows.push(row(index)?);
        }
        Ok(())
    }

    /// Reports work beside that of the batches' rows, after it is done. It never interrupts a step: whether the time
    /// is up, [`is_stopped`](Self::is_stopped) says.
    pub fn charge(&self, work: Work) -> Result<()> {
        let charge = self.table.charge.expect("checked when made");
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        // SAFETY: live fit.
        let status = unsafe { charge(self.raw, count(work.rows), count(work.entries), count(work.features)) };
        match Error::check("charge", status) {
            Err(Error::Stopped) => {
                self.is_stopped.set(true);
                Ok(())
            }
            other => other,
        }
    }

    /// Whether the host has said, at the last [`charge`](Self::charge), that the time is up. A step or `begin` that
    /// takes long may restore the learner's state and return [`Error::Stopped`] then; others need not ask.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }

    /// Adds a number of the learner's own to the trace, at the step under way, if the host accepts them. The
    /// clock is paused during the call.
    ///
    /// `name` is up to 64 lower-case letters, digits and underscores. A value that is not finite is ignored.
    pub fn note(&self, name: &str, value: f64) -> Result<()> {
        let ask = self.table.extension.expect("checked when made");
        // SAFETY: live fit, static id; by its contract the answer is such a table that lives as long as it.
        let trace = unsafe { answer::<abi::FitTrace>(ask(self.raw, &abi::Str::new(abi::id::FIT_TRACE))) };
        let Some(note) = trace.and_then(|trace| trace.note) else { return Ok(()) };
        // SAFETY: live fit; the name is copied before the call returns.
        Error::check("fit-trace.note", unsafe {
            note(self.raw, self.step.get() as i64, &borrow(name), value)
        })
    }

    /// Writes a line to the case's log.
    pub fn log(&self, level: LogLevel, line: &str) {
        log_line(self.host, level, line);
    }

    /// Reports the step under way to the host. Fails with [`Error::Stopped`] if the fit pauses here.
    pub(crate) fn observe(&self, objective: f64) -> Result<()> {
        let observe = self.table.observe.expect("checked when made");
        // SAFETY: live fit.
        Error::check("observe", unsafe { observe(self.raw, self.step.get() as i64, objective) })
    }

    /// The fit's flags as they cross the interface.
    pub(crate) fn flags(&self) -> u64 {
        self.table.flags
    }
}

/// Work that a learner reports with [`Fit::charge`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Training rows used again, beside those of the batches.
    pub rows: usize,
    /// Kernel entries evaluated.
    pub entries: usize,
    /// Rows taken forward through the network.
    pub features: usize,
}

impl Work {
    /// Kernel entries.
    pub fn entries(entries: usize) -> Work {
        Work { entries, ..Work::default() }
    }

    /// Training rows.
    pub fn rows(rows: usize) -> Work {
        Work { rows, ..Work::default() }
    }

    /// Rows taken forward through the network.
    pub fn features(features: usize) -> Work {
        Work { features, ..Work::default() }
    }
}

/// Reads a network of the interface.
///
/// # Safety
/// Its widths are null or readable.
unsafe fn read_network(network: &abi::Network) -> Result<NetworkShape> {
    let bad = |why: String| Error::InvalidArgument(format!("the network {why}"));
    if (network.size as usize) < size_of::<abi::Network>() {
        return Err(bad("is too small".into()));
    }
    let activation = Activation::from_number(network.activation);
    let unknown = || Error::Unsupported(format!("activation {} is unknown to this SDK", network.activation));
    let activation = activation.ok_or_else(unknown)?;
    let count =
        usize::try_from(network.n_widths).ok().filter(|&count| count > 0 && !network.widths.is_null());
    let count = count.ok_or_else(|| bad("has no layers".into()))?;
    // SAFETY: not null; so many by the interface.
    let widths = unsafe { std::slice::from_raw_parts(network.widths, count) };
    let width = |&width: &i64| {
        let width = usize::try_from(width).ok().filter(|&width| width > 0);
        width.ok_or_else(|| bad("has a layer without outputs".into()))
    };
    let widths = widths.iter().map(width).collect::<Result<_>>()?;
    let random =
        usize::try_from(network.random).map_err(|_| bad("has a negative number of features".into()))?;
    Ok(NetworkShape { widths, activation, random: Some(random).filter(|&count| count > 0) })
}
