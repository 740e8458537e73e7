//! A host in memory: runs a solver on a dense matrix through the tables that the real host uses.
//!
//! For the tests of a plugin, which so need no harness, no data and no loaded library. Counts
//! entries, stops when the budget is spent, and records what the solver observes.

mod matern32;
mod parts;
mod state;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Mutex;

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::{Array1, Array2, ArrayRef2, ArrayView2, Axis, ShapeBuilder};

use crate::export;
use crate::matrix::{view, view_mut, with_input, with_output};
use crate::operator::text;
use crate::{Error, Family, Result, Solver, Value};

use parts::{Features, by_columns, mat};
use state::State;

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

/// The host's services. Its table is leaked, since a host lives until the process ends.
struct TestHost {
    table: &'static abi::Host,
    error: &'static Mutex<Option<Failure>>,
}

impl TestHost {
    fn new() -> TestHost {
        let error: &'static Mutex<Option<Failure>> = Box::leak(Box::new(Mutex::new(None)));
        let table = Box::leak(Box::new(abi::Host {
            size: size_of::<abi::Host>() as u32,
            minor: abi::MINOR,
            ctx: (&raw const *error).cast_mut().cast(),
            set_error: Some(set_error),
            log: Some(log),
            extension: Some(host_extension),
        }));
        TestHost { table, error }
    }

    fn table(&self) -> *const abi::Host {
        self.table
    }

    /// Done, or why not.
    fn outcome(&self, status: Status) -> Result<(), Failure> {
        if status == Status::DONE {
            return Ok(());
        }
        let told = self.error.lock().ok().and_then(|mut error| error.take());
        Err(told.unwrap_or(Failure { status, text: String::new() }))
    }
}

unsafe extern "C" fn set_error(host: *const abi::Host, status: Status, why: *const abi::Str) {
    // SAFETY: called with the table of `TestHost`, whose context is this, and a live text.
    let (error, why) = unsafe { (&*(*host).ctx.cast_const().cast::<Mutex<Option<Failure>>>(), text(&*why)) };
    if let Ok(mut error) = error.lock() {
        *error = Some(Failure { status, text: why.unwrap_or("(not UTF-8)").to_owned() });
    }
}

unsafe extern "C" fn log(_host: *const abi::Host, level: i32, line: *const abi::Str) {
    // SAFETY: a live text.
    eprintln!("[{level}] {}", unsafe { text(&*line) }.unwrap_or("(not UTF-8)"));
}

unsafe extern "C" fn host_extension(_host: *const abi::Host, id: *const abi::Str) -> *const c_void {
    static PARALLEL_FOR: abi::ParallelFor =
        abi::ParallelFor { size: size_of::<abi::ParallelFor>() as u32, reserved: 0, run: Some(in_turn) };
    // SAFETY: a live text.
    match unsafe { text(&*id) } {
        Ok(abi::id::PARALLEL_FOR) => (&raw const PARALLEL_FOR).cast(),
        _ => std::ptr::null(),
    }
}

/// `parallel_for` in turn, backwards: nothing may depend on the order.
unsafe extern "C" fn in_turn(
    _host: *const abi::Host,
    n: i64,
    body: Option<unsafe extern "C" fn(ctx: *mut c_void, i: i64)>,
    ctx: *mut c_void,
) -> Status {
    let Some(body) = body else { return Status::INVALID_ARGUMENT };
    for i in (0..n).rev() {
        // SAFETY: the caller's own function and context.
        unsafe { body(ctx, i) };
    }
    Status::DONE
}

unsafe extern "C" fn problem_extension(problem: *const abi::Problem, id: *const abi::Str) -> *const c_void {
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

/// What the operator's and the problem's functions work on.
struct World<'p> {
    problem: &'p DenseProblem,
    /// Points to the solver's `x` while a solve runs.
    x: Cell<*mut abi::Mat>,
    entries: Cell<f64>,
    trace: RefCell<Vec<(i64, Vec<f64>)>>,
    notes: RefCell<Vec<(i64, String, f64)>>,
    iterates: RefCell<Vec<Array2<f64>>>,
    state: RefCell<State>,
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
    fn new(problem: &'p DenseProblem) -> World<'p> {
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

    fn operator(&self) -> abi::Operator {
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

    /// Counts entries, unless the budget is spent.
    fn charge(&self, entries: usize) -> Result<()> {
        let n = self.problem.a.nrows() as f64;
        if self.entries.get() >= self.problem.max_epochs * n * n {
            return Err(Error::Stopped);
        }
        self.entries.set(self.entries.get() + entries as f64);
        Ok(())
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
unsafe fn on_world(
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
            world.charge(a.len())?;
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
    unsafe { on_world(op, |world, _| world.charge(entries as usize)) }
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
            world.charge(part.len())?;
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
            world.charge(part.len())?;
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
            world.charge(part.len())?;
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
            world.charge(part.len())?;
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

unsafe extern "C" fn observe(
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
    match world.problem.stop_at {
        Some(last) if iteration >= last => Status::STOPPED,
        _ => Status::DONE,
    }
}

/// Relative residual norms of a solution, computed from A itself: for assertions.
pub fn relative_residuals(a: &ArrayRef2<f64>, x: &ArrayRef2<f64>, rhs: &ArrayRef2<f64>) -> Vec<f64> {
    let norms = |b: ArrayView2<'_, f64>| -> Array1<f64> {
        b.axis_iter(Axis(1)).map(|column| column.dot(&column).sqrt()).collect()
    };
    let residual = rhs.to_owned() - a.dot(x);
    (norms(residual.view()) / norms(rhs.view())).to_vec()
}
