//! What an iterate is worth: predictions, and distances to the exact answer.
//!
//! With inducing points the predictions are `K(X*, Z) v`, and the exact answer is still that of the
//! full process. The weights are of another problem then: they have neither a residual in H nor
//! exact weights to be compared with.

use gpbench_gp::pathwise::{self, Prediction};
use gpbench_gp::{LinearOperator, metrics};
use gpbench_record::{Metrics, Task, names};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, ShapeBuilder};

use crate::exact_file::Reference;
use crate::system::System;

/// Training rows on which the random features are compared with the kernel.
const FEATURE_ROWS: usize = 512;

/// Judges solutions of one system.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    system: &'a System,
    exact: Option<&'a Reference>,
    task: Task,
}

impl<'a> Judge<'a> {
    /// A judge who knows the exact answer, if there is one.
    pub fn new(system: &'a System, exact: Option<&'a Reference>, task: Task) -> Judge<'a> {
        Judge { system, exact, task }
    }

    /// Whether [`Judge::glance`] has anything to say.
    pub fn has_a_view(&self) -> bool {
        self.task == Task::Posterior || self.exact_weights().is_some()
    }

    /// The exact representer weights of y, where the solution is to approach them.
    fn exact_weights(&self) -> Option<&'a Array1<f64>> {
        self.exact.map(|exact| &exact.v).filter(|_| self.system.inducing.is_none())
    }

    /// What can be said of an iterate (m x s) along the way: predictions for a posterior, at the
    /// cost of n_test m kernel entries, and the errors of the weights of y, at the cost of n^2.
    pub fn glance(&self, solution: ArrayView2<f64>) -> Metrics {
        let mut found = Metrics::default();
        if self.task == Task::Posterior {
            self.predictions(solution, &mut found);
        }
        if let Some(exact) = self.exact_weights() {
            let error = &solution.column(0) - exact;
            found.insert(names::WEIGHT_ERROR, metrics::norm(error.view()));
            found.insert(names::RKHS_ERROR, metrics::rkhs_norm(&self.system.operator, error.view()));
        }
        found
    }

    /// Everything that can be said of a solution: [`Judge::glance`], true residuals at the cost of
    /// one epoch (or the number of inducing points), and the exact figures beside them. Nothing, if
    /// it is not finite.
    pub fn verdict(&self, solution: ArrayView2<f64>) -> Metrics {
        let mut found = Metrics::default();
        if let Some(features) = &self.system.features {
            found.insert(names::FEATURE_ERROR, features.relative_error(self.some_rows().view()));
        }
        if let Some(exact) = self.exact {
            found.insert(names::TEST_RMSE_EXACT, exact.test_rmse);
            found.insert(names::TEST_NLL_EXACT, exact.test_nll);
            found.insert(names::LOG_MARGINAL_LIKELIHOOD, exact.log_marginal_likelihood);
        }
        if solution.iter().all(|value| value.is_finite()) {
            found.extend(&self.glance(solution));
            match &self.system.inducing {
                None => found.extend(&self.residuals(solution)),
                Some(inducing) => found.insert(names::INDUCING_POINTS, inducing.z.nrows() as f64),
            }
            if let Some(collapse) = &self.system.collapse {
                found.insert(names::UNIQUE_INPUTS, collapse.inputs.count() as f64);
            }
        }
        found
    }

    fn predictions(&self, solution: ArrayView2<f64>, found: &mut Metrics) {
        let System { data, operator, targets, .. } = self.system;
        let matrix = self.system.predictor();
        let prediction = pathwise::predict(matrix, data.x_test.view(), solution, targets.f_test.view());
        let Prediction { mean, sample_variance, .. } = &prediction;
        let y = data.y_test.view();
        found.insert(names::TEST_RMSE, metrics::rmse(mean.view(), y));
        if let Some(variance) = sample_variance {
            let noisy = variance + operator.noise_scale().powi(2);
            found
                .insert(names::TEST_NLL, metrics::mean_negative_log_likelihood(y, mean.view(), noisy.view()));
        }
        let Some(exact) = self.exact else { return };
        found.insert(names::RMSE_TO_EXACT, metrics::rmse(mean.view(), exact.mean.view()));
        if let Some(variance) = sample_variance {
            let distance = metrics::wasserstein2(
                mean.view(),
                variance.view(),
                exact.mean.view(),
                exact.latent_variance.view(),
            );
            found.insert(names::W2_TO_EXACT, distance);
        }
    }

    /// Residuals of all columns, by one product with H.
    pub fn residuals(&self, solution: ArrayView2<f64>) -> Metrics {
        let mut found = Metrics::default();
        let System { operator, targets, .. } = self.system;
        let mut product = Array2::zeros(solution.dim().f());
        operator.apply(solution, product.view_mut());

        let residual = |(product, rhs): (ArrayView1<f64>, ArrayView1<f64>)| {
            let (distance, scale) = (metrics::norm((&product - &rhs).view()), metrics::norm(rhs));
            if scale > 0.0 { distance / scale } else { distance }
        };
        let residuals: Vec<f64> =
            product.columns().into_iter().zip(targets.rhs.columns()).map(residual).collect();
        if let Some((y, probes)) = residuals.split_first() {
            found.insert(names::RESIDUAL_Y, *y);
            // The mean over no probes is not a number, which says nothing and is left out.
            found.insert(names::RESIDUAL_PROBES, probes.iter().sum::<f64>() / probes.len() as f64);
            // `max` passes over what is not a number, which must not make the rest look good.
            if residuals.iter().all(|residual| residual.is_finite()) {
                found.insert(names::RESIDUAL_MAX, residuals.iter().copied().fold(0.0, f64::max));
            }
        }
        found
    }

    /// Training rows at even distances.
    fn some_rows(&self) -> Array2<f64> {
        let n = self.system.n();
        let count = n.min(FEATURE_ROWS);
        let rows: Vec<usize> = (0..count).map(|row| row * n / count).collect();
        self.system.data.x_train.select(Axis(0), &rows)
    }
}

/// Claimed relative residual norms as metrics: y, and the mean over the probes.
pub fn claims(claimed: &[f64]) -> Metrics {
    let mut found = Metrics::default();
    if let Some((y, probes)) = claimed.split_first() {
        found.insert(names::CLAIMED_Y, *y);
        found.insert(names::CLAIMED_PROBES, probes.iter().sum::<f64>() / probes.len() as f64);
    }
    found
}
