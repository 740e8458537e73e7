//! Predictions of rows from their nearest training rows.

use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2, ArrayView2, Axis};
use gpbench_sdk::neighbours::{nearest_to, scaled, strongest};
use gpbench_sdk::{Result, Workers, pieces};

use crate::rest::Rest;
use crate::{Data, Explanation, Process};

/// A process that predicts each row from training rows near it, and from inducing points if there are any.
///
/// With the neighbours N of a row, H = R + noise^2 I and b = H_NN^-1 R_N*, the mean is b^T y_N and the variance of y
/// is R_** + noise^2 - b^T R_N*. With inducing points, (a_* - A_N b)^T v is added, with v of the [`Explanation`]. R
/// is K without points.
#[derive(Debug)]
pub struct Predictor {
    rest: Rest,
    explanation: Option<Explanation>,
    /// Training inputs divided by their length scales.
    scaled: Array2<f64>,
    /// Training targets less the prior mean.
    y: Array1<f64>,
    mean: f64,
    /// Neighbours of a row.
    count: usize,
}

impl Predictor {
    /// Predicts from `count` training rows, or from all if there are fewer. `explanation` is none without inducing
    /// points.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite).
    pub fn new(
        at: &Process,
        data: &Data,
        count: usize,
        explanation: Option<Explanation>,
        workers: Workers<'_>,
    ) -> Result<Predictor> {
        let rest = Rest::new(at, &data.x, workers)?;
        let scaled = scaled(&data.x, &rest.kernel.length_scale)?;
        let (y, mean) = (&data.y - at.mean(), at.mean());
        Ok(Predictor { rest, explanation, scaled, y, mean, count })
    }

    /// Means and variances of y at the rows of `x`.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`](gpbench_sdk::Error::NotPositiveDefinite).
    pub fn predict(&self, x: &ArrayRef2<f64>, workers: Workers<'_>) -> Result<(Array1<f64>, Array1<f64>)> {
        let parts = pieces::map(x.view(), workers, |_, x| self.block(x));
        Ok(pieces::join(parts.into_iter().collect::<Result<_>>()?))
    }

    /// The training rows from which the row `x`, 1 x d, is predicted, the nearest first.
    pub fn neighbours_of(&self, x: &ArrayRef2<f64>) -> Vec<usize> {
        self.neighbours(x, &self.rest.features_of(x, Workers::new(1)))
    }

    /// The same, with the features of the row, M x 1.
    fn neighbours(&self, x: &ArrayRef2<f64>, features: &ArrayRef2<f64>) -> Vec<usize> {
        match self.explanation {
            None => {
                let lengths = &self.rest.kernel.length_scale;
                let scaled: Array1<f64> =
                    x.iter().enumerate().map(|(j, entry)| entry / lengths[j % lengths.len()]).collect();
                nearest_to(&self.scaled, scaled.view(), self.count)
            }
            Some(_) => {
                let correlations = self.rest.correlations(self.y.len(), x, features);
                strongest(correlations.iter().copied(), self.count)
            }
        }
    }

    fn block(&self, x: ArrayView2<'_, f64>) -> Result<(Array1<f64>, Array1<f64>)> {
        let features = self.rest.features_of(&x, Workers::new(1));
        let (mut means, mut variances) = (Array1::zeros(x.nrows()), Array1::zeros(x.nrows()));
        let rows = x.axis_chunks_iter(Axis(0), 1).zip(features.axis_chunks_iter(Axis(1), 1));
        for (i, (row, features)) in rows.enumerate() {
            let near = self.neighbours(&row, &features);
            let block = self.rest.block_with(&near, &row, &features);
            let given = block.last_given_others()?;
            means[i] = self.mean + given.weights.dot(&self.y.select(Axis(0), &near));
            variances[i] = given.variance;
            if let Some(explanation) = &self.explanation {
                let explained = block.explained(&given.weights);
                let root = explanation.root.t().dot(&explained);
                means[i] += explained.dot(&explanation.mean);
                variances[i] += root.dot(&root);
            }
        }
        Ok((means, variances))
    }
}
