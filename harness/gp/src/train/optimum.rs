//! The greatest exact likelihood that is known: a reference for methods that train.
//!
//! The likelihood has several local maxima, so L-BFGS climbs from several starts. On many rows that is too expensive:
//! there, all starts climb on a subset, and only the best maxima found so and the best of the starts themselves climb
//! on all rows. A search in a box of scales by a method for constraints would need another optimiser; here every
//! scale is a smooth function of a free parameter and stays within its limits.

mod bounded;
mod space;
mod starts;

use std::sync::Arc;

use gpbench_numerics::optimise::{Lbfgs, LbfgsOptions, Progress};
use gpbench_record::Scale;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rayon::ThreadPool;

use super::Hyperparameters;
use crate::Family;
use crate::exact::ExactGp;
use crate::model::subset;
use space::Space;

pub use starts::spread_starts;

/// Largest number of rows on which every start climbs.
const SUBSET_ROWS: usize = 400;

/// Seed of the rows of the subset.
const SUBSET_SEED: u64 = 0;

/// Number of the best maxima of the subset that climb on all rows.
const FINALISTS: usize = 3;

/// Difference of log likelihoods, per row of the subset, below which two of its maxima are the same.
const SAME_MAXIMUM: f64 = 1e-4;

/// Most evaluations of one climb.
const MOST_EVALUATIONS: usize = 200;

/// Relative gains that end a climb: on the subset, and on all rows.
const GAIN_OF_SUBSET: f64 = 1e-5;
const GAIN: f64 = 1e-9;

/// Likelihood of a data set and family of kernels, to be maximised over the scales.
#[derive(Debug, Clone, Copy)]
pub struct OptimumSearch<'d> {
    /// The family.
    pub family: Family,
    /// Inputs, n x d.
    pub x: ArrayView2<'d, f64>,
    /// Targets, n.
    pub y: ArrayView1<'d, f64>,
    /// Whether a constant prior mean is sought beside the scales; otherwise it is 0.
    pub with_mean: bool,
    /// Scales that stay as they are in the starts.
    pub fixed: &'d [Scale],
    /// Threads, which do not change the result.
    pub pool: &'d Arc<ThreadPool>,
}

/// The hyperparameters of the greatest likelihood that a search has found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundOptimum {
    /// The scales: one length scale for all inputs, or one for each, as in the starts.
    pub hyperparameters: Hyperparameters,
    /// The constant prior mean, where it was sought.
    pub mean: Option<f64>,
    /// The exact log marginal likelihood there.
    pub log_marginal_likelihood: f64,
    /// Evaluations of the likelihood and its gradient on all rows.
    pub evaluations: usize,
}

/// Rows to climb on.
#[derive(Debug, Clone, Copy)]
struct Data<'d> {
    x: ArrayView2<'d, f64>,
    y: ArrayView1<'d, f64>,
}

/// The end of a climb.
struct Summit {
    point: Vec<f64>,
    log_likelihood: f64,
    evaluations: usize,
}

