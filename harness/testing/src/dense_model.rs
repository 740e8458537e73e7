//! Predictions and likelihoods of a learner's model by dense matrices of all rows, as a naive reference for a
//! learner's own numbers.

mod factor;
mod projection;

use std::f64::consts::TAU;

use gpbench_sdk::Model;
use gpbench_terms::{Covariance, Family, ModelKind};
use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, Axis, concatenate};

use crate::FitHost;
use factor::{cholesky, cholesky_solve};
use projection::Projection;

/// A model learned on a [`FitHost`]: an exact process or finitely many features, with or without a network, an exact
/// process that predicts from neighbours, or one that is conditioned on projections.
#[derive(Debug)]
pub struct DenseModel<'h> {
    host: &'h FitHost,
    model: Model,
    /// Lower Cholesky factor of K + s^2 I.
    factor: Array2<f64>,
    /// (K + s^2 I)^-1 (y - mean), n x 1.
    weights: Array2<f64>,
    projection: Option<Projection>,
}

impl<'h> DenseModel<'h> {
    /// Conditions a model on all rows of the host.
    ///
    /// # Panics
    /// If the model is of another kind, lacks an array, or has a covariance that is not positive definite.
    pub fn new(host: &'h FitHost, model: Model) -> DenseModel<'h> {
        assert!(DenseModel::evaluates(&model), "models of kind {:?} are not evaluated here", model.kind());
        let (factor, weights) = (Array2::default((0, 0)), Array2::default((0, 0)));
        let mut dense = DenseModel { host, model, factor, weights, projection: None };
        let mut gram = dense.covariance(host.x(), host.x());
        let noise = dense.noise_variance();
        dense.projection = Projection::of(&dense.model, &gram, noise, &dense.targets());
        gram.diag_mut().mapv_inplace(|entry| entry + noise);
        dense.factor = cholesky(&gram);
        dense.weights = cholesky_solve(&dense.factor, dense.targets().insert_axis(Axis(1)));
        dense
    }

    /// Whether a model is of a kind that is evaluated here.
    pub fn evaluates(model: &Model) -> bool {
        match model.kind() {
            Some(ModelKind::Gp | ModelKind::NetworkGp | ModelKind::Features | ModelKind::Actions) => true,
            Some(ModelKind::Neighbours) => model.array("z").is_none(),
            _ => false,
        }
    }

    /// What the model minimises, per row: the negative bound with actions, else the [`nlml`](Self::nlml).
    pub fn objective(&self) -> f64 {
        self.projection.as_ref().map_or_else(|| self.nlml(), |projection| projection.objective)
    }

    /// Negative log marginal likelihood of the exact process per row, with all constants.
    pub fn nlml(&self) -> f64 {
        self.quadratic_part() + (self.log_determinant() / self.factor.nrows() as f64 + TAU.ln()) / 2.0
    }

    /// The part of [`nlml`](Self::nlml) that depends on the targets, r^T H^-1 r / 2n.
    pub fn quadratic_part(&self) -> f64 {
        self.targets().dot(&self.weights.column(0)) / (2.0 * self.factor.nrows() as f64)
    }

    /// log|H| of all rows, noise included.
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.factor.diag().iter().map(|entry| entry.ln()).sum::<f64>()
    }

    /// Means and variances of y at the rows of `x`.
    pub fn predict(&self, x: &ArrayRef2<f64>) -> (Array1<f64>, Array1<f64>) {
        if let Some(count) = self.number("neighbours") {
            let predicted = x.rows().into_iter().map(|row| self.predict_from_nearest(count as usize, &row));
            let (mean, variance): (Vec<f64>, Vec<f64>) = predicted.unzip();
            return (mean.into(), variance.into());
        }
        let cross = self.covariance(self.host.x(), x);
        let prior = self.covariance(x, x).diag().to_owned();
        let (mean, explained) = match &self.projection {
            Some(projection) => projection.predict(&cross),
            None => {
                let solved = cholesky_solve(&self.factor, cross.clone());
                let mean = cross.t().dot(&self.weights).remove_axis(Axis(1));
                (mean, (&cross * &solved).sum_axis(Axis(0)))
            }
        };
        (mean + self.mean(), prior - explained + self.noise_variance())
    }

