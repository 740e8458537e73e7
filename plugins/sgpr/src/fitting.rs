//! A fit: runs of L-BFGS on the bound, and the choice of inducing points between them.
//!
//! Each step is one evaluation of the bound, so that the host may pause the fit also within a line search.

use gpbench_sdk::inducing::InducingPosterior;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, ArrayView2, Axis, ShapeBuilder};
use gpbench_sdk::optimise::{Finish, Hyperparameters, Lbfgs, LbfgsOptions, Progress};
use gpbench_sdk::{
    Covariance, Error, Fit, Model, Reason, Result, Scales, Stream, Work, Workers, panels, symmetric,
};

use crate::{
    BoundMemory, BoundPoint, BoundRows, CollapsedBound, OptimalDistribution, PointChoice, SgprParams, select,
};

/// Runs of L-BFGS between which points are chosen, at most; RobustGP has as many.
const MOST_ROUNDS: u64 = 20;

/// Scales and inducing points.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) hyperparameters: Hyperparameters,
    /// Z, M x d, row-major.
    pub(crate) points: Array2<f64>,
}

impl Place {
    /// The place of an optimiser's vector: free parameters of the scales, then Z where it moves.
    fn at(&self, flat: &[f64]) -> Place {
        let mut place = self.clone();
        let (scales, points) = flat.split_at(self.hyperparameters.free.len());
        place.hyperparameters.free.copy_from_slice(scales);
        place.points.iter_mut().zip(points).for_each(|(entry, &value)| *entry = value);
        place
    }

    /// The reverse of [`at`](Self::at).
    fn flat(&self, select: PointChoice) -> Vec<f64> {
        let mut flat = self.hyperparameters.free.clone();
        if select == PointChoice::Joint {
            flat.extend(self.points.iter());
        }
        flat
    }
}

/// What the next step does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Next {
    /// Evaluates the point of L-BFGS.
    Search,
    /// Chooses the inducing points anew.
    Choose,
    /// Nothing: the fit is over.
    End(Reason),
}

/// State of a fit.
#[derive(Debug)]
pub(crate) struct State {
    family: Covariance,
    /// The place of the largest bound so far; the start before the first evaluation.
    pub(crate) best: Place,
    /// The bound there; none before the first evaluation.
    pub(crate) bound: Option<CollapsedBound>,
    pub(crate) optimiser: Lbfgs,
    /// Rows that were chosen as points, ascending; none where the spec has chosen the points.
    pub(crate) chosen: Vec<usize>,
    /// Runs of L-BFGS so far.
    pub(crate) rounds: u64,
    pub(crate) next: Next,
    memory: BoundMemory,
    /// Rows of the batch, kept for its memory.
    batch: Vec<usize>,
}

/// The constants of the optimiser.
pub(crate) fn options(params: &SgprParams) -> LbfgsOptions {
    LbfgsOptions { relative_gain: params.relative_gain, ..LbfgsOptions::default() }
}

impl State {
    /// A state before the first evaluation.
    pub(crate) fn new(fit: &Fit<'_>, params: &SgprParams, best: Place, chosen: Vec<usize>) -> State {
        let optimiser = Lbfgs::new(&best.flat(params.select), options(params));
        let (bound, rounds, next) = (None, 1, Next::Search);
        let (memory, batch) = (BoundMemory::default(), Vec::new());
        State { family: fit.family(), best, bound, optimiser, chosen, rounds, next, memory, batch }
    }

    /// Takes a pass over the rows. Returns the objective, minus the bound a row, of the best place before it.
    pub(crate) fn step(&mut self, fit: &Fit<'_>, params: &SgprParams) -> Result<f64> {
        fit.batch_into(Stream::MAIN, fit.n(), &mut self.batch)?;
        let before = self.lower();
        match self.next {
            Next::Search => self.search(fit, params)?,
            Next::Choose => self.choose_again(fit, params)?,
            Next::End(_) => {}
        }
        let lower = if before.is_nan() { self.lower() } else { before };
        Ok(-lower / fit.n() as f64)
    }

    /// Whether the points are this learner's own choice. Those of the spec stay, or move.
    fn chooses(&self) -> bool {
        !self.chosen.is_empty()
    }

    /// The largest bound so far; NaN before the first evaluation.
    fn lower(&self) -> f64 {
        self.bound.as_ref().map_or(f64::NAN, |bound| bound.lower)
    }

    /// Evaluates the bound where L-BFGS asks for it.
    fn search(&mut self, fit: &Fit<'_>, params: &SgprParams) -> Result<()> {
        let trial = self.best.at(self.optimiser.point());
        // A trial that cannot be evaluated is too far away.
        let evaluated = self.attempt(&trial, fit, params)?;
        self.tell(trial, evaluated, params);
        Ok(())
    }

    /// Chooses points at the best scales. Goes on from them if their bound is larger, and ends the fit otherwise.
    fn choose_again(&mut self, fit: &Fit<'_>, params: &SgprParams) -> Result<()> {
        let (points, chosen) = choose(fit, &self.best.hyperparameters, params)?;
        if chosen == self.chosen {
            self.next = Next::End(Reason::Converged);
            return Ok(());
        }
        let trial = Place { points, ..self.best.clone() };
        let evaluated = self.attempt(&trial, fit, params)?;
        // Neither a bound that is no number nor points without a bound are better.
        let Some(better) = evaluated.filter(|(bound, _)| bound.lower > self.lower()) else {
            self.next = Next::End(Reason::Converged);
            return Ok(());
        };
        (self.chosen, self.next) = (chosen, Next::Search);
        self.rounds += 1;
        self.optimiser = Lbfgs::new(&trial.flat(params.select), options(params));
        self.tell(trial, Some(better), params);
        Ok(())
    }

