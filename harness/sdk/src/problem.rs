//! The system to solve, and the calls of the host during a solve.

use gpbench_abi as abi;
use gpbench_abi::Status;
use gpbench_terms::LogLevel;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, ShapeBuilder, s};

use crate::error::{Error, Result};
use crate::extension::answer;
use crate::matrix::{view, view_mut};
use crate::refine::Correction;
use crate::text::borrow;
use crate::{Operator, Report};

/// A linear system A X = B with several right-hand sides, or, with inducing points Z, as many
/// least-squares problems: each column minimises |b - K(X, Z) x|^2 + noise_scale^2 x^T K(Z, Z) x (Lin
/// et al. 2023, equations 12 and 13).
#[derive(Debug)]
pub struct Problem<'a> {
    raw: *const abi::Problem,
    table: &'a abi::Problem,
    host: &'a abi::Host,
    operator: Operator<'a>,
    rhs: ArrayView2<'a, f64>,
    x: ArrayViewMut2<'a, f64>,
    /// Iteration and norms observed last: the report of a stopped solve.
    pub(crate) seen: (usize, Vec<f64>),
    /// Data of this correction and the larger problem's iterate; none unless this is a correction.
    correction: Option<(Correction, ArrayViewMut2<'a, f64>)>,
}

/// Writes a line to the case's log.
pub(crate) fn log_line(host: &abi::Host, level: LogLevel, line: &str) {
    if let Some(log) = host.log {
        // SAFETY: live host; the text is copied before the call returns.
        unsafe { log(host, level.number(), &borrow(line)) };
    }
}

impl<'a> Problem<'a> {
    /// Checks a problem of the interface.
    ///
    /// # Safety
    /// `raw` is null or points to a problem that lives during `'a`, whose `x` is used by
    /// no other code except the host inside its own functions.
    pub(crate) unsafe fn new(raw: *const abi::Problem, host: &'a abi::Host) -> Result<Problem<'a>> {
        let bad = |why: &str| Error::InvalidArgument(format!("the problem {why}"));
        // SAFETY: promised by the caller; only the first field is read before the size is known.
        if raw.is_null() || unsafe { (*raw).size } < size_of::<abi::Problem>() as u32 {
            return Err(bad("is null or too small"));
        }
        // SAFETY: as above.
        let table = unsafe { &*raw };
        if table.observe.is_none() || table.extension.is_none() {
            return Err(bad("lacks a function"));
        }
        if table.rhs.is_null() || table.x.is_null() {
            return Err(bad("has no right-hand side or no solution"));
        }
        // SAFETY: the operator lives as long as the problem.
        let operator = unsafe { Operator::new(table.op) }?;
        // SAFETY: promised by the interface: read-only, alive as long as the problem.
        let rhs = unsafe { view(&*table.rhs, "the right-hand side") }?;
        // SAFETY: promised by the caller.
        let x = unsafe { view_mut(&*table.x, "the solution") }?;
        let s = rhs.ncols();
        if rhs.nrows() != operator.n() || x.dim() != (operator.m(), s) {
            let ((n, m), shapes) = ((operator.n(), operator.m()), (rhs.dim(), x.dim()));
            return Err(bad(&format!("has A {n} x {m}, B and X of shapes {shapes:?}")));
        }
        if !(0..=s as i64).contains(&table.n_targets) {
            return Err(bad(&format!("has {} targets among {s} columns", table.n_targets)));
        }
        Ok(Problem { raw, table, host, operator, rhs, x, seen: (0, Vec::new()), correction: None })
    }

    /// Calls `solve` for e with A e = r in mixed precision, from e = 0, and adds e to the iterate. The host gets
    /// observations of this problem, not of the correction.
    pub(crate) fn correct(
        &mut self,
        r: ArrayView2<'_, f64>,
        correction: Correction,
        solve: &mut impl FnMut(&mut Problem<'_>) -> Result<Report>,
    ) -> Result<Report> {
        let mut e = Array2::zeros(self.x.dim().f());
        let mut inner = Problem {
            raw: self.raw,
            table: self.table,
            host: self.host,
            operator: self.operator.mixed(),
            rhs: r,
            x: e.view_mut(),
            seen: self.seen.clone(),
            correction: Some((correction, self.x.view_mut())),
        };
        let report = solve(&mut inner);
        let Problem { x: e, seen, correction, .. } = inner;
        if let Some((correction, mut x)) = correction {
            correction.add(&e, &mut x);
        }
        self.seen = seen;
        report
    }

    /// The problem as it crosses the interface.
    pub(crate) fn raw(&self) -> *const abi::Problem {
        self.raw
    }

    /// The host that passed the problem.
    pub(crate) fn host(&self) -> &'a abi::Host {
        self.host
    }

    /// Whether this is a correction of another problem, see [`correct`](Self::correct).
    pub(crate) fn is_correction(&self) -> bool {
        self.correction.is_some()
    }

    /// Iterations of earlier corrections of the same solve.
    pub(crate) fn earlier_iterations(&self) -> usize {
        self.correction.as_ref().map_or(0, |(correction, _)| correction.iterations)
    }

    /// The matrix A. A copy of the handle, so that it can be used while `x_mut` is borrowed.
    pub fn operator(&self) -> Operator<'a> {
        self.operator
    }

