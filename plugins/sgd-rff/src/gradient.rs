//! An unbiased estimate of the objectives' gradients from a minibatch of rows and random features.
//!
//! Lin et al. 2023. With n rows, D of them in the batch, and L random features Phi of the kernel
//! (E\[Phi Phi^T\] = K), the objective of the representer weights v is, for targets (equation 7),
//!
//! ```text
//! n / D  sum_batch (b_i - K_i v)^2 / noise_scale^2  +  |Phi^T v|^2
//! ```
//!
//! and for pathwise samples f + noise either the same with b = f + noise (equation 9) or (equation 10)
//!
//! ```text
//! n / D  sum_batch (f_i - K_i v)^2 / noise_scale^2  +  |Phi^T (v - delta)|^2,   delta = noise / noise_scale^2
//! ```
//!
//! The optimum is in each case (K + noise_scale^2 I)^-1 (f + noise). With inducing points (equations 12 and
//! 13) K_i is a row of K(X, Z), and Phi are features of Z.

use gpbench_sdk::ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};
use gpbench_sdk::{Error, Operator, Problem, Result, Workers};

use crate::{ObjectiveScale, SampleObjective, SgdRffParams};

/// Estimates gradients of the objectives.
#[derive(Debug)]
pub struct ObjectiveGradient<'a> {
    operator: Operator<'a>,
    workers: Workers<'a>,
    noise_variance: f64,
    /// Number added to the kernel on A's diagonal: the noise variance, or 0 with inducing points.
    diagonal: f64,
    /// Weight of the squared error of all rows, in units of `ObjectiveScale`'s objective.
    error_weight: f64,
    /// Weight of the regulariser.
    regulariser_weight: f64,
    columns: Vec<Column<'a>>,
    /// The estimate; m x s.
    gradient: Array2<f64>,
    /// K\[batch, :\] v - b\[batch\], times its weight; D x s.
    error: Array2<f64>,
    /// Phi^T (v - delta), times its weight; L x s.
    projection: Array2<f64>,
}

/// The data of one right-hand side.
#[derive(Debug, Clone, Copy)]
struct Column<'a> {
    /// Vector that K v approximates; n.
    target: ArrayView1<'a, f64>,
    /// delta times the noise variance, n; none if delta is 0.
    noise: Option<ArrayView1<'a, f64>>,
}

