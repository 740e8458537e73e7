//! A problem, and the requests of a solver's `prepare` and `solve`.

use std::rc::Rc;

use gpbench_abi::{self as abi, Mat, Status, Str};

use super::operator::Operator;
use super::{column, matrix, spaces, volatile};
use crate::arena::copy_matrix;
use crate::failure::{Failure, Result};
use crate::frame::{Frame, Wrong, kind};
use crate::host::{answer, borrow};
use crate::process::{NoRequests, Process, Reply, Server, refuse};
use crate::region::{Extent, Region};

/// Bits of the extensions in a `PROBLEM` frame.
mod offered {
    pub(super) const ROWS: i64 = 1;
    pub(super) const COLUMNS: i64 = 2;
    pub(super) const BLOCK: i64 = 4;
    pub(super) const INPUTS: i64 = 8;
    pub(super) const FEATURES: i64 = 16;
    pub(super) const MIXED: i64 = 32;
    pub(super) const TARGETS: i64 = 64;
    pub(super) const STATE: i64 = 128;
    pub(super) const VOLATILE: i64 = 256;
    pub(super) const TRACE: i64 = 512;
}

/// A problem of the host's, copied into the arena.
#[derive(Debug)]
pub struct Problem<'a> {
    table: &'a abi::Problem,
    operator: Operator<'a>,
    process: Rc<Process>,
    rhs: Mat,
    x: Mat,
    /// The child's iterate.
    arena_x: Region,
    /// Whether the host has said to stop.
    is_stopped: bool,
    /// Whether the host has asked for the iterate at the last observation.
    wants_iterate: bool,
    /// Whether the host's `x` may be written to.
    is_solving: bool,
}

