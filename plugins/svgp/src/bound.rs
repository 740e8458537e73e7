//! The evidence lower bound of a minibatch, and its gradient by hand.
//!
//! Hensman, Matthews and Ghahramani 2015, *Scalable Variational Gaussian Process Classification*, with a Gaussian
//! likelihood, in whitened form: with L L^T = K(Z, Z) + jitter I the values at the inducing points are L v, and v
//! has the variational distribution N(m, R R^T). For a minibatch S of n rows, c = n / |S|, A = L^-1 K(Z, X_S) and
//! T = R^T A:
//!
//! ```text
//! mean_i = a_i^T m + prior mean,    var_i = k(x_i, x_i) - |a_i|^2 + |t_i|^2
//! bound  = c sum_S ( -log(2 pi s^2) / 2 - ((y_i - mean_i)^2 + var_i) / (2 s^2) ) - KL
//! KL     = ( |R|_F^2 + |m|^2 - M - 2 sum log|R_ii| ) / 2
//! ```
//!
//! Its gradient, with r = y - mean and g = c / s^2:
//!
//! ```text
//! by m:           g A r - m
//! by R:           -g tril(A T^T) - R + diag(1 / R_ii)
//! by A:           G = g (m r^T + A - R T)
//! by K(Z, X_S):   L^-T G
//! by K(Z, Z):     L^-T sym(P) L^-1,    P = -tril(G A^T) with half its diagonal
//! by s:           c ( -b / s + (|r|^2 + sum var) / s^3 )
//! by prior mean:  g sum r
//! by k(x_i, x_i): -g / 2
//! ```
//!
//! A minibatch's gradient is an unbiased estimate of that of all rows. With b rows and M inducing points it
//! takes 6 M^2 b + (4/3) M^3 operations beside the factor L.

use std::f64::consts::TAU;
use std::ops::Range;

use gpbench_sdk::ndarray::{
    Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, Zip, s,
};
use gpbench_sdk::{Result, Workers, lapack, panels};

/// The variational distribution N(m, R R^T) of the whitened values at the inducing points.
#[derive(Debug)]
pub struct WhitenedDistribution<'a> {
    /// m.
    pub mean: ArrayView1<'a, f64>,
    /// R, column-major. What is above the diagonal is not read.
    pub root: ArrayView2<'a, f64>,
}

/// A minibatch of b rows, with its prior covariances.
#[derive(Debug)]
pub struct Minibatch<'a> {
    /// L, the Cholesky factor of K(Z, Z) + jitter I, column-major.
    pub factor: ArrayView2<'a, f64>,
    /// K(Z, X_S), M x b, column-major.
    pub cross: ArrayView2<'a, f64>,
    /// Prior variances k(x_i, x_i).
    pub prior: ArrayView1<'a, f64>,
    /// Targets less the prior mean.
    pub y: ArrayView1<'a, f64>,
    /// Standard deviation s of the noise.
    pub noise_scale: f64,
    /// Training rows for each row of the minibatch, c.
    pub weight: f64,
}

impl Minibatch<'_> {
    /// Some rows of the minibatch.
    fn rows(&self, range: Range<usize>) -> Minibatch<'_> {
        Minibatch {
            factor: self.factor.view(),
            cross: self.cross.slice(s![.., range.clone()]),
            prior: self.prior.slice(s![range.clone()]),
            y: self.y.slice(s![range]),
            ..*self
        }
    }
}

/// The gradient of the bound, and memory for the next one.
#[derive(Debug)]
pub struct BoundGradient {
    /// Derivative by m.
    pub mean: Array1<f64>,
    /// Derivative by R; zero above the diagonal.
    pub root: Array2<f64>,
    /// Derivative by K(Z, Z), as if its entries were independent; symmetric.
    pub inducing: Array2<f64>,
    /// Derivative by the noise scale.
    pub noise_scale: f64,
    /// Derivative by the prior mean.
    pub prior_mean: f64,
    /// Derivative by each of the prior variances.
    pub prior: f64,
    /// Rows of the last minibatch.
    rows: usize,
    /// Derivative by K(Z, X_S).
    cross: Array2<f64>,
    /// A, T and G.
    solved: Array2<f64>,
    rotated: Array2<f64>,
    by_solved: Array2<f64>,
}

