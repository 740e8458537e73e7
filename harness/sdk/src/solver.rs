//! The trait that a solver implements, and its report of a finished solve.

use gpbench_abi::{capability, reason};

use crate::{Params, Problem, Result};

/// A method that solves A X = B.
///
/// The host makes an object from checked parameters. Then it calls `prepare` and `solve`, in this order, once or many
/// times; several solves may follow one `prepare`. All calls come from one thread.
///
/// The object holds the parameters. What belongs to one problem is [`Prepared`](Self::Prepared), which the SDK keeps
/// from `prepare` to the last `solve` of that problem.
pub trait Solver: Sized + 'static {
    /// Typed parameters, made by [`params!`](crate::params); [`NoParams`](crate::NoParams) if there are none.
    type Params: Params;

    /// Id that a spec names: lower-case letters, digits and hyphens.
    const ID: &'static str;

    /// One line of documentation.
    const DOC: &'static str;

    /// The work to cite for the method: one bibliographic entry with authors, title, venue and year. Reports
    /// list it. Empty if there is none.
    const SOURCE: &'static str = "";

    /// Properties that the host has to know.
    const CAPABILITIES: Capabilities = Capabilities::NONE;

    /// Data set up for one problem: preconditioners, factors; `()` if there is none.
    ///
    /// It borrows nothing from the problem, whose memory is valid until `prepare` returns, so it copies what it needs.
    type Prepared: 'static;

    /// Makes a solver. The parameters' ranges have been checked; conditions between parameters are checked here.
    fn new(params: Self::Params) -> Result<Self>;

    /// Sets up for a problem. Timed separately from `solve`, charged to the same budget.
    ///
    /// The SDK drops what was prepared before it calls this: two factors may not fit into memory.
    fn prepare(&self, problem: &Problem<'_>) -> Result<Self::Prepared>;

    /// Solves the prepared problem, starting from `problem.x()`, and leaves the solution there.
    ///
    /// [`Error::Stopped`](crate::Error::Stopped) may be passed on with `?`: then `x` is the solution, and the claimed
    /// residuals are those last passed to [`Problem::observe`].
    fn solve(&self, prepared: &mut Self::Prepared, problem: &mut Problem<'_>) -> Result<Report>;

    /// Bytes needed beyond the problem itself, for n rows, d inputs and s right-hand sides.
    fn estimate(&self, n: usize, _d: usize, s: usize) -> f64 {
        // Residual, direction and product, as most iterative methods need.
        8.0 * 3.0 * n as f64 * s as f64
    }
}

/// Properties of a solver or learner that the host has to know. Combined with [`Capabilities::and`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities(pub(crate) u64);

impl Capabilities {
    /// None: an iterative method that starts from zero.
    pub const NONE: Capabilities = Capabilities(0);
    /// Solves to working precision whatever the tolerance.
    pub const EXACT: Capabilities = Capabilities(capability::EXACT);
    /// Draws random numbers: the answer depends on the seed.
    pub const RANDOMIZED: Capabilities = Capabilities(capability::RANDOMIZED);
    /// Uses a warm start in `x`.
    pub const WARM_START: Capabilities = Capabilities(capability::WARM_START);
    /// Makes BLAS or LAPACK calls worth threading, from the thread it is called on. Their rounding
    /// errors depend on the number of threads; those of pieces of fixed size on [`Problem::workers`] do not.
    pub const BLAS_THREADS: Capabilities = Capabilities(capability::BLAS_THREADS);
    /// Keeps an n x n matrix.
    pub const DENSE: Capabilities = Capabilities(capability::DENSE);
    /// Has fewer unknowns than rows.
    pub const INDUCING: Capabilities = Capabilities(capability::INDUCING);
    /// Of a learner: takes the stationary families as they are.
    pub const KERNEL: Capabilities = Capabilities(capability::KERNEL);
    /// Of a learner: trains a constant prior mean where [`Fit::trains_mean`](crate::Fit::trains_mean) asks for it.
    pub const MEAN: Capabilities = Capabilities(capability::MEAN);
    /// Of a learner: takes a network between inputs and kernel.
    pub const NETWORK: Capabilities = Capabilities(capability::NETWORK);
    /// Of a learner: takes kernels of finite dimension, which are linear on a network's outputs or approximated by
    /// random features.
    pub const FINITE: Capabilities = Capabilities(capability::FINITE);

    /// Both these and those.
    #[must_use]
    pub const fn and(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }
}

/// Why a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The tolerance is reached, or the solver is exact.
    Converged,
    /// The host asked to stop.
    Stopped,
    /// The solver's own iteration limit.
    Iterations,
    /// The residual no longer falls.
    Stagnated,
    /// The residual grows without bound, or is not a number.
    Diverged,
}

impl Reason {
    /// The code that crosses the interface.
    pub(crate) fn code(self) -> i32 {
        match self {
            Reason::Converged => reason::CONVERGED,
            Reason::Stopped => reason::STOPPED,
            Reason::Iterations => reason::ITERATIONS,
            Reason::Stagnated => reason::STAGNATED,
            Reason::Diverged => reason::DIVERGED,
        }
    }
}

/// A solver's report of a finished solve. The harness computes the true residuals itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Why it ended.
    pub reason: Reason,
    /// Iterations, as the solver counts them.
    pub iterations: usize,
    /// Relative residual norms that the solver claims, one a column; empty if it knows none.
    pub residuals: Vec<f64>,
    /// Further numbers for the results.
    pub numbers: Vec<(&'static str, f64)>,
}

impl Report {
    /// A report without residuals or further numbers.
    pub fn new(reason: Reason, iterations: usize) -> Report {
        Report { reason, iterations, residuals: Vec::new(), numbers: Vec::new() }
    }

    /// Adds the relative residual norms, one a column.
    #[must_use]
    pub fn residuals(mut self, norms: impl Into<Vec<f64>>) -> Report {
        self.residuals = norms.into();
        self
    }

    /// Adds a number under a name of lower-case letters, digits and underscores.
    #[must_use]
    pub fn number(mut self, name: &'static str, value: f64) -> Report {
        self.numbers.push((name, value));
        self
    }
}
