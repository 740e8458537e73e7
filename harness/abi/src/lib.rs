//! The C interface between gpbench and its solver plugins.
//!
//! A plugin is a shared library with one exported function, [`ENTRY`], of type
//! [`EntryFn`]. The host calls it once after loading; it returns a [`Plugin`]
//! that lists solvers and learners. Everything else goes through tables of functions, for
//! three reasons: every language can export a function (Fortran cannot initialise a
//! data symbol with function pointers), a table can grow at its end, and only C types
//! cross the interface.
//!
//! # Rules
//!
//! - **Types.** No Rust enum, `bool`, reference, slice or generic is used.
//!   [`Status`] and the other codes are 32-bit integers whose unknown values are
//!   errors. Lengths are `i64` and are distrusted. Strings are UTF-8, pointer and
//!   length. Matrices are column-major with a leading dimension.
//! - **Growth.** [`Str`], [`Mat`], [`Value`], [`Param`], [`Part`] and [`Facts`] are frozen. Every
//!   other struct begins with its size in bytes; new fields go at the end and are read
//!   only if `size` covers them. Extensions are asked for by id
//!   (`gpbench.rows/1`); a null answer means that the other side lacks them.
//! - **Memory** never changes owner, but for what a solver hands over to [`Volatile`].
//!   What the host passes lives until the call returns, unless stated; what a plugin
//!   describes lives until the process ends. Libraries are never unloaded.
//! - **Threads.** The host calls one solver object from one thread at a time, the
//!   worker's main thread. A plugin calls the host's functions from the thread that
//!   the host called it on, unless stated. Only the host sets OpenBLAS's thread
//!   count, which is 1 except as [`capability::BLAS_THREADS`] says.
//! - **Panics and exceptions** never cross the interface, in either direction.
//! - **Cancelling** has three layers: `observe` answers [`Status::STOPPED`], operator
//!   calls answer [`Status::STOPPED`], and finally the process is killed. After
//!   `STOPPED`, a solver writes its best iterate into `x` and returns.
//! - **Null** is never passed or returned except where a comment allows it.
//!
//! The C form of this file is `include/gpbench.h`, generated and kept equal by a
//! test.

#![no_std]

extern crate alloc;

use core::ffi::{CStr, c_char, c_void};

mod batches;
mod budget;
mod extension;
mod host_extension;
mod learner;
mod operator;
mod plugin;

pub use batches::{Batches, Position};
pub use budget::Budget;
pub use extension::*;
pub use host_extension::{ParallelFor, Parts, Process, Script};
pub use learner::{Fit, FitTrace, Learner, Network, Store, activation, fit_flag, model_kind, stream};
pub use operator::{Operator, Problem, Report, reason};
pub use plugin::{
    EntryFn, Facts, Host, Param, Part, Plugin, Shape, Solver, capability, log_level, part_kind, value_kind,
};

/// Name of the entry function. It contains the interface's major version.
pub const ENTRY: &CStr = c"gpbench_plugin_v1";

/// Major version of the interface, as in [`ENTRY`].
pub const MAJOR: u32 = 1;

/// Minor version: counts additions. Either side may be the newer one.
///
/// 1 adds `source` to [`Solver`]. 2 adds the functions of a [`Learner`]. 3 adds `parts` to [`Plugin`], `warm_up` to
/// [`Solver`] and [`Learner`], and the host's extensions for scripts, processes and parts. 4 and 5 add kinds of models to
/// [`model_kind`], and 5 adds `facts` to [`Solver`] and [`Learner`].
pub const MINOR: u32 = 5;

/// Outcome of a call: zero and positive values are outcomes, negative ones errors.
///
/// Before returning an error, the callee passes its text to [`Host::set_error`].
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(pub i32);

impl Status {
    /// Done; from `observe`: continue.
    pub const DONE: Status = Status(0);
    /// Stop now: the budget is spent or the user has cancelled.
    pub const STOPPED: Status = Status(1);
    /// From `observe` only: put the current iterate into `x` and call `observe`
    /// again with the same arguments; until then the clock is paused as far as the host can.
    pub const ITERATE: Status = Status(2);
    /// An error that no other code names.
    pub const ERROR: Status = Status(-1);
    /// An argument is out of range: a null pointer, a wrong shape, an unknown kind.
    pub const INVALID_ARGUMENT: Status = Status(-2);
    /// Memory could not be allocated.
    pub const OUT_OF_MEMORY: Status = Status(-3);
    /// A matrix that has to be positive definite is not, to working precision.
    pub const NOT_POSITIVE_DEFINITE: Status = Status(-4);
    /// The other side lacks what this call needs.
    pub const UNSUPPORTED: Status = Status(-5);
    /// A panic or exception was caught at the interface.
    pub const PANIC: Status = Status(-6);

    /// Whether this is an error.
    pub const fn is_error(self) -> bool {
        self.0 < 0
    }
}

/// UTF-8 text: pointer and length in bytes, not terminated. Frozen.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Str {
    /// First byte; may be null if `len` is 0.
    pub ptr: *const c_char,
    /// Number of bytes.
    pub len: i64,
}

impl Str {
    /// Borrows a static text.
    pub const fn new(text: &'static str) -> Str {
        Str { ptr: text.as_ptr().cast(), len: text.len() as i64 }
    }
}

/// Column-major matrix: entry (i, j) is `data[i + j * ld]`. Frozen.
///
/// A vector is a matrix of one column.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Mat {
    /// First entry; may be null if the matrix is empty. Read-only where the matrix
    /// is passed by pointer to const.
    pub data: *mut f64,
    /// Number of rows.
    pub rows: i64,
    /// Number of columns.
    pub cols: i64,
    /// Distance between columns in entries, at least `rows`.
    pub ld: i64,
}

/// A parameter's value. Frozen.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Value {
    /// One of [`value_kind`]; says which of the other fields counts.
    pub kind: i32,
    /// Zero.
    pub reserved: i32,
    /// Value of kinds `BOOL` (0 or 1) and `INT`.
    pub i: i64,
    /// Value of kind `FLOAT`.
    pub f: f64,
    /// Value of kind `TEXT`.
    pub s: Str,
}

// SAFETY: in statics, the only place where these types are shared, they point to immutable static data.
unsafe impl Sync for Str {}
// SAFETY: as above.
unsafe impl Send for Str {}
// SAFETY: as above.
unsafe impl Sync for Value {}
// SAFETY: as above.
unsafe impl Send for Value {}

/// Asks for an extension: the id is one of [`id`]. The answer points to the
/// struct that the id names, which lives as long as the object asked, or is null.
///
/// The structs' fields repeat this type in full, because the header's generator resolves an optional
/// function type but not an optional alias of one.
pub type ExtensionFn<T> = unsafe extern "C" fn(object: *const T, id: *const Str) -> *const c_void;