impl BoundGradient {
    /// Memory for `m` inducing points and minibatches of up to `b` rows.
    pub fn new(m: usize, b: usize) -> BoundGradient {
        let [root, inducing] = [(); 2].map(|()| Array2::zeros((m, m).f()));
        let [cross, solved, rotated, by_solved] = [(); 4].map(|()| Array2::zeros((m, b).f()));
        let (mean, [noise_scale, prior_mean, prior]) = (Array1::zeros(m), [0.0; 3]);
        BoundGradient {
            mean,
            root,
            inducing,
            noise_scale,
            prior_mean,
            prior,
            rows: 0,
            cross,
            solved,
            rotated,
            by_solved,
        }
    }

    /// Derivative by K(Z, X_S), M x b, column-major.
    pub fn cross(&self) -> ArrayView2<'_, f64> {
        self.cross.slice(s![.., ..self.rows])
    }

    /// Evaluates the bound, and sets this gradient to its own.
    ///
    /// # Errors
    /// If the minibatch has more rows than there is room for, or arrays are not column-major.
    pub fn evaluate(
        &mut self,
        q: &WhitenedDistribution<'_>,
        batch: &Minibatch<'_>,
        workers: Workers<'_>,
    ) -> Result<f64> {
        let scale = batch.weight / batch.noise_scale.powi(2);
        self.rows = batch.y.len();
        let sums = self.by_columns(q, batch, scale, workers)?;

        self.mean.assign(&sums.weighted);
        self.mean -= &q.mean;
        self.by_root(q, scale, workers);
        self.by_inducing(batch, workers)?;
        let (b, s) = (batch.y.len() as f64, batch.noise_scale);
        self.noise_scale = batch.weight * (-b / s + sums.squares / s.powi(3));
        self.prior_mean = scale * sums.residual;
        self.prior = -scale / 2.0;
        let likelihood = -0.5 * b * (TAU * s * s).ln() - sums.squares / (2.0 * s * s);
        Ok(batch.weight * likelihood - divergence(q))
    }

    /// Computes what is independent for each row of the minibatch: A, T, G and the derivative by K(Z, X_S).
    fn by_columns(
        &mut self,
        q: &WhitenedDistribution<'_>,
        batch: &Minibatch<'_>,
        scale: f64,
        workers: Workers<'_>,
    ) -> Result<Sums> {
        let rows = self.rows;
        let arrays = [&mut self.solved, &mut self.rotated, &mut self.by_solved, &mut self.cross];
        let [solved, rotated, by_solved, cross] = arrays.map(|array| array.slice_mut(s![.., ..rows]));
        let count = rows.div_ceil(panels::COLUMNS);
        let mut outcomes: Vec<Result<Sums>> = (0..count).map(|_| Ok(Sums::default())).collect();
        {
            let chunks = |array| chunks(array).into_iter();
            let arrays = chunks(solved).zip(chunks(rotated)).zip(chunks(by_solved).zip(chunks(cross)));
            let work = arrays.zip(&mut outcomes).enumerate();
            workers.for_each(work, |(index, (((solved, rotated), (by_solved, cross)), outcome))| {
                let first = index * panels::COLUMNS;
                let part = batch.rows(first..first + solved.ncols());
                *outcome = Panel { solved, rotated, by_solved, cross }.evaluate(q, &part, scale);
            });
        }
        let mut total = Sums { weighted: Array1::zeros(q.mean.len()), ..Sums::default() };
        for sums in outcomes {
            let sums = sums?;
            total.residual += sums.residual;
            total.squares += sums.squares;
            total.weighted += &sums.weighted;
        }
        Ok(total)
    }

    /// -g tril(A T^T) - R + diag(1 / R_ii).
    fn by_root(&mut self, q: &WhitenedDistribution<'_>, scale: f64, workers: Workers<'_>) {
        let [solved, rotated] = [&self.solved, &self.rotated].map(|array| array.slice(s![.., ..self.rows]));
        panels::lower_product(&solved, &rotated, &mut self.root, workers);
        let chunks = self.root.axis_chunks_iter_mut(Axis(1), panels::COLUMNS);
        let roots = q.root.axis_chunks_iter(Axis(1), panels::COLUMNS);
        workers.for_each(chunks.zip(roots).enumerate(), |(index, (mut by_root, root))| {
            let columns = by_root.columns_mut().into_iter().zip(root.columns());
            for (j, (mut column, root)) in (index * panels::COLUMNS..).zip(columns) {
                column.slice_mut(s![..j]).fill(0.0);
                Zip::from(column.slice_mut(s![j..]))
                    .and(root.slice(s![j..]))
                    .for_each(|entry, &root| *entry = -scale * *entry - root);
                column[j] += root[j].recip();
            }
        });
    }

    /// L^-T sym(P) L^-1, P = -tril(G A^T) with half its diagonal.
    fn by_inducing(&mut self, batch: &Minibatch<'_>, workers: Workers<'_>) -> Result<()> {
        let [by_solved, solved] =
            [&self.by_solved, &self.solved].map(|array| array.slice(s![.., ..self.rows]));
        panels::lower_product(&by_solved, &solved, &mut self.inducing, workers);
        panels::mirror_upper(self.inducing.view_mut().reversed_axes());
        // The diagonal is half of P's, which is half of G A^T's.
        self.inducing *= -0.5;
        panels::congruence(&batch.factor, &mut self.inducing, workers)
    }
}

