//! State shared by the callbacks of one solve.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use gpbench_abi::{Mat, Operator, Problem, Status};
use gpbench_numerics::LinearOperator;
use gpbench_terms::{Arithmetic, Clock, Entries};
use ndarray::{ArrayView2, ShapeBuilder};

use crate::account::{Account, SolveLimits};
use crate::allowance::Allowance;
use crate::callback::{Callbacks, Refusal};
use crate::host_table::HostTable;
use crate::iterate_product::IterateProduct;
use crate::observer::{IterationInfo, Observer};
use crate::seal::Seal;
use crate::store::Store;
use crate::system::LinearSystem;

/// The id of an extension of the operator, and how its table is found. It is null where the session has no such
/// extension; the operator is the one that was asked.
pub(crate) type OperatorExtension = (&'static str, fn(&Session, &Operator) -> *const c_void);

/// The id of an extension of the problem, and how its table is found; null where the session has no such extension.
pub(crate) type ProblemExtension = (&'static str, fn(&Session) -> *const c_void);

/// Flag of an operator whose products are in mixed precision.
pub(crate) const MIXED: u32 = 1;

/// State shared by the callbacks of one solve.
pub struct Session<'a> {
    pub(crate) account: Account,
    pub(crate) objects: Objects<'a>,
    observer: RefCell<&'a mut dyn Observer>,
    /// The iteration whose iterate was requested and has not arrived.
    awaiting: Cell<Option<i64>>,
    pub(crate) callbacks: Callbacks,
}

/// Data that a plugin can access during a solve.
pub(crate) struct Objects<'a> {
    pub(crate) system: &'a dyn LinearSystem,
    pub(crate) seal: Seal,
    /// Data of extensions.
    pub(crate) store: Store,
    /// Whether the call being served is one of the operator in mixed precision.
    mixed: Cell<bool>,
    /// Whether any call so far was in mixed precision.
    ever_mixed: Cell<bool>,
    /// First entry of the iterate, m x s, and the distance between its columns, while the plugin solves.
    iterate: Cell<Option<(*const f64, usize)>>,
    /// The last product with the iterate.
    product: RefCell<Option<IterateProduct>>,
}

impl<'a> Objects<'a> {
    fn new(system: &'a dyn LinearSystem) -> Self {
        Objects {
            system,
            seal: Seal::of(system),
            store: Store::default(),
            mixed: Cell::new(false),
            ever_mixed: Cell::new(false),
            iterate: Cell::new(None),
            product: RefCell::default(),
        }
    }

    /// The solver's matrix, in the precision that the call being served asks for.
    pub(crate) fn matrix(&self) -> &'a dyn LinearOperator {
        let matrix = self.system.operator();
        if self.mixed.get() { matrix.mixed().unwrap_or(matrix) } else { matrix }
    }

    /// Unknowns of each right-hand side.
    pub(crate) fn unknowns(&self) -> usize {
        self.system.operator().shape().1
    }

    /// Number of right-hand sides.
    pub(crate) fn columns(&self) -> usize {
        self.system.rhs().ncols()
    }

    /// The lowest precision of the calls so far.
    pub(crate) fn precision(&self) -> Arithmetic {
        if self.ever_mixed.get() { Arithmetic::Mixed } else { Arithmetic::F64 }
    }

    fn begin_call(&self, mixed: bool) {
        self.mixed.set(mixed);
        self.ever_mixed.set(self.ever_mixed.get() || mixed);
    }

    /// Whether a product of the call being served with all columns of `x` is one with the iterate in double precision.
    pub(crate) fn is_of_iterate(&self, x: ArrayView2<'_, f64>) -> bool {
        let first = self.iterate.get().map(|(first, _)| first);
        !self.mixed.get() && first == Some(x.as_ptr()) && x.dim() == (self.unknowns(), self.columns())
    }

    /// Keeps a product with the iterate `x` in place of an earlier one.
    pub(crate) fn keep_product(&self, x: ArrayView2<'_, f64>, product: ArrayView2<'_, f64>) {
        *self.product.borrow_mut() = IterateProduct::of(x, product);
    }

    /// The last product with the iterate.
    pub(crate) fn take_product(&self) -> Option<IterateProduct> {
        self.product.borrow_mut().take()
    }

    /// Sets the iterate that `observe` may request from now on, or none.
    pub(crate) fn offer_iterate(&self, x: Option<&Mat>) {
        self.iterate.set(x.map(|x| (x.data.cast_const(), x.ld as usize)));
    }
}