    /// Mean and variance of y at one row, from the `count` nearest training rows.
    fn predict_from_nearest(&self, count: usize, row: &ArrayRef1<f64>) -> (f64, f64) {
        let row = row.to_owned().insert_axis(Axis(0));
        let gaps = self.points(self.host.x()) - self.points(&row);
        let mut nearest: Vec<usize> = (0..gaps.nrows()).collect();
        nearest.sort_by(|&i, &j| gaps.row(i).dot(&gaps.row(i)).total_cmp(&gaps.row(j).dot(&gaps.row(j))));
        nearest.truncate(count);
        let x = self.host.x().select(Axis(0), &nearest);
        let targets = self.targets().select(Axis(0), &nearest);
        let mut gram = self.covariance(&x, &x);
        gram.diag_mut().mapv_inplace(|entry| entry + self.noise_variance());
        let cross = self.covariance(&x, &row);
        let weights = cholesky_solve(&cholesky(&gram), cross.clone()).remove_axis(Axis(1));
        let prior = self.covariance(&row, &row)[[0, 0]] + self.noise_variance();
        (weights.dot(&targets) + self.mean(), prior - weights.dot(&cross.column(0)))
    }

    /// Root mean square error of the means at the training rows.
    pub fn training_error(&self) -> f64 {
        let error = self.predict(self.host.x()).0 - self.host.y();
        (error.dot(&error) / error.len() as f64).sqrt()
    }

    /// Noise variance s^2.
    pub fn noise_variance(&self) -> f64 {
        self.number("noise_scale").expect("every model has a noise scale").powi(2)
    }

    fn mean(&self) -> f64 {
        self.number("mean").unwrap_or(0.0)
    }

    /// Targets without the mean.
    fn targets(&self) -> Array1<f64> {
        self.host.y() - self.mean()
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.model.array(name).map(|array| array[[0, 0]])
    }

    /// The kernel's matrix of two sets of inputs.
    fn covariance(&self, a: &ArrayRef2<f64>, b: &ArrayRef2<f64>) -> Array2<f64> {
        let (a, b) = (self.points(a), self.points(b));
        if let Some(frequencies) = self.model.array("frequencies") {
            let signal = self.number("signal_scale").expect("random features have a signal scale");
            let features = |points: &Array2<f64>| {
                let angles = points.dot(&frequencies);
                let both = concatenate![Axis(1), angles.mapv(f64::sin), angles.mapv(f64::cos)];
                both * (signal / (frequencies.ncols() as f64).sqrt())
            };
            return features(&a).dot(&features(&b).t());
        }
        let signal = self.number("signal_scale").unwrap_or(1.0);
        let entry = |x: &ArrayRef1<f64>, z: &ArrayRef1<f64>| {
            let gap = x.to_owned() - z;
            let r = gap.dot(&gap).sqrt();
            match self.host.covariance() {
                Covariance::Linear => x.dot(z),
                Covariance::Stationary(Family::Rbf) => (-r * r / 2.0).exp(),
                Covariance::Stationary(Family::Matern12) => (-r).exp(),
                Covariance::Stationary(Family::Matern32) => {
                    (1.0 + 3_f64.sqrt() * r) * (-(3_f64.sqrt() * r)).exp()
                }
                Covariance::Stationary(Family::Matern52) => {
                    let a = 5_f64.sqrt() * r;
                    (1.0 + a + a * a / 3.0) * (-a).exp()
                }
            }
        };
        Array2::from_shape_fn((a.nrows(), b.nrows()), |(i, j)| signal.powi(2) * entry(&a.row(i), &b.row(j)))
    }

    /// The scaled inputs of the kernel: outputs of the network, if there is one, divided by the length scales.
    fn points(&self, x: &ArrayRef2<f64>) -> Array2<f64> {
        let mut points = x.to_owned();
        for layer in 1.. {
            let Some(weight) = self.model.array(&format!("weight_{layer}")) else { break };
            let bias = self.model.array(&format!("bias_{layer}")).expect("a layer has biases");
            points = (points.dot(&weight.t()) + bias.t()).mapv(|entry| entry.max(0.0));
        }
        match self.model.array("length_scale") {
            Some(lengths) => points / lengths.t(),
            None => points,
        }
    }
}
