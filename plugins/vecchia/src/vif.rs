//! Vecchia's approximation of what inducing points leave (VIF, arXiv 2507.05064).
//!
//! K is A^T A + R, and R + noise^2 I is approximated by rows given their neighbours: row i has weights b_i of its
//! neighbours and the variance D_i. With B the unit triangular matrix of the -b_i, U = B A^T, e = B y,
//! G = I + U^T D^-1 U, w = U^T D^-1 e and v = G^-1 w,
//!
//! ```text
//! log likelihood = -(n log 2 pi + sum log D + log|G| + e^T D^-1 e - w^T v) / 2
//! ```
//!
//! and the function at the points, L times a vector, has the mean v and the covariance G^-1 there. Without neighbours
//! it is FITC, without points Vecchia's likelihood.

use std::f64::consts::TAU;
use std::ops::Range;

use gpbench_sdk::kernel::{KernelGradient, Points};
use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};
use gpbench_sdk::neighbours::Earlier;
use gpbench_sdk::{Result, Scales, Workers, lapack, pieces, tall};

use crate::rest::{Block, Rest};
use crate::{Data, LogLikelihood, Process};

/// Rows that one thread works on together.
const ROWS: usize = 32;

/// The distribution of the function at the inducing points: with f(Z) = L v, v has this mean and covariance root
/// root^T.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Mean of v, M.
    pub mean: Array1<f64>,
    /// M x M, lower triangular, with zeros above the diagonal.
    pub root: Array2<f64>,
}

/// All rows given their neighbours, and what follows for the inducing points.
struct Rows {
    rest: Rest,
    /// b, n x m, with zeros where a row has fewer neighbours.
    weights: Array2<f64>,
    /// D.
    variance: Array1<f64>,
    /// e.
    error: Array1<f64>,
    /// U^T, M x n.
    explained: Array2<f64>,
    /// Cholesky factor of G.
    factor: Array2<f64>,
    /// v.
    mean: Array1<f64>,
    log_likelihood: f64,
}

impl Rows {
    fn new(at: &Process, data: &Data, neighbours: &Earlier, workers: Workers<'_>) -> Result<Rows> {
        let rest = Rest::new(at, &data.ordered_x, workers)?;
        let y = &data.ordered_y - at.mean();
        let (n, points) = (data.n(), at.points().nrows());
        let mut rows = Rows {
            rest,
            weights: Array2::zeros((n, neighbours.most())),
            variance: Array1::zeros(n),
            error: Array1::zeros(n),
            explained: Array2::zeros((points, n).f()),
            factor: Array2::eye(points).reversed_axes(),
            mean: Array1::zeros(points),
            log_likelihood: 0.0,
        };
        rows.condition(&y, neighbours, workers)?;
        rows.explain(workers)?;
        Ok(rows)
    }

    /// Each row given its neighbours.
    fn condition(&mut self, y: &Array1<f64>, neighbours: &Earlier, workers: Workers<'_>) -> Result<()> {
        let rest = &self.rest;
        let moments = self.variance.axis_chunks_iter_mut(Axis(0), ROWS);
        let moments = moments.zip(self.error.axis_chunks_iter_mut(Axis(0), ROWS));
        let places = self.weights.axis_chunks_iter_mut(Axis(0), ROWS);
        let places = places.zip(self.explained.axis_chunks_iter_mut(Axis(1), ROWS));
        let work = moments.zip(places).enumerate();
        let outcomes =
            workers.map(work, |(piece, ((mut variances, mut errors), (mut weights, mut explained)))| {
                for index in 0..variances.len() {
                    let row = piece * ROWS + index;
                    let near = neighbours.of(row);
                    let block = rest.block(&group(near, row));
                    let given = block.last_given_others()?;
                    variances[index] = given.variance;
                    errors[index] = y[row] - given.weights.dot(&y.select(Axis(0), near));
                    explained.column_mut(index).assign(&block.explained(&given.weights));
                    weights.slice_mut(s![index, ..near.len()]).assign(&given.weights);
                }
                Ok(())
            });
        outcomes.into_iter().collect()
    }

    /// G, v, and the likelihood.
    fn explain(&mut self, workers: Workers<'_>) -> Result<()> {
        let n = self.variance.len() as f64;
        let deviations = self.variance.mapv(f64::sqrt);
        let errors = &self.error / &deviations;
        let mut of_points = 0.0;
        if !self.mean.is_empty() {
            let scaled = &self.explained / &deviations;
            self.factor += &tall::product(&scaled.t(), &scaled.t(), workers);
            lapack::cholesky(&mut self.factor)?;
            let w = scaled.dot(&errors);
            let mut mean = w.clone().insert_axis(Axis(1));
            lapack::cholesky_solve(&self.factor, &mut mean)?;
            self.mean = mean.remove_axis(Axis(1));
            of_points = lapack::log_determinant(&self.factor) - w.dot(&self.mean);
        }
        let of_rows = self.variance.mapv(f64::ln).sum() + errors.dot(&errors);
        self.log_likelihood = -0.5 * (n * TAU.ln() + of_rows + of_points);
        Ok(())
    }
}

