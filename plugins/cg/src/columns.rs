//! One iteration's work on a group of right-hand sides.
//!
//! Every right-hand side has its own step sizes, so columns are independent between two products with A. A group
//! of columns is processed while it is in the cache. Groups have a fixed width, so that results do not depend on
//! the number of threads.

use gpbench_sdk::dot;
use gpbench_sdk::ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};

/// Right-hand sides in a group.
pub(crate) const WIDTH: usize = 8;

/// State of one right-hand side between iterations.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Norm of the right-hand side; residual and direction are relative to it.
    pub(crate) scale: f64,
    /// r^T P r.
    pub(crate) gamma: f64,
    /// Norm of the residual.
    pub(crate) norm: f64,
    /// Whether steps are still taken. Ends when the residual is exactly zero, or when rounding
    /// leaves no step: d^T A d or r^T P r not positive.
    pub(crate) active: bool,
}

/// A group of right-hand sides.
pub(crate) struct Group<'g> {
    /// Iterate, in the right-hand side's own scale.
    pub(crate) x: ArrayViewMut2<'g, f64>,
    /// Residual.
    pub(crate) r: ArrayViewMut2<'g, f64>,
    /// Direction.
    pub(crate) d: ArrayViewMut2<'g, f64>,
    /// A d.
    pub(crate) product: ArrayView2<'g, f64>,
    /// P r, where there is a preconditioner.
    pub(crate) preconditioned: Option<ArrayView2<'g, f64>>,
    pub(crate) columns: &'g mut [Column],
}

impl Group<'_> {
    /// v += alpha d, r -= alpha A d with alpha = r^T P r / d^T A d, and the residual's norm.
    pub(crate) fn step(&mut self) {
        for (j, column) in self.columns.iter_mut().enumerate().filter(|(_, column)| column.active) {
            let (d, product) = (self.d.column(j), self.product.column(j));
            let (d, product) = (contiguous(&d), contiguous(&product));
            let alpha = column.gamma / dot(d, product);
            // A negative, infinite or undefined step ends this column, whose iterate stays.
            column.active = alpha > 0.0 && alpha.is_finite();
            if !column.active {
                continue;
            }
            let forward = alpha * column.scale;
            self.x.column_mut(j).iter_mut().zip(d).for_each(|(x, d)| *x += forward * d);
            let mut r = self.r.column_mut(j);
            r.iter_mut().zip(product).for_each(|(r, product)| *r -= alpha * product);
            column.norm = norm(&r.view());
        }
    }

    /// d = P r + beta d with beta = (r^T P r now) / (r^T P r before).
    pub(crate) fn update_directions(&mut self) {
        for (j, column) in self.columns.iter_mut().enumerate().filter(|(_, column)| column.active) {
            let r = self.r.column(j);
            let p = self.preconditioned.as_ref().map_or(r, |p| p.column(j));
            let gamma = dot(contiguous(&r), contiguous(&p));
            // Before the first iteration gamma is infinite, so that d starts as P r.
            let beta = gamma / column.gamma;
            column.active = gamma > 0.0 && gamma.is_finite() && beta.is_finite();
            if !column.active {
                continue;
            }
            self.d.column_mut(j).iter_mut().zip(&p).for_each(|(d, p)| *d = p + beta * *d);
            column.gamma = gamma;
        }
    }
}

/// A column of a column-major array as a slice.
fn contiguous<'v>(column: &'v ArrayView1<'_, f64>) -> &'v [f64] {
    column.as_slice().expect("columns of column-major arrays are contiguous")
}

/// Norm of a column.
pub(crate) fn norm(column: &ArrayView1<'_, f64>) -> f64 {
    let column = contiguous(column);
    dot(column, column).sqrt()
}
