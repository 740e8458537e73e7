//! Predictions and likelihoods of a model that is conditioned on training rows.

use std::sync::{Arc, OnceLock};

use ndarray::{Array1, ArrayView1, ArrayView2};
use rayon::ThreadPool;

use super::{Body, Model, ModelError};
use crate::NotPositiveDefinite;
use crate::actions::Projected;
use crate::exact::ExactGp;
use crate::experts::Experts;
use crate::finite::{Finite, NetworkFeatures, OutputFeatures};
use crate::iterative::IterativeGp;
use crate::low_rank::LowRankVariance;
use crate::neighbours::Conditioned;
use crate::sparse::{Basis, Variational};
use crate::{CovarianceFunction, Kernel, SystemMatrix};

/// Predictions of y, the observation noise included.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// One mean per row.
    pub mean: Array1<f64>,
    /// One positive variance per row.
    pub variance: Array1<f64>,
}

/// A model and its training rows, with the intermediate results that predictions and likelihoods share.
#[derive(Debug)]
pub struct Posterior<'a> {
    training: Training<'a>,
    state: State<'a>,
    /// Computed for the first prediction that needs it.
    low_rank: OnceLock<LowRankVariance>,
}

/// A model and the rows that it is conditioned on.
#[derive(Debug)]
struct Training<'a> {
    model: &'a Model,
    x: ArrayView2<'a, f64>,
    /// Targets minus the prior mean.
    y: Array1<f64>,
    pool: Arc<ThreadPool>,
}