/// Neighbours, and then the row itself.
fn group(near: &[usize], row: usize) -> Vec<usize> {
    near.iter().copied().chain([row]).collect()
}

/// The distribution of the function at the inducing points.
///
/// # Errors
/// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite).
pub fn explain(at: &Process, data: &Data, neighbours: &Earlier, workers: Workers<'_>) -> Result<Explanation> {
    let Rows { mut factor, mean, .. } = Rows::new(at, data, neighbours, workers)?;
    if !mean.is_empty() {
        lapack::cholesky_inverse(&mut factor)?;
        lapack::cholesky(&mut factor)?;
    }
    let root = Array2::from_shape_fn(factor.dim(), |(i, j)| if i < j { 0.0 } else { factor[[i, j]] });
    Ok(Explanation { mean, root })
}

/// The log likelihood of all rows, and its derivatives with the neighbours held fixed.
///
/// # Errors
/// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite).
pub fn log_likelihood(
    at: &Process,
    data: &Data,
    neighbours: &Earlier,
    workers: Workers<'_>,
) -> Result<LogLikelihood> {
    let rows = Rows::new(at, data, neighbours, workers)?;
    let y = &data.ordered_y - at.mean();
    let cotangents = Cotangents::new(&rows, &y, workers);
    let (mut by_rest, mut outcome) = (None, Ok(()));
    let mut by_features = Array2::zeros(rows.explained.dim().f());
    let (mut by_noise_variance, mut by_mean) = (0.0, 0.0);
    pieces::in_order(
        data.n().div_ceil(ROWS),
        workers,
        |piece| cotangents.piece(&rows, neighbours, piece * ROWS..data.n().min((piece + 1) * ROWS)),
        |_, part: Result<Part>| {
            let part = match part {
                Ok(part) => part,
                Err(error) => {
                    outcome = Err(error);
                    return;
                }
            };
            by_noise_variance += part.noise_variance;
            by_mean += part.mean;
            add_scales(&mut by_rest, part.scales);
            for (row, by_block) in part.features {
                let of_group = group(neighbours.of(row), row);
                for (&member, by) in of_group.iter().zip(by_block.columns()) {
                    let mut column = by_features.column_mut(member);
                    column += &by;
                }
            }
        },
    );
    outcome?;
    let mut by_kernel = by_rest.expect("there are rows");
    let by_points = pull_back(&rows.rest, by_features, at.relative_jitter(), &mut by_kernel, workers)?;
    let by = Scales {
        signal_scale: by_kernel.signal_scale,
        noise_scale: 2.0 * at.noise_scale() * by_noise_variance,
        length_scale: by_kernel.length_scale.to_vec(),
        mean: by_mean,
    };
    let Rows { log_likelihood: value, variance, error, .. } = rows;
    Ok(LogLikelihood { value, by, by_points, variance, error })
}

/// Derivatives of the log likelihood by e, U and D.
struct Cotangents<'y> {
    y: &'y Array1<f64>,
    error: Array1<f64>,
    /// M x n, as U^T.
    explained: Array2<f64>,
    variance: Array1<f64>,
}

/// The contributions of some rows.
struct Part {
    scales: Option<KernelGradient>,
    noise_variance: f64,
    mean: f64,
    /// By the features of each row's group: M x (neighbours and the row).
    features: Vec<(usize, Array2<f64>)>,
}