    /// Tells L-BFGS an evaluation, keeps it if it is the best, and decides what is next.
    fn tell(&mut self, trial: Place, evaluated: Option<(CollapsedBound, Vec<f64>)>, params: &SgprParams) {
        let progress = match &evaluated {
            Some((bound, gradient)) => self.optimiser.tell(-bound.lower, gradient),
            None => {
                let gradient = vec![0.0; self.optimiser.point().len()];
                self.optimiser.tell(f64::INFINITY, &gradient)
            }
        };
        if let Some((bound, gradient)) = evaluated {
            let is_finite = bound.lower.is_finite() && gradient.iter().all(|by| by.is_finite());
            if is_finite && self.bound.as_ref().is_none_or(|best| bound.lower > best.lower) {
                (self.best, self.bound) = (trial, Some(bound));
            }
        }
        if let Progress::Finished(finish) = progress {
            self.next = match (params.select, finish) {
                (PointChoice::Greedy, _) if self.rounds < MOST_ROUNDS && self.chooses() => Next::Choose,
                (_, Finish::NoDescent) => Next::End(Reason::Stagnated),
                (_, Finish::Converged | Finish::Gradient) => Next::End(Reason::Converged),
            };
        }
    }

    /// As [`evaluate`](Self::evaluate); none where a matrix is not positive definite, to working precision.
    fn attempt(
        &mut self,
        at: &Place,
        fit: &Fit<'_>,
        params: &SgprParams,
    ) -> Result<Option<(CollapsedBound, Vec<f64>)>> {
        match self.evaluate(at, fit, params) {
            Err(Error::NotPositiveDefinite { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    /// The bound at a place, and the derivatives of its negative by the optimiser's vector.
    fn evaluate(
        &mut self,
        at: &Place,
        fit: &Fit<'_>,
        params: &SgprParams,
    ) -> Result<(CollapsedBound, Vec<f64>)> {
        let (m, n) = (at.points.nrows(), fit.n());
        let kernel = at.hyperparameters.kernel(self.family);
        let residual = &fit.y() - at.hyperparameters.mean();
        let noise_scale = at.hyperparameters.noise_scale();
        let point = BoundPoint { kernel: &kernel, noise_scale, z: at.points.view(), jitter: params.jitter };
        let rows = BoundRows { x: fit.x(), residual: residual.view() };
        let moves = params.select == PointChoice::Joint;
        let evaluated = self.memory.evaluate(&point, &rows, moves, fit.workers());
        fit.charge(Work::entries(m * (m + n)))?;
        let (bound, by) = evaluated?;
        let by_scales = Scales {
            signal_scale: -by.signal_scale,
            noise_scale: -by.noise_scale,
            length_scale: by.length_scale.iter().map(|by| -by).collect(),
            mean: -by.mean,
        };
        let mut gradient = at.hyperparameters.chain(&by_scales);
        gradient.extend(by.points.iter().map(|by| -by));
        Ok((bound, gradient))
    }

    /// Means and variances of y, noise included, at the rows of `x`.
    pub(crate) fn predict(
        &self,
        x: &ArrayRef2<f64>,
        params: &SgprParams,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        let Place { hyperparameters, points } = &self.best;
        let kernel = hyperparameters.kernel(self.family);
        let mut factor = kernel.gram(points, points, workers);
        symmetric::add_diagonal(self.jitter(params), &mut factor);
        panels::cholesky(&mut factor, workers)?;
        let OptimalDistribution { mean, root } = self.distribution();
        let posterior = InducingPosterior {
            kernel: &kernel,
            z: points.view(),
            factor: factor.view(),
            mean: mean.view(),
            root: root.view(),
        };
        let (means, variances) = posterior.predict(x, workers)?;
        Ok((means + hyperparameters.mean(), variances + hyperparameters.noise_scale().powi(2)))
    }

    /// The model for the harness.
    pub(crate) fn model(&self, params: &SgprParams) -> Model {
        let OptimalDistribution { mean, root } = self.distribution();
        let scales = self.best.hyperparameters.scales();
        Model::inducing(&scales, self.best.points.view(), mean.view(), root.view(), self.jitter(params))
    }

    /// The jitter at the best place.
    fn jitter(&self, params: &SgprParams) -> f64 {
        params.jitter * self.best.hyperparameters.signal_scale().powi(2)
    }

    /// The distribution at the best place; the prior before the first evaluation.
    fn distribution(&self) -> OptimalDistribution {
        let m = self.best.points.nrows();
        let prior = || {
            let mut root = Array2::zeros((m, m).f());
            root.diag_mut().fill(1.0);
            OptimalDistribution { mean: Array1::zeros(m), root }
        };
        self.bound.as_ref().map_or_else(prior, |bound| bound.distribution.clone())
    }
}

/// Inducing points that are chosen greedily at some scales, and their rows in ascending order.
pub(crate) fn choose(
    fit: &Fit<'_>,
    at: &Hyperparameters,
    params: &SgprParams,
) -> Result<(Array2<f64>, Vec<usize>)> {
    let x = fit.x();
    let mut rows = select(&at.kernel(fit.family()), &x, params.points, fit.workers()).rows;
    fit.charge(Work { rows: fit.n(), entries: rows.len() * fit.n(), features: 0 })?;
    let points = row_major(x.select(Axis(0), &rows).view());
    rows.sort_unstable();
    Ok((points, rows))
}

/// A copy of a matrix, row-major.
pub(crate) fn row_major(matrix: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut copy = Array2::zeros(matrix.dim());
    copy.assign(&matrix);
    copy
}
