//! The variance of a gradient from one row: Lin et al. 2023, figure 2 (left) and appendix D.2.

use gpbench_sdk::minibatch::Batches;
use gpbench_sdk::ndarray::{Array2, Axis, ShapeBuilder};
use gpbench_sdk::{Result, Select};

use crate::ObjectiveGradient;

/// Estimates the variance of the error term's gradient from one random row.
///
/// Equations (48) and (49): the gradient from row i alone is G_i = -n K(:, i) (b_i - K_i v), with b = f + noise or
/// b = f. Its variance is the mean variance of its entries over unknowns and samples, estimated from R rows:
///
/// ```text
/// 1 / (m (R - 1))  (sum_i |G_i|^2 - R |mean_i G_i|^2)
/// ```
#[derive(Debug)]
pub struct GradientVariance {
    batches: Batches,
    /// K\[rows, :\]; R x m.
    rows: Array2<f64>,
}

impl GradientVariance {
    /// An estimator from `rows` of `n` rows, at least two, with m unknowns.
    pub fn new(n: usize, m: usize, rows: usize, seed: u64) -> GradientVariance {
        let batches = Batches::new(n, rows.max(2), seed);
        let rows = Array2::zeros((batches.size(), m).f());
        GradientVariance { batches, rows }
    }

    /// The variance at `v`, averaged over the columns from `first` on. Uses R m kernel entries.
    pub fn estimate(
        &mut self,
        gradient: &ObjectiveGradient<'_>,
        v: &Array2<f64>,
        first: usize,
    ) -> Result<f64> {
        let index = self.batches.draw();
        let count = index.len() as f64;
        gradient.operator().block(index, Select::All, &mut self.rows)?;
        for (mut row, &i) in self.rows.axis_iter_mut(Axis(0)).zip(index) {
            if gradient.diagonal() > 0.0 {
                row[i] -= gradient.diagonal();
            }
        }
        let n = gradient.operator().n() as f64;
        let squares: Vec<f64> = self.rows.axis_iter(Axis(0)).map(|row| row.dot(&row)).collect();
        let columns = first..v.ncols();
        let mut sum = 0.0;
        for j in columns.clone() {
            let mut error = self.rows.dot(&v.column(j));
            error.iter_mut().zip(index).for_each(|(error, &i)| *error -= gradient.target(j)[i]);
            let mean = self.rows.t().dot(&error) / count;
            let all: f64 = squares.iter().zip(&error).map(|(square, error)| square * error * error).sum();
            sum += (all - count * mean.dot(&mean)) / (count - 1.0);
        }
        Ok(n * n * sum / (columns.len() * v.nrows()) as f64)
    }
}
