//! A resolved case: one cell of a spec's matrix, with nothing left to look up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Dataset, Fingerprint, Training};

/// What a case measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Solve H V = [y, z_1 .. z_s].
    Solve,
    /// Solve for y and for pathwise targets, then predict on the test rows.
    Posterior,
    /// Maximise the marginal likelihood, then predict.
    Train,
    /// Estimate the marginal likelihood and its gradient again and again, and compare with the exact ones.
    Likelihood,
}

/// One cell of the plan.
///
/// Holds every choice that can change the result, and nothing that cannot:
/// paths, for instance, live in [`crate::Job`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// What is measured.
    pub task: Task,
    /// Which rows.
    pub dataset: Dataset,
    /// Which covariance, with its hyperparameters as numbers.
    pub kernel: Kernel,
    /// Which right-hand sides.
    pub estimator: Estimator,
    /// Which method, with all of its parameters.
    pub solver: Solver,
    /// When to stop; of a training case, each outer step.
    pub budget: Budget,
    /// How hyperparameters are trained, by a task that does so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Training>,
    /// How many independent estimates of the likelihood there are, by the task that makes such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u64>,
    /// Arithmetic of kernel products.
    pub precision: Precision,
    /// The spec's seed of this case: selects the split and keys every random stream.
    pub seed: u64,
    /// 0-based count of timing repeats.
    pub repeat: u32,
}

/// The names of a case on the spec's axes; what tables and charts group by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Labels {
    /// Data set, as named in the spec.
    pub dataset: String,
    /// Kernel, as named in the spec.
    pub kernel: String,
    /// Estimator, as named in the spec.
    pub estimator: String,
    /// Solver, as named in the spec.
    pub solver: String,
    /// The spec's seed.
    pub seed: u64,
    /// 0-based count of timing repeats.
    pub repeat: u32,
}

impl std::fmt::Display for Labels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Labels { dataset, kernel, estimator, solver, seed, repeat } = self;
        write!(f, "{dataset}/{kernel}/{estimator}/{solver}/seed {seed}")?;
        if *repeat > 0 { write!(f, "/repeat {repeat}") } else { Ok(()) }
    }
}

/// A covariance function with its hyperparameters: scales, never variances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Name in the spec.
    pub name: String,
    /// `rbf`, `matern12`, `matern32` or `matern52`.
    pub family: String,
    /// Standard deviation of the latent function.
    pub signal_scale: f64,
    /// Standard deviation of the observation noise.
    pub noise_scale: f64,
    /// One length scale per input of the standardised data; a single entry is shared by all.
    pub length_scale: Vec<f64>,
    /// Constant prior mean, in units of the standardised targets, where it is one of the hyperparameters; else 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Where the numbers come from, for the report (`published (Lin et al. 2023)`, `ones`, `given`).
    pub origin: String,
}

/// Which right-hand sides stand beside y.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimator {
    /// Name in the spec.
    pub name: String,
    /// Kind of right-hand side.
    pub method: EstimatorMethod,
    /// Number of right-hand sides beside y.
    pub probes: usize,
    /// Random Fourier features of a prior draw: sines and cosines counted together.
    pub features: usize,
    /// Law of the feature frequencies.
    pub frequencies: Frequencies,
    /// Law of standard probes.
    #[serde(default, skip_serializing_if = "ProbeDistribution::is_normal")]
    pub probe_distribution: ProbeDistribution,
    /// Whether an outer step starts from the last one's solutions, for right-hand sides that are then
    /// drawn once and kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_start: bool,
    /// Whether a warm start is the line through the last two steps' solutions rather than the last one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub extrapolate: bool,
    /// Whether y is solved for twice, independently, so that a solver without bias gives a gradient without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub second_solve: bool,
    /// Features from one term of a series over their number to the next; 0 for other methods.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub feature_step: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Law of standard probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeDistribution {
    /// Standard normal.
    #[default]
    Normal,
    /// 1 or -1.
    Rademacher,
}

impl ProbeDistribution {
    fn is_normal(&self) -> bool {
        *self == ProbeDistribution::Normal
    }
}