impl OptimumSearch<'_> {
    /// The best maximum found from these starts, which all have as many length scales: one for all inputs, or one for
    /// each. `None` where no start has a kernel matrix that is positive definite in double precision.
    ///
    /// In standard deviations of the columns, the noise scale is between 1e-4 and 1e3, the signal scale between 1e-4
    /// and 31.6, and each length scale between 1e-4 and 1e3. A start outside is moved inside. The result has the same
    /// bits on any number of threads.
    pub fn from_starts(&self, starts: &[Hyperparameters]) -> Option<FoundOptimum> {
        let first = starts.first()?;
        let space = Space::new(first, self.fixed, self.with_mean, self.x, self.y);
        let points: Vec<Vec<f64>> = starts.iter().map(|start| space.point(start)).collect();
        let all = Data { x: self.x, y: self.y };
        let (points, mut evaluations) = self.candidates(&space, points);
        let mut best: Option<Summit> = None;
        for point in &points {
            let Some(summit) = self.climb(&space, all, point, GAIN) else { continue };
            evaluations += summit.evaluations;
            if best.as_ref().is_none_or(|best| summit.log_likelihood > best.log_likelihood) {
                best = Some(summit);
            }
        }
        let best = best?;
        let (hyperparameters, mean) = space.hyperparameters(&best.point);
        let log_marginal_likelihood = best.log_likelihood;
        Some(FoundOptimum { hyperparameters, mean, log_marginal_likelihood, evaluations })
    }

    /// The points from which to climb on all rows, and the evaluations on all rows that choosing them took.
    fn candidates(&self, space: &Space, starts: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, usize) {
        let n = self.x.nrows();
        if n <= SUBSET_ROWS || starts.len() == 1 {
            return (starts, 0);
        }
        let rows = subset(n, SUBSET_ROWS, SUBSET_SEED);
        let (x, y): (Array2<f64>, Array1<f64>) =
            (self.x.select(Axis(0), &rows), self.y.select(Axis(0), &rows));
        let few = Data { x: x.view(), y: y.view() };
        let climb = |start: &Vec<f64>| self.climb(space, few, start, GAIN_OF_SUBSET);
        let mut summits: Vec<Summit> = starts.iter().filter_map(climb).collect();
        summits.sort_by(|a, b| b.log_likelihood.total_cmp(&a.log_likelihood));
        let same = SAME_MAXIMUM * rows.len() as f64;
        summits.dedup_by(|next, before| before.log_likelihood - next.log_likelihood < same);
        let mut chosen: Vec<Vec<f64>> =
            summits.into_iter().take(FINALISTS).map(|summit| summit.point).collect();

        let all = Data { x: self.x, y: self.y };
        let known = starts.iter().filter_map(|start| {
            let gp = self.fit(space, all, start)?;
            Some((gp.log_marginal_likelihood, start))
        });
        let best = known.max_by(|(a, _), (b, _)| a.total_cmp(b));
        chosen.extend(best.map(|(_, start)| start.clone()));
        (chosen, starts.len())
    }

    /// Climbs by L-BFGS. `None` where the likelihood is not known at the start.
    fn climb(&self, space: &Space, data: Data<'_>, start: &[f64], relative_gain: f64) -> Option<Summit> {
        let mut lbfgs = Lbfgs::new(start, LbfgsOptions { relative_gain, ..LbfgsOptions::default() });
        let mut evaluations = 0;
        while evaluations < MOST_EVALUATIONS {
            let (value, gradient) = self.evaluate(space, data, lbfgs.point());
            evaluations += 1;
            if let Progress::Finished(_) = lbfgs.tell(value, &gradient) {
                break;
            }
        }
        let log_likelihood = -lbfgs.best_value();
        log_likelihood.is_finite().then(|| Summit {
            point: lbfgs.best().to_vec(),
            log_likelihood,
            evaluations,
        })
    }

    /// The negative log likelihood at a point of the space, and its gradient; infinity where the kernel matrix is not
    /// positive definite in double precision.
    fn evaluate(&self, space: &Space, data: Data<'_>, point: &[f64]) -> (f64, Vec<f64>) {
        let Some(gp) = self.fit(space, data, point) else { return (f64::INFINITY, vec![0.0; point.len()]) };
        let gradient = space.chain(point, &gp.gradient(data.x), gp.v.sum());
        (-gp.log_marginal_likelihood, gradient.into_iter().map(|derivative| -derivative).collect())
    }

    /// The process at a point of the space; `None` where its matrix is not positive definite in double precision.
    fn fit(&self, space: &Space, data: Data<'_>, point: &[f64]) -> Option<ExactGp> {
        let (scales, mean) = space.hyperparameters(point);
        let kernel = scales.kernel(self.family, data.x.ncols());
        let y = mean.map_or_else(|| data.y.to_owned(), |mean| &data.y - mean);
        ExactGp::fit_on(&kernel, scales.noise_scale, data.x, y.view(), self.pool).ok()
    }
}

#[cfg(test)]
mod tests;
