//! A process that is conditioned on projections of the targets, by dense matrices.

use std::f64::consts::TAU;

use gpbench_sdk::Model;
use ndarray::{Array1, Array2, Axis};

use super::factor::{cholesky, cholesky_solve};

/// The projections S^T y of a model of actions.
#[derive(Debug)]
pub(super) struct Projection {
    /// S, n x i.
    actions: Array2<f64>,
    /// Lower Cholesky factor of G = S^T (K + s^2 I) S.
    factor: Array2<f64>,
    /// G^-1 S^T (y - mean), i x 1.
    weights: Array2<f64>,
    /// Negative lower bound on the log likelihood, per row.
    pub(super) objective: f64,
}

impl Projection {
    /// The projection of a model of actions; none of another model. `gram` is K of all rows.
    pub(super) fn of(
        model: &Model,
        gram: &Array2<f64>,
        noise: f64,
        targets: &Array1<f64>,
    ) -> Option<Projection> {
        let actions = actions(model)?;
        let (n, count) = (actions.nrows() as f64, actions.ncols() as f64);
        let of_actions = actions.t().dot(&actions);
        let prior = actions.t().dot(gram).dot(&actions);
        let factor = cholesky(&(&prior + &(noise * &of_actions)));
        let weights = cholesky_solve(&factor, actions.t().dot(targets).insert_axis(Axis(1)));

        // Posterior mean and covariance of the function at the rows.
        let cross = gram.dot(&actions);
        let misfit = targets - &cross.dot(&weights).column(0);
        let solved = cholesky_solve(&factor, cross.t().to_owned());
        let variance = (gram - &cross.dot(&solved)).diag().sum();
        let expected = -0.5 * (n * (TAU * noise).ln() + (misfit.dot(&misfit) + variance) / noise);
        let shared = cholesky_solve(&factor, prior.clone()).diag().sum();
        let log_dets = log_det(&factor) - count * noise.ln() - log_det(&cholesky(&of_actions));
        let square = weights.t().dot(&prior).dot(&weights)[[0, 0]];
        let divergence = 0.5 * (square + log_dets - shared);
        Some(Projection { actions, factor, weights, objective: (divergence - expected) / n })
    }

    /// Means less the prior mean, and what the projections explain of the variances, for `cross`, K of all rows and
    /// those to predict.
    pub(super) fn predict(&self, cross: &Array2<f64>) -> (Array1<f64>, Array1<f64>) {
        let projected = self.actions.t().dot(cross);
        let means = projected.t().dot(&self.weights).remove_axis(Axis(1));
        let solved = cholesky_solve(&self.factor, projected.clone());
        (means, (&projected * &solved).sum_axis(Axis(0)))
    }
}

/// S of a model; none if it has no actions.
fn actions(model: &Model) -> Option<Array2<f64>> {
    if let Some(actions) = model.array("actions") {
        return Some(actions.to_owned());
    }
    let (action, entry) = (model.array("action")?, model.array("entry")?);
    let last = action.iter().fold(0.0_f64, |last, &action| last.max(action));
    let mut actions = Array2::zeros((action.nrows(), last as usize + 1));
    for (row, (&action, &entry)) in action.iter().zip(&entry).enumerate() {
        actions[[row, action as usize]] = entry;
    }
    Some(actions)
}

fn log_det(factor: &Array2<f64>) -> f64 {
    2.0 * factor.diag().iter().map(|entry| entry.ln()).sum::<f64>()
}
