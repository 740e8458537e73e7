//! The matrix A, known through its products.

use std::any::Any;
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use gpbench_abi as abi;
use ndarray::{Array1, ArrayRef2, ArrayView2, ArrayViewMut2, Axis};

use crate::error::{Error, Result};
use crate::matrix::{view, view_mut, with_input, with_output};

/// Some rows or columns of A.
#[derive(Debug, Clone)]
pub enum Select<'i> {
    /// All of them, in order.
    All,
    /// A contiguous range.
    Range(Range<usize>),
    /// Those listed, in this order.
    These(&'i [usize]),
}

impl From<Range<usize>> for Select<'_> {
    fn from(range: Range<usize>) -> Self {
        Select::Range(range)
    }
}

impl<'i> From<&'i [usize]> for Select<'i> {
    fn from(indices: &'i [usize]) -> Self {
        Select::These(indices)
    }
}

impl<'i, const N: usize> From<&'i [usize; N]> for Select<'i> {
    fn from(indices: &'i [usize; N]) -> Self {
        Select::These(indices)
    }
}

impl Select<'_> {
    /// How many there are, out of `all`.
    fn count(&self, all: usize) -> usize {
        match self {
            Select::All => all,
            Select::Range(range) => range.len(),
            Select::These(indices) => indices.len(),
        }
    }

    /// The indices as they cross the interface (none: all), checked.
    fn indices(&self, all: usize, what: &str) -> Result<Option<Vec<i64>>> {
        let indices: Vec<i64> = match self {
            Select::All => return Ok(None),
            Select::Range(range) => range.clone().map(|index| index as i64).collect(),
            Select::These(indices) => indices.iter().map(|&index| index as i64).collect(),
        };
        match indices.iter().find(|&&index| index as u64 >= all as u64) {
            Some(index) => Err(Error::InvalidArgument(format!("{what} {index} of {all}"))),
            None => Ok(Some(indices)),
        }
    }
}

/// Pointer and count of checked indices.
fn raw(indices: &Option<Vec<i64>>, all: usize) -> (*const i64, i64) {
    match indices {
        Some(indices) if indices.is_empty() => (std::ptr::NonNull::dangling().as_ptr(), 0),
        Some(indices) => (indices.as_ptr(), indices.len() as i64),
        None => (std::ptr::null(), all as i64),
    }
}

/// Kernel families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// exp(-r^2 / 2).
    Rbf,
    /// exp(-r).
    Matern12,
    /// (1 + a) exp(-a), a = sqrt(3) r.
    Matern32,
    /// (1 + a + a^2 / 3) exp(-a), a = sqrt(5) r.
    Matern52,
}

/// What A is made of: A = K + noise_scale^2 I, K = signal_scale^2 k(X, X); with basis points Z,
/// A = signal_scale^2 k(X, Z) without noise; with scales, A = S K S + noise_scale^2 I, S = diag(scales).
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// Kernel family of k.
    pub family: Family,
    /// Standardised inputs, n x d.
    pub x: ArrayView2<'a, f64>,
    /// Basis points of the columns, m x d; none if they are the inputs themselves.
    pub basis: Option<ArrayView2<'a, f64>>,
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// Standard deviation of the noise.
    pub noise_scale: f64,
    /// One length scale an input.
    pub length_scale: &'a [f64],
    /// One scale a row, where there are such: square roots of how often inputs stand in a data set whose
    /// repeated inputs are collapsed.
    pub scales: Option<&'a [f64]>,
}

/// A matrix A with n rows and m columns, known through its products.
///
/// A = K(X, X) + noise_scale^2 I, or with inducing points A = K(X, Z), see [`Operator::inputs`]. Every call
/// counts the kernel entries it uses, n^2 of them being one epoch, and fails with [`Error::Stopped`] once
/// the budget is spent. Arguments may have any layout; column-major ones
/// (`.f()`) are passed on without a copy. A handle: cheap to copy, independent of the problem's borrow.
#[derive(Debug, Clone, Copy)]
pub struct Operator<'a> {
    raw: *const abi::Operator,
    n: usize,
    m: usize,
    life: PhantomData<&'a abi::Operator>,
}

