//! The system of the unique inputs, where training rows with the same inputs share an unknown.
//!
//! A solver receives an ordinary system, (M + noise^2 I) gamma = Q^T b of [`gpbench_gp::UniqueInputs`], with a row for
//! each unique input. Its residual has the same norm as the residual of gamma in H v = b. Relative to |b|,
//! as everywhere outside of the solver, it is |Q^T b| / |b| times the solver's own relative residual.

use std::sync::Arc;

use gpbench_gp::pathwise::Targets;
use gpbench_gp::{CollapsedOperator, SystemMatrix, UniqueInputs, metrics};
use ndarray::{Array2, ArrayView2};
use rayon::ThreadPool;

/// A system over unique inputs.
#[derive(Debug)]
pub struct Collapse {
    /// The unique inputs, m x d, and the unique input of each row.
    pub inputs: UniqueInputs,
    /// M + noise^2 I.
    pub operator: CollapsedOperator,
    /// Q^T b and the parts of b, projected in the same way; the parts at test inputs are empty.
    pub targets: Targets,
    /// |Q^T b| / |b| for each right-hand side, at most 1.
    shares: Vec<f64>,
}

impl Collapse {
    /// The system in place of `operator` over the rows of `x`, with right-hand sides `targets`.
    pub fn new(
        operator: &dyn SystemMatrix,
        x: ArrayView2<f64>,
        targets: &Targets,
        pool: &Arc<ThreadPool>,
    ) -> Collapse {
        let inputs = UniqueInputs::of(x);
        let unscaled = operator.over(inputs.x.view());
        let collapsed = CollapsedOperator::new(unscaled, operator.noise_scale(), &inputs, pool.clone());
        let projected = Targets {
            rhs: inputs.project(targets.rhs.view()),
            f_train: inputs.project(targets.f_train.view()),
            noise: inputs.project(targets.noise.view()),
            f_test: Array2::zeros((0, targets.f_test.ncols())),
        };
        let norms = |rhs: &Array2<f64>| rhs.columns().into_iter().map(metrics::norm).collect::<Vec<_>>();
        let (own, all) = (norms(&projected.rhs), norms(&targets.rhs));
        let share = |(own, all): (f64, &f64)| if *all > 0.0 { own / all } else { 1.0 };
        let shares = own.into_iter().zip(&all).map(share).collect();
        Collapse { inputs, operator: collapsed, targets: projected, shares }
    }

    /// Residual norms relative to |b|, from ones relative to |Q^T b|.
    pub fn norms(&self, own: &[f64]) -> Vec<f64> {
        own.iter().zip(&self.shares).map(|(norm, share)| norm * share).collect()
    }

    /// The tolerance relative to |Q^T b| which implies `tolerance` relative to |b|, for every right-hand
    /// side and for means over them: looser by the largest of their |Q^T b| / |b|.
    pub fn tolerance(&self, tolerance: f64) -> f64 {
        let largest = self.shares.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 { tolerance / largest } else { tolerance }
    }
}
