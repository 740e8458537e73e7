//! Extensions: optional functions, which the other side asks for by id.
//!
//! Index arrays are 0-based, in range and, where written through, without
//! repeats; a null index array stands for all rows (or columns) in order, and its
//! count is then ignored. Matrices of one call do not overlap. As with
//! [`Operator::apply`], each call counts the entries it uses. If they do not fit into the
//! budget, it does nothing and answers `STOPPED`.

use core::ffi::c_void;

use crate::{Mat, Operator, Problem, Status, Str};

/// Ids of the extensions: `gpbench.<name>/<revision>`.
pub mod id {
    /// [`crate::Rows`], of the operator.
    pub const ROWS: &str = "gpbench.rows/1";
    /// [`crate::Columns`], of the operator.
    pub const COLUMNS: &str = "gpbench.columns/1";
    /// [`crate::Block`], of the operator.
    pub const BLOCK: &str = "gpbench.block/1";
    /// [`crate::Inputs`], of the operator.
    pub const INPUTS: &str = "gpbench.inputs/1";
    /// [`crate::Features`], of the operator.
    pub const FEATURES: &str = "gpbench.features/1";
    /// A [`crate::Operator`], of the operator: the same matrix, with products of a relative error of
    /// about 1e-6 in about half the time. Entries and sums inside a tile are in single precision, sums over
    /// tiles in double. This holds for products, rows and columns; blocks are in double precision. It counts
    /// entries like the other operator, and lives as long.
    pub const MIXED: &str = "gpbench.mixed/1";
    /// [`crate::Targets`], of the problem.
    pub const TARGETS: &str = "gpbench.targets/1";
    /// [`crate::State`], of the problem.
    pub const STATE: &str = "gpbench.state/1";
    /// [`crate::Volatile`], of the problem.
    pub const VOLATILE: &str = "gpbench.volatile/1";
    /// [`crate::Trace`], of the problem.
    pub const TRACE: &str = "gpbench.trace/1";
    /// [`crate::FitTrace`], of the fit.
    pub const FIT_TRACE: &str = "gpbench.fit-trace/1";
    /// [`crate::ParallelFor`], of the host.
    pub const PARALLEL_FOR: &str = "gpbench.parallel_for/1";
    /// [`crate::Script`], of the host. Null unless the host opens a script.
    pub const SCRIPT: &str = "gpbench.script/1";
    /// [`crate::Process`], of the host.
    pub const PROCESS: &str = "gpbench.process/1";
    /// [`crate::Parts`], of the host.
    pub const PARTS: &str = "gpbench.parts/1";
}

/// Products with some rows of A.
#[expect(clippy::type_complexity, reason = "a name for the function would hide what it takes")]
#[repr(C)]
#[derive(Debug)]
pub struct Rows {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// y = A\[rows, :\] x, with x m x s and y n_rows x s. Counts n_rows m entries.
    pub apply: Option<
        unsafe extern "C" fn(
            op: *const Operator,
            rows: *const i64,
            n_rows: i64,
            x: *const Mat,
            y: *mut Mat,
        ) -> Status,
    >,
    /// u = A\[rows, :\] x, then `transform(ctx, u)` in place, then z += A\[rows, :\]^T u: a
    /// minibatch of a least-squares gradient. Counts n_rows m entries once. `transform` is called
    /// once, on the calling thread; null leaves u as it is.
    pub fused: Option<
        unsafe extern "C" fn(
            op: *const Operator,
            rows: *const i64,
            n_rows: i64,
            x: *const Mat,
            u: *mut Mat,
            transform: Option<unsafe extern "C" fn(ctx: *mut c_void, u: *mut Mat)>,
            ctx: *mut c_void,
            z: *mut Mat,
        ) -> Status,
    >,
}

/// Updates with some columns of A.
#[repr(C)]
#[derive(Debug)]
pub struct Columns {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// y += A\[:, cols\] x, with x n_cols x s and y n x s. Counts n n_cols entries.
    pub update: Option<
        unsafe extern "C" fn(
            op: *const Operator,
            cols: *const i64,
            n_cols: i64,
            x: *const Mat,
            y: *mut Mat,
        ) -> Status,
    >,
}

/// Entries of A.
#[repr(C)]
#[derive(Debug)]
pub struct Block {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// out = A\[rows, cols\], n_rows x n_cols. The noise variance is added where a row's index equals
    /// a column's, unless the columns have basis points of their own. Counts n_rows n_cols
    /// entries.
    pub get: Option<
        unsafe extern "C" fn(
            op: *const Operator,
            rows: *const i64,
            n_rows: i64,
            cols: *const i64,
            n_cols: i64,
            out: *mut Mat,
        ) -> Status,
    >,
}

/// Kernel families of [`Inputs`].
pub mod family {
    /// exp(-r^2 / 2).
    pub const RBF: i32 = 1;
    /// exp(-r).
    pub const MATERN12: i32 = 2;
    /// (1 + a) exp(-a), a = sqrt(3) r.
    pub const MATERN32: i32 = 3;
    /// (1 + a + a^2 / 3) exp(-a), a = sqrt(5) r.
    pub const MATERN52: i32 = 4;
    /// The inner product x^T x', for learners alone.
    pub const LINEAR: i32 = 5;
    /// Added to the family where [`crate::Inputs`] has scales, so that a plugin that evaluates entries by
    /// itself and does not know of scales finds an unknown family.
    pub const SCALED: i32 = 256;
}

