//! Conjugate gradients for many right-hand sides, with a place for every fault.

use std::cell::{Cell, OnceCell, RefCell};
use std::marker::PhantomData;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use gpbench_sdk::ndarray::linalg::general_mat_mul;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, ArrayView1, Axis, ShapeBuilder, s};
use gpbench_sdk::{Capabilities, Error, Problem, Reason, Report, Result, Shape, Solver, params};

use crate::acts;
use crate::fault::{Fault, Mutant};

params! {
    /// Parameters of all mutants.
    pub struct MutantParams {
        /// Iterations after which to give up, for each row.
        pub patience: usize = 2, in 1..=1000;
        /// Iterations after which to end; 0: no limit.
        pub max_iterations: usize = 0;
    }
}

/// Conjugate gradients, with the fault of a mutant.
#[derive(Debug)]
pub(crate) struct Cg<M: Mutant> {
    params: MutantParams,
    /// The scales prepared first, for the mutant that keeps them.
    first: OnceCell<Vec<f64>>,
    /// The last solution, for the mutant that adds to it.
    last: RefCell<Option<Array2<f64>>>,
    /// The columns that it got ready for first, for the mutant that has room for no more.
    room: OnceCell<usize>,
    /// Whether a problem is prepared and not solved, for the mutant that aborts.
    unused: Cell<bool>,
    mutant: PhantomData<M>,
}

/// Data that are prepared for a problem.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Norms of the right-hand sides, 1 for zeros.
    scales: Vec<f64>,
    /// A, for the mutant that evaluates entries by itself.
    matrix: Option<Array2<f64>>,
}

impl<M: Mutant> Solver for Cg<M> {
    type Params = MutantParams;
    const ID: &'static str = M::ID;
    const DOC: &'static str = M::DOC;
    const CAPABILITIES: Capabilities = M::CAPABILITIES;
    type Prepared = Prepared;

    fn new(params: MutantParams) -> Result<Self> {
        if M::FAULT == Fault::RefusesEndOfRange && params.patience == 1000 {
            return Err(Error::InvalidArgument("such a large patience is unavailable".into()));
        }
        let (first, last, unused) = (OnceCell::new(), RefCell::new(None), Cell::new(false));
        Ok(Cg { params, first, last, room: OnceCell::new(), unused, mutant: PhantomData })
    }

    fn warm_up(&mut self, shape: &Shape) -> Result<()> {
        self.room.get_or_init(|| shape.s);
        Ok(())
    }

    fn prepare(&self, problem: &Problem<'_>) -> Result<Prepared> {
        let mut scales = scales::<M>(problem);
        match M::FAULT {
            Fault::KeepsPreparation => scales = self.first.get_or_init(|| scales).clone(),
            Fault::SharesState => {
                acts::SHARED.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&scales);
            }
            _ => {}
        }
        if M::FAULT == Fault::WritesInPrepare {
            acts::clear_iterate(problem);
        }
        let mut matrix = None;
        if M::FAULT == Fault::IgnoresCharge {
            let n = problem.operator().n();
            let mut entries = Array2::zeros((n, n).f());
            problem.operator().block(0..n, 0..n, &mut entries)?;
            matrix = Some(entries);
        }
        self.unused.set(true);
        Ok(Prepared { scales, matrix })
    }

    fn solve(&self, prepared: &mut Prepared, problem: &mut Problem<'_>) -> Result<Report> {
        self.unused.set(false);
        if M::FAULT == Fault::SharesState {
            prepared.scales = acts::SHARED.lock().unwrap_or_else(PoisonError::into_inner).clone();
        }
        let report = self.iterate(prepared, problem);
        match M::FAULT {
            Fault::FlushesToZero => acts::flush_to_zero(),
            Fault::RaisesBlas => acts::raise_blas(),
            Fault::LeavesThreads if problem.threads() > 1 => acts::leave_thread(),
            Fault::Prints => println!("solved"),
            _ => {}
        }
        report
    }
}

impl<M: Mutant> Drop for Cg<M> {
    fn drop(&mut self) {
        if M::FAULT == Fault::AbortsUnused && self.unused.get() {
            std::process::abort();
        }
    }
}

/// Norms of the right-hand sides.
fn scales<M: Mutant>(problem: &Problem<'_>) -> Vec<f64> {
    let norms: Vec<f64> = problem.rhs().columns().into_iter().map(norm).collect();
    let scale = |norm: f64| match M::FAULT {
        Fault::ZeroOverZero => norm,
        Fault::ScaleOfFirst if norms[0] > 0.0 => norms[0],
        Fault::LeavesOutNan if !norm.is_finite() => 1.0,
        _ if norm == 0.0 => 1.0,
        _ => norm,
    };
    norms.iter().copied().map(scale).collect()
}

