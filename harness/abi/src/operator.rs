//! The system to solve.

use core::ffi::c_void;

use crate::{Mat, Status, Str};

/// A matrix A with n rows and m columns, known through its products.
///
/// For Gaussian processes A = K(X, X) + noise_scale^2 I and m = n, except with
/// inducing points: then A = K(X, Z) for m basis points Z, without noise. Only
/// solvers with [`crate::capability::INDUCING`] get such problems; the basis
/// points of [`crate::Inputs`] show it. Where repeated inputs of a data set are collapsed, the rows
/// are the unique inputs, and A = S K S + noise_scale^2 I with the square roots of their counts on
/// the diagonal of S: again a symmetric matrix plus the noise variance, with matching right-hand
/// sides, so that most solvers need not know. Every call counts the kernel
/// entries it uses; n^2 of them are one epoch. A call whose entries do not fit into
/// the budget does nothing and answers [`Status::STOPPED`]. Lives as long as the problem.
#[repr(C)]
#[derive(Debug)]
pub struct Operator {
    /// Size of this struct in bytes.
    pub size: u32,
    /// 1 where products are in mixed precision, else zero.
    pub flags: u32,
    /// The host's own.
    pub ctx: *mut c_void,
    /// Rows.
    pub n: i64,
    /// Columns.
    pub m: i64,
    /// y = A x, with x m x s and y n x s, not overlapping. Counts n m entries, whatever s.
    pub apply: Option<unsafe extern "C" fn(op: *const Operator, x: *const Mat, y: *mut Mat) -> Status>,
    /// The diagonal of A into `out`, n x 1. Counts nothing. `UNSUPPORTED` with inducing points:
    /// K(X, Z) has none.
    pub diag: Option<unsafe extern "C" fn(op: *const Operator, out: *mut Mat) -> Status>,
    /// Reports kernel entries that the plugin evaluated by itself. Answers `STOPPED` once the
    /// budget is spent.
    pub charge: Option<unsafe extern "C" fn(op: *const Operator, entries: i64) -> Status>,
    /// `gpbench.rows/1`, `columns/1`, `block/1`, `inputs/1`, `features/1`, `mixed/1`.
    pub extension: Option<unsafe extern "C" fn(object: *const Operator, id: *const Str) -> *const c_void>,
}

/// A linear system with several right-hand sides. Lives until the call that it is passed to returns.
///
/// With inducing points Z it is a least-squares problem: each column x of the solution minimises
/// |b - K(X, Z) x|^2 + noise_scale^2 x^T K(Z, Z) x for its right-hand side b (Lin et al. 2023,
/// equations 12 and 13). The residual is then half of the negative gradient,
/// K(Z, X) (b - K(X, Z) x) - noise_scale^2 K(Z, Z) x, and its norm is relative to that at x = 0.
#[repr(C)]
#[derive(Debug)]
pub struct Problem {
    /// Size of this struct in bytes.
    pub size: u32,
    /// Threads that the solver may use, itself included.
    pub threads: u32,
    /// Seed of the solver's own random numbers.
    pub seed: u64,
    /// Relative residual norm to reach, see `n_targets`; 0 if the budget alone decides.
    pub tolerance: f64,
    /// Epochs that may be spent, prepare included; infinite if unbounded.
    pub max_epochs: f64,
    /// The matrix.
    pub op: *const Operator,
    /// Right-hand sides, n x s. Read-only.
    pub rhs: *const Mat,
    /// In: where to start from (zero, or a warm start). Out: the solution. m x s. Read-only
    /// during `prepare`.
    pub x: *mut Mat,
    /// The first `n_targets` columns are targets (y), the rest probes. The tolerance is reached
    /// when the largest relative residual norm of the targets AND the mean relative residual norm
    /// of the probes are at most `tolerance`; norms are relative to the right-hand side's.
    pub n_targets: i64,
    /// The host's own.
    pub ctx: *mut c_void,
    /// A solver calls it after every iteration, or, where iterations are cheap, a few times an epoch,
    /// with one relative residual norm a column (`n_norms` = s), or `n_norms` = 0 if none is known.
    /// Answers `DONE` (continue), `STOPPED`, or `ITERATE`: put the current iterate (the averaged one,
    /// if it is what would be returned) into `x` and call again with the same arguments. From
    /// the thread that `solve` was called on.
    pub observe: Option<
        unsafe extern "C" fn(
            problem: *const Problem,
            iteration: i64,
            norms: *const f64,
            n_norms: i64,
        ) -> Status,
    >,
    /// `gpbench.targets/1`, `state/1`, `volatile/1`, `trace/1`.
    pub extension: Option<unsafe extern "C" fn(object: *const Problem, id: *const Str) -> *const c_void>,
}

/// A solver's report of a finished solve. The host passes it with zeros but for `size`. What it
/// points to belongs to the plugin and lives until the next call on the solver object.
#[repr(C)]
#[derive(Debug)]
pub struct Report {
    /// Size of this struct in bytes, as the host was built.
    pub size: u32,
    /// One of [`reason`].
    pub reason: i32,
    /// Iterations, as the solver counts them.
    pub iterations: i64,
    /// Relative residual norms that the solver claims, one a column; null if none.
    pub claimed: *const f64,
    /// Number of claimed norms: 0 or s.
    pub n_claimed: i64,
    /// Names of further numbers; null if none.
    pub names: *const Str,
    /// Further numbers.
    pub values: *const f64,
    /// Number of further numbers.
    pub n_values: i64,
}

/// Why a solve ended.
pub mod reason {
    /// The tolerance is reached, or the solver is exact.
    pub const CONVERGED: i32 = 0;
    /// The host said `STOPPED`.
    pub const STOPPED: i32 = 1;
    /// The solver's own iteration limit.
    pub const ITERATIONS: i32 = 2;
    /// The residual no longer falls.
    pub const STAGNATED: i32 = 3;
    /// The residual grows without bound, or is not a number.
    pub const DIVERGED: i32 = 4;
}
