//! A host in memory: runs a solver on a dense matrix through the tables that the real host uses.
//!
//! For the tests of a plugin, which so need no harness, no data and no loaded library. Counts
//! entries, stops when the budget is spent, and records what the solver observes.

mod host;
mod matern32;
mod parts;
mod state;
mod world;

use std::collections::BTreeMap;
use std::ffi::c_void;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, Axis, ShapeBuilder};

use crate::export;
use crate::matrix::{with_input, with_output};
use crate::operator::text;
use crate::{Error, Family, Result, Solver, Value};

use host::TestHost;
use parts::Features;
use state::State;
use world::{World, observe, problem_extension};

pub use matern32::matern32;

/// A system A X = B with a dense A, to be solved by a solver under test.
#[derive(Debug, Clone)]
pub struct DenseProblem {
    a: Array2<f64>,
    rhs: Array2<f64>,
    start: Array2<f64>,
    kernel: Option<Kernel>,
    basis: Option<Array2<f64>>,
    features: Option<Features>,
    parts: Option<[Array2<f64>; 2]>,
    tolerance: f64,
    max_epochs: f64,
    n_targets: usize,
    threads: u32,
    seed: u64,
    iterates: bool,
    stop_at: Option<i64>,
    state: State,
}

/// What A is made of, for solvers that ask.
#[derive(Debug, Clone)]
struct Kernel {
    family: i32,
    x: Array2<f64>,
    signal_scale: f64,
    noise_scale: f64,
    length_scale: Vec<f64>,
}

/// What a solver has done.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The solution.
    pub x: Array2<f64>,
    /// One of [`abi::reason`].
    pub reason: i32,
    /// Iterations, as reported.
    pub iterations: i64,
    /// Residual norms, as reported.
    pub claimed: Vec<f64>,
    /// Further numbers, as reported.
    pub numbers: Vec<(String, f64)>,
    /// Iteration and norms, as observed.
    pub trace: Vec<(i64, Vec<f64>)>,
    /// Iteration, name and value of the solver's own numbers, as noted.
    pub notes: Vec<(i64, String, f64)>,
    /// Iterates, as put into `x` for each entry of the trace, if asked for.
    pub iterates: Vec<Array2<f64>>,
    /// Kernel entries used by `prepare`.
    pub entries_prepare: f64,
    /// Kernel entries used, `prepare` included.
    pub entries: f64,
    /// What the solver has saved, for [`DenseProblem::state`].
    pub state: BTreeMap<String, Vec<u8>>,
}

/// An error status with the text that went with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What was returned.
    pub status: Status,
    /// What was said; empty if nothing was.
    pub text: String,
}

impl DenseProblem {
    /// A x = `rhs` from zero, to no tolerance, without budget; the first column is the only target.
    pub fn new(a: Array2<f64>, rhs: Array2<f64>) -> DenseProblem {
        let start = Array2::zeros((a.ncols(), rhs.ncols()).f());
        DenseProblem {
            a,
            start,
            n_targets: rhs.ncols().min(1),
            rhs,
            kernel: None,
            basis: None,
            features: None,
            parts: None,
            tolerance: 0.0,
            max_epochs: f64::INFINITY,
            threads: 2,
            seed: 0,
            iterates: false,
            stop_at: None,
            state: State::new(),
        }
    }

    /// Tells what A is made of; A is not checked against it.
    #[must_use]
    pub fn kernel(
        mut self,
        family: Family,
        x: Array2<f64>,
        signal_scale: f64,
        noise_scale: f64,
        length_scale: Vec<f64>,
    ) -> Self {
        let family = match family {
            Family::Rbf => abi::family::RBF,
            Family::Matern12 => abi::family::MATERN12,
            Family::Matern32 => abi::family::MATERN32,
            Family::Matern52 => abi::family::MATERN52,
        };
        self.kernel = Some(Kernel { family, x, signal_scale, noise_scale, length_scale });
        self
    }

    /// Relative residual norm to reach.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Epochs to spend.
    #[must_use]
    pub fn max_epochs(mut self, epochs: f64) -> Self {
        self.max_epochs = epochs;
        self
    }

    /// How many of the first columns are targets.
    #[must_use]
    pub fn targets(mut self, n_targets: usize) -> Self {
        self.n_targets = n_targets;
        self
    }

    /// Threads that the solver may use.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// Seed of the solver's random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A warm start.
    #[must_use]
    pub fn start(mut self, x: Array2<f64>) -> Self {
        self.start = x;
        self
    }

    /// Asks for the iterate each time the solver observes.
    #[must_use]
    pub fn iterates(mut self) -> Self {
        self.iterates = true;
        self
    }

    /// Answers the observation of this iteration with stop.
    #[must_use]
    pub fn stop_at(mut self, iteration: usize) -> Self {
        self.stop_at = Some(iteration as i64);
        self
    }

    /// What a solver has saved in an earlier outer step.
    #[must_use]
    pub fn state(mut self, state: BTreeMap<String, Vec<u8>>) -> Self {
        self.state = state;
        self
    }