/// Sums over the rows of a panel.
#[derive(Debug, Default)]
struct Sums {
    /// sum r.
    residual: f64,
    /// |r|^2 + sum var.
    squares: f64,
    /// g A r.
    weighted: Array1<f64>,
}

/// Columns of the arrays of a [`BoundGradient`].
struct Panel<'p> {
    solved: ArrayViewMut2<'p, f64>,
    rotated: ArrayViewMut2<'p, f64>,
    by_solved: ArrayViewMut2<'p, f64>,
    cross: ArrayViewMut2<'p, f64>,
}

impl Panel<'_> {
    fn evaluate(&mut self, q: &WhitenedDistribution<'_>, batch: &Minibatch<'_>, scale: f64) -> Result<Sums> {
        self.solved.assign(&batch.cross);
        panels::solve(&batch.factor, &mut self.solved)?;
        self.rotated.assign(&self.solved);
        lapack::multiply_lower(&q.root, true, &mut self.rotated)?;
        let residual = &batch.y - &self.solved.t().dot(&q.mean);
        let norms = |a: &ArrayViewMut2<'_, f64>| a.columns().into_iter().map(|a| a.dot(&a)).sum::<f64>();
        let variances = batch.prior.sum() - norms(&self.solved) + norms(&self.rotated);

        self.by_solved.assign(&self.rotated);
        lapack::multiply_lower(&q.root, false, &mut self.by_solved)?;
        let columns = self.by_solved.columns_mut().into_iter().zip(self.solved.columns());
        for ((by_solved, solved), &residual) in columns.zip(&residual) {
            Zip::from(by_solved).and(solved).and(&q.mean).for_each(|entry, &solved, &mean| {
                *entry = scale * (mean * residual + solved - *entry);
            });
        }
        self.cross.assign(&self.by_solved);
        panels::solve_transposed(&batch.factor, &mut self.cross)?;
        let squares = residual.dot(&residual) + variances;
        let weighted = self.solved.dot(&residual) * scale;
        Ok(Sums { residual: residual.sum(), squares, weighted })
    }
}

/// Panels of columns.
fn chunks(array: ArrayViewMut2<'_, f64>) -> Vec<ArrayViewMut2<'_, f64>> {
    let mut panels = Vec::new();
    let mut rest = array;
    while rest.ncols() > panels::COLUMNS {
        let (panel, others) = rest.split_at(Axis(1), panels::COLUMNS);
        panels.push(panel);
        rest = others;
    }
    panels.push(rest);
    panels
}

/// KL divergence of N(m, R R^T) from N(0, I).
fn divergence(q: &WhitenedDistribution<'_>) -> f64 {
    let columns = q.root.columns().into_iter().enumerate();
    let squares: f64 = columns.map(|(j, column)| square(column.slice(s![j..]))).sum();
    let logarithms: f64 = q.root.diag().iter().map(|entry| entry.abs().ln()).sum();
    0.5 * (squares + square(q.mean.view()) - q.mean.len() as f64) - logarithms
}

fn square(v: ArrayView1<'_, f64>) -> f64 {
    v.dot(&v)
}
