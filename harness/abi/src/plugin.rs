//! A plugin's description, and the host's services.

use core::ffi::c_void;

use crate::{Learner, Problem, Report, Status, Str, Value};

/// Type of the entry function.
///
/// Called once, on the main thread, right after loading; `host` lives until the
/// process ends. Returns a static description, or null after calling
/// [`Host::set_error`].
pub type EntryFn = unsafe extern "C" fn(host: *const Host) -> *const Plugin;

/// The host's services. Lives until the process ends.
#[repr(C)]
#[derive(Debug)]
pub struct Host {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Minor version of the interface that the host was built with.
    pub minor: u32,
    /// The host's own.
    pub ctx: *mut c_void,
    /// Records why a call is about to return an error. Any thread. The text is copied.
    pub set_error: Option<unsafe extern "C" fn(host: *const Host, status: Status, text: *const Str)>,
    /// Writes a line to the case's log; `level` is one of [`log_level`]. Any thread. The text is copied.
    pub log: Option<unsafe extern "C" fn(host: *const Host, level: i32, text: *const Str)>,
    /// `gpbench.parallel_for/1`, `script/1`, `process/1`, `parts/1`. Any thread.
    pub extension: Option<unsafe extern "C" fn(object: *const Host, id: *const Str) -> *const c_void>,
}

/// Levels of [`Host::log`].
pub mod log_level {
    /// Something is wrong, but the solve continues.
    pub const WARNING: i32 = 1;
    /// For the user.
    pub const INFO: i32 = 2;
    /// For the author of the plugin.
    pub const DEBUG: i32 = 3;
}

/// A plugin's description of itself; static.
#[repr(C)]
#[derive(Debug)]
pub struct Plugin {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Minor version of the interface that the plugin was built with.
    pub minor: u32,
    /// Name of the library.
    pub name: Str,
    /// Version of the library.
    pub version: Str,
    /// First of `n_solvers` solvers, each `solver_stride` bytes after the one before.
    pub solvers: *const Solver,
    /// Number of solvers.
    pub n_solvers: i64,
    /// Size of a solver's description as the plugin was built.
    pub solver_stride: i64,
    /// First of `n_learners` learners; null if there are none.
    pub learners: *const Learner,
    /// Number of learners.
    pub n_learners: i64,
    /// Size of a learner's description as the plugin was built.
    pub learner_stride: i64,
    /// First of `n_parts` parts: what the library consists of beside its own file; null if there is nothing else. The
    /// identity of a script is that of its parts, which name the script too. This and all that follows: since
    /// minor version 3.
    pub parts: *const Part,
    /// Number of parts.
    pub n_parts: i64,
    /// Distance between two parts in bytes.
    pub part_stride: i64,
}

// SAFETY: a description is static and immutable.
unsafe impl Sync for Plugin {}

/// One of the things that a library consists of; static. Frozen.
#[repr(C)]
#[derive(Debug)]
pub struct Part {
    /// One of [`part_kind`].
    pub kind: i32,
    /// Zero.
    pub reserved: i32,
    /// Name: of a file, one that does not depend on the folder that the script lies in.
    pub name: Str,
    /// Version; empty for files.
    pub version: Str,
    /// Absolute path of a file with the hash `sha256`: the file itself, a package's list of files, the interpreter.
    pub path: Str,
    /// SHA-256 of that file's content: 64 lower-case hexadecimal digits. The host computes it again.
    pub sha256: Str,
}

// SAFETY: a description is static and immutable.
unsafe impl Sync for Part {}

/// Kinds of [`Part`].
pub mod part_kind {
    /// A file that is read or executed.
    pub const FILE: i32 = 1;
    /// An installed package.
    pub const PACKAGE: i32 = 2;
    /// The program that runs a script.
    pub const RUNTIME: i32 = 3;
}

/// What readers who choose a method want to know of it; static. Each is one line, or empty where it is not stated.
/// In these texts n is the number of rows, d of inputs and s of right-hand sides. Frozen.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// Work of a step: kernel entries, and operations where they matter more.
    pub step: Str,
    /// Numbers that are held beyond the data.
    pub memory: Str,
    /// What is true of every result.
    pub guarantees: Str,
    /// When to use it, and when not.
    pub advice: Str,
}

impl Facts {
    /// Nothing is stated.
    pub const fn none() -> Facts {
        let nothing = Str::new("");
        Facts { step: nothing, memory: nothing, guarantees: nothing, advice: nothing }
    }
}

