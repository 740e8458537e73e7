//! The problem and its operator as they cross the interface: functions on a dense matrix that count what is used.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::{Array2, Axis};

use super::parts::{self, Features, by_columns, mat};
use super::state::{self, State};
use super::{DenseProblem, list};
use crate::matrix::{view, view_mut};
use crate::operator::text;
use crate::{Error, Result};

/// What the operator's and the problem's functions work on.
pub(super) struct World<'p> {
    pub(super) problem: &'p DenseProblem,
    /// Points to the solver's `x` while a solve runs.
    pub(super) x: Cell<*mut abi::Mat>,
    budget: abi::Budget,
    /// Kernel entries used so far.
    pub(super) entries: Cell<f64>,
    pub(super) trace: RefCell<Vec<(i64, Vec<f64>)>>,
    pub(super) notes: RefCell<Vec<(i64, String, f64)>>,
    pub(super) iterates: RefCell<Vec<Array2<f64>>>,
    pub(super) state: RefCell<State>,
    /// Whether the iterate has been asked for, so that the next call brings it.
    asked: Cell<bool>,
    rows: abi::Rows,
    columns: abi::Columns,
    block: abi::Block,
    features: Option<abi::Features>,
    targets: Option<abi::Targets>,
    inputs: Option<abi::Inputs>,
    /// What `inputs` points to, column-major.
    _x: Option<Array2<f64>>,
}