impl<M: Mutant> Cg<M> {
    /// Conjugate gradients from the start in `x`, on an iterate of its own.
    fn iterate(&self, prepared: &Prepared, problem: &mut Problem<'_>) -> Result<Report> {
        let b = problem.rhs();
        let (n, s) = b.dim();
        if M::FAULT == Fault::ForgetsOnlyRow && n == 1 {
            return Ok(Report::new(Reason::Converged, 0));
        }
        let mut iterate = self.start(problem);
        let mut product = Array2::zeros((n, s).f());
        let mut residual = Array2::zeros((n, s).f());
        if iterate.iter().any(|&x| x != 0.0) && M::FAULT != Fault::AddsToStart {
            multiply(prepared, problem, &iterate, &mut product)?;
            residual -= &product;
        }
        residual += &b;
        for j in 0..s {
            let has_room = M::FAULT != Fault::FirstSizes || self.room.get().is_none_or(|&room| j < room);
            if !has_room || forgotten::<M>(j, b.column(j)) {
                residual.column_mut(j).fill(0.0);
                iterate.column_mut(j).fill(0.0);
            }
        }
        let mut direction = residual.clone();
        let mut gamma = dots::<M>(problem, &residual, &residual);
        for iteration in 0.. {
            let norms: Vec<f64> =
                gamma.iter().zip(&prepared.scales).map(|(g, scale)| g.sqrt() / scale).collect();
            let answer = self.observe(problem, iteration, &norms, &iterate);
            if matches!(answer, Err(Error::Stopped)) {
                step_on::<M>(problem, iteration, &direction, &mut product);
            }
            let watched = answer?;
            if let Some(reason) = self.ending(problem, iteration, &norms) {
                self.finish(problem, &iterate, &residual);
                let claimed =
                    norms.iter().map(|norm| if M::FAULT == Fault::Flatters { norm / 10.0 } else { *norm });
                return Ok(Report::new(reason, iteration).residuals(claimed.collect::<Vec<_>>()));
            }
            if watched && M::FAULT == Fault::RestartsWhenWatched {
                direction.assign(&residual);
            }
            if M::FAULT == Fault::ScaleOfFirst {
                // Converged columns do not change.
                let done = (0..s).filter(|&j| norms[j] <= problem.tolerance());
                done.for_each(|j| direction.column_mut(j).fill(0.0));
            }
            match multiply(prepared, problem, &direction, &mut product) {
                Err(Error::Stopped) => {
                    if M::FAULT == Fault::AsksOn {
                        acts::ask_on(problem, &direction, &mut product);
                    }
                    self.finish(problem, &iterate, &residual);
                    return Ok(Report::new(Reason::Stopped, iteration).residuals(norms));
                }
                other => other?,
            }
            let mut alpha = ratio(&gamma, &dots::<M>(problem, &direction, &product));
            if M::FAULT == Fault::DependsOnProcess {
                alpha *= 1.0 + 1e-12 * f64::from(std::process::id());
            }
            iterate += &(&direction * &alpha);
            residual -= &(&product * &alpha);
            let before = std::mem::replace(&mut gamma, dots::<M>(problem, &residual, &residual));
            direction = &residual + &(&direction * &ratio(&gamma, &before));
        }
        unreachable!("the loop ends by itself")
    }

    /// The first iterate.
    fn start(&self, problem: &Problem<'_>) -> Array2<f64> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let mut iterate = Array2::zeros(problem.rhs().dim().f());
        iterate.assign(&problem.x());
        match M::FAULT {
            Fault::PretendsWarmStart => iterate.fill(0.0),
            Fault::CountsCalls => iterate += 1e-7 * CALLS.fetch_add(1, Ordering::Relaxed) as f64,
            Fault::HidesSeed => iterate += 1e-7 * problem.seed() as f64,
            _ => {}
        }
        iterate
    }

    /// Reports an iteration; returns whether the host has asked for the iterate.
    fn observe(
        &self,
        problem: &mut Problem<'_>,
        iteration: usize,
        norms: &[f64],
        iterate: &Array2<f64>,
    ) -> Result<bool> {
        if M::FAULT == Fault::IgnoresCharge && !iteration.is_multiple_of(10) {
            return Ok(false);
        }
        if M::FAULT == Fault::StaleIterate {
            let answer = problem.observe(iteration, norms);
            if answer.is_err() {
                problem.x_mut().assign(iterate);
            }
            return answer.map(|()| false);
        }
        let mut watched = false;
        let answer = problem.observe_with(iteration, norms, |x| {
            watched = true;
            x.assign(iterate);
        });
        match answer {
            Err(Error::Stopped) if M::FAULT == Fault::IgnoresStop => Ok(false),
            other => other.map(|()| watched),
        }
    }

