//! A solver object under test, with a session for each run.

use gpbench_host::{CallError, LinearSystem, Session, SolverObject, shape_of};
use gpbench_numerics::layout::column_major;
use gpbench_terms::{ParamValue, Reason};
use ndarray::{Array2, ArrayView2, ShapeBuilder, s};

use super::recorder::{Observation, Recorder};
use super::request::SolveRequest;
use crate::rules::{Subject, SubjectEntry};

/// Value of the memory around an iterate, a number that no solver computes.
const UNTOUCHED: f64 = -6.283_185_307_179_586e-123;

/// A solver object. The caller ends it with [`SolverRun::end`].
pub(super) struct SolverRun<'s> {
    solver: SolverObject<'s>,
    subject: &'s Subject<'s>,
}

/// Outcome of a solve.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// The iterate that the solver left, n x s.
    pub(super) x: Array2<f64>,
    /// Why the solver stopped.
    pub(super) reason: Reason,
    /// Iterations, as reported.
    pub(super) iterations: u64,
    /// Relative residual norms that it claims, one per column; may be empty.
    pub(super) claimed: Vec<f64>,
    /// Epochs used.
    pub(super) epochs: f64,
    /// Epochs used by prepare.
    pub(super) setup: f64,
    /// The part of `epochs` that the solver reported by itself.
    pub(super) self_reported: f64,
    /// Number of refused calls after the budget was spent.
    pub(super) refusals: u64,
    /// The observations, in their order.
    pub(super) observed: Vec<Observation>,
    /// Number of requested iterates.
    pub(super) asked: usize,
    /// Iterates that were handed over.
    pub(super) handed: Vec<Array2<f64>>,
    /// Memory of the host that the solver wrote to.
    pub(super) touched: Vec<Touched>,
}

/// Memory of the host that a solver must not write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touched {
    /// The right-hand sides.
    RightHandSides,
    /// The inputs.
    Inputs,
    /// The iterate, during prepare.
    IterateInPrepare,
    /// Memory around and between the columns of the iterate.
    Margin,
}

impl<'s> SolverRun<'s> {
    /// Makes an object. Other parameters have the values that its author states, or their defaults.
    pub(super) fn create(
        subject: &'s Subject<'s>,
        settings: &[(&str, ParamValue)],
    ) -> Result<SolverRun<'s>, CallError> {
        let SubjectEntry::Solver(entry) = subject.entry else {
            unreachable!("a rule of solvers tests a solver")
        };
        let solver = SolverObject::create(entry, subject.host, &subject.params(settings))?;
        Ok(SolverRun { solver, subject })
    }

    /// Gets ready for the sizes of a request.
    pub(super) fn warm_up(&mut self, request: &SolveRequest) -> Result<(), CallError> {
        let system = self.subject.make.make(request);
        self.solver.warm_up(shape_of(&*system, request.threads))
    }

    /// Prepares for a request without solving it.
    pub(super) fn prepare(&mut self, request: &SolveRequest) -> Result<(), CallError> {
        let system = self.subject.make.make(request);
        let mut no_observer = ();
        let session = Session::new(&*system, request.limits(), self.subject.host, &mut no_observer);
        let mut x = column_major(&request.start);
        self.solver.prepare(&session, &mut x.view_mut()).map(drop)
    }

    /// Prepares for a request, calls `between`, and solves.
    pub(super) fn run(
        &mut self,
        request: &SolveRequest,
        between: &mut dyn FnMut(),
    ) -> Result<Outcome, CallError> {
        self.run_on(&*self.subject.make.make(request), request, between)
    }

    /// Like [`run`](Self::run), with a system that has already been made.
    pub(super) fn run_on(
        &mut self,
        system: &dyn LinearSystem,
        request: &SolveRequest,
        between: &mut dyn FnMut(),
    ) -> Result<Outcome, CallError> {
        let mut recorder = Recorder::new(request);
        let session = Session::new(system, request.limits(), self.subject.host, &mut recorder)
            .with_state(self.subject.expect.state.clone());
        let ((n, s), margin) = (request.rhs.dim(), request.margin);
        let mut memory = Array2::from_elem((n + 2 * margin, s + 2 * margin).f(), UNTOUCHED);
        let mut x = memory.slice_mut(s![margin..margin + n, margin..margin + s]);
        x.assign(&request.start);

        let early = self.solver.prepare(&session, &mut x)?;
        let moved = x != request.start;
        between();
        let outcome = match early {
            Some(outcome) => outcome,
            None => self.solver.solve(&session, &mut x)?,
        };

        let found = x.to_owned();
        x.fill(UNTOUCHED);
        let touched = [
            (Touched::RightHandSides, !same(system.rhs(), request.rhs.view())),
            (Touched::Inputs, !session.has_inputs(request.system.x.view())),
            (Touched::IterateInPrepare, moved),
            (Touched::Margin, memory.iter().any(|entry| entry.to_bits() != UNTOUCHED.to_bits())),
        ];
        let touched = touched.into_iter().filter_map(|(what, is_so)| is_so.then_some(what)).collect();
        let refusals = session.refusals();
        drop(session);
        let epochs = |entries: f64| entries / (n as f64).powi(2);
        Ok(Outcome {
            x: found,
            reason: outcome.reason,
            iterations: outcome.cost.iterations,
            claimed: outcome.claimed,
            epochs: epochs(outcome.cost.entries.used),
            setup: epochs(outcome.cost.entries.setup),
            self_reported: epochs(outcome.cost.entries.self_reported),
            refusals,
            observed: recorder.observed,
            asked: recorder.asked,
            handed: recorder.handed,
            touched,
        })
    }

    /// Destroys the object; an error if the solver reports one.
    pub(super) fn end(self) -> Result<(), CallError> {
        self.solver.destroy()
    }
}

/// Whether two matrices are the same to the last bit, NaN included.
fn same(a: ArrayView2<f64>, b: ArrayView2<f64>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