/// A linear-system solver; static.
#[repr(C)]
#[derive(Debug)]
pub struct Solver {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Bits of [`capability`].
    pub capabilities: u64,
    /// Id that a spec names: lower-case letters, digits and hyphens.
    pub id: Str,
    /// One line of documentation.
    pub doc: Str,
    /// Parameter schema; null if there are none.
    pub params: *const Param,
    /// Number of parameters.
    pub n_params: i64,
    /// Makes a solver object. `values` holds one value a parameter, in the order and of
    /// the kinds of the schema, already checked against its ranges; their texts live
    /// until the call returns. On `DONE`, `*out` is the
    /// object, owned by the plugin until `destroy`.
    pub create: Option<
        unsafe extern "C" fn(
            host: *const Host,
            values: *const Value,
            n_values: i64,
            out: *mut *mut c_void,
        ) -> Status,
    >,
    /// Sets up for a problem: preconditioners, factors. Timed separately from `solve` and charged
    /// to the same budget; `STOPPED` if the budget does not suffice. Null if there is nothing to set up.
    /// Called before each `solve` whose operator differs from the last one's.
    pub prepare: Option<unsafe extern "C" fn(solver: *mut c_void, problem: *const Problem) -> Status>,
    /// Solves: starts from `problem.x`, leaves the solution there, and fills `report`, whose
    /// arrays live until the next call on this object. Stopping short is `DONE` with a reason.
    pub solve: Option<
        unsafe extern "C" fn(solver: *mut c_void, problem: *const Problem, report: *mut Report) -> Status,
    >,
    /// Bytes that a solve with n rows, d inputs and s right-hand sides will need beyond the
    /// problem itself. Null: a small multiple of n s.
    pub estimate:
        Option<unsafe extern "C" fn(solver: *mut c_void, n: i64, d: i64, s: i64, bytes: *mut f64) -> Status>,
    /// Destroys an object.
    pub destroy: Option<unsafe extern "C" fn(solver: *mut c_void)>,
    /// The work to cite for the method: one bibliographic entry with authors, title, venue and year, which
    /// reports list. Empty if there is none. Since minor version 1.
    pub source: Str,
    /// Gets ready for problems of these sizes, without data: compiles, allocates, starts threads. Called before the
    /// first `prepare`, and again before a `prepare` with other sizes. Its seconds are no part of the solver's,
    /// but count towards the time limit of the case. There is no problem yet, so it has nothing of the host's to call but the
    /// functions of [`Host`]. Null if there is nothing to get ready. Since minor version 3.
    pub warm_up: Option<unsafe extern "C" fn(solver: *mut c_void, shape: *const Shape) -> Status>,
    /// What readers who choose a method want to know of it. Since minor version 5.
    pub facts: Facts,
}

// SAFETY: a description is static and immutable.
unsafe impl Sync for Solver {}

/// Sizes of problems to come. Lives until the call that it is passed to returns.
#[repr(C)]
#[derive(Debug)]
pub struct Shape {
    /// Size of this struct in bytes.
    pub size: u32,
    /// One of [`crate::family`], without `SCALED`; 0 if it is unknown.
    pub family: i32,
    /// Rows.
    pub n: i64,
    /// Unknowns: n, or the number of inducing points.
    pub m: i64,
    /// Inputs.
    pub d: i64,
    /// Right-hand sides of a linear system; outputs of a learner's targets.
    pub s: i64,
    /// Threads that may be used.
    pub threads: u32,
    /// Zero.
    pub reserved: u32,
    /// Rows of a minibatch; 0 if that is unknown.
    pub batch: i64,
}

/// Bits of [`Solver::capabilities`].
pub mod capability {
    /// Solves to working precision whatever the tolerance.
    pub const EXACT: u64 = 1;
    /// Draws random numbers: the answer depends on the seed.
    pub const RANDOMIZED: u64 = 2;
    /// Uses a warm start in `x`.
    pub const WARM_START: u64 = 4;
    /// Makes BLAS or LAPACK calls worth threading: the host raises OpenBLAS's thread count
    /// around `prepare` and `solve`, and lowers it inside its own callbacks.
    pub const BLAS_THREADS: u64 = 8;
    /// Keeps an n x n matrix.
    pub const DENSE: u64 = 16;
    /// Takes problems with inducing points: m basis points, m <= n unknowns. Of a learner: needs them.
    pub const INDUCING: u64 = 32;
    /// Of a learner: takes a network between inputs and kernel.
    pub const NETWORK: u64 = 64;
    /// Of a learner: takes kernels of finite dimension, which are linear on a network's outputs or approximated by random
    /// features. Without a network that is the RBF kernel, and how many features is a parameter of the learner.
    pub const FINITE: u64 = 128;
    /// Of a learner: takes the stationary families as they are.
    pub const KERNEL: u64 = 256;
    /// Learners: trains a constant prior mean where [`crate::fit_flag::TRAINED_MEAN`] asks for it.
    pub const MEAN: u64 = 512;
}

/// Kinds of [`Value`].
pub mod value_kind {
    /// No value: no bound.
    pub const NONE: i32 = 0;
    /// A truth value.
    pub const BOOL: i32 = 1;
    /// A whole number.
    pub const INT: i32 = 2;
    /// A real number.
    pub const FLOAT: i32 = 3;
    /// A text.
    pub const TEXT: i32 = 4;
}

/// One parameter of a solver; static. Frozen.
#[repr(C)]
#[derive(Debug)]
pub struct Param {
    /// Name: lower-case letters, digits and underscores.
    pub name: Str,
    /// One line of documentation, with unit.
    pub doc: Str,
    /// Default; its kind is the parameter's kind.
    pub default: Value,
    /// Smallest permitted value; kind `NONE` if there is no bound.
    pub min: Value,
    /// Largest permitted value; kind `NONE` if there is no bound.
    pub max: Value,
    /// Permitted texts; null if any will do. Of a parameter of kind `INT`: words that it takes beside
    /// numbers.
    pub choices: *const Str,
    /// Number of permitted texts.
    pub n_choices: i64,
}

// SAFETY: a description is static and immutable.
unsafe impl Sync for Param {}