impl<'a> ObjectiveGradient<'a> {
    /// An estimator for batches of `batch_size` rows and these parameters.
    pub fn new(
        problem: &Problem<'a>,
        batch_size: usize,
        params: &SgdRffParams,
    ) -> Result<ObjectiveGradient<'a>> {
        let SgdRffParams { features, scale, objective, precision, .. } = *params;
        let operator = precision.operator(problem);
        let (n, m, s) = (operator.n(), operator.m(), problem.rhs().ncols());
        let inputs = operator.inputs()?;
        let noise_variance = inputs.noise_scale.powi(2);
        if !(noise_variance > 0.0) {
            let text = "the objectives divide by the noise variance, which is 0: set noise_scale".into();
            return Err(Error::Unsupported(text));
        }
        let square = inputs.basis.is_none() && m == n;
        let (error_weight, regulariser_weight) = weights(scale, n as f64, noise_variance);
        Ok(ObjectiveGradient {
            operator,
            workers: problem.workers(),
            noise_variance,
            diagonal: if square { noise_variance } else { 0.0 },
            error_weight,
            regulariser_weight,
            columns: columns(problem, square && objective == SampleObjective::Loss2)?,
            gradient: Array2::zeros((m, s).f()),
            error: Array2::zeros((batch_size, s).f()),
            projection: Array2::zeros((features, s).f()),
        })
    }

    /// The gradients at `v` (m x s) from the rows of a batch and the features of a seed; m x s.
    /// Uses D m kernel entries.
    pub fn estimate(&mut self, v: &Array2<f64>, batch: &[usize], seed: u64) -> Result<&Array2<f64>> {
        self.regulariser(v, seed)?;
        self.error(v, batch)?;
        Ok(&self.gradient)
    }

    /// gradient = weight Phi Phi^T (v - delta).
    fn regulariser(&mut self, v: &Array2<f64>, seed: u64) -> Result<()> {
        if self.columns.iter().any(|column| column.noise.is_some()) {
            let noise_variance = self.noise_variance;
            let parts = self.gradient.axis_iter_mut(Axis(1)).zip(v.axis_iter(Axis(1))).zip(&self.columns);
            self.workers.for_each(parts, |((mut shifted, v), column)| {
                shifted.assign(&v);
                if let Some(noise) = column.noise {
                    shifted.zip_mut_with(&noise, |v, noise| *v -= noise / noise_variance);
                }
            });
            self.operator.features_transposed(seed, &self.gradient, &mut self.projection)?;
        } else {
            self.operator.features_transposed(seed, v, &mut self.projection)?;
        }
        self.projection *= self.regulariser_weight;
        self.operator.features(seed, &self.projection, &mut self.gradient)
    }

    /// gradient += weight K\[:, batch\] (K\[batch, :\] v - b\[batch\]).
    fn error(&mut self, v: &Array2<f64>, batch: &[usize]) -> Result<()> {
        let weight = self.error_weight / batch.len() as f64;
        let (columns, diagonal) = (&self.columns, self.diagonal);
        let subtract = |mut product: ArrayViewMut2<'_, f64>| {
            for ((mut product, v), column) in
                product.axis_iter_mut(Axis(1)).zip(v.axis_iter(Axis(1))).zip(columns)
            {
                for (product, &row) in product.iter_mut().zip(batch) {
                    // Rows of A have the noise variance on the diagonal, rows of K do not.
                    let kernel = if diagonal > 0.0 { *product - diagonal * v[row] } else { *product };
                    *product = weight * (kernel - column.target[row]);
                }
            }
        };
        self.operator.apply_rows_and_back(batch, v, &mut self.error, &mut self.gradient, subtract)?;
        if diagonal > 0.0 {
            for (mut gradient, error) in
                self.gradient.axis_iter_mut(Axis(1)).zip(self.error.axis_iter(Axis(1)))
            {
                for (&row, error) in batch.iter().zip(&error) {
                    gradient[row] -= diagonal * error;
                }
            }
        }
        Ok(())
    }

    /// The matrix A.
    pub(crate) fn operator(&self) -> Operator<'a> {
        self.operator
    }

    /// Number added to the kernel on A's diagonal.
    pub(crate) fn diagonal(&self) -> f64 {
        self.diagonal
    }

    /// Vector that K v approximates in column j; n.
    pub(crate) fn target(&self, j: usize) -> ArrayView1<'a, f64> {
        self.columns[j].target
    }

    /// The objectives as printed, one a column, at the point of the last estimate and with its batch and features.
    pub fn objectives(&self) -> Vec<f64> {
        let batch_size = self.error.nrows() as f64;
        // n / (D noise^2) (error D / weight)^2, and (projection / weight)^2.
        let n = self.operator.n() as f64;
        let error = n * batch_size / (self.noise_variance * self.error_weight.powi(2));
        let regulariser = self.regulariser_weight.powi(-2);
        let squares = |part: ArrayView1<'_, f64>| part.dot(&part);
        let columns = self.error.axis_iter(Axis(1)).zip(self.projection.axis_iter(Axis(1)));
        columns.map(|(e, p)| error * squares(e) + regulariser * squares(p)).collect()
    }

    /// Whether the problem is A v = b, which has a residual; with inducing points it is not.
    pub(crate) fn has_residual(&self) -> bool {
        self.diagonal > 0.0
    }

    /// B - A x, in memory that the next estimate overwrites; n x s. Uses n^2 kernel entries.
    pub(crate) fn residual(
        &mut self,
        x: &ArrayView2<'_, f64>,
        b: ArrayView2<'_, f64>,
    ) -> Result<&Array2<f64>> {
        self.operator.apply(x, &mut self.gradient)?;
        self.gradient.zip_mut_with(&b, |ax, b| *ax = b - *ax);
        Ok(&self.gradient)
    }
}

/// n times the weight of a row's squared error, and the weight of the regulariser, in the gradient.
fn weights(scale: ObjectiveScale, n: f64, noise_variance: f64) -> (f64, f64) {
    match scale {
        ObjectiveScale::Printed => (2.0 * n / noise_variance, 2.0),
        ObjectiveScale::Noise => (2.0 * n, 2.0 * noise_variance),
        ObjectiveScale::Mean => (1.0, noise_variance / n),
    }
}

/// The data of all right-hand sides. With `shifted`, the noise of pathwise samples is part of the regulariser.
fn columns<'a>(problem: &Problem<'a>, shifted: bool) -> Result<Vec<Column<'a>>> {
    let rhs = problem.rhs();
    let targets = if shifted { problem.targets()? } else { None };
    let column = |j: usize| {
        let target = column_of(rhs, j);
        match targets {
            // Equation (7) keeps the solution of a zero right-hand side at zero; equation (10) would not.
            Some(targets) if j >= problem.n_targets() && target.iter().any(|&b| b != 0.0) => {
                let j = j - problem.n_targets();
                Column { target: column_of(targets.f, j), noise: Some(column_of(targets.noise, j)) }
            }
            _ => Column { target, noise: None },
        }
    };
    Ok((0..rhs.ncols()).map(column).collect())
}

/// A column that lives as long as the matrix.
fn column_of<'a>(matrix: ArrayView2<'a, f64>, j: usize) -> ArrayView1<'a, f64> {
    matrix.index_axis_move(Axis(1), j)
}
