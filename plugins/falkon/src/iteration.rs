//! Conjugate gradients for the normal equations, each right-hand side with its own step sizes.
//!
//! With inducing points Z the unknowns a of a right-hand side b solve (K_XZ^T K_XZ + s^2 K_ZZ) a = K_XZ^T b. The
//! preconditioned unknowns x, a = P x, have the residual P^T r, with r = K_XZ^T (b - K_XZ a) - s^2 K_ZZ a:
//!
//! ```text
//! w = P p;   q = K_XZ^T K_XZ w + s^2 K_ZZ w;   alpha = |P^T r|^2 / w.q
//! a += alpha w;   r -= alpha q;   p = P^T r + (|P^T r|^2 now / before) p
//! ```
//!
//! Without inducing points Z = X, and the operator is H = K + s^2 I: then q = K H w and r = K (b - H a), and the residual
//! b - H a is known too. One product with the operator, forward and back, serves each iteration.

use gpbench_sdk::ndarray::{Array2, ArrayView1, ArrayViewMut1, ArrayViewMut2, Axis, ShapeBuilder};
use gpbench_sdk::{Problem, Result, Select};

use crate::FalkonPreconditioner;

/// Iterations between two computations of the residual by a product.
const RENEW: usize = 10;

/// State of one right-hand side.
#[derive(Debug, Clone)]
struct Column {
    /// Norm of K_XZ^T b, or of b without inducing points.
    scale: f64,
    /// |P^T r|^2.
    squares: f64,
    /// Whether steps are still taken: until the residual is zero, or rounding leaves no step.
    active: bool,
}

/// State between two iterations. The iterate is the problem's `x`.
#[derive(Debug)]
pub(crate) struct Iteration<'p> {
    preconditioner: &'p FalkonPreconditioner,
    /// Iterations done.
    pub(crate) count: usize,
    /// Whether the operator is H, without inducing points.
    is_square: bool,
    /// r, M x s.
    normal: Array2<f64>,
    /// b - H a, n x s; empty with inducing points.
    residual: Array2<f64>,
    /// p, M x s.
    direction: Array2<f64>,
    /// Products with the operator, n x s.
    product: Array2<f64>,
    columns: Vec<Column>,
}

impl<'p> Iteration<'p> {
    /// Computes the residual of the iterate in `x`: one product with the operator, and another where there are inducing
    /// points and the iterate is not zero.
    pub(crate) fn start(preconditioner: &'p FalkonPreconditioner, problem: &mut Problem<'_>) -> Result<Self> {
        let (operator, b) = (problem.operator(), problem.rhs());
        let is_square = operator.inputs()?.basis.is_none();
        for (b, mut x) in b.axis_iter(Axis(1)).zip(problem.x_mut().axis_iter_mut(Axis(1))) {
            if b.iter().all(|&b| b == 0.0) {
                x.fill(0.0);
            }
        }
        let shape = (operator.m(), b.ncols());
        let rows_of_residual = if is_square { b.nrows() } else { 0 };
        let mut iteration = Iteration {
            preconditioner,
            count: 0,
            is_square,
            normal: Array2::zeros(shape.f()),
            residual: Array2::zeros((rows_of_residual, b.ncols()).f()),
            direction: Array2::zeros(shape.f()),
            product: Array2::zeros(b.dim().f()),
            columns: Vec::new(),
        };
        let is_warm = problem.x().iter().any(|&x| x != 0.0);
        let scales = match is_square {
            true => norms(&b.to_owned()),
            false => {
                let zero = Array2::<f64>::zeros(shape.f());
                operator.apply_rows_and_back(
                    Select::All,
                    &zero,
                    &mut iteration.product,
                    &mut iteration.normal,
                    |mut u: ArrayViewMut2<'_, f64>| u.assign(&b),
                )?;
                norms(&iteration.normal)
            }
        };
        if is_square || is_warm {
            iteration.renew(problem)?;
        }
        let column = |scale| Column { scale, squares: f64::INFINITY, active: true };
        iteration.columns = scales.into_iter().map(column).collect();
        Ok(iteration)
    }

    /// Relative norms of the residuals: of the normal equations, or of H a = b without inducing points.
    pub(crate) fn norms(&self) -> Vec<f64> {
        let of = norms(if self.is_square { &self.residual } else { &self.normal });
        let relative =
            |(norm, column): (f64, &Column)| if column.scale > 0.0 { norm / column.scale } else { norm };
        of.into_iter().zip(&self.columns).map(relative).collect()
    }

