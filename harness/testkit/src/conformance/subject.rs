//! The solver under test, as the rules see it.

use ndarray::Array2;

use super::KernelSystem;

/// What a library offers, solver or learner, and the process that it runs in.
pub trait Offer {
    /// Its description.
    fn description(&self) -> &Description;

    /// Makes an object and destroys it; parameters that are not given take their defaults.
    fn try_settings(&self, settings: &[(&str, Setting)]) -> Result<(), Fault>;

    /// Number of threads that the process's BLAS uses now.
    fn blas_threads(&self) -> usize;

    /// Bytes that have been written to standard output so far.
    fn printed(&self) -> u64;
}

/// A solver under test.
pub trait Subject: Offer {
    /// Makes an object; parameters that are not given take their defaults.
    fn create<'s>(&'s self, settings: &[(&str, Setting)]) -> Result<Box<dyn Object + 's>, Fault>;
}

/// A solver object. The caller ends it with [`Object::end`].
pub trait Object {
    /// Prepares for a request without solving it.
    fn prepare(&mut self, request: &Request) -> Result<(), Fault>;

    /// Prepares for a request, calls `between`, and solves.
    fn run(&mut self, request: &Request, between: &mut dyn FnMut()) -> Result<Outcome, Fault>;

    /// Destroys the object; an error if the solver reports one.
    fn end(self: Box<Self>) -> Result<(), Fault>;
}

/// The description of a solver or learner.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// `solver` or `learner`.
    pub kind: &'static str,
    /// Id that a spec names.
    pub id: String,
    /// One line of documentation.
    pub doc: String,
    /// Solves to working precision whatever the tolerance.
    pub exact: bool,
    /// Draws random numbers.
    pub randomized: bool,
    /// Makes use of a warm start.
    pub warm_start: bool,
    /// Calls threaded BLAS, which rounds by the number of threads.
    pub blas_threads: bool,
    /// Of a learner: needs inducing points.
    pub inducing: bool,
    /// Of a learner: takes the stationary kernels. Others take linear ones on the outputs of a network, if they take
    /// networks, or else have random features of the RBF kernel.
    pub kernel: bool,
    /// Of a learner: takes networks.
    pub network: bool,
    /// Parameters.
    pub params: Vec<Parameter>,
    /// Differences between the solver's table and this version of the interface, a sentence each.
    pub oddities: Vec<String>,
}

/// A parameter of a solver.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// One line of documentation.
    pub doc: String,
    /// Value used where none is given.
    pub default: Setting,
    /// Smallest permitted value.
    pub min: Option<f64>,
    /// Largest permitted value.
    pub max: Option<f64>,
    /// Permitted texts; empty if any will do.
    pub choices: Vec<String>,
}

/// Value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A text.
    Text(String),
}

/// A system that a rule asks a solver to solve, with its limits. The first column is the target, the others are
/// probes.
#[derive(Debug, Clone)]
pub struct Request {
    /// The matrix, n x n.
    pub system: KernelSystem,
    /// Right-hand sides, n x s.
    pub rhs: Array2<f64>,
    /// Where to start from, n x s.
    pub start: Array2<f64>,
    /// Relative residual norm to reach; none if the budget alone decides.
    pub tolerance: Option<f64>,
    /// Epochs that may be spent.
    pub max_epochs: f64,
    /// Threads that the solver may use.
    pub threads: usize,
    /// Seed of the solver's own random numbers.
    pub seed: u64,
    /// Rows and columns of the host's memory on each side of the iterate, and rows between the columns of
    /// the right-hand sides.
    pub margin: usize,
    /// Number of the observation, from 0, at which the solver is told to stop.
    pub stop_at: Option<usize>,
    /// At which observations the solver is asked for its iterate.
    pub ask: Ask,
}

/// When to ask for the iterate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Never.
    Never,
    /// At the observation of this number, from 0.
    At(usize),
    /// At every one.
    Always,
}

/// Outcome of a solve.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The iterate that the solver left, n x s.
    pub x: Array2<f64>,
    /// Why the solver stopped.
    pub reason: Reason,
    /// Relative residual norms that it claims, one a column, or none.
    pub claimed: Vec<f64>,
    /// Epochs used.
    pub epochs: f64,
    /// Epochs used by prepare.
    pub setup: f64,
    /// The part of `epochs` that the solver reported by itself.
    pub self_reported: f64,
    /// How often work was refused because the budget was spent.
    pub refusals: u64,
    /// Epochs used by the time of each observation.
    pub observed: Vec<f64>,
    /// Iterates that were asked for.
    pub asked: usize,
    /// Iterates that were handed over.
    pub handed: Vec<Array2<f64>>,
    /// Memory of the host that the solver wrote to.
    pub touched: Vec<Touched>,
}

/// Why a solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It reports that the tolerance is reached, or that it is exact.
    Converged,
    /// It was told to stop, or the budget is spent.
    Stopped,
    /// Its own iteration limit is reached.
    Iterations,
    /// The residual no longer falls.
    Stagnated,
    /// The residual grows without bound, or is not a number.
    Diverged,
}

/// Memory of the host that a solver must not write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touched {
    /// The right-hand sides.
    RightHandSides,
    /// The inputs.
    Inputs,
    /// The iterate, during prepare.
    IterateInPrepare,
    /// Memory around and between the columns of the iterate.
    Margin,
}

/// A call of the solver that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Whether it panicked, rather than returning an error.
    pub panicked: bool,
    /// Which call, and why.
    pub text: String,
}