impl<'a> Problem<'a> {
    /// Checks a problem of the interface and copies it into the arena.
    ///
    /// # Safety
    /// `raw` is null or points to a problem that lives during `'a`.
    pub unsafe fn pass(
        raw: *const abi::Problem,
        object: i64,
        is_solving: bool,
        process: &Rc<Process>,
    ) -> Result<Problem<'a>> {
        let bad = |why: &str| Failure::invalid(format!("the problem {why}"));
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if raw.is_null() || unsafe { (*raw).size } < size_of::<abi::Problem>() as u32 {
            return Err(bad("is null or too small"));
        }
        // SAFETY: as above.
        let table = unsafe { &*raw };
        if table.observe.is_none() || table.rhs.is_null() || table.x.is_null() {
            return Err(bad("lacks a function, right-hand sides or a place for the solution"));
        }
        // SAFETY: the operator lives as long as the problem, and so do the matrices.
        let (operator, rhs, x) = unsafe { (Operator::new(table.op)?, *table.rhs, *table.x) };
        let (n, m, s) = (operator.n(), operator.m(), rhs.cols);
        if (rhs.rows, x.rows, x.cols) != (n, m, s) || s < 0 || rhs.ld < n || x.ld < m {
            return Err(bad("has matrices of wrong shapes"));
        }
        let problem_bits = problem_extensions(table);
        let (bits, d) = operator_extensions(&operator);
        let integers = [
            n,
            m,
            s,
            d,
            table.n_targets,
            table.seed as i64,
            i64::from(table.threads),
            bits | problem_bits,
            0,
            0,
            0,
            0,
            0,
            object,
        ];
        let reals = [table.tolerance, table.max_epochs];
        let answer = process.call(kind::PROBLEM, 0, &integers, &reals, &mut NoRequests)?;
        let arena = &process.arena;
        let [to, arena_x] =
            process.checked(spaces(&answer, [("the right-hand sides", n, s), ("x", m, s)], arena))?;
        // SAFETY: the host's matrices, and as large ones in the arena.
        unsafe {
            copy_matrix(&rhs, &arena.mat(&to));
            copy_matrix(&x, &arena.mat(&arena_x));
        }
        let (process, is_stopped, wants_iterate) = (Rc::clone(process), false, false);
        Ok(Problem { table, operator, process, rhs, x, arena_x, is_stopped, wants_iterate, is_solving })
    }

    /// Number of right-hand sides.
    pub fn columns(&self) -> i64 {
        self.rhs.cols
    }

    /// Copies the child's iterate into the host's `x`.
    pub fn copy_iterate(&self) {
        // SAFETY: matrices of the same shape; the host's is writable during `solve`.
        unsafe { copy_matrix(&self.process.arena.mat(&self.arena_x), &self.x) };
    }

    fn extension<T>(&self, id: &'static str) -> Option<&'a T> {
        problem_extension(self.table, id)
    }

    fn observe(&mut self, request: &Frame) -> Result<Reply> {
        let (arena, i) = (&self.process.arena, request.integers());
        let region = Region::column(i[1], i[2], arena.size(), "norms")?;
        if region.rows != 0 && region.rows != self.columns() {
            return Err(Wrong(format!("{} norms for {} columns", region.rows, self.columns())).into());
        }
        let norms = arena.numbers(&region);
        if std::mem::take(&mut self.wants_iterate) && self.is_solving {
            self.copy_iterate();
        }
        let observe = self.table.observe.expect("checked when made");
        // SAFETY: live problem, norms readable during the call.
        let status = unsafe { observe(self.table, i[0], norms.as_ptr(), norms.len() as i64) };
        self.wants_iterate = status == Status::ITERATE;
        Ok(status.into())
    }

    fn inputs(&self, request: &Frame) -> Result<Reply> {
        let (arena, i) = (&self.process.arena, request.integers());
        let Some(inputs) = self.operator.extension::<abi::Inputs>(abi::id::INPUTS) else {
            return Ok(Status::UNSUPPORTED.into());
        };
        let (n, m, d) = (self.operator.n(), self.operator.m(), inputs.x.cols);
        let is_scaled = inputs.family & abi::family::SCALED != 0;
        let (has_basis, has_scales) = (!inputs.basis.data.is_null(), is_scaled && !inputs.scales.is_null());
        let exactly = |rows, cols| (Extent::Exactly(rows), Extent::Exactly(cols));
        let mut copies = vec![(inputs.x, matrix(i, 0, exactly(n, d), arena, "x")?)];
        if has_basis && i[4] >= 0 {
            copies.push((inputs.basis, matrix(i, 4, exactly(m, d), arena, "basis")?));
        }
        let length_scale = Region::column(i[8], d, arena.size(), "length_scale")?;
        copies.push((column(inputs.length_scale, d), length_scale));
        if has_scales && i[9] >= 0 {
            let scales = Region::column(i[9], n, arena.size(), "scales")?;
            copies.push((column(inputs.scales, n), scales));
        }
        for (from, to) in copies {
            if (from.rows, from.cols) != (to.rows, to.cols) {
                return Ok(Status::INVALID_ARGUMENT.into());
            }
            // SAFETY: the host's matrices, and as large ones in the arena.
            unsafe { copy_matrix(&from, &arena.mat(&to)) };
        }
        let family = i64::from(inputs.family & !abi::family::SCALED);
        let found = [family, i64::from(has_scales), i64::from(has_basis)];
        let mut reply = Reply::with(Status::DONE, &found);
        reply.reals = [inputs.signal_scale, inputs.noise_scale];
        Ok(reply)
    }

    fn targets(&self, request: &Frame) -> Result<Reply> {
        let (arena, i) = (&self.process.arena, request.integers());
        let Some(targets) = self.extension::<abi::Targets>(abi::id::TARGETS) else {
            return Ok(Status::UNSUPPORTED.into());
        };
        let probes = (self.columns() - self.table.n_targets).max(0);
        let shape = (Extent::Exactly(self.operator.n()), Extent::Exactly(probes));
        for (from, first, name) in [(&targets.f, 0, "f"), (&targets.noise, 4, "noise")] {
            let to = matrix(i, first, shape, arena, name)?;
            if (from.rows, from.cols) != (to.rows, to.cols) {
                return Ok(Status::INVALID_ARGUMENT.into());
            }
            // SAFETY: the host's matrix, and a place of its shape in the arena.
            unsafe { copy_matrix(from, &arena.mat(&to)) };
        }
        Ok(Reply::default())
    }

    fn note(&self, request: &Frame) -> Result<Reply> {
        let (iteration, name) = (request.integer("iteration")?, request.text("name")?);
        let value = request.number("value")?;
        let Some(note) = self.extension::<abi::Trace>(abi::id::TRACE).and_then(|table| table.note) else {
            return Ok(Reply::default());
        };
        // SAFETY: live problem; the name is copied before the call returns.
        Ok(unsafe { note(self.table, iteration, &borrow(name), value) }.into())
    }

    fn load_state(&self, request: &Frame) -> Result<Reply> {
        let arena = &self.process.arena;
        let (key, capacity) = (request.text("key")?, request.integer("capacity")?);
        let region = bytes_at(request.integer("offset")?, capacity, arena.size())?;
        let table = self.extension::<abi::State>(abi::id::STATE);
        let Some(load) = table.and_then(|table| table.load) else { return Ok(Reply::default()) };
        let mut length = 0;
        let to = arena.address(&region).cast::<u8>();
        // SAFETY: live problem, and as many bytes as it is said to.
        let status = unsafe { load(self.table, &borrow(key), to, capacity, &mut length) };
        Ok(Reply::with(status, &[length]))
    }

    fn save_state(&self, request: &Frame) -> Result<Reply> {
        let arena = &self.process.arena;
        let (key, length) = (request.text("key")?, request.integer("length")?);
        let region = bytes_at(request.integer("offset")?, length, arena.size())?;
        let table = self.extension::<abi::State>(abi::id::STATE);
        let Some(save) = table.and_then(|table| table.save) else { return Ok(Reply::default()) };
        let from = arena.address(&region).cast::<u8>();
        // SAFETY: live problem, and bytes that are readable during the call.
        Ok(unsafe { save(self.table, &borrow(key), from, length) }.into())
    }
}

