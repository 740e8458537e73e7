//! The block of directions and the orthonormal basis of the residuals.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, ArrayViewMut2, ShapeBuilder};

use super::orthonormal::{Factors, factorise};
use crate::precondition::Precondition;
use crate::{Error, Problem, Result, Workers, lapack, tall};

/// Largest norm of a column of Q, relative to its norm before the step, that counts as rounding error.
const FLOOR: f64 = 1e-12;

/// Directions P and an orthonormal basis Q of the residuals: R = Q C with Q^T M^-1 Q = I, for all t columns.
///
/// The step is the minimiser (P^T A P)^-1 P^T R over span P. It is computed from P^T Q, although that is the
/// identity in exact arithmetic: so a step never increases the error, even where rounding errors have changed P.
#[derive(Debug)]
pub(super) struct Space {
    /// Q, n x t.
    q: Array2<f64>,
    /// P, n x t.
    p: Array2<f64>,
    /// C, t x s.
    c: Array2<f64>,
}

/// A step along the directions.
#[derive(Debug)]
pub(super) struct Step {
    /// A P, n x t.
    product: Array2<f64>,
    /// (P^T A P)^-1 P^T Q, t x t.
    inner: Array2<f64>,
    /// The same times C, t x s: the coefficients of the step.
    outer: Array2<f64>,
}

/// M^-1 of the columns of `v`; none where M is the identity.
fn precondition(
    preconditioner: Option<&dyn Precondition>,
    v: &ArrayRef2<f64>,
    workers: Workers<'_>,
) -> Option<Array2<f64>> {
    preconditioner.map(|preconditioner| preconditioner.apply(v, workers))
}

/// Relative rounding error of [`precondition`].
fn rounding(preconditioner: Option<&dyn Precondition>) -> f64 {
    preconditioner.map_or(f64::EPSILON, |of| of.rounding())
}

impl Space {
    /// The space that residuals R, n x s, start from: P = M^-1 Q. None if they are not finite or zero.
    pub(super) fn start(
        r: &Array2<f64>,
        preconditioner: Option<&dyn Precondition>,
        workers: Workers<'_>,
    ) -> Result<Option<Space>> {
        let factors = factorise(
            r.clone(),
            precondition(preconditioner, r, workers),
            0.0,
            rounding(preconditioner),
            workers,
        )?;
        let Some(Factors { q, z, s }) = factors.filter(|factors| !factors.s.is_empty()) else {
            return Ok(None);
        };
        let p = z.unwrap_or_else(|| q.clone());
        Ok(Some(Space { q, p, c: s }))
    }

    /// Columns of P.
    pub(super) fn width(&self) -> usize {
        self.p.ncols()
    }

    /// Computes the step: one product with A. Fails with [`Error::NotPositiveDefinite`] if A is not
    /// so along the directions, or is not finite there.
    pub(super) fn step(&self, problem: &Problem<'_>) -> Result<Step> {
        let mut product = Array2::zeros(self.p.dim().f());
        problem.operator().apply(&self.p, &mut product)?;
        let mut core = tall::product(&self.p, &product, problem.workers());
        let mut inner = tall::product(&self.p, &self.q, problem.workers());
        if core.iter().chain(&inner).any(|entry| !entry.is_finite()) {
            return Err(Error::NotPositiveDefinite { minor: 0 });
        }
        lapack::cholesky(&mut core)?;
        lapack::cholesky_solve(&core, &mut inner)?;
        let mut outer = Array2::zeros(self.c.dim().f());
        general_mat_mul(1.0, &inner, &self.c, 0.0, &mut outer);
        Ok(Step { product, inner, outer })
    }

    /// X += P D scales, R -= A P D, Q -= A P E for the step's coefficients D and E. Returns the squared
    /// norms of R's columns.
    pub(super) fn advance(
        &mut self,
        step: &Step,
        x: &mut ArrayViewMut2<'_, f64>,
        scales: &[f64],
        r: &mut Array2<f64>,
        workers: Workers<'_>,
    ) -> Vec<f64> {
        let mut forward = step.outer.clone();
        forward.columns_mut().into_iter().zip(scales).for_each(|(mut column, scale)| column *= *scale);
        let mut parts = vec![Vec::new(); tall::count(r.nrows())];
        let tiles = tall::tiles_mut(x)
            .zip(tall::tiles_mut(r))
            .zip(tall::tiles_mut(&mut self.q))
            .zip(tall::tiles(&self.p))
            .zip(tall::tiles(&step.product))
            .zip(&mut parts);
        workers.for_each(tiles, |(((((mut x, mut r), mut q), p), product), part)| {
            general_mat_mul(1.0, &p, &forward, 1.0, &mut x);
            general_mat_mul(-1.0, &product, &step.outer, 1.0, &mut r);
            general_mat_mul(-1.0, &product, &step.inner, 1.0, &mut q);
            *part = r.columns().into_iter().map(|column| column.dot(&column)).collect();
        });
        sum(&parts)
    }

    /// Orthonormalises Q and computes new directions: Q' S = Q, C' = S C, P' = M^-1 Q' + P S^T. Returns the space,
    /// unless no independent column is left, and the squared norms of the columns of R - Q' C', the part of the
    /// residual that dropped columns leave out.
    pub(super) fn update_directions(
        self,
        r: &Array2<f64>,
        preconditioner: Option<&dyn Precondition>,
        workers: Workers<'_>,
    ) -> Result<Option<(Space, Vec<f64>)>> {
        let preconditioned = precondition(preconditioner, &self.q, workers);
        let factors = factorise(self.q, preconditioned, FLOOR, rounding(preconditioner), workers)?;
        let Some(Factors { q, z, s }) = factors.filter(|factors| !factors.s.is_empty()) else {
            return Ok(None);
        };
        let c = s.dot(&self.c);
        let mut p = z.unwrap_or_else(|| q.clone());
        let mut parts = vec![Vec::new(); tall::count(r.nrows())];
        let tiles =
            tall::tiles_mut(&mut p).zip(tall::tiles(&self.p)).zip(tall::tiles(&q)).zip(tall::tiles(r));
        workers.for_each(tiles.zip(&mut parts), |((((mut p, before), q), r), part)| {
            general_mat_mul(1.0, &before, &s.t(), 1.0, &mut p);
            let mut lost = Array2::zeros(r.dim().f());
            lost.assign(&r);
            general_mat_mul(-1.0, &q, &c, 1.0, &mut lost);
            *part = lost.columns().into_iter().map(|column| column.dot(&column)).collect();
        });
        Ok(Some((Space { q, p, c }, sum(&parts))))
    }
}

/// Sums of the parts, in their order.
fn sum(parts: &[Vec<f64>]) -> Vec<f64> {
    let columns = parts.first().map_or(0, Vec::len);
    (0..columns).map(|j| parts.iter().map(|part| part[j]).sum()).collect()
}
