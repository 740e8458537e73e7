//! The gradient of the exact log marginal likelihood.

use gpbench_numerics::{Pool, factor};
use ndarray::{ArrayView2, s};

use super::ExactGp;
use crate::Gradient;
use crate::derivatives;
use crate::threads::OnPool;

impl ExactGp {
    /// `d log p(y) / d theta = tr((v v^T - H^-1) dH/d theta) / 2` for every hyperparameter, with `x`
    /// (n x d) the inputs of the fit. Takes n^3 / 3 multiply-adds and an n x n array.
    pub fn gradient(&self, x: ArrayView2<f64>) -> Gradient {
        // The lower triangle of (v v^T - H^-1) / 2.
        let (v, pool) = (self.v.view(), self.op.pool());
        let mut weights = factor::inverse(&self.factor, OnPool(pool));
        OnPool(pool).for_each(weights.columns_mut().into_iter().enumerate(), |(j, mut column)| {
            let below = s![j..];
            column.slice_mut(below).zip_mut_with(&v.slice(below), |entry, vi| {
                *entry = 0.5 * (v[j] * vi - *entry);
            });
        });
        derivatives::weighted(&self.op, x, weights.view())
    }
}
