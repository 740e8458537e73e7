//! The trait that a solver implements, and its report of a finished solve.

use gpbench_terms::{Capabilities, Reason};

use crate::{Facts, Params, Problem, Result, Shape};

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

    /// What readers who choose a method want to know of it.
    const FACTS: Facts = Facts::NONE;

    /// Properties that the host has to know.
    const CAPABILITIES: Capabilities = Capabilities::NONE;

    /// Data set up for one problem: preconditioners, factors; `()` if there is none.
    ///
    /// It borrows nothing from the problem, whose memory is valid until `prepare` returns, so it copies what it needs.
    type Prepared: 'static;

    /// Makes a solver. The parameters' ranges have been checked; conditions between parameters are checked here.
    fn new(params: Self::Params) -> Result<Self>;

    /// Gets ready for problems of these sizes, without data: compiles, allocates, starts threads. Called before the
    /// first `prepare`, and again before a `prepare` with other sizes. Its seconds are no part of the solver's, but count
    /// towards the time limit of the case.
    fn warm_up(&mut self, _shape: &Shape) -> Result<()> {
        Ok(())
    }

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