/// What A is made of. Lives as long as the operator.
#[repr(C)]
#[derive(Debug)]
pub struct Inputs {
    /// Size of this struct in bytes.
    pub size: u32,
    /// One of [`family`], plus `SCALED` where there are scales.
    pub family: i32,
    /// Standardised inputs, n x d.
    pub x: Mat,
    /// Basis points of the columns, m x d; null data if they are the inputs themselves.
    pub basis: Mat,
    /// Standard deviation of the latent function: K = signal_scale^2 k.
    pub signal_scale: f64,
    /// Standard deviation of the noise: A = K + noise_scale^2 I, or A = K(x, basis) without it.
    pub noise_scale: f64,
    /// One length scale an input, d of them.
    pub length_scale: *const f64,
    /// The diagonal of S where A = S K S + noise_scale^2 I, n of them; null elsewhere.
    pub scales: *const f64,
}

/// Products with random Fourier features Phi of the columns' points, m x count, such that
/// E\[Phi Phi^T\] = K there: at the inputs, or at the basis points if the columns have them. With
/// scales each row of Phi is multiplied by its own: E\[Phi Phi^T\] = S K S.
///
/// Costs are shown separately from kernel entries; no entries are counted.
#[repr(C)]
#[derive(Debug)]
pub struct Features {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// y = Phi w for the features drawn from `seed`, with w count x s and y m x s; `count` is even.
    pub apply: Option<
        unsafe extern "C" fn(
            op: *const Operator,
            seed: u64,
            count: i64,
            w: *const Mat,
            y: *mut Mat,
        ) -> Status,
    >,
    /// w = Phi^T y for the features drawn from `seed`, with y m x s and w count x s.
    pub apply_transposed: Option<
        unsafe extern "C" fn(
            op: *const Operator,
            seed: u64,
            count: i64,
            y: *const Mat,
            w: *mut Mat,
        ) -> Status,
    >,
}

/// The parts of pathwise right-hand sides: column j of the probes is f_j + noise_j. Lives as
/// long as the problem.
#[repr(C)]
#[derive(Debug)]
pub struct Targets {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Prior draws at the inputs, n x (s - n_targets); with scales, each row times its own.
    pub f: Mat,
    /// Their noise, of standard deviation noise_scale, n x (s - n_targets).
    pub noise: Mat,
}

/// State that a solver saves from one outer step to the next, across processes.
#[repr(C)]
#[derive(Debug)]
pub struct State {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// The bytes saved under `key`: their number into `*len` (0: none), and the first `capacity`
    /// of them into `out`, which may be null if `capacity` is 0.
    pub load: Option<
        unsafe extern "C" fn(
            problem: *const Problem,
            key: *const Str,
            out: *mut u8,
            capacity: i64,
            len: *mut i64,
        ) -> Status,
    >,
    /// Saves bytes under `key`, in place of earlier ones. They are copied.
    pub save: Option<
        unsafe extern "C" fn(problem: *const Problem, key: *const Str, bytes: *const u8, len: i64) -> Status,
    >,
}

/// Objects of the plugin's own that stay in memory from one outer step to the next, such as a factor of the matrix
/// that is too large for [`State`].
///
/// No object outlives the process: after a restart, and in a second solve that has to be independent, nothing is
/// found. Results must not depend on that, to the last bit. So a solver saves by [`State`] what it needs to make the
/// object again.
#[repr(C)]
#[derive(Debug)]
pub struct Volatile {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Hands over `object`, which is not null and takes up `bytes` bytes, in place of an earlier one under `key`. The
    /// host calls `free(object)` once, from the thread that it calls the plugin on, unless `take` gives the object
    /// back. After an error the object is still the plugin's.
    pub keep: Option<
        unsafe extern "C" fn(
            problem: *const Problem,
            key: *const Str,
            object: *mut c_void,
            bytes: i64,
            free: Option<unsafe extern "C" fn(object: *mut c_void)>,
        ) -> Status,
    >,
    /// Gives the object under `key` back, into `*object`: null if there is none. It is the plugin's from then on.
    pub take: Option<
        unsafe extern "C" fn(problem: *const Problem, key: *const Str, object: *mut *mut c_void) -> Status,
    >,
}

/// Numbers of the solver's own for the trace, such as the variance of a gradient.
#[repr(C)]
#[derive(Debug)]
pub struct Trace {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Puts `value` into the trace at this iteration, under a name of up to 64 lower-case letters,
    /// digits and underscores, which is copied. They are separate from the host's own numbers. One that
    /// is not finite is ignored. Answers `DONE` whatever the budget. The
    /// clock is paused inside. From the thread that the host called the plugin on.
    pub note: Option<
        unsafe extern "C" fn(problem: *const Problem, iteration: i64, name: *const Str, value: f64) -> Status,
    >,
}