/// Intermediate results that are computed once.
#[derive(Debug)]
enum State<'a> {
    Dense(ExactGp),
    Iterative(IterativeGp),
    Finite(Finite<NetworkFeatures<'a>>),
    Inducing { basis: Basis<'a>, covariance: &'a CovarianceFunction, q: &'a Variational },
    Experts(&'a Experts),
    Neighbours(Conditioned<'a>),
    Actions(Projected<'a>),
}

impl<'a> Posterior<'a> {
    pub(super) fn new(
        model: &'a Model,
        x: ArrayView2<'a, f64>,
        y: ArrayView1<'_, f64>,
        pool: &Arc<ThreadPool>,
    ) -> Result<Self, ModelError> {
        assert_eq!(x.nrows(), y.len(), "one target per row");
        assert!(x.nrows() > 0, "there are training rows");
        assert_eq!(x.ncols(), model.shape.inputs, "inputs as the model was parsed with");
        let training = Training { model, x, y: &y - model.mean, pool: Arc::clone(pool) };
        let state = match &model.body {
            Body::Dense(kernel) if x.nrows() <= model.dense_rows => State::Dense(training.dense(kernel)?),
            Body::Dense(kernel) => State::Iterative(training.iterative(kernel)?),
            Body::Features(projection) => State::Finite(training.finite(projection)?),
            Body::Inducing { covariance, z, jitter, q } => {
                let basis = Basis::new(covariance, &model.network, z.view(), *jitter, pool);
                let basis = basis.map_err(singular(OF_POINTS))?;
                State::Inducing { basis, covariance, q }
            }
            Body::Experts(experts) => {
                assert_eq!(x.nrows(), model.shape.rows, "{ROWS_AS_PARSED}");
                State::Experts(experts)
            }
            Body::Neighbours(neighbours) => {
                let conditioned =
                    neighbours.condition(&model.network, training.noise_scale(), x, &training.y, pool);
                State::Neighbours(conditioned.map_err(singular(OF_POINTS))?)
            }
            Body::Actions(actions) => {
                assert_eq!(x.nrows(), model.shape.rows, "{ROWS_AS_PARSED}");
                let projected = actions.condition(training.noise_scale(), x, &training.y, pool);
                State::Actions(projected.map_err(singular(OF_ACTIONS))?)
            }
        };
        Ok(Posterior { training, state, low_rank: OnceLock::new() })
    }

    /// Predicts y at the rows of `x_test` (m x d). A row's prediction does not depend on the other rows.
    ///
    /// # Errors
    /// Where the matrix of an expert, or of the neighbours of a row, is singular, or variances of low rank cannot be computed.
    pub fn predict(&self, x_test: ArrayView2<f64>) -> Result<Prediction, ModelError> {
        let Training { model, x, y, pool } = &self.training;
        assert_eq!(x_test.ncols(), x.ncols(), "as many inputs as in training");
        let (mean, latent) = match (&self.state, model.variance_rank) {
            (State::Dense(gp), Some(rank)) => {
                self.predict_with_rank(rank, gp.operator(), gp.v.view(), x_test)?
            }
            (State::Iterative(gp), Some(rank)) => {
                self.predict_with_rank(rank, gp.operator(), gp.weights(), x_test)?
            }
            (State::Dense(gp), None) => gp.predict(model.network.forward(x_test, pool).view()),
            (State::Iterative(gp), None) => gp.predict(model.network.forward(x_test, pool).view()),
            (State::Finite(finite), _) => finite.predict(x_test),
            (State::Inducing { basis, q, .. }, _) => basis.predict(q, x_test),
            (State::Neighbours(conditioned), _) => conditioned.predict(x_test)?,
            (State::Actions(projected), _) => projected.predict(x_test),
            (State::Experts(experts), _) => {
                let (mean, variance) = experts.predict(*x, y.view(), x_test, pool)?;
                return Ok(Prediction { mean, variance });
            }
        };
        Ok(Prediction { mean: mean + model.mean, variance: latent + self.training.noise_scale().powi(2) })
    }

    /// Mean and latent variance of an exact process with variances of this rank. `weights` are `H^-1 y`.
    fn predict_with_rank(
        &self,
        rank: usize,
        op: &dyn SystemMatrix,
        weights: ArrayView1<f64>,
        x_test: ArrayView2<f64>,
    ) -> Result<(Array1<f64>, Array1<f64>), ModelError> {
        let Training { model, pool, .. } = &self.training;
        let low_rank = match self.low_rank.get() {
            Some(known) => known,
            None => {
                let computed = LowRankVariance::new(op, weights, rank)?;
                self.low_rank.get_or_init(|| computed)
            }
        };
        Ok(low_rank.predict(op, model.network.forward(x_test, pool).view()))
    }

    /// Predicts y at a few rows of `x_test` as precisely as possible: where variances are sampled, by a linear system for each
    /// row, and where they have a low rank, by the factor.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), or where conjugate gradients fail.
    pub fn predict_exactly(&self, x_test: ArrayView2<f64>) -> Result<Prediction, ModelError> {
        let Training { model, y, pool, .. } = &self.training;
        let (mean, latent) = match &self.state {
            State::Iterative(gp) => {
                gp.predict_exactly(y.view(), model.network.forward(x_test, pool).view())?
            }
            State::Dense(gp) => gp.predict(model.network.forward(x_test, pool).view()),
            _ => return self.predict(x_test),
        };
        Ok(Prediction { mean: mean + model.mean, variance: latent + self.training.noise_scale().powi(2) })
    }

    /// The objective that the model minimises, per training row: -bound / n with inducing points or actions, the mean
    /// nlml of the experts' rows, or else the exact nlml. `None` where the exact nlml is not available.
    ///
    /// # Errors
    /// Where an expert's matrix is singular.
    pub fn objective(&self) -> Result<Option<f64>, ModelError> {
        let Training { x, y, pool, .. } = &self.training;
        match &self.state {
            State::Inducing { basis, q, .. } => {
                let bound = basis.bound(q, self.training.noise_scale(), *x, y.view());
                Ok(Some(-bound / y.len() as f64))
            }
            State::Actions(projected) => Ok(Some(-projected.bound / y.len() as f64)),
            State::Experts(experts) => Ok(Some(experts.nlml(*x, y.view(), pool)?)),
            State::Dense(_) | State::Iterative(_) | State::Finite(_) | State::Neighbours(_) => self.nlml(),
        }
    }

    /// Exact negative log marginal likelihood of the training rows under the model's kernel, per row and with
    /// all constants. `None` for experts, which define none unless a single one has all rows, and for a dense matrix of
    /// more rows than [`Model::with_dense_rows`] allows.
    ///
    /// # Errors
    /// Where the kernel matrix is singular.
    pub fn nlml(&self) -> Result<Option<f64>, ModelError> {
        let training = &self.training;
        let of_dense = |gp: &ExactGp| -gp.log_marginal_likelihood / training.y.len() as f64;
        match &self.state {
            State::Dense(gp) => Ok(Some(of_dense(gp))),
            State::Finite(finite) => Ok(Some(finite.nlml())),
            State::Inducing { covariance: CovarianceFunction::Linear(linear), .. } => {
                Ok(Some(training.finite(&OutputFeatures::Linear(linear.clone()))?.nlml()))
            }
            State::Inducing { covariance: CovarianceFunction::Stationary(kernel), .. }
                if training.is_dense() =>
            {
                Ok(Some(of_dense(&training.dense(kernel)?)))
            }
            State::Neighbours(conditioned) if training.is_dense() => {
                Ok(Some(of_dense(&training.dense(conditioned.kernel())?)))
            }
            State::Actions(projected) if training.is_dense() => {
                Ok(Some(of_dense(&training.dense(projected.kernel())?)))
            }
            State::Experts(experts) if experts.is_exact(training.x.nrows()) => self.objective(),
            State::Inducing { .. }
            | State::Iterative(_)
            | State::Experts(_)
            | State::Neighbours(_)
            | State::Actions(_) => Ok(None),
        }
    }

    /// `|F| |F^-1|` in Frobenius norms, F = Phi^T Phi + noise^2 I, where the process has finitely many features Phi;
    /// else `None`. Costs D^3.
    pub fn condition(&self) -> Option<f64> {
        match &self.state {
            State::Finite(finite) => Some(finite.condition()),
            _ => None,
        }
    }

    /// Whether variances are approximate: those of an exact Gaussian process that have a low rank, or are means over a few
    /// posterior samples, since there are more rows than [`Model::with_dense_rows`] allows, with a relative error of about 0.2.
    /// A learner's own are compared with [`Posterior::predict_exactly`].
    pub fn has_approximate_variance(&self) -> bool {
        match self.state {
            State::Iterative(_) => true,
            State::Dense(_) => self.training.model.variance_rank.is_some(),
            _ => false,
        }
    }
}

impl<'a> Training<'a> {
    /// Whether the matrix of all rows is factorised where it is needed.
    fn is_dense(&self) -> bool {
        self.x.nrows() <= self.model.dense_rows
    }

    fn noise_scale(&self) -> f64 {
        let hyperparameters = self.model.hyperparameters.as_ref();
        hyperparameters.expect("only experts have noises of their own").noise_scale
    }

    fn dense(&self, kernel: &Kernel) -> Result<ExactGp, ModelError> {
        let z = self.model.network.forward(self.x, &self.pool);
        ExactGp::fit_on(kernel, self.noise_scale(), z.view(), self.y.view(), &self.pool)
            .map_err(singular("the kernel matrix with noise"))
    }

    fn iterative(&self, kernel: &Kernel) -> Result<IterativeGp, ModelError> {
        let z = self.model.network.forward(self.x, &self.pool);
        Ok(IterativeGp::fit(kernel, self.noise_scale(), z.view(), self.y.view(), &self.pool)?)
    }

    fn finite<'p>(&self, projection: &'p OutputFeatures) -> Result<Finite<NetworkFeatures<'p>>, ModelError>
    where
        'a: 'p,
    {
        let features = NetworkFeatures { network: &self.model.network, projection };
        Finite::fit(features, self.noise_scale(), self.x, self.y.view(), &self.pool)
            .map_err(singular("F, the Gram matrix of the features with noise,"))
    }
}

/// What experts and actions demand, which name rows.
const ROWS_AS_PARSED: &str = "rows as the model was parsed with";

/// The matrices of actions.
const OF_ACTIONS: &str = "the Gram matrix of the actions, or the covariance of the projections,";

/// The matrix of inducing points.
const OF_POINTS: &str = "the kernel matrix of `z` with `jitter` on its diagonal";

fn singular(matrix: &'static str) -> impl Fn(NotPositiveDefinite) -> ModelError {
    move |error| ModelError::Singular { matrix, error }
}

#[cfg(test)]
mod tests {
    use gpbench_record::{Covariance, Family, ModelKind};
    use ndarray::Array2;

    use super::*;
    use crate::model::{Arrays, Shape};
    use crate::seed::Streams;
    use crate::threads::thread_pool;

    /// n = 200 rows in the plane with targets of mean 3, 50 rows elsewhere, and an exact process.
    fn problem() -> (Array2<f64>, Array1<f64>, Array2<f64>, Model) {
        let streams = Streams::new(9, &[]);
        let (x, x_test) = (streams.normals("x", 200, 2), streams.normals("test", 50, 2));
        let y = x.column(0).mapv(f64::sin) + 3.0;
        let number = |value: f64| Array2::from_elem((1, 1), value);
        let arrays = [("signal_scale", 1.0), ("noise_scale", 0.3), ("length_scale", 1.0), ("mean", 3.0)];
        let arrays: Arrays =
            arrays.into_iter().map(|(name, value)| (name.to_owned(), number(value))).collect();
        let (rbf, shape) = (Covariance::Stationary(Family::Rbf), Shape { rows: 200, inputs: 2 });
        (x, y, x_test, Model::parse(ModelKind::Gp, rbf, shape, &arrays).unwrap())
    }

    #[test]
    fn the_process_of_many_rows_predicts_as_the_dense_one_and_knows_no_likelihood() {
        let (x, y, x_test, model) = problem();
        let (model, larger) = (model.clone().with_dense_rows(200), model.with_dense_rows(199));
        let pool = thread_pool(2).unwrap();
        let dense = model.posterior(x.view(), y.view(), &pool).unwrap();
        let many = larger.posterior(x.view(), y.view(), &pool).unwrap();

        let (exact, found) = (dense.predict(x_test.view()).unwrap(), many.predict(x_test.view()).unwrap());
        assert!((&found.mean - &exact.mean).iter().all(|e| e.abs() < 1e-3));
        let ratio = (&found.variance / &exact.variance).mean().unwrap();
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
        assert_eq!((many.nlml().unwrap(), many.objective().unwrap()), (None, None));
        assert!(many.has_approximate_variance() && !dense.has_approximate_variance());
        let few = many.predict_exactly(x_test.view()).unwrap();
        assert!((&few.mean - &exact.mean).iter().all(|e| e.abs() < 1e-7), "{few:?}");
        assert!((&few.variance / &exact.variance - 1.0).iter().all(|e| e.abs() < 1e-7), "{few:?}");
        assert_eq!(dense.predict_exactly(x_test.view()).unwrap(), exact);
    }

    #[test]
    fn variances_of_low_rank_are_wider_with_a_factor_and_without() {
        let (x, y, x_test, model) = problem();
        let pool = thread_pool(2).unwrap();
        let (exact, same) = {
            let posterior = model.posterior(x.view(), y.view(), &pool).unwrap();
            (posterior.predict(x_test.view()).unwrap(), posterior.objective().unwrap())
        };
        for rows in [200, 199] {
            let model = model.clone().with_dense_rows(rows).with_variance_rank(Some(10));
            let posterior = model.posterior(x.view(), y.view(), &pool).unwrap();
            let found = posterior.predict(x_test.view()).unwrap();
            assert!((&found.mean - &exact.mean).iter().all(|e| e.abs() < 1e-3), "{rows} rows");
            let wider = &found.variance / &exact.variance;
            assert!(wider.iter().all(|ratio| *ratio > 1.0 - 1e-9), "{rows} rows: {wider}");
            assert!(wider.mean().unwrap() > 1.5, "{rows} rows: {wider}");
            let single = posterior.predict_exactly(x_test.view()).unwrap();
            assert!((&single.variance / &exact.variance - 1.0).iter().all(|e| e.abs() < 1e-7), "{rows} rows");
            assert!(posterior.has_approximate_variance());
            assert_eq!(posterior.objective().unwrap(), same.filter(|_| rows == 200));
        }
    }
}
