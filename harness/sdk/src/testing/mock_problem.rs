//! The problem and its operator as they cross the interface: functions on a dense matrix that count what is used.

use std::cell::{Cell, RefCell};

use gpbench_abi as abi;
use gpbench_abi::Status;
use ndarray::Array2;

use super::DenseProblem;
use super::extension::state::State;
use super::extension::{self, inputs, targets};
use super::run::list;
use crate::matrix::{view, view_mut};
use crate::{Error, Result};

/// State shared by the callbacks of one solve.
pub(super) struct MockProblem<'p> {
    pub(super) given: &'p DenseProblem,
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
    pub(super) inputs: Option<abi::Inputs>,
    pub(super) targets: Option<abi::Targets>,
}

impl<'p> MockProblem<'p> {
    pub(super) fn new(given: &'p DenseProblem) -> MockProblem<'p> {
        MockProblem {
            given,
            x: Cell::new(std::ptr::null_mut()),
            budget: abi::Budget::new(given.a.nrows(), given.max_epochs),
            entries: Cell::new(0.0),
            trace: RefCell::default(),
            notes: RefCell::default(),
            iterates: RefCell::default(),
            state: RefCell::new(given.state.clone()),
            asked: Cell::new(false),
            inputs: inputs::table(given),
            targets: targets::table(given),
        }
    }

    /// The operator, which points to this.
    pub(super) fn operator(&self) -> abi::Operator {
        abi::Operator {
            size: size_of::<abi::Operator>() as u32,
            flags: 0,
            ctx: (&raw const *self).cast_mut().cast(),
            n: self.given.a.nrows() as i64,
            m: self.given.a.ncols() as i64,
            apply: Some(apply),
            diag: Some(diag),
            charge: Some(charge),
            extension: Some(extension::of_operator),
        }
    }

    /// The problem, which points to this and to the other arguments.
    pub(super) fn problem(&self, op: &abi::Operator, rhs: &abi::Mat, x: *mut abi::Mat) -> abi::Problem {
        abi::Problem {
            size: size_of::<abi::Problem>() as u32,
            threads: self.given.threads,
            seed: self.given.seed,
            tolerance: self.given.tolerance,
            max_epochs: self.given.max_epochs,
            op,
            rhs,
            x,
            n_targets: self.given.n_targets as i64,
            ctx: (&raw const *self).cast_mut().cast(),
            observe: Some(observe),
            extension: Some(extension::of_problem),
        }
    }

    /// # Safety
    /// `op` is the operator of a living problem.
    pub(super) unsafe fn of_operator<'a>(op: *const abi::Operator) -> &'a MockProblem<'a> {
        // SAFETY: promised by the caller.
        unsafe { &*(*op).ctx.cast_const().cast() }
    }

    /// # Safety
    /// `problem` is a living problem.
    pub(super) unsafe fn of_problem<'a>(problem: *const abi::Problem) -> &'a MockProblem<'a> {
        // SAFETY: promised by the caller.
        unsafe { &*(*problem).ctx.cast_const().cast() }
    }

    /// Runs a function of the operator, given the problem and A. Shapes that do not fit panic in ndarray and
    /// abort the test with a text: the SDK's checks have missed them.
    ///
    /// # Safety
    /// `op` is the operator of a living problem.
    pub(super) unsafe fn call(
        op: *const abi::Operator,
        work: impl FnOnce(&MockProblem<'_>, &Array2<f64>) -> Result<()>,
    ) -> Status {
        // SAFETY: promised by the caller.
        let problem = unsafe { MockProblem::of_operator(op) };
        match work(problem, &problem.given.a) {
            Ok(()) => Status::DONE,
            Err(error) => error.status(),
        }
    }

    /// Counts entries that a call is about to use, or refuses the call if they do not fit.
    pub(super) fn claim(&self, entries: usize) -> Result<()> {
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
}

unsafe extern "C" fn apply(op: *const abi::Operator, x: *const abi::Mat, y: *mut abi::Mat) -> Status {
    // SAFETY: the caller passes the operator and live matrices that do not overlap.
    unsafe {
        MockProblem::call(op, |problem, a| {
            problem.claim(a.len())?;
            view_mut(&*y, "y")?.assign(&a.dot(&view(&*x, "x")?));
            Ok(())
        })
    }
}

unsafe extern "C" fn diag(op: *const abi::Operator, out: *mut abi::Mat) -> Status {
    // SAFETY: as in `apply`.
    unsafe {
        MockProblem::call(op, |problem, a| {
            if problem.given.basis.is_some() {
                return Err(Error::Unsupported("K(X, Z) has no diagonal".into()));
            }
            view_mut(&*out, "out")?.column_mut(0).assign(&a.diag());
            Ok(())
        })
    }
}

unsafe extern "C" fn charge(op: *const abi::Operator, entries: i64) -> Status {
    // SAFETY: as in `apply`.
    unsafe { MockProblem::call(op, |problem, _| problem.charge(entries)) }
}

unsafe extern "C" fn observe(
    problem: *const abi::Problem,
    iteration: i64,
    norms: *const f64,
    n_norms: i64,
) -> Status {
    // SAFETY: called with a living problem.
    let problem = unsafe { MockProblem::of_problem(problem) };
    if problem.given.iterates && !problem.asked.replace(true) {
        return Status::ITERATE;
    }
    if problem.asked.replace(false) {
        // SAFETY: the solver waits, and holds no reference into its `x`.
        if let Ok(x) = unsafe { view(&*problem.x.get(), "x") } {
            problem.iterates.borrow_mut().push(x.to_owned());
        }
    }
    // SAFETY: the norms are readable during the call.
    problem.trace.borrow_mut().push((iteration, unsafe { list(norms, n_norms) }));
    let is_last = problem.given.stop_at.is_some_and(|last| iteration >= last);
    if is_last || problem.is_spent() { Status::STOPPED } else { Status::DONE }
}
