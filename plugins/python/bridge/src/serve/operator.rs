//! Requests to the operator: products, entries, features, and counting.

use std::ffi::c_void;

use gpbench_abi::{self as abi, Mat, Status, Str};

use super::{indices, matrix};
use crate::failure::{Failure, Result};
use crate::frame::{Frame, flag, kind};
use crate::host::answer;
use crate::process::{Process, Reply};
use crate::region::{Extent, disjoint};

/// The operator of a problem.
#[derive(Debug, Clone, Copy)]
pub struct Operator<'a>(&'a abi::Operator);

impl<'a> Operator<'a> {
    /// Checks an operator of the interface.
    ///
    /// # Safety
    /// `raw` is null or points to an operator that lives during `'a`.
    pub unsafe fn new(raw: *const abi::Operator) -> Result<Operator<'a>> {
        let bad = |why: &str| Failure::invalid(format!("the operator {why}"));
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if raw.is_null() || unsafe { (*raw).size } < size_of::<abi::Operator>() as u32 {
            return Err(bad("is null or too small"));
        }
        // SAFETY: as above.
        let table = unsafe { &*raw };
        if table.apply.is_none() || table.diag.is_none() || table.charge.is_none() {
            return Err(bad("lacks a function"));
        }
        if table.n < 0 || table.m < 0 {
            return Err(bad("has a negative size"));
        }
        Ok(Operator(table))
    }

    /// Number of rows.
    pub fn n(&self) -> i64 {
        self.0.n
    }

    /// Number of columns.
    pub fn m(&self) -> i64 {
        self.0.m
    }

    /// Asks for an extension, one of [`abi::id`].
    pub fn extension<T>(&self, id: &'static str) -> Option<&'a T> {
        let ask = self.0.extension?;
        // SAFETY: live operator, static id; by its contract the answer is a `T` that lives as long as it.
        unsafe { answer(ask(self.0, &Str::new(id))) }
    }

    /// The operator that a request means: the one in mixed precision where it asks for that and there is one.
    fn meant(&self, request: &Frame) -> &'a abi::Operator {
        let mixed = || self.extension::<abi::Operator>(abi::id::MIXED);
        if request.flags & flag::MIXED == 0 { self.0 } else { mixed().unwrap_or(self.0) }
    }

    /// Whether a request counts entries, so that it is refused once the solve has been stopped.
    pub fn counts(kind: u16) -> bool {
        matches!(kind, kind::APPLY | kind::ROWS | kind::FUSED | kind::COLUMNS | kind::BLOCK | kind::CHARGE)
    }

    /// Serves a request; none if it is not one to the operator.
    pub fn serve(&self, request: &Frame, process: &Process) -> Result<Option<Reply>> {
        let status = match request.kind {
            kind::APPLY => self.apply(request, process),
            kind::ROWS => self.rows(request, process),
            kind::FUSED => self.fused(request, process),
            kind::COLUMNS => self.columns(request, process),
            kind::BLOCK => self.block(request, process),
            kind::DIAG => self.diag(request, process),
            kind::FEATURES | kind::FEATURES_T => self.features(request, process),
            kind::CHARGE => {
                let charge = self.0.charge.expect("checked when made");
                // SAFETY: live operator.
                Ok(unsafe { charge(self.0, request.integers()[0]) })
            }
            _ => return Ok(None),
        };
        status.map(|status| Some(status.into()))
    }

    fn apply(&self, request: &Frame, process: &Process) -> Result<Status> {
        let (op, arena, i) = (self.meant(request), &process.arena, request.integers());
        let x = matrix(i, 0, (Extent::Exactly(op.m), Extent::Any), arena, "x")?;
        let y = matrix(i, 4, (Extent::Exactly(op.n), Extent::Exactly(x.cols)), arena, "y")?;
        disjoint(&[("x", x), ("y", y)])?;
        let Some(apply) = op.apply else { return Ok(Status::UNSUPPORTED) };
        // SAFETY: live operator, matrices of the right shapes that do not overlap.
        Ok(unsafe { apply(op, &arena.mat(&x), &mut arena.mat(&y)) })
    }

    fn rows(&self, request: &Frame, process: &Process) -> Result<Status> {
        let (op, arena, i) = (self.meant(request), &process.arena, request.integers());
        let (place, rows) = indices((i[8], i[9]), op.n, arena, "rows")?;
        let x = matrix(i, 0, (Extent::Exactly(op.m), Extent::Any), arena, "x")?;
        let y = matrix(i, 4, (Extent::Exactly(place.rows), Extent::Exactly(x.cols)), arena, "y")?;
        disjoint(&[("x", x), ("rows", place), ("y", y)])?;
        let table = Operator(op).extension::<abi::Rows>(abi::id::ROWS);
        let Some(apply) = table.and_then(|table| table.apply) else { return Ok(Status::UNSUPPORTED) };
        // SAFETY: live operator, checked indices, matrices of the right shapes that do not overlap.
        Ok(unsafe { apply(op, rows.as_ptr(), place.rows, &arena.mat(&x), &mut arena.mat(&y)) })
    }

    fn fused(&self, request: &Frame, process: &Process) -> Result<Status> {
        let (op, arena, i) = (self.meant(request), &process.arena, request.integers());
        let (place, rows) = indices((i[12], i[13]), op.n, arena, "rows")?;
        let x = matrix(i, 0, (Extent::Exactly(op.m), Extent::Any), arena, "x")?;
        let u = matrix(i, 4, (Extent::Exactly(place.rows), Extent::Exactly(x.cols)), arena, "u")?;
        let z = matrix(i, 8, (Extent::Exactly(op.m), Extent::Exactly(x.cols)), arena, "z")?;
        disjoint(&[("x", x), ("rows", place), ("u", u), ("z", z)])?;
        let table = Operator(op).extension::<abi::Rows>(abi::id::ROWS);
        let Some(fused) = table.and_then(|table| table.fused) else { return Ok(Status::UNSUPPORTED) };
        let mut callback = Callback { process, outcome: Ok(()) };
        let function: unsafe extern "C" fn(*mut c_void, *mut Mat) = Callback::call;
        let function = (request.flags & flag::TRANSFORM != 0).then_some(function);
        let ctx: *mut Callback<'_> = &raw mut callback;
        // SAFETY: live operator, checked indices, matrices of the right shapes that do not overlap; the callback
        // outlives the call, which is the only one to use it.
        let status = unsafe {
            let (x, mut u, mut z) = (arena.mat(&x), arena.mat(&u), arena.mat(&z));
            fused(op, rows.as_ptr(), place.rows, &x, &mut u, function, ctx.cast(), &mut z)
        };
        callback.outcome?;
        Ok(status)
    }

    fn columns(&self, request: &Frame, process: &Process) -> Result<Status> {
        let (op, arena, i) = (self.meant(request), &process.arena, request.integers());
        let (place, cols) = indices((i[8], i[9]), op.m, arena, "cols")?;
        let x = matrix(i, 0, (Extent::Exactly(place.rows), Extent::Any), arena, "x")?;
        let y = matrix(i, 4, (Extent::Exactly(op.n), Extent::Exactly(x.cols)), arena, "y")?;
        disjoint(&[("x", x), ("cols", place), ("y", y)])?;
        let table = Operator(op).extension::<abi::Columns>(abi::id::COLUMNS);
        let Some(update) = table.and_then(|table| table.update) else { return Ok(Status::UNSUPPORTED) };
        // SAFETY: live operator, checked indices, matrices of the right shapes that do not overlap.
        Ok(unsafe { update(op, cols.as_ptr(), place.rows, &arena.mat(&x), &mut arena.mat(&y)) })
    }

    fn block(&self, request: &Frame, process: &Process) -> Result<Status> {
        let (op, arena, i) = (self.0, &process.arena, request.integers());
        let (row_place, rows) = indices((i[4], i[5]), op.n, arena, "rows")?;
        let (col_place, cols) = indices((i[6], i[7]), op.m, arena, "cols")?;
        let shape = (Extent::Exactly(row_place.rows), Extent::Exactly(col_place.rows));
        let out = matrix(i, 0, shape, arena, "out")?;
        disjoint(&[("rows", row_place), ("out", out)])?;
        disjoint(&[("cols", col_place), ("out", out)])?;
        let table = self.extension::<abi::Block>(abi::id::BLOCK);
        let Some(get) = table.and_then(|table| table.get) else { return Ok(Status::UNSUPPORTED) };
        let (n_rows, n_cols) = (row_place.rows, col_place.rows);
        // SAFETY: live operator, checked indices, a matrix of the right shape.
        Ok(unsafe { get(op, rows.as_ptr(), n_rows, cols.as_ptr(), n_cols, &mut arena.mat(&out)) })
    }

    fn diag(&self, request: &Frame, process: &Process) -> Result<Status> {
        let arena = &process.arena;
        let shape = (Extent::Exactly(self.0.n), Extent::Exactly(1));
        let out = matrix(request.integers(), 0, shape, arena, "out")?;
        let diag = self.0.diag.expect("checked when made");
        // SAFETY: live operator, a matrix of the right shape.
        Ok(unsafe { diag(self.0, &mut arena.mat(&out)) })
    }

    /// `FEATURES` has w, then y; `FEATURES_T` has y, then w. The first one is the input.
    fn features(&self, request: &Frame, process: &Process) -> Result<Status> {
        let (arena, i) = (&process.arena, request.integers());
        let (seed, count) = (i[8] as u64, i[9]);
        let is_transposed = request.kind == kind::FEATURES_T;
        let (rows_in, rows_out) = if is_transposed { (self.0.m, count) } else { (count, self.0.m) };
        let input = matrix(i, 0, (Extent::Exactly(rows_in), Extent::Any), arena, "the input")?;
        let shape = (Extent::Exactly(rows_out), Extent::Exactly(input.cols));
        let output = matrix(i, 4, shape, arena, "the output")?;
        disjoint(&[("the input", input), ("the output", output)])?;
        let table = self.extension::<abi::Features>(abi::id::FEATURES);
        let function = table.and_then(|t| if is_transposed { t.apply_transposed } else { t.apply });
        let Some(function) = function else { return Ok(Status::UNSUPPORTED) };
        // SAFETY: live operator, matrices of the right shapes that do not overlap.
        Ok(unsafe { function(self.0, seed, count, &arena.mat(&input), &mut arena.mat(&output)) })
    }
}

/// The transform of a fused product, which the child makes in place.
struct Callback<'p> {
    process: &'p Process,
    outcome: Result<()>,
}

impl Callback<'_> {
    unsafe extern "C" fn call(ctx: *mut c_void, _: *mut Mat) {
        // SAFETY: the host passes on the pointer to a callback that outlives the call, once.
        let callback = unsafe { &mut *ctx.cast::<Self>() };
        // Errors are passed on when the host has returned. No call in it panics across the host.
        callback.outcome = callback.process.transform();
    }
}