    /// Takes a step. False, without one, if rounding leaves none for any right-hand side. A step whose products do not
    /// fit into the budget leaves the iterate as it is.
    pub(crate) fn step(&mut self, problem: &mut Problem<'_>) -> Result<bool> {
        if self.count > 0 && self.count.is_multiple_of(RENEW) {
            self.renew(problem)?;
        }
        self.turn(problem)?;
        if !self.columns.iter().any(|column| column.active) {
            return Ok(false);
        }
        let (operator, workers) = (problem.operator(), problem.workers());
        let noise_variance = self.preconditioner.noise_variance();
        let w = self.preconditioner.apply(&self.direction, workers)?;
        let mut q = Array2::zeros(w.dim().f());
        operator.apply_rows_and_back(Select::All, &w, &mut self.product, &mut q, |_| ())?;
        match self.is_square {
            true => q.scaled_add(-noise_variance, &self.product),
            false => self.preconditioner.add_kernel_product(noise_variance, &w, &mut q, workers),
        }
        let mut steps = Vec::with_capacity(self.columns.len());
        for ((w, q), column) in w.axis_iter(Axis(1)).zip(q.axis_iter(Axis(1))).zip(&mut self.columns) {
            let alpha = column.squares / w.dot(&q);
            column.active = column.active && alpha > 0.0 && alpha.is_finite();
            steps.push(if column.active { alpha } else { 0.0 });
        }
        add_columns(&mut problem.x_mut().axis_iter_mut(Axis(1)), &w, &steps, 1.0);
        add_columns(&mut self.normal.axis_iter_mut(Axis(1)), &q, &steps, -1.0);
        if self.is_square {
            add_columns(&mut self.residual.axis_iter_mut(Axis(1)), &self.product, &steps, -1.0);
        }
        self.count += 1;
        Ok(true)
    }

    /// Computes the residuals of the iterate by a product.
    fn renew(&mut self, problem: &Problem<'_>) -> Result<()> {
        let (operator, b, x) = (problem.operator(), problem.rhs(), problem.x());
        let noise_variance = self.preconditioner.noise_variance();
        self.normal.fill(0.0);
        let subtract = |mut u: ArrayViewMut2<'_, f64>| {
            u.zip_mut_with(&b, |product, b| *product = b - *product);
        };
        operator.apply_rows_and_back(Select::All, &x, &mut self.product, &mut self.normal, subtract)?;
        if self.is_square {
            self.residual.assign(&self.product);
            self.normal.scaled_add(-noise_variance, &self.residual);
        } else {
            self.preconditioner.add_kernel_product(-noise_variance, &x, &mut self.normal, problem.workers());
        }
        Ok(())
    }

    /// Computes the next directions from the residuals.
    fn turn(&mut self, problem: &Problem<'_>) -> Result<()> {
        let gradient = self.preconditioner.apply_transposed(&self.normal, problem.workers())?;
        let columns = self.direction.axis_iter_mut(Axis(1)).zip(gradient.axis_iter(Axis(1)));
        for ((mut direction, gradient), column) in columns.zip(&mut self.columns) {
            let squares = gradient.dot(&gradient);
            // Before the first step `squares` is infinite, and the direction is the gradient.
            let beta = squares / column.squares;
            column.active = column.active && squares > 0.0 && beta.is_finite();
            if column.active {
                direction
                    .zip_mut_with(&gradient, |direction, gradient| *direction = gradient + beta * *direction);
            } else {
                direction.fill(0.0);
            }
            column.squares = squares;
        }
        Ok(())
    }
}

/// Adds `sign` times each step times a column of `v` to the columns of a matrix.
fn add_columns<'c>(
    columns: &mut dyn Iterator<Item = ArrayViewMut1<'c, f64>>,
    v: &Array2<f64>,
    steps: &[f64],
    sign: f64,
) {
    for ((mut column, v), step) in columns.zip(v.axis_iter(Axis(1))).zip(steps) {
        if *step != 0.0 {
            column.scaled_add(sign * step, &v);
        }
    }
}

/// Norms of the columns.
fn norms(a: &Array2<f64>) -> Vec<f64> {
    let norm = |column: ArrayView1<'_, f64>| column.dot(&column).sqrt();
    a.axis_iter(Axis(1)).map(norm).collect()
}