    /// Makes a solver, prepares and solves. Parameters not given have their defaults.
    pub fn solve<S: Solver>(&self, params: &[(&str, Value<'_>)]) -> Result<Outcome, Failure> {
        self.solve_with(&export::solver::<S>(), params)
    }

    /// As [`solve`](Self::solve), for a solver known by its table.
    pub fn solve_with(&self, solver: &abi::Solver, params: &[(&str, Value<'_>)]) -> Result<Outcome, Failure> {
        let host = TestHost::new();
        let values = fill_in(solver, params)
            .map_err(|error| Failure { status: error.status(), text: error.to_string() })?;
        let mut object = std::ptr::null_mut();
        let create = solver.create.expect("a table has `create`");
        // SAFETY: a live host, one value a parameter, and a place for the object.
        host.outcome(unsafe { create(host.table(), values.as_ptr(), values.len() as i64, &mut object) })?;
        let object = Object { solver, object };
        self.run(&host, &object)
    }

    fn run(&self, host: &TestHost, object: &Object<'_>) -> Result<Outcome, Failure> {
        let world = World::new(self);
        let operator = world.operator();
        let mut x = Array2::zeros(self.start.dim().f());
        x.assign(&self.start);
        let told = with_output(&mut x, |x| {
            with_input(&self.rhs, |rhs| {
                // The only pointer to `x` from here on, shared with `observe`.
                let x: *mut abi::Mat = x;
                world.x.set(x);
                let problem = abi::Problem {
                    size: size_of::<abi::Problem>() as u32,
                    threads: self.threads,
                    seed: self.seed,
                    tolerance: self.tolerance,
                    max_epochs: self.max_epochs,
                    op: &operator,
                    rhs,
                    x,
                    n_targets: self.n_targets as i64,
                    ctx: (&raw const world).cast_mut().cast(),
                    observe: Some(observe),
                    extension: Some(problem_extension),
                };
                if let Some(prepare) = object.solver.prepare {
                    // SAFETY: a live object and problem.
                    host.outcome(unsafe { prepare(object.object, &problem) })?;
                }
                let entries_prepare = world.entries.get();
                // SAFETY: a report is numbers and pointers, for which zero is sound.
                let mut report: abi::Report = unsafe { std::mem::zeroed() };
                report.size = size_of::<abi::Report>() as u32;
                let solve = object.solver.solve.expect("a table has `solve`");
                // SAFETY: a live object, problem and report.
                host.outcome(unsafe { solve(object.object, &problem, &mut report) })?;
                // SAFETY: what the report points to lives until the next call on the object.
                let (claimed, names, values) = unsafe {
                    (
                        list(report.claimed, report.n_claimed),
                        list(report.names, report.n_values),
                        list(report.values, report.n_values),
                    )
                };
                // SAFETY: as above.
                let names =
                    names.iter().map(|name| unsafe { text(name) }.expect("names are UTF-8").to_owned());
                Ok(Outcome {
                    x: Array2::zeros((0, 0)),
                    reason: report.reason,
                    iterations: report.iterations,
                    numbers: names.zip(values).collect(),
                    claimed,
                    trace: Vec::new(),
                    notes: Vec::new(),
                    iterates: Vec::new(),
                    entries_prepare,
                    entries: world.entries.get(),
                    state: State::new(),
                })
            })
        });
        let mut outcome: Outcome = told?;
        outcome.x = x;
        outcome.trace = world.trace.into_inner();
        outcome.notes = world.notes.into_inner();
        outcome.iterates = world.iterates.into_inner();
        outcome.state = world.state.into_inner();
        Ok(outcome)
    }
}

/// A live solver object, ended when dropped.
struct Object<'s> {
    solver: &'s abi::Solver,
    object: *mut c_void,
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        if let Some(destroy) = self.solver.destroy {
            // SAFETY: made by `create` of the same table; its last use.
            unsafe { destroy(self.object) };
        }
    }
}

/// One value a parameter: the given ones, and defaults for the others.
fn fill_in(solver: &abi::Solver, given: &[(&str, Value<'_>)]) -> Result<Vec<abi::Value>> {
    let schema = match solver.n_params {
        0 => &[],
        // SAFETY: a table's schema lives as long as the process.
        count => unsafe { std::slice::from_raw_parts(solver.params, count as usize) },
    };
    // SAFETY: as above.
    let names = schema.iter().map(|param| unsafe { text(&param.name) }).collect::<Result<Vec<_>>>()?;
    if let Some((name, _)) = given.iter().find(|(name, _)| !names.contains(name)) {
        return Err(Error::InvalidArgument(format!("no parameter is called `{name}`")));
    }
    let values = names.iter().zip(schema).map(|(name, param)| {
        given.iter().find(|(given, _)| given == name).map_or(param.default, |(_, value)| value.raw())
    });
    Ok(values.collect())
}

/// Copies an array of the interface.
///
/// # Safety
/// `first` points to `count` readable items, or `count` is 0.
unsafe fn list<T: Copy>(first: *const T, count: i64) -> Vec<T> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(first, count as usize) }.to_vec()
}

/// Relative residual norms of a solution, computed from A itself: for assertions.
pub fn relative_residuals(a: &ArrayRef2<f64>, x: &ArrayRef2<f64>, rhs: &ArrayRef2<f64>) -> Vec<f64> {
    let norms = |b: ArrayView2<'_, f64>| -> Array1<f64> {
        b.axis_iter(Axis(1)).map(|column| column.dot(&column).sqrt()).collect()
    };
    let residual = rhs.to_owned() - a.dot(x);
    (norms(residual.view()) / norms(rhs.view())).to_vec()
}