impl<'a> Session<'a> {
    /// A session on the calling thread, with the clock at zero and paused.
    pub fn new(
        system: &'a dyn LinearSystem,
        limits: SolveLimits,
        host: &'static HostTable,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Session {
            account: Account::new(system.epoch_rows(), limits, host.services()),
            objects: Objects::new(system),
            observer: RefCell::new(observer),
            awaiting: Cell::new(None),
            callbacks: Callbacks::new(host.services()),
        }
    }

    /// Continues from the allowance of an earlier session of the same case.
    #[must_use]
    pub fn with_allowance(self, earlier: Allowance) -> Self {
        self.account.continue_allowance(earlier);
        self
    }

    /// Counted and uncounted seconds of this session and the earlier ones.
    pub fn allowance(&self) -> Allowance {
        self.account.allowance()
    }

    /// Records the time of a call of the plugin that belongs to this solve and ended before the session began: what
    /// exceeds the [`Allowance`] counts.
    pub fn excuse(&self, spent: Clock) {
        self.account.excuse(spent);
    }

    /// Runs a call of the plugin beside prepare and solve. Its time stays uncounted within the [`Allowance`].
    pub fn aside<T>(&self, call: impl FnOnce() -> T) -> T {
        self.account.aside(call)
    }

    /// Time spent so far.
    pub fn clock(&self) -> Clock {
        self.account.clock()
    }

    /// Kernel entries used so far.
    pub fn entries(&self) -> Entries {
        self.account.entries()
    }

    /// Number of times that the operator has refused work because the budget was spent.
    pub fn refusals(&self) -> u64 {
        self.account.refusals()
    }

    /// Records work, or refuses it; see [`Account::claim`].
    pub(crate) fn spend(&self, used: f64, evaluated: f64) -> Result<(), Refusal> {
        if self.account.claim(used, evaluated) { Ok(()) } else { Err(Refusal::Stopped) }
    }

    /// Resumes the clock. An iterate that was requested and has not arrived is no longer expected, and the
    /// pause that was granted for it counts.
    pub(crate) fn resume_clock(&self) {
        match self.awaiting.take() {
            Some(_) => self.account.resume_without_pause(),
            None => self.account.resume(),
        }
    }

    /// The answer to `observe`.
    pub(crate) fn observe(&self, iteration: i64, claimed: &[f64]) -> Status {
        let Session { account, objects, .. } = self;
        let answers_request = self.awaiting.get() == Some(iteration);
        if answers_request {
            self.awaiting.set(None);
            account.end_wait();
        } else {
            self.resume_clock();
        }
        account.pause();
        let claimed = objects.system.case_norms(claimed);
        let info = self.info(iteration, &claimed);
        let stop = account.is_exhausted();
        let mut observer = self.observer.borrow_mut();
        match objects.iterate.get() {
            Some((first, distance)) if answers_request => {
                let shape = (objects.unknowns(), objects.columns()).strides((1, distance));
                // SAFETY: the iterate has this shape while a solver runs, which it does; the solver is
                // inside `observe` and thus not writing.
                let iterate = unsafe { ArrayView2::from_shape_ptr(shape, first) };
                observer.record(info, Some(objects.system.case_weights(iterate.into()).view()));
            }
            Some(_) if !stop && observer.wants_iterate(info) => {
                self.awaiting.set(Some(iteration));
                return Status::ITERATE;
            }
            _ => observer.record(info, None),
        }
        let cancelled = observer.wants_stop();
        self.resume_clock();
        if stop {
            account.note_exhausted();
        }
        if stop || cancelled { Status::STOPPED } else { Status::DONE }
    }

    /// Forwards a number that the solver reports to the observer. A requested iterate may still arrive.
    pub(crate) fn note(&self, iteration: i64, name: &str, value: f64) {
        if !value.is_finite() {
            return;
        }
        let running = self.account.is_running();
        self.account.pause();
        self.observer.borrow_mut().note(self.info(iteration, &[]), name, value);
        if running {
            self.resume_clock();
        }
    }

    fn info<'m>(&self, iteration: i64, claimed: &'m [f64]) -> IterationInfo<'m> {
        IterationInfo {
            iteration: iteration.max(0).unsigned_abs(),
            seconds: self.clock().wall,
            epochs: self.account.epochs(),
            claimed,
        }
    }
}

/// Serves a call of the operator. An iterate that was requested and has not arrived is no longer expected, so
/// that no work is done while the clock is paused.
///
/// # Safety
/// `op` is null or the operator that the session's solver was given.
pub(crate) unsafe fn serve_operator(
    op: *const Operator,
    call: &str,
    body: impl FnOnce(&Session) -> Result<(), Refusal>,
) -> Status {
    // SAFETY: by this function's contract; the context of that operator is its session.
    match unsafe { op.as_ref().and_then(|op| Some((session(op.ctx)?, op.flags))) } {
        None => Status::INVALID_ARGUMENT,
        Some((session, flags)) => session.callbacks.serve(call, || {
            session.resume_clock();
            session.objects.begin_call(flags == MIXED);
            body(session)
        }),
    }
}

/// Serves a call of the problem.
///
/// # Safety
/// `problem` is null or the problem that the session's solver was given.
pub(crate) unsafe fn serve_problem(
    problem: *const Problem,
    call: &str,
    body: impl FnOnce(&Session) -> Result<(), Refusal>,
) -> Status {
    // SAFETY: by this function's contract; the context of that problem is its session.
    match unsafe { problem.as_ref().and_then(|problem| session(problem.ctx)) } {
        None => Status::INVALID_ARGUMENT,
        Some(session) => session.callbacks.serve(call, || body(session)),
    }
}

/// # Safety
/// `ctx` is null or points to a live session.
unsafe fn session<'s>(ctx: *mut c_void) -> Option<&'s Session<'s>> {
    // SAFETY: by this function's contract.
    unsafe { ctx.cast_const().cast::<Session<'s>>().as_ref() }
}