/// Kind of right-hand side beside y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimatorMethod {
    /// Prior function draws plus noise: solutions are posterior samples (Lin et al. 2024, section 3).
    Pathwise,
    /// Random probe vectors (Hutchinson).
    Standard,
    /// None: traces come from a Cholesky factor. For training only.
    Exact,
    /// None: the likelihood is that under random features, without a solver. To train and to estimate only.
    Rff,
    /// None: one random term of the series of such likelihoods over the number of features, without a solver
    /// and without bias (Potapczynski et al. 2021, section 4.2).
    SsRff,
}

impl EstimatorMethod {
    /// Whether random features stand for the kernel, so that no system is solved.
    pub fn is_of_features(self) -> bool {
        matches!(self, EstimatorMethod::Rff | EstimatorMethod::SsRff)
    }
}

/// Law of the frequencies of random Fourier features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frequencies {
    /// One multivariate Student t per frequency vector (normal for rbf): the kernel's spectral law.
    MultivariateT,
    /// Each input's component drawn independently, as early public code did; wrong for d > 1, kept for comparison.
    ProductT,
    /// No features: the prior draw is exact, by Cholesky factorisation (small n only).
    Exact,
}

/// A solver, with every parameter resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solver {
    /// Name in the spec.
    pub name: String,
    /// Solver id offered by a plugin.
    pub plugin: String,
    /// Every parameter of the solver's schema, defaults filled in.
    pub params: BTreeMap<String, Param>,
    /// Inducing points in place of the training inputs as the solver's unknowns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inducing: Option<Inducing>,
    /// Nodes of the quadrature that gives log |H| along with its solutions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quadrature: Option<Quadrature>,
    /// Parameters that take other values in the prediction that ends training.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prediction: BTreeMap<String, Param>,
}

/// Nodes of stochastic Lanczos quadrature: as many as conjugate gradients make iterations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Quadrature {
    /// Always the same number.
    Fixed {
        /// How many.
        nodes: usize,
    },
    /// A random number J for each probe, with P(J) ~ exp(-rate J), terms re-weighted so that none is missed in
    /// the mean.
    Random {
        /// How many there are at least.
        min: usize,
        /// At which rate the probability falls.
        rate: f64,
    },
}

/// How inducing points are chosen among the training inputs, with the case's seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "select", rename_all = "snake_case")]
pub enum Inducing {
    /// Rows drawn without repeats.
    Subset {
        /// How many.
        points: usize,
    },
    /// Centres of clusters.
    Kmeans {
        /// How many.
        points: usize,
    },
    /// The rows left when neighbours thin each other out (Lin et al. 2023, appendix A.2).
    Neighbours {
        /// Distance below which standardised inputs count as near.
        distance: f64,
        /// Most neighbours that a row looks at.
        neighbours: usize,
    },
}

/// The value of a solver parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Param {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A text, one of the parameter's choices where it has any.
    Text(String),
}

/// When a solver has to stop; every bound is optional.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Relative residual norm to reach, for y and for the mean over probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Epochs: multiples of n^2 kernel entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_epochs: Option<f64>,
    /// Seconds of prepare and solve together; of a training case, over all outer steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Bytes of memory of the worker process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// Arithmetic of kernel products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Double precision throughout.
    #[default]
    F64,
}

impl Case {
    /// The names of this case on the spec's axes.
    pub fn labels(&self) -> Labels {
        Labels {
            dataset: self.dataset.name.clone(),
            kernel: self.kernel.name.clone(),
            estimator: self.estimator.name.clone(),
            solver: self.solver.name.clone(),
            seed: self.seed,
            repeat: self.repeat,
        }
    }

    /// The stable id of this case run under `fingerprint`: 16 hexadecimal digits
    /// of a SHA-256 over everything that can change the result.
    pub fn id(&self, fingerprint: &Fingerprint) -> String {
        hash_json(&(self, fingerprint))
    }
}

/// First 16 hexadecimal digits of the SHA-256 of a value's JSON form.
pub(crate) fn hash_json<T: Serialize>(value: &T) -> String {
    let bytes = serde_json::to_vec(value).expect("plain data with text keys always serialises");
    Sha256::digest(&bytes).iter().take(8).map(|b| format!("{b:02x}")).collect()
}
