//! Rows of published tables.

use std::fmt;

use gpbench_record::{Covariance, Family, GradientEstimator, Kernel, Probes, Start, Subsample, Task};
use serde::Deserialize;

/// Share of a data set's rows that the papers train on, where they take a subset of them.
const TRAINING_SHARE: f64 = 0.9;

/// One row of a published table: a method on a data set.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Published {
    pub(crate) dataset: String,
    #[serde(alias = "solver")]
    pub(crate) method: String,
    /// Rows of the whole data set, test rows included.
    pub(super) n: Option<usize>,
    /// Inducing points.
    pub(crate) m: Option<usize>,
    /// Rows of a minibatch.
    pub(super) batch_size: Option<usize>,
    /// Kernel on a network's outputs.
    pub(super) kernel: Option<OnNetwork>,
    pub(super) subset_fraction: Option<f64>,
    pub(super) subset_size: Option<usize>,
    pub(super) pathwise: Option<bool>,
    pub(super) warm_start: Option<bool>,
    pub(crate) rmse: Printed,
    pub(crate) rmse_low_noise: Printed,
    pub(crate) nll: Printed,
    /// Negative log marginal likelihood over n.
    pub(crate) nlml: Printed,
    /// Mean test log-likelihood: larger is better.
    pub(crate) llh: Printed,
    pub(super) time_min: Printed,
    pub(super) time_h: Printed,
    pub(super) speed_up: Option<f64>,
}

/// A kernel on the outputs of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OnNetwork {
    Linear,
    Gaussian,
}

impl OnNetwork {
    pub(super) fn is_of(self, kernel: &Kernel) -> bool {
        let covariance = match self {
            OnNetwork::Linear => Covariance::Linear,
            OnNetwork::Gaussian => Family::Rbf.into(),
        };
        kernel.network.is_some() && kernel.family == covariance
    }
}

/// A cell of a published table: a mean, or a bound, which is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
pub(crate) struct Printed {
    pub(super) mean: Option<f64>,
    pub(super) stderr: Option<f64>,
}

/// A mean with the figure printed after the plus-minus sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    pub(crate) mean: f64,
    /// The figure printed after the plus-minus sign.
    pub(crate) stderr: Option<f64>,
    pub(crate) decimals: usize,
}

impl Published {
    /// Whether right-hand sides and starts are those of the row, where the paper distinguishes them.
    pub(super) fn is_trained_like(&self, task: &Task) -> bool {
        let (Some(pathwise), Some(warm_start)) = (self.pathwise, self.warm_start) else { return true };
        let Task::Train(training) = task else { return false };
        let GradientEstimator::Solutions { probes, second_solve: false, start } = training.gradient else {
            return false;
        };
        let wanted = if warm_start { Start::Warm } else { Start::Cold };
        matches!(probes, Probes::Pathwise(_)) == pathwise && start == wanted
    }

    /// Number of training rows, of a row on a subset of them.
    pub(super) fn subset(&self) -> Option<f64> {
        let share = self.subset_fraction.zip(self.n).map(|(share, n)| share * TRAINING_SHARE * n as f64);
        share.or(self.subset_size.map(|size| size as f64))
    }

    /// Whether this is a row on so many training rows, up to the rounding of a share.
    pub(super) fn is_subset_of(&self, subsample: Subsample) -> bool {
        let ours = match subsample {
            Subsample::Rows(rows) => Some(rows as f64),
            Subsample::Fraction(share) => self.n.map(|n| share * TRAINING_SHARE * n as f64),
        };
        ours.zip(self.subset()).is_some_and(|(ours, theirs)| (ours / theirs - 1.0).abs() < 0.01)
    }

    /// The method, with its number of inducing points or share of the rows.
    pub(super) fn name(&self) -> String {
        match (self.m, self.subset_fraction, self.subset_size) {
            (Some(m), _, _) => format!("{}, {m} points", self.method),
            (_, Some(share), _) => format!("{}, {:.0} %", self.method, 100.0 * share),
            (_, _, Some(size)) => format!("{}, {size} rows", self.method),
            _ => self.method.clone(),
        }
    }
}

impl Published {
    /// The method with the properties that distinguish the row from others of its table and data set.
    pub(crate) fn title(&self) -> String {
        let probes = self.pathwise.map(|pathwise| if pathwise { "pathwise" } else { "standard" });
        let start = self.warm_start.map(|warm| if warm { "warm" } else { "cold" });
        let batch = self.batch_size.map(|size| format!("batch {size}"));
        let parts = [Some(self.name()), probes.map(str::to_owned), start.map(str::to_owned), batch];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
impl Figure {
    /// A figure with two decimals.
    pub(crate) fn new(mean: f64, stderr: Option<f64>) -> Figure {
        Figure { mean, stderr, decimals: 2 }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = self.decimals;
        write!(f, "{:.decimals$}", self.mean)?;
        self.stderr.map_or(Ok(()), |stderr| write!(f, " ± {stderr:.decimals$}"))
    }
}
