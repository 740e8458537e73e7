//! One step of descent with Nesterov momentum, clipping and averaging, given the gradient.

use gpbench_sdk::Workers;
use gpbench_sdk::ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, Zip};

use crate::{Averaging, ClipScope, SgdRffParams};

/// State between two steps; the caller holds the average.
///
/// For each column, with g the clipped gradient at x and w the weight of the newest iterate:
///
/// ```text
/// g       = gradient min(1, clip / |gradient|)
/// trace   = g + momentum trace
/// x      -= learning_rate (g + momentum trace)
/// average = (1 - w) average + w x,     w = 1 / steps | averaging_weight | 1
/// ```
#[derive(Debug, Clone)]
pub struct AveragedDescent {
    momentum: f64,
    averaging: Averaging,
    averaging_weight: f64,
    clip: f64,
    clip_scope: ClipScope,
    /// Learning rate of each column.
    rates: Vec<f64>,
    iterate: Array2<f64>,
    trace: Array2<f64>,
    /// Norms of the last gradients, one a column.
    norms: Vec<f64>,
    steps: usize,
}

impl AveragedDescent {
    /// Starts from the columns of `start`; the first `n_targets` have the learning rate of targets.
    pub fn new(start: ArrayView2<'_, f64>, n_targets: usize, params: &SgdRffParams) -> AveragedDescent {
        let mut iterate = Array2::zeros(start.dim().f());
        iterate.assign(&start);
        let rate = |j| if j < n_targets { params.learning_rate } else { params.learning_rate_samples };
        AveragedDescent {
            momentum: params.momentum,
            averaging: params.averaging,
            averaging_weight: params.averaging_weight,
            clip: params.clip,
            clip_scope: params.clip_scope,
            rates: (0..start.ncols()).map(rate).collect(),
            trace: Array2::zeros(start.dim().f()),
            norms: vec![0.0; start.ncols()],
            iterate,
            steps: 0,
        }
    }

    /// The point where the next gradient is taken; m x s.
    pub fn iterate(&self) -> &Array2<f64> {
        &self.iterate
    }

    /// Steps taken.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// One step against a gradient (m x s). False, without a step, if the gradient is not finite.
    pub fn step(
        &mut self,
        workers: Workers<'_>,
        gradient: &Array2<f64>,
        mut average: ArrayViewMut2<'_, f64>,
    ) -> bool {
        workers.for_each(self.norms.iter_mut().zip(gradient.axis_iter(Axis(1))), |(norm, column)| {
            *norm = column.dot(&column).sqrt();
        });
        if !self.norms.iter().all(|norm| norm.is_finite()) {
            return false;
        }
        self.steps += 1;
        let all = self.norms.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
        let shorten = |norm: f64| match self.clip_scope {
            ClipScope::Column => shorten(norm, self.clip),
            ClipScope::All => shorten(all, self.clip),
        };
        let (momentum, weight) = (self.momentum, self.weight());
        let columns = self
            .iterate
            .axis_iter_mut(Axis(1))
            .zip(self.trace.axis_iter_mut(Axis(1)))
            .zip(gradient.axis_iter(Axis(1)))
            .zip(average.axis_iter_mut(Axis(1)))
            .zip(self.rates.iter().zip(&self.norms));
        workers.for_each(columns, |((((iterate, trace), gradient), average), (&rate, &norm))| {
            let factor = shorten(norm);
            Zip::from(iterate).and(trace).and(gradient).and(average).for_each(|x, trace, g, average| {
                let g = factor * g;
                *trace = g + momentum * *trace;
                *x -= rate * (g + momentum * *trace);
                *average = (1.0 - weight) * *average + weight * *x;
            });
        });
        true
    }

    /// Weight of the newest iterate in the average.
    fn weight(&self) -> f64 {
        match self.averaging {
            Averaging::Polyak => 1.0 / self.steps as f64,
            Averaging::Geometric => self.averaging_weight,
            Averaging::None => 1.0,
        }
    }
}

/// The factor that shortens a gradient of this norm to `clip`; 1 if it is not longer, or if `clip` is 0.
fn shorten(norm: f64, clip: f64) -> f64 {
    if clip > 0.0 && norm > clip { clip / norm } else { 1.0 }
}