    /// Right-hand sides, n x s.
    pub fn rhs(&self) -> ArrayView2<'a, f64> {
        self.rhs
    }

    /// The iterate, m x s: at first the start, which is zero or a warm start.
    pub fn x(&self) -> ArrayView2<'_, f64> {
        self.x.view()
    }

    /// The iterate, to be written to; finally the solution.
    pub fn x_mut(&mut self) -> ArrayViewMut2<'_, f64> {
        self.x.view_mut()
    }

    /// Number of targets (y), which are the first columns; the others are probes.
    pub fn n_targets(&self) -> usize {
        self.table.n_targets as usize
    }

    /// The [`worst`](Self::worst) relative residual norm to reach; 0 if the budget alone decides.
    pub fn tolerance(&self) -> f64 {
        self.correction.as_ref().map_or(self.table.tolerance, |(correction, _)| correction.tolerance)
    }

    /// Epochs that may be spent, setup included; infinite if unbounded.
    pub fn max_epochs(&self) -> f64 {
        self.table.max_epochs
    }

    /// Seed for the solver's own random numbers.
    pub fn seed(&self) -> u64 {
        self.table.seed.wrapping_add(self.correction.as_ref().map_or(0, |(correction, _)| correction.round))
    }

    /// Threads that the solver may use, the calling one included.
    pub fn threads(&self) -> usize {
        self.table.threads.max(1) as usize
    }

    /// The largest residual norm of the targets or the mean one of the probes, whichever is larger:
    /// the number that is compared with the tolerance.
    ///
    /// Norms are relative to the right-hand sides', one a column. In a correction, each counts by what it is of the larger
    /// problem's residual, so that no column is solved further than the larger problem asks.
    pub fn worst(&self, norms: &[f64]) -> f64 {
        let larger = self.correction.as_ref().map(|(correction, _)| correction.larger(norms));
        let norms = larger.as_deref().unwrap_or(norms);
        let (targets, probes) = norms.split_at(self.n_targets().min(norms.len()));
        worst(targets, probes)
    }

    /// Whether these relative residual norms, one a column, reach the tolerance: the largest of the
    /// targets AND the mean of the probes are at most that. Never, if there is no tolerance.
    pub fn converged(&self, norms: &[f64]) -> bool {
        self.tolerance() > 0.0 && self.worst(norms) <= self.tolerance()
    }

    /// b - A x for the iterate in `x`, each column relative to its right-hand side's norm, and those norms. One
    /// product with A, unless x is zero.
    ///
    /// A right-hand side of zero has a zero solution, which is put into `x`, and a zero residual. NaN in a
    /// right-hand side stays in its residual.
    pub fn relative_residual(&mut self) -> Result<(Array2<f64>, Vec<f64>)> {
        let nothing = Array2::zeros((self.operator.m(), 0).f());
        let (r, scales, _) = self.residual_and(self.operator, &nothing)?;
        Ok((r, scales))
    }

    /// As [`relative_residual`](Self::relative_residual), and A V for further columns V, m x k: one product
    /// with A serves both. In a correction, none: V are the columns of
    /// [`Precision::solve_beside`](crate::Precision::solve_beside), whose product is known.
    pub fn relative_residual_and(&mut self, v: &Array2<f64>) -> Result<(Array2<f64>, Vec<f64>, Array2<f64>)> {
        let known = self.correction.as_ref().and_then(|(correction, _)| correction.product.clone());
        let Some(product) = known.filter(|product| product.ncols() == v.ncols()) else {
            return self.residual_and(self.operator, v);
        };
        let (r, scales) = self.relative_residual()?;
        Ok((r, scales, product))
    }

    /// The residual and A V by one product with `operator`, which is A in some precision.
    pub(crate) fn residual_and(
        &mut self,
        operator: Operator<'a>,
        v: &Array2<f64>,
    ) -> Result<(Array2<f64>, Vec<f64>, Array2<f64>)> {
        let mut r = Array2::zeros(self.rhs.dim().f());
        let mut product = Array2::zeros((operator.n(), v.ncols()).f());
        match (self.x.iter().any(|&x| x != 0.0), v.is_empty()) {
            (false, true) => {}
            (false, false) => operator.apply(v, &mut product)?,
            (true, true) => operator.apply(&self.x, &mut r)?,
            (true, false) => {
                let (s, k) = (self.x.ncols(), v.ncols());
                let mut both = Array2::zeros((operator.m(), s + k).f());
                both.slice_mut(s![.., ..s]).assign(&self.x);
                both.slice_mut(s![.., s..]).assign(v);
                let mut products = Array2::zeros((operator.n(), s + k).f());
                operator.apply(&both, &mut products)?;
                r.assign(&products.slice(s![.., ..s]));
                product.assign(&products.slice(s![.., s..]));
            }
        }
        r.zip_mut_with(&self.rhs, |r, b| *r = b - *r);
        let scales: Vec<f64> = self.rhs.columns().into_iter().map(|b| b.dot(&b).sqrt()).collect();
        let columns = r.columns_mut().into_iter().zip(self.x.columns_mut());
        for ((mut r, mut x), &scale) in columns.zip(&scales) {
            if scale == 0.0 {
                // The exact solution; a relative residual is not defined.
                r.fill(0.0);
                x.fill(0.0);
            } else {
                r /= scale;
            }
        }
        Ok((r, scales, product))
    }

    /// Reports an iteration, whose iterate is in `x`, to the host, with one relative residual norm a column, or
    /// none if they are not known.
    ///
    /// To be called after every iteration, or a few times an epoch where iterations are cheap. Fails
    /// with [`Error::Stopped`] if the solve has to end here.
    pub fn observe(&mut self, iteration: usize, norms: &[f64]) -> Result<()> {
        self.observe_with(iteration, norms, |_| ())
    }

    /// As [`observe`](Self::observe), for a solver whose iterate is not in `x`: `iterate` puts it there, and is
    /// called only if the host asks for the iterate or to stop.
    pub fn observe_with(
        &mut self,
        iteration: usize,
        norms: &[f64],
        mut iterate: impl FnMut(&mut ArrayViewMut2<'_, f64>),
    ) -> Result<()> {
        if !norms.is_empty() && norms.len() != self.rhs.ncols() {
            let text = format!("observe: {} norms for {} columns", norms.len(), self.rhs.ncols());
            return Err(Error::InvalidArgument(text));
        }
        let (iteration, norms) = match &self.correction {
            None => (iteration, norms.to_vec()),
            Some((correction, _)) => (correction.iterations + iteration, correction.larger(norms)),
        };
        let observe = self.table.observe.expect("checked when made");
        // SAFETY: live problem, norms readable during the call; during the call the host reads
        // `x`, to which no reference is held here.
        let call = || unsafe { observe(self.raw, iteration as i64, norms.as_ptr(), norms.len() as i64) };
        let mut status = call();
        if status == Status::ITERATE || status == Status::STOPPED {
            iterate(&mut self.x);
            if let Some((correction, x)) = &mut self.correction {
                correction.add(&self.x, x);
            }
        }
        if status == Status::ITERATE {
            status = call();
        }
        self.seen = (iteration, norms);
        Error::check("observe", status)
    }

    /// Writes a line to the case's log.
    pub fn log(&self, level: LogLevel, line: &str) {
        log_line(self.host, level, line);
    }

    /// Asks for an extension, one of [`gpbench_abi::id`].
    pub(crate) fn extension<T>(&self, id: &'static str) -> Option<&'a T> {
        let ask = self.table.extension.expect("checked when made");
        // SAFETY: live problem, static id; by its contract the answer is a `T` that lives as long as it.
        unsafe { answer(ask(self.raw, &abi::Str::new(id))) }
    }
}

/// The largest norm of the targets or the mean of the probes, whichever is larger; NaN if one of them is.
fn worst(targets: &[f64], probes: &[f64]) -> f64 {
    let mean = match probes {
        [] => 0.0,
        _ => probes.iter().sum::<f64>() / probes.len() as f64,
    };
    // Not `f64::max`, which ignores NaN.
    targets.iter().fold(mean, |worst, &norm| if worst.is_nan() || worst >= norm { worst } else { norm })
}

#[cfg(test)]
mod tests {
    use super::worst;

    #[test]
    fn the_worst_of_norms_is_never_better_than_any() {
        assert_eq!(worst(&[0.5], &[0.25, 0.5]), 0.5);
        assert_eq!(worst(&[0.125], &[0.25, 0.5]), 0.375);
        assert_eq!(worst(&[0.5, 0.75], &[]), 0.75);
        for (targets, probes) in
            [([f64::NAN, 0.5], [0.5]), ([0.5, f64::NAN], [0.5]), ([0.5, 0.5], [f64::NAN])]
        {
            assert!(worst(&targets, &probes).is_nan(), "{targets:?} {probes:?}");
        }
    }
}
