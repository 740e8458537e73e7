//! Named numbers of a case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Names of metrics, as they stand in journals, tables and JSON.
pub mod names {
    /// Root mean square error of the predictive mean on the test rows, in units of the standardised target.
    pub const TEST_RMSE: &str = "test_rmse";
    /// Mean test negative log-likelihood from the samples' variances plus noise.
    pub const TEST_NLL: &str = "test_nll";
    /// Mean test negative log-likelihood of the exact Gaussian process.
    pub const TEST_NLL_EXACT: &str = "test_nll_exact";
    /// Test RMSE of the exact Gaussian process.
    pub const TEST_RMSE_EXACT: &str = "test_rmse_exact";
    /// Root mean square distance of the predictive mean to the exact one.
    pub const RMSE_TO_EXACT: &str = "rmse_to_exact";
    /// Root mean square 2-Wasserstein distance between predicted and exact latent marginals.
    pub const W2_TO_EXACT: &str = "w2_to_exact";
    /// ||v - v*||_2 of the representer weights of y.
    pub const WEIGHT_ERROR: &str = "weight_error";
    /// ||v - v*||_K of the representer weights of y.
    pub const RKHS_ERROR: &str = "rkhs_error";
    /// True relative residual norm of y.
    pub const RESIDUAL_Y: &str = "residual_y";
    /// Mean of the true relative residual norms of the probes.
    pub const RESIDUAL_PROBES: &str = "residual_probes";
    /// Largest true relative residual norm of all right-hand sides.
    pub const RESIDUAL_MAX: &str = "residual_max";
    /// The solver's own relative residual norm of y.
    pub const CLAIMED_Y: &str = "claimed_residual_y";
    /// The solver's own mean relative residual norm of the probes.
    pub const CLAIMED_PROBES: &str = "claimed_residual_probes";
    /// Kernel entries used over n^2.
    pub const EPOCHS: &str = "epochs";
    /// The part of `epochs` spent in prepare.
    pub const EPOCHS_SETUP: &str = "epochs_setup";
    /// Kernel entries evaluated over n^2.
    pub const EPOCHS_EVALUATED: &str = "epochs_evaluated";
    /// The part of `epochs` that the plugin reported by itself.
    pub const EPOCHS_SELF_REPORTED: &str = "epochs_self_reported";
    /// Iterations, as the solver counts them.
    pub const ITERATIONS: &str = "iterations";
    /// Wall-clock seconds of a worker before its work: program, data set, plugin.
    pub const SECONDS_STARTUP: &str = "seconds_startup";
    /// Wall-clock seconds of posing the systems: kernel, right-hand sides, exact reference.
    pub const SECONDS_POSE: &str = "seconds_pose";
    /// Wall-clock seconds of prepare.
    pub const SECONDS_PREPARE: &str = "seconds_prepare";
    /// Wall-clock seconds of solve.
    pub const SECONDS_SOLVE: &str = "seconds_solve";
    /// Processor seconds of prepare and solve.
    pub const CPU_SECONDS: &str = "cpu_seconds";
    /// Wall-clock seconds of an outer step beside its solver: right-hand sides and gradient.
    pub const SECONDS_OUTER: &str = "seconds_outer";
    /// Wall-clock seconds of all outer steps: prepare, solve, right-hand sides and gradients.
    pub const SECONDS_TRAIN: &str = "seconds_train";
    /// Wall-clock seconds of the systems solved for the prediction after training.
    pub const SECONDS_PREDICT: &str = "seconds_predict";
    /// Epochs of these.
    pub const EPOCHS_PREDICT: &str = "epochs_predict";
    /// Root mean square over the probes (over y where there are none) of |x_0 - x|_H, from where a step's solve
    /// started to where it ended.
    pub const INITIAL_DISTANCE: &str = "initial_distance";
    /// Curvatures of the quadratic that a step's solve minimises, along its two steepest directions: the largest
    /// eigenvalues of H.
    pub const CURVATURES: [&str; 2] = ["curvature_1", "curvature_2"];
    /// How far along these from its solution the solve for the first probe started.
    pub const STARTS: [&str; 2] = ["start_1", "start_2"];
    /// Outer steps taken.
    pub const STEPS: &str = "steps";
    /// Log marginal likelihood of the exact Gaussian process.
    pub const LOG_MARGINAL_LIKELIHOOD: &str = "log_marginal_likelihood";
    /// Independent estimates of the likelihood.
    pub const REPETITIONS: &str = "repetitions";
    /// Mean of the estimates of y^T H^-1 y.
    pub const QUADRATIC: &str = "quadratic";
    /// Standard error of that mean.
    pub const QUADRATIC_ERROR: &str = "quadratic_standard_error";
    /// y^T H^-1 y.
    pub const QUADRATIC_EXACT: &str = "quadratic_exact";
    /// Mean of the estimates of log |H|.
    pub const LOG_DET: &str = "log_det";
    /// Standard error of that mean.
    pub const LOG_DET_ERROR: &str = "log_det_standard_error";
    /// log |H|.
    pub const LOG_DET_EXACT: &str = "log_det_exact";
    /// Norm of the mean gradient's distance to the exact one, over the exact one's norm.
    pub const GRADIENT_BIAS: &str = "gradient_bias";
    /// Norm of the mean gradient's standard errors over the exact gradient's norm.
    pub const GRADIENT_ERROR: &str = "gradient_standard_error";
    /// The largest distance, over the hyperparameters, of the mean gradient to the exact one in standard errors.
    pub const GRADIENT_Z: &str = "gradient_z";
    /// Mean number of random features that an estimate took.
    pub const FEATURES: &str = "features";
    /// Peak resident memory of the worker process.
    pub const PEAK_MEMORY_BYTES: &str = "peak_memory_bytes";
    /// Seconds from when a limit was reached to when all processes of a killed case were dead.
    pub const SECONDS_OVER_LIMIT: &str = "seconds_over_limit";
    /// Bytes of kernel entries kept from one product to the next, where memory allowed.
    pub const KEPT_BYTES: &str = "kept_bytes";
    /// Inducing points, where the solver's unknowns are fewer than the training rows.
    pub const INDUCING_POINTS: &str = "inducing_points";
    /// Distinct training inputs, where rows that share one are collapsed.
    pub const UNIQUE_INPUTS: &str = "unique_inputs";
    /// Relative Frobenius error of Phi Phi^T against K on a subset of training rows.
    pub const FEATURE_ERROR: &str = "feature_error";

    /// What precedes the names of a solver's own numbers in a trace, such as
    /// `solver:gradient_variance`. No other name holds a colon.
    pub const OF_SOLVER: &str = "solver:";

    /// The name in a trace of what the solver calls `name`.
    pub fn of_solver(name: &str) -> String {
        format!("{OF_SOLVER}{name}")
    }
}

/// Named finite numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    /// Records a value. A number that is not finite says nothing and is left out.
    pub fn insert(&mut self, name: &str, value: f64) {
        if value.is_finite() {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// The value recorded under `name`.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// All values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(k, v)| (k.as_str(), *v))
    }

    /// Adds every value of `other`.
    pub fn extend(&mut self, other: &Metrics) {
        self.0.extend(other.0.iter().map(|(k, v)| (k.clone(), *v)));
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (String, f64)>>(iter: I) -> Self {
        Self(iter.into_iter().filter(|(_, v)| v.is_finite()).collect())
    }
}