impl Server for Problem<'_> {
    fn serve(&mut self, request: &Frame, process: &Process) -> Result<Reply> {
        let counts = Operator::counts(request.kind) || request.kind == kind::OBSERVE;
        if self.is_stopped && counts {
            return Ok(Status::STOPPED.into());
        }
        let served = self.operator.serve(request, process)?;
        let reply = match (served, request.kind) {
            (Some(reply), _) => reply,
            (None, kind::OBSERVE) => self.observe(request)?,
            (None, kind::INPUTS) => self.inputs(request)?,
            (None, kind::TARGETS) => self.targets(request)?,
            (None, kind::NOTE) => self.note(request)?,
            (None, kind::LOAD_STATE) => self.load_state(request)?,
            (None, kind::SAVE_STATE) => self.save_state(request)?,
            (None, kind::KEEP) => {
                volatile::keep(self.table, self.extension(abi::id::VOLATILE), request, &self.process)?
            }
            (None, kind::TAKE) => {
                volatile::take(self.table, self.extension(abi::id::VOLATILE), request, &self.process)?
            }
            _ => return Ok(refuse(request, process)),
        };
        self.is_stopped |= counts && reply.status == Status::STOPPED.0;
        Ok(reply)
    }
}

/// A place for bytes in the arena.
fn bytes_at(offset: i64, bytes: i64, size: i64) -> Result<Region, Wrong> {
    let words = bytes.checked_add(7).filter(|_| bytes >= 0).map(|bytes| bytes / 8);
    let words = words.ok_or_else(|| Wrong(format!("{bytes} bytes")))?;
    Region::column(offset, words, size, "the bytes")
}

fn problem_extension<'a, T>(table: &'a abi::Problem, id: &'static str) -> Option<&'a T> {
    let ask = table.extension?;
    // SAFETY: live problem, static id; by its contract the answer is a `T` that lives as long as it.
    unsafe { answer(ask(table, &Str::new(id))) }
}

/// Bits of what the operator offers, and the number of inputs, 0 if it is unknown.
fn operator_extensions(operator: &Operator<'_>) -> (i64, i64) {
    let has = |there: bool, bit| if there { bit } else { 0 };
    let inputs = operator.extension::<abi::Inputs>(abi::id::INPUTS);
    let bits = has(operator.extension::<abi::Rows>(abi::id::ROWS).is_some(), offered::ROWS)
        | has(operator.extension::<abi::Columns>(abi::id::COLUMNS).is_some(), offered::COLUMNS)
        | has(operator.extension::<abi::Block>(abi::id::BLOCK).is_some(), offered::BLOCK)
        | has(inputs.is_some(), offered::INPUTS)
        | has(operator.extension::<abi::Features>(abi::id::FEATURES).is_some(), offered::FEATURES)
        | has(operator.extension::<abi::Operator>(abi::id::MIXED).is_some(), offered::MIXED);
    // A basis or scales change what has to be made room for.
    let shape = inputs.map_or(0, |inputs| {
        let is_scaled = inputs.family & abi::family::SCALED != 0;
        has(!inputs.basis.data.is_null(), 1 << 16) | has(is_scaled, 1 << 17)
    });
    (bits | shape, inputs.map_or(0, |inputs| inputs.x.cols))
}

fn problem_extensions(table: &abi::Problem) -> i64 {
    let has = |there: bool, bit| if there { bit } else { 0 };
    has(problem_extension::<abi::Targets>(table, abi::id::TARGETS).is_some(), offered::TARGETS)
        | has(problem_extension::<abi::State>(table, abi::id::STATE).is_some(), offered::STATE)
        | has(problem_extension::<abi::Volatile>(table, abi::id::VOLATILE).is_some(), offered::VOLATILE)
        | has(problem_extension::<abi::Trace>(table, abi::id::TRACE).is_some(), offered::TRACE)
}