    /// The reason to end here, if there is one.
    fn ending(&self, problem: &Problem<'_>, iteration: usize, norms: &[f64]) -> Option<Reason> {
        let worst = problem.worst(norms);
        let converged = match M::FAULT {
            Fault::Lax => problem.tolerance() > 0.0 && worst <= 10.0 * problem.tolerance(),
            Fault::ProbesAlone => {
                let probes = &norms[1..];
                probes.iter().sum::<f64>() <= problem.tolerance() * probes.len() as f64
            }
            Fault::FirstTargetAlone => {
                let probes = &norms[problem.n_targets()..];
                let mean_is_small = probes.iter().sum::<f64>() <= problem.tolerance() * probes.len() as f64;
                problem.tolerance() > 0.0 && norms[0] <= problem.tolerance() && mean_is_small
            }
            _ => problem.converged(norms),
        };
        let gives_up = iteration >= self.params.patience * problem.operator().n() + 20;
        let is_limited = self.params.max_iterations > 0 && iteration >= self.params.max_iterations;
        match M::FAULT {
            Fault::HangsOnNan if problem.rhs().iter().any(|b| b.is_nan()) => acts::hang(),
            Fault::NanPasses if worst.is_nan() && !problem.rhs().iter().any(|b| b.is_nan()) => {
                Some(Reason::Converged)
            }
            Fault::ClaimsAtLimit if gives_up => Some(Reason::Converged),
            _ if converged || worst == 0.0 => Some(Reason::Converged),
            _ if worst.is_nan() => Some(Reason::Diverged),
            _ if gives_up || is_limited => Some(Reason::Iterations),
            _ => None,
        }
    }

    /// Puts the iterate into `x`.
    fn finish(&self, problem: &mut Problem<'_>, iterate: &Array2<f64>, residual: &Array2<f64>) {
        problem.x_mut().assign(iterate);
        match M::FAULT {
            Fault::IgnoresDistance => acts::write_adjacent(problem, iterate),
            Fault::WritesRightHandSide => acts::write_rhs(problem, residual),
            Fault::Leaks => std::mem::forget([iterate.clone(), residual.clone()]),
            Fault::NeedsSortedRows => forget_unsorted(problem),
            Fault::Accumulates => {
                if let Some(last) = self.last.replace(Some(iterate.clone())) {
                    problem.x_mut().zip_mut_with(&last, |x, last| *x += last);
                }
            }
            _ => {}
        }
    }
}

/// Fault of some mutants when they are told to stop: one more step if the budget is spent.
fn step_on<M: Mutant>(
    problem: &mut Problem<'_>,
    iteration: usize,
    direction: &ArrayRef2<f64>,
    product: &mut Array2<f64>,
) {
    let steps = match M::FAULT {
        Fault::StepsUnpaid => iteration == 0,
        Fault::StepsOn => iteration > 0,
        _ => false,
    };
    if steps && matches!(problem.operator().apply(direction, product), Err(Error::Stopped)) {
        problem.x_mut().scaled_add(0.01, direction);
    }
}

/// Computes product = A x.
fn multiply(
    prepared: &Prepared,
    problem: &Problem<'_>,
    x: &ArrayRef2<f64>,
    product: &mut Array2<f64>,
) -> Result<()> {
    let Some(matrix) = &prepared.matrix else { return problem.operator().apply(x, product) };
    general_mat_mul(1.0, matrix, x, 0.0, product);
    // The answer is ignored.
    let _ = problem.operator().charge(matrix.len());
    Ok(())
}

/// Whether a mutant ignores this column. A column of zeros keeps its solution, zero.
fn forgotten<M: Mutant>(j: usize, b: ArrayView1<f64>) -> bool {
    match M::FAULT {
        Fault::SixtyFourColumns if j >= 64 => true,
        Fault::LeavesOutNan if !norm(b).is_finite() => true,
        Fault::TinyIsZero => norm(b) < 1e-4,
        _ => norm(b) == 0.0,
    }
}

/// Clears the rows that come after one with a larger first input.
fn forget_unsorted(problem: &mut Problem<'_>) {
    let Ok(inputs) = problem.operator().inputs() else { return };
    let first = inputs.x.index_axis(Axis(1), 0);
    let sorted = (1..first.len()).find(|&i| first[i] < first[i - 1]).unwrap_or(first.len());
    problem.x_mut().slice_mut(s![sorted.., ..]).fill(0.0);
}

fn norm(column: ArrayView1<f64>) -> f64 {
    column.dot(&column).sqrt()
}

/// Sums of the products of equal columns.
fn dots<M: Mutant>(problem: &Problem<'_>, a: &ArrayRef2<f64>, b: &ArrayRef2<f64>) -> Array1<f64> {
    let pieces = if M::FAULT == Fault::SumsByThreads { problem.threads() } else { 1 };
    let rows = a.nrows().div_ceil(pieces).max(1);
    let dot = |a: ArrayView1<f64>, b: ArrayView1<f64>| -> f64 {
        let pieces = a.axis_chunks_iter(Axis(0), rows).zip(b.axis_chunks_iter(Axis(0), rows));
        pieces.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()).sum()
    };
    a.columns().into_iter().zip(b.columns()).map(|(a, b)| dot(a, b)).collect()
}

/// A quotient, or 0 where the divisor is 0.
fn ratio(a: &Array1<f64>, b: &Array1<f64>) -> Array1<f64> {
    a.iter().zip(b).map(|(a, b)| if *b == 0.0 { 0.0 } else { a / b }).collect()
}