impl<'y> Cotangents<'y> {
    fn new(rows: &Rows, y: &'y Array1<f64>, workers: Workers<'_>) -> Cotangents<'y> {
        let Rows { variance, explained, factor, mean, .. } = rows;
        let mut solved = explained.clone();
        if !solved.is_empty() {
            workers.for_each(solved.axis_chunks_iter_mut(Axis(1), ROWS), |mut columns| {
                lapack::cholesky_solve(factor, &mut columns).expect("a row for each inducing point");
            });
        }
        // e - U v, over D.
        let ratio = (&rows.error - &explained.t().dot(mean)) / variance;
        let squares = (&solved * explained).sum_axis(Axis(0));
        let by_variance = 0.5 * (-1.0 / variance + &ratio * &ratio + squares / (variance * variance));
        for ((mut column, &ratio), &variance) in solved.columns_mut().into_iter().zip(&ratio).zip(variance) {
            column.zip_mut_with(mean, |entry, mean| *entry = ratio * mean - *entry / variance);
        }
        Cotangents { y, error: -ratio, explained: solved, variance: by_variance }
    }

    /// The contributions of the rows of a range.
    fn piece(&self, rows: &Rows, neighbours: &Earlier, range: Range<usize>) -> Result<Part> {
        let mut part = Part { scales: None, noise_variance: 0.0, mean: 0.0, features: Vec::new() };
        for row in range {
            let near = neighbours.of(row);
            let block = rows.rest.block(&group(near, row));
            let weights = rows.weights.slice(s![row, ..near.len()]).to_owned();
            let cotangent = self.of_block(&block, &weights, near, row)?;
            part.noise_variance += cotangent.diag().sum();
            part.mean -= self.error[row] * (1.0 - weights.sum());
            let gradient =
                rows.rest.kernel.pull_back_square(&block.points, &cotangent, false, Workers::new(1));
            add_scales(&mut part.scales, Some(gradient));
            if block.features.is_empty() {
                continue;
            }
            // By R = K - A^T A, and by U.
            let mut by_features = -2.0 * block.features.dot(&cotangent);
            let explained = self.explained.column(row);
            let of_group = weights.iter().map(|weight| -weight).chain([1.0]);
            for (mut column, weight) in by_features.columns_mut().into_iter().zip(of_group) {
                column.scaled_add(weight, &explained);
            }
            part.features.push((row, by_features));
        }
        Ok(part)
    }

    /// Derivatives by the entries of a row's block, neighbours first, all of it.
    fn of_block(&self, block: &Block, b: &Array1<f64>, near: &[usize], row: usize) -> Result<Array2<f64>> {
        let last = near.len();
        let by_variance = self.variance[row];
        let mut cotangent = Array2::zeros((last + 1, last + 1));
        cotangent[[last, last]] = by_variance;
        if last == 0 {
            return Ok(cotangent);
        }
        let of_near = block.features.slice(s![.., ..last]);
        let y = self.y.select(Axis(0), near);
        // By b, and p = H_NN^-1 times that.
        let by_weights = -self.error[row] * &y - of_near.t().dot(&self.explained.column(row));
        let given = block.last_given_others()?;
        let mut p = by_weights.insert_axis(Axis(1));
        lapack::cholesky_solve(&given.factor.slice(s![..last, ..last]), &mut p)?;
        let p = p.remove_axis(Axis(1));
        for i in 0..last {
            for j in 0..last {
                cotangent[[i, j]] = by_variance * b[i] * b[j] - 0.5 * (p[i] * b[j] + b[i] * p[j]);
            }
            let by_cross = 0.5 * p[i] - by_variance * b[i];
            cotangent[[i, last]] = by_cross;
            cotangent[[last, i]] = by_cross;
        }
        Ok(cotangent)
    }
}

/// Adds derivatives by the scales of a kernel.
fn add_scales(sum: &mut Option<KernelGradient>, other: Option<KernelGradient>) {
    match (sum.as_mut(), other) {
        (Some(sum), Some(other)) => sum.add_scales(&other),
        (None, other) => *sum = other,
        (Some(_), None) => {}
    }
}

/// Adds to `by_kernel` the derivatives through A = L^-1 K(Z, X), of which `by_features` are the derivatives, and
/// returns those by Z.
fn pull_back(
    rest: &Rest,
    by_features: Array2<f64>,
    relative_jitter: f64,
    by_kernel: &mut KernelGradient,
    workers: Workers<'_>,
) -> Result<Array2<f64>> {
    if by_features.is_empty() {
        return Ok(Array2::zeros(rest.points.dim()));
    }
    // By K(Z, Z): -L^-T (by_features A^T) L^-1 / 2, of which the symmetric part counts.
    let mut by_gram = product(&by_features, &rest.features, workers);
    rest.solve(&mut by_gram, true, workers);
    let mut by_gram = column_major(by_gram.t());
    rest.solve(&mut by_gram, true, workers);
    let by_gram = -0.25 * (&by_gram + &by_gram.t());
    let mut by_cross = by_features;
    rest.solve(&mut by_cross, true, workers);
    let cross = rest.kernel.pull_back(&rest.points, rest.x(), &by_cross, Points::Rows, workers);
    let square = rest.kernel.pull_back_square(&rest.points, &by_gram, true, workers);
    by_kernel.add_scales(&cross);
    by_kernel.add_scales(&square);
    by_kernel.signal_scale += 2.0 * relative_jitter * rest.kernel.signal_scale * by_gram.diag().sum();
    Ok(cross.rows + square.rows)
}

/// A B^T of wide matrices.
fn product(a: &Array2<f64>, b: &Array2<f64>, workers: Workers<'_>) -> Array2<f64> {
    tall::product(&a.t(), &b.t(), workers)
}

fn column_major(a: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut copy = Array2::zeros(a.dim().f());
    copy.assign(&a);
    copy
}