impl<'a> Operator<'a> {
    /// Checks an operator of the interface.
    ///
    /// # Safety
    /// `raw` is null or points to an operator that lives during `'a`.
    pub(crate) unsafe fn new(raw: *const abi::Operator) -> Result<Operator<'a>> {
        let bad = |why: &str| Error::InvalidArgument(format!("the operator {why}"));
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if raw.is_null() || unsafe { (*raw).size } < size_of::<abi::Operator>() as u32 {
            return Err(bad("is null or too small"));
        }
        // SAFETY: as above.
        let op = unsafe { &*raw };
        if op.apply.is_none() || op.diag.is_none() || op.charge.is_none() || op.extension.is_none() {
            return Err(bad("lacks a function"));
        }
        let n = usize::try_from(op.n).map_err(|_| bad("has a negative number of rows"))?;
        let m = usize::try_from(op.m).map_err(|_| bad("has a negative number of columns"))?;
        Ok(Operator { raw, n, m, life: PhantomData })
    }

    fn table(&self) -> &abi::Operator {
        // SAFETY: checked when made, alive during `'a`.
        unsafe { &*self.raw }
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns; n except with inducing points.
    pub fn m(&self) -> usize {
        self.m
    }

    /// y = A x, with x m x s and y n x s. Counts n m entries, whatever s.
    pub fn apply(&self, x: &ArrayRef2<f64>, y: &mut ArrayRef2<f64>) -> Result<()> {
        let s = x.ncols();
        shape("apply: x", x, self.m, s)?;
        shape("apply: y", y, self.n, s)?;
        let apply = self.table().apply.expect("checked when made");
        let status = with_input(x, |x| {
            with_output(y, |y| {
                // SAFETY: live operator, matrices of the right shapes that do not overlap.
                unsafe { apply(self.raw, x, y) }
            })
        });
        Error::check("apply", status)
    }

    /// The same matrix with products in mixed precision: about half the time, and right to a relative 1e-6
    /// or so; blocks as precise as ever. This operator itself where the host has no such form.
    pub fn mixed(&self) -> Operator<'a> {
        let raw = self.extension::<abi::Operator>(abi::id::MIXED);
        // SAFETY: by that extension's contract, an operator that lives as long as this one.
        raw.and_then(|raw| unsafe { Operator::new(raw) }).unwrap_or(*self)
    }

    /// The diagonal of A. Counts nothing. Fails with inducing points, where A has none.
    pub fn diagonal(&self) -> Result<Array1<f64>> {
        let mut out = ndarray::Array2::zeros((self.n, 1));
        let diag = self.table().diag.expect("checked when made");
        // SAFETY: live operator, an n x 1 matrix.
        let status = with_output(&mut out, |out| unsafe { diag(self.raw, out) });
        Error::check("diag", status)?;
        Ok(out.remove_axis(Axis(1)))
    }

    /// Reports kernel entries that the solver evaluated by itself.
    pub fn charge(&self, entries: usize) -> Result<()> {
        let charge = self.table().charge.expect("checked when made");
        // SAFETY: live operator.
        Error::check("charge", unsafe { charge(self.raw, entries as i64) })
    }

    /// y = A\[rows, :\] x, with x m x s and y |rows| x s. Counts |rows| m entries.
    pub fn apply_rows<'i>(
        &self,
        rows: impl Into<Select<'i>>,
        x: &ArrayRef2<f64>,
        y: &mut ArrayRef2<f64>,
    ) -> Result<()> {
        let (rows, s) = (rows.into(), x.ncols());
        shape("apply_rows: x", x, self.m, s)?;
        shape("apply_rows: y", y, rows.count(self.n), s)?;
        let apply = self.extension::<abi::Rows>(abi::id::ROWS)?.apply;
        let apply = apply.ok_or_else(|| missing(abi::id::ROWS))?;
        let indices = rows.indices(self.n, "row")?;
        let (index, count) = raw(&indices, self.n);
        let status = with_input(x, |x| {
            with_output(y, |y| {
                // SAFETY: live operator, checked indices, matrices of the right shapes that do not overlap.
                unsafe { apply(self.raw, index, count, x, y) }
            })
        });
        Error::check("rows.apply", status)
    }

    /// u = A\[rows, :\] x, then `transform(u)`, then z += A\[rows, :\]^T u: a minibatch of a
    /// least-squares gradient, for which |rows| m entries are counted once.
    ///
    /// Shapes: x m x s, u |rows| x s, z m x s.
    pub fn apply_rows_and_back<'i>(
        &self,
        rows: impl Into<Select<'i>>,
        x: &ArrayRef2<f64>,
        u: &mut ArrayRef2<f64>,
        z: &mut ArrayRef2<f64>,
        transform: impl FnMut(ArrayViewMut2<'_, f64>),
    ) -> Result<()> {
        let (rows, s) = (rows.into(), x.ncols());
        shape("apply_rows_and_back: x", x, self.m, s)?;
        shape("apply_rows_and_back: u", u, rows.count(self.n), s)?;
        shape("apply_rows_and_back: z", z, self.m, s)?;
        let fused = self.extension::<abi::Rows>(abi::id::ROWS)?.fused;
        let fused = fused.ok_or_else(|| missing(abi::id::ROWS))?;
        let indices = rows.indices(self.n, "row")?;
        let (index, count) = raw(&indices, self.n);
        let mut callback = Callback { transform, panic: None };
        let (function, ctx) = callback.raw();
        let status = with_input(x, |x| {
            with_output(u, |u| {
                with_output(z, |z| {
                    // SAFETY: live operator, checked indices, matrices of the right shapes that do not
                    // overlap; the callback outlives the call, which is the only one to use it.
                    unsafe { fused(self.raw, index, count, x, u, Some(function), ctx, z) }
                })
            })
        });
        if let Some(payload) = callback.panic {
            resume_unwind(payload);
        }
        Error::check("rows.fused", status)
    }

    /// y += A\[:, cols\] x, with x |cols| x s and y n x s. Counts n |cols| entries.
    pub fn update_columns<'i>(
        &self,
        cols: impl Into<Select<'i>>,
        x: &ArrayRef2<f64>,
        y: &mut ArrayRef2<f64>,
    ) -> Result<()> {
        let (cols, s) = (cols.into(), x.ncols());
        shape("update_columns: x", x, cols.count(self.m), s)?;
        shape("update_columns: y", y, self.n, s)?;
        let update = self.extension::<abi::Columns>(abi::id::COLUMNS)?.update;
        let update = update.ok_or_else(|| missing(abi::id::COLUMNS))?;
        let indices = cols.indices(self.m, "column")?;
        let (index, count) = raw(&indices, self.m);
        let status = with_input(x, |x| {
            with_output(y, |y| {
                // SAFETY: live operator, checked indices, matrices of the right shapes that do not overlap.
                unsafe { update(self.raw, index, count, x, y) }
            })
        });
        Error::check("columns.update", status)
    }

    /// out = A\[rows, cols\]; the noise variance stands where a row's index equals a column's, unless
    /// the columns have basis points of their own. Counts |rows| |cols| entries.
    pub fn block<'r, 'c>(
        &self,
        rows: impl Into<Select<'r>>,
        cols: impl Into<Select<'c>>,
        out: &mut ArrayRef2<f64>,
    ) -> Result<()> {
        let (rows, cols) = (rows.into(), cols.into());
        shape("block: out", out, rows.count(self.n), cols.count(self.m))?;
        let get = self.extension::<abi::Block>(abi::id::BLOCK)?.get;
        let get = get.ok_or_else(|| missing(abi::id::BLOCK))?;
        let (rows, cols) = (rows.indices(self.n, "row")?, cols.indices(self.m, "column")?);
        let ((row, n_rows), (col, n_cols)) = (raw(&rows, self.n), raw(&cols, self.m));
        let status = with_output(out, |out| {
            // SAFETY: live operator, checked indices, a matrix of the right shape.
            unsafe { get(self.raw, row, n_rows, col, n_cols, out) }
        });
        Error::check("block.get", status)
    }

    /// What A is made of. Entries evaluated from it are to be reported by [`charge`](Self::charge).
    pub fn inputs(&self) -> Result<Inputs<'a>> {
        let inputs = self.extension::<abi::Inputs>(abi::id::INPUTS)?;
        let is_scaled = inputs.family & abi::family::SCALED != 0;
        let family = match inputs.family & !abi::family::SCALED {
            abi::family::RBF => Family::Rbf,
            abi::family::MATERN12 => Family::Matern12,
            abi::family::MATERN32 => Family::Matern32,
            abi::family::MATERN52 => Family::Matern52,
            other => return Err(Error::Unsupported(format!("kernel family {other} is unknown to this SDK"))),
        };
        // SAFETY: the extension and what it points to live as long as the operator, unchanged.
        let x = unsafe { view(&inputs.x, "the inputs") }?;
        let basis = match inputs.basis.data.is_null() {
            true => None,
            // SAFETY: as above.
            false => Some(unsafe { view(&inputs.basis, "the basis points") }?),
        };
        if inputs.length_scale.is_null() {
            return Err(Error::InvalidArgument("the length scales are null".into()));
        }
        if is_scaled && inputs.scales.is_null() {
            return Err(Error::InvalidArgument("the scales are null".into()));
        }
        // SAFETY: as above; one length scale an input.
        let length_scale = unsafe { std::slice::from_raw_parts(inputs.length_scale, x.ncols()) };
        // SAFETY: as above; one scale a row.
        let scales = is_scaled.then(|| unsafe { std::slice::from_raw_parts(inputs.scales, x.nrows()) });
        let (signal_scale, noise_scale) = (inputs.signal_scale, inputs.noise_scale);
        Ok(Inputs { family, x, basis, signal_scale, noise_scale, length_scale, scales })
    }

    /// y = Phi w for the `w.nrows()` (an even number of) random Fourier features drawn from `seed`,
    /// E\[Phi Phi^T\] = K at the columns' points: the inputs or, with inducing points, the basis
    /// points; S K S with scales, see [`Inputs`]. y is m x s. Counts no entries.
    pub fn features(&self, seed: u64, w: &ArrayRef2<f64>, y: &mut ArrayRef2<f64>) -> Result<()> {
        shape("features: y", y, self.m, w.ncols())?;
        let apply = self.extension::<abi::Features>(abi::id::FEATURES)?.apply;
        let apply = apply.ok_or_else(|| missing(abi::id::FEATURES))?;
        let count = w.nrows() as i64;
        let status = with_input(w, |w| {
            with_output(y, |y| {
                // SAFETY: live operator, matrices of the right shapes that do not overlap.
                unsafe { apply(self.raw, seed, count, w, y) }
            })
        });
        Error::check("features.apply", status)
    }

    /// w = Phi^T y, with y m x s, see [`features`](Self::features).
    pub fn features_transposed(&self, seed: u64, y: &ArrayRef2<f64>, w: &mut ArrayRef2<f64>) -> Result<()> {
        shape("features_transposed: y", y, self.m, w.ncols())?;
        let apply = self.extension::<abi::Features>(abi::id::FEATURES)?.apply_transposed;
        let apply = apply.ok_or_else(|| missing(abi::id::FEATURES))?;
        let count = w.nrows() as i64;
        let status = with_input(y, |y| {
            with_output(w, |w| {
                // SAFETY: live operator, matrices of the right shapes that do not overlap.
                unsafe { apply(self.raw, seed, count, y, w) }
            })
        });
        Error::check("features.apply_transposed", status)
    }

    /// Asks for an optional power, one of [`gpbench_abi::id`].
    fn extension<T>(&self, id: &'static str) -> Result<&'a T> {
        let ask = self.table().extension.expect("checked when made");
        // SAFETY: live operator, static id; by its contract the answer is a `T` that lives as long as it.
        unsafe { answer(ask(self.raw, &abi::Str::new(id))) }.ok_or_else(|| missing(id))
    }
}

