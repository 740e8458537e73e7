//! The systems of a step, and the posterior samples of their solutions. Both are the same in the process that solves
//! and in the one that verifies.

use gpbench_gp::thompson::candidates;
use gpbench_gp::{PosteriorSamples, RandomFeatures};
use gpbench_record::{Probes, WarmStart};
use ndarray::{Array2, ArrayView2, Axis, ShapeBuilder, s};

use crate::failure::{CaseError, invalid};
use crate::system::{System, SystemSpec};

use super::search::Search;
use super::state::Known;

impl Search<'_> {
    /// The systems of step `step`. Prior functions are drawn anew in each step, unless solutions for them are carried over.
    pub(super) fn pose(&self, known: &Known, step: u64) -> Result<System, CaseError> {
        // The frequencies of the objective, with the kernel of the model.
        let shared = known.objective().features().filter(|_| self.task.share_features);
        let shared = shared.map(|of| RandomFeatures::from_omega(&self.kernel, of.omega().to_owned()));
        let rows = self.rows(known);
        let spec = SystemSpec {
            rows: &rows,
            kernel: &self.setup.kernel,
            probes: Probes::Pathwise(self.task.targets),
            redraw: (self.task.warm_start != WarmStart::All).then_some(step),
            features: shared.as_ref(),
            inducing: self.task.inducing,
            pool: &self.setup.pool,
        };
        Ok(System::build(spec)?)
    }

    /// The candidates of a round of step `step` (points x d), near the rows of its systems.
    pub(super) fn candidates(&self, system: &System, step: u64, round: usize) -> Array2<f64> {
        let mut rng = system.streams.stream(&format!("candidates/{step}/{round}"));
        let (x, y) = (system.data.x_train.view(), system.data.y_train.view());
        candidates(&self.task.candidates, &self.kernel.length_scale, x, y, &mut rng)
    }
}

/// Units in the last place by which two sums of the same terms may differ, relative to the sum of the absolute values.
const ROUNDINGS: f64 = 100.0;

/// The weights that define the first posterior samples of a step.
pub(super) struct SampleWeights {
    /// Weights of the features of the prior draws, m x s.
    prior: Array2<f64>,
    /// Weights of the points of the solver's unknowns, n x s.
    kernel: Array2<f64>,
}

impl SampleWeights {
    /// The weights of the first `count` samples, from solutions (n x (1 + s)).
    ///
    /// # Errors
    /// If prior draws are not computed from features.
    pub(super) fn new(
        system: &System,
        solution: ArrayView2<f64>,
        count: usize,
    ) -> Result<SampleWeights, CaseError> {
        let Some(prior) = system.prior_weights(count) else {
            return Err(invalid("samples can be followed only where prior functions are made of features"));
        };
        let mut kernel = Array2::zeros((solution.nrows(), count).f());
        let of_targets = solution.slice(s![.., 1..=count]);
        for (mut to, of_target) in kernel.columns_mut().into_iter().zip(of_targets.columns()) {
            to.assign(&solution.column(0));
            to -= &of_target;
        }
        Ok(SampleWeights { prior, kernel })
    }

    /// The largest rounding error of a value of a sample, which is that of the sum of its terms.
    pub(super) fn rounding(&self, system: &System, sample: usize) -> f64 {
        let terms: f64 = self.kernel.column(sample).iter().map(|weight| weight.abs()).sum();
        ROUNDINGS * f64::EPSILON * terms * system.operator.kernel().variance()
    }

    /// The samples as functions.
    pub(super) fn samples<'a>(&'a self, system: &'a System) -> PosteriorSamples<'a> {
        let features = system.features.as_ref().expect("there are weights of features");
        let noise_scale = system.operator.noise_scale();
        let (prior, kernel) = (self.prior.view(), self.kernel.view());
        let points = system.view().points();
        PosteriorSamples::new(features, prior, points, kernel, noise_scale, system.pool.clone())
    }
}

/// The best candidate of each sample in each round so far.
pub(super) struct Tops {
    /// Points, one for each sample and round, ordered by round.
    pub(super) x: Array2<f64>,
    /// The sample of each point.
    pub(super) owner: Vec<usize>,
}

impl Tops {
    /// Tops without a round, for points with `d` inputs.
    pub(super) fn new(d: usize) -> Tops {
        Tops { x: Array2::zeros((0, d)), owner: Vec::new() }
    }

    /// Adds the best candidates of a round.
    pub(super) fn add(&mut self, samples: &PosteriorSamples<'_>, candidates: ArrayView2<f64>) {
        let best = samples.best_of(candidates);
        let rows: Vec<usize> = best.iter().map(|(row, _)| *row).collect();
        self.x.append(Axis(0), candidates.select(Axis(0), &rows).view()).expect("as many inputs");
        self.owner.extend(0..samples.count());
    }
}