impl<'p> World<'p> {
    pub(super) fn new(problem: &'p DenseProblem) -> World<'p> {
        let columnwise = problem.kernel.as_ref().map(|kernel| by_columns(&kernel.x));
        let nothing = abi::Mat { data: std::ptr::null_mut(), rows: 0, cols: 0, ld: 0 };
        let inputs = problem.kernel.as_ref().zip(columnwise.as_ref()).map(|(kernel, x)| abi::Inputs {
            size: size_of::<abi::Inputs>() as u32,
            family: kernel.family,
            x: mat(x),
            basis: problem.basis.as_ref().map_or(nothing, mat),
            signal_scale: kernel.signal_scale,
            noise_scale: kernel.noise_scale,
            length_scale: kernel.length_scale.as_ptr(),
            scales: std::ptr::null(),
        });
        World {
            problem,
            x: Cell::new(std::ptr::null_mut()),
            budget: abi::Budget::new(problem.a.nrows(), problem.max_epochs),
            entries: Cell::new(0.0),
            trace: RefCell::default(),
            notes: RefCell::default(),
            iterates: RefCell::default(),
            state: RefCell::new(problem.state.clone()),
            asked: Cell::new(false),
            rows: abi::Rows {
                size: size_of::<abi::Rows>() as u32,
                reserved: 0,
                apply: Some(rows_apply),
                fused: Some(rows_fused),
            },
            columns: abi::Columns {
                size: size_of::<abi::Columns>() as u32,
                reserved: 0,
                update: Some(columns_update),
            },
            block: abi::Block { size: size_of::<abi::Block>() as u32, reserved: 0, get: Some(block_get) },
            features: problem.features.as_ref().map(|_| Features::table()),
            targets: problem.parts.as_ref().map(parts::targets),
            inputs,
            _x: columnwise,
        }
    }

    pub(super) fn operator(&self) -> abi::Operator {
        abi::Operator {
            size: size_of::<abi::Operator>() as u32,
            flags: 0,
            ctx: (&raw const *self).cast_mut().cast(),
            n: self.problem.a.nrows() as i64,
            m: self.problem.a.ncols() as i64,
            apply: Some(apply),
            diag: Some(diag),
            charge: Some(charge),
            extension: Some(operator_extension),
        }
    }

    /// Counts entries that a call is about to use, or refuses the call if they do not fit.
    fn claim(&self, entries: usize) -> Result<()> {
        if !self.budget.fits(self.entries.get(), entries as f64) {
            return Err(Error::Stopped);
        }
        self.entries.set(self.entries.get() + entries as f64);
        Ok(())
    }

    /// Counts entries that the solver has evaluated by itself.
    fn charge(&self, entries: i64) -> Result<()> {
        self.entries.set(self.entries.get() + entries as f64);
        if self.is_spent() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn is_spent(&self) -> bool {
        self.budget.is_spent(self.entries.get())
    }

    /// The rows and columns chosen by indices of the interface.
    ///
    /// # Safety
    /// The indices are null or readable.
    unsafe fn choose(index: *const i64, count: i64, all: usize) -> Result<Vec<usize>> {
        if index.is_null() {
            return Ok((0..all).collect());
        }
        // SAFETY: promised by the caller.
        let chosen = unsafe { std::slice::from_raw_parts(index, count as usize) };
        chosen
            .iter()
            .map(|&i| usize::try_from(i).ok().filter(|&i| i < all))
            .collect::<Option<_>>()
            .ok_or_else(|| Error::InvalidArgument("an index is out of range".into()))
    }
}

/// Runs an operator's function on its world. Shapes that do not fit panic in ndarray, and abort
/// the test with a text: a solver that passes them gets past the SDK's checks.
///
/// # Safety
/// `op` is the operator of a living world.
pub(super) unsafe fn on_world(
    op: *const abi::Operator,
    work: impl FnOnce(&World<'_>, &Array2<f64>) -> Result<()>,
) -> Status {
    // SAFETY: promised by the caller.
    let world = unsafe { &*(*op).ctx.cast_const().cast::<World<'_>>() };
    match work(world, &world.problem.a) {
        Ok(()) => Status::DONE,
        Err(error) => error.status(),
    }
}

unsafe extern "C" fn apply(op: *const abi::Operator, x: *const abi::Mat, y: *mut abi::Mat) -> Status {
    // SAFETY: the operator's caller passes live matrices that do not overlap.
    unsafe {
        on_world(op, |world, a| {
            world.claim(a.len())?;
            view_mut(&*y, "y")?.assign(&a.dot(&view(&*x, "x")?));
            Ok(())
        })
    }
}

unsafe extern "C" fn diag(op: *const abi::Operator, out: *mut abi::Mat) -> Status {
    // SAFETY: as in `apply`.
    unsafe {
        on_world(op, |world, a| {
            if world.problem.basis.is_some() {
                return Err(Error::Unsupported("K(X, Z) has no diagonal".into()));
            }
            view_mut(&*out, "out")?.column_mut(0).assign(&a.diag());
            Ok(())
        })
    }
}

unsafe extern "C" fn charge(op: *const abi::Operator, entries: i64) -> Status {
    // SAFETY: as in `apply`.
    unsafe { on_world(op, |world, _| world.charge(entries)) }
}

unsafe extern "C" fn rows_apply(
    op: *const abi::Operator,
    rows: *const i64,
    n_rows: i64,
    x: *const abi::Mat,
    y: *mut abi::Mat,
) -> Status {
    // SAFETY: as in `apply`; the indices are readable.
    unsafe {
        on_world(op, |world, a| {
            let part = a.select(Axis(0), &World::choose(rows, n_rows, a.nrows())?);
            world.claim(part.len())?;
            view_mut(&*y, "y")?.assign(&part.dot(&view(&*x, "x")?));
            Ok(())
        })
    }
}

unsafe extern "C" fn rows_fused(
    op: *const abi::Operator,
    rows: *const i64,
    n_rows: i64,
    x: *const abi::Mat,
    u: *mut abi::Mat,
    transform: Option<unsafe extern "C" fn(ctx: *mut c_void, u: *mut abi::Mat)>,
    ctx: *mut c_void,
    z: *mut abi::Mat,
) -> Status {
    // SAFETY: as in `rows_apply`; the transform is the caller's own.
    unsafe {
        on_world(op, |world, a| {
            let part = a.select(Axis(0), &World::choose(rows, n_rows, a.nrows())?);
            world.claim(part.len())?;
            view_mut(&*u, "u")?.assign(&part.dot(&view(&*x, "x")?));
            if let Some(transform) = transform {
                transform(ctx, u);
            }
            let mut z = view_mut(&*z, "z")?;
            z += &part.t().dot(&view(&*u, "u")?);
            Ok(())
        })
    }
}

unsafe extern "C" fn columns_update(
    op: *const abi::Operator,
    cols: *const i64,
    n_cols: i64,
    x: *const abi::Mat,
    y: *mut abi::Mat,
) -> Status {
    // SAFETY: as in `rows_apply`.
    unsafe {
        on_world(op, |world, a| {
            let part = a.select(Axis(1), &World::choose(cols, n_cols, a.ncols())?);
            world.claim(part.len())?;
            let mut y = view_mut(&*y, "y")?;
            y += &part.dot(&view(&*x, "x")?);
            Ok(())
        })
    }
}

unsafe extern "C" fn block_get(
    op: *const abi::Operator,
    rows: *const i64,
    n_rows: i64,
    cols: *const i64,
    n_cols: i64,
    out: *mut abi::Mat,
) -> Status {
    // SAFETY: as in `rows_apply`.
    unsafe {
        on_world(op, |world, a| {
            let rows = a.select(Axis(0), &World::choose(rows, n_rows, a.nrows())?);
            let part = rows.select(Axis(1), &World::choose(cols, n_cols, a.ncols())?);
            world.claim(part.len())?;
            view_mut(&*out, "out")?.assign(&part);
            Ok(())
        })
    }
}

unsafe extern "C" fn operator_extension(op: *const abi::Operator, id: *const abi::Str) -> *const c_void {
    // SAFETY: the operator of a living world, a live text.
    let (world, id) = unsafe { (&*(*op).ctx.cast_const().cast::<World<'_>>(), text(&*id)) };
    match id {
        Ok(abi::id::ROWS) => (&raw const world.rows).cast(),
        Ok(abi::id::COLUMNS) => (&raw const world.columns).cast(),
        Ok(abi::id::BLOCK) => (&raw const world.block).cast(),
        Ok(abi::id::INPUTS) => parts::answer(world.inputs.as_ref()),
        Ok(abi::id::FEATURES) => parts::answer(world.features.as_ref()),
        _ => std::ptr::null(),
    }
}

pub(super) unsafe extern "C" fn observe(
    problem: *const abi::Problem,
    iteration: i64,
    norms: *const f64,
    n_norms: i64,
) -> Status {
    // SAFETY: called with the problem of a living world.
    let world = unsafe { &*(*problem).ctx.cast_const().cast::<World<'_>>() };
    if world.problem.iterates && !world.asked.replace(true) {
        return Status::ITERATE;
    }
    if world.asked.replace(false) {
        // SAFETY: the solver waits, and holds no reference into its `x`.
        if let Ok(x) = unsafe { view(&*world.x.get(), "x") } {
            world.iterates.borrow_mut().push(x.to_owned());
        }
    }
    // SAFETY: the norms are readable during the call.
    world.trace.borrow_mut().push((iteration, unsafe { list(norms, n_norms) }));
    let is_last = world.problem.stop_at.is_some_and(|last| iteration >= last);
    if is_last || world.is_spent() { Status::STOPPED } else { Status::DONE }
}

pub(super) unsafe extern "C" fn problem_extension(
    problem: *const abi::Problem,
    id: *const abi::Str,
) -> *const c_void {
    static TRACE: abi::Trace =
        abi::Trace { size: size_of::<abi::Trace>() as u32, reserved: 0, note: Some(note) };
    // SAFETY: the problem of a living world, a live text.
    let (world, id) = unsafe { (&*(*problem).ctx.cast_const().cast::<World<'_>>(), text(&*id)) };
    match id {
        Ok(abi::id::TARGETS) => parts::answer(world.targets.as_ref()),
        Ok(abi::id::TRACE) => (&raw const TRACE).cast(),
        Ok(abi::id::STATE) => (&raw const state::TABLE).cast(),
        _ => std::ptr::null(),
    }
}

unsafe extern "C" fn note(
    problem: *const abi::Problem,
    iteration: i64,
    name: *const abi::Str,
    value: f64,
) -> Status {
    // SAFETY: called with the problem of a living world and a live text.
    let (world, name) = unsafe { (&*(*problem).ctx.cast_const().cast::<World<'_>>(), text(&*name)) };
    match name {
        Ok(name) => world.notes.borrow_mut().push((iteration, name.to_owned(), value)),
        Err(error) => return error.status(),
    }
    Status::DONE
}