/// Reads the answer to a request for an extension: none if it is null or smaller than it should be.
///
/// # Safety
/// `pointer` is null or points to a `T`, or a shorter forerunner of it, that lives during `'a` and
/// begins with its size, as every extension does.
pub(crate) unsafe fn answer<'a, T>(pointer: *const c_void) -> Option<&'a T> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    let size = unsafe { pointer.cast::<u32>().read() };
    // SAFETY: as above, and large enough to be one.
    (size as usize >= size_of::<T>()).then(|| unsafe { &*pointer.cast::<T>() })
}

fn missing(id: &str) -> Error {
    Error::Unsupported(format!("the host does not offer `{id}` here"))
}

fn shape(what: &str, array: &ArrayRef2<f64>, rows: usize, cols: usize) -> Result<()> {
    if array.dim() == (rows, cols) {
        return Ok(());
    }
    let (r, c) = array.dim();
    Err(Error::InvalidArgument(format!("{what} is {r} x {c}, expected {rows} x {cols}")))
}

/// A closure on its way through the host.
struct Callback<F> {
    transform: F,
    panic: Option<Box<dyn Any + Send>>,
}

impl<F: FnMut(ArrayViewMut2<'_, f64>)> Callback<F> {
    fn raw(&mut self) -> (unsafe extern "C" fn(*mut c_void, *mut abi::Mat), *mut c_void) {
        (Self::call, (&raw mut *self).cast())
    }

    unsafe extern "C" fn call(ctx: *mut c_void, u: *mut abi::Mat) {
        // SAFETY: the host passes on the pointer of `raw`, whose callback outlives the call, once.
        let callback = unsafe { &mut *ctx.cast::<Self>() };
        let transform = &mut callback.transform;
        // No panic may cross the host: it is kept, and goes on once the host has returned.
        callback.panic = catch_unwind(AssertUnwindSafe(|| {
            assert!(!u.is_null(), "the host passed a null matrix");
            // SAFETY: the host's matrix, not null, ours alone during the call.
            match unsafe { view_mut(&*u, "the transform's argument") } {
                Ok(u) => transform(u),
                Err(error) => panic!("{error}"),
            }
        }))
        .err();
    }
}

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
