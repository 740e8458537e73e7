//! Right-hand sides in addition to y, and estimators of the likelihood and its gradient.

use gpbench_terms::words;
use serde::{Deserialize, Serialize};

/// Right-hand sides in addition to y.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Probes {
    /// Prior function draws plus noise: solutions are posterior samples (Lin et al. 2024, section 3).
    Pathwise(PathwiseTargets),
    /// Random probe vectors (Hutchinson).
    Standard(StandardProbes),
}

impl Probes {
    /// The number of right-hand sides in addition to y.
    pub fn count(&self) -> usize {
        match self {
            Probes::Pathwise(targets) => targets.probes,
            Probes::Standard(standard) => standard.probes,
        }
    }

    /// The same kind of right-hand sides with another number of them.
    #[must_use]
    pub fn with_count(self, probes: usize) -> Probes {
        match self {
            Probes::Pathwise(targets) => Probes::Pathwise(PathwiseTargets { probes, ..targets }),
            Probes::Standard(standard) => Probes::Standard(StandardProbes { probes, ..standard }),
        }
    }
}

/// Prior function draws plus noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PathwiseTargets {
    /// Number of right-hand sides in addition to y.
    pub probes: usize,
    /// How prior functions are drawn.
    pub prior: PriorSource,
}

/// How prior functions are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "draw", rename_all = "snake_case")]
pub enum PriorSource {
    /// By Cholesky factorisation over training and test rows (small n only).
    Exact,
    /// From random Fourier features.
    Features {
        /// Number of features, sines and cosines counted together.
        features: usize,
        /// Distribution of their frequencies.
        frequencies: Frequencies,
    },
}

words! {
    /// Distribution of the frequencies of random Fourier features.
    #[derive(Default)]
    pub enum Frequencies {
        /// One multivariate Student t for each frequency vector (normal for rbf): the kernel's spectral law.
        #[default]
        MultivariateT = "multivariate_t",
        /// Each input's component drawn independently, as early public code did; wrong for d > 1, kept for
        /// comparison.
        ProductT = "product_t",
    }
}

/// Random probe vectors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StandardProbes {
    /// Number of right-hand sides in addition to y.
    pub probes: usize,
    /// Distribution of their entries.
    #[serde(default, skip_serializing_if = "ProbeDistribution::is_normal")]
    pub distribution: ProbeDistribution,
}

words! {
    /// Distribution of the entries of standard probes.
    #[derive(Default)]
    pub enum ProbeDistribution {
        /// Standard normal.
        #[default]
        Normal = "normal",
        /// 1 or -1.
        Rademacher = "rademacher",
    }
}

impl ProbeDistribution {
    fn is_normal(&self) -> bool {
        *self == ProbeDistribution::Normal
    }
}

/// The likelihood with random features in place of the kernel, for which no system is solved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum FeatureEstimator {
    /// A fixed number of random Fourier features.
    Rff {
        /// Number of features, sines and cosines counted together.
        features: usize,
        /// Distribution of their frequencies.
        frequencies: Frequencies,
    },
    /// One random term of the series of such likelihoods over the number of features, which is unbiased
    /// (Potapczynski et al. 2021, section 4.2).
    SsRff {
        /// The smallest number of features, sines and cosines counted together.
        features: usize,
        /// Increase in the number of features from one term of the series to the next.
        step: usize,
        /// Distribution of their frequencies.
        frequencies: Frequencies,
    },
}

/// How a step of training estimates the gradient of the log marginal likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum GradientEstimator {
    /// A Cholesky factor.
    Exact,
    /// Solutions of linear systems.
    Solutions {
        /// Right-hand sides in addition to y.
        probes: Probes,
        /// Whether y is solved for twice, independently, so that an unbiased solver gives an unbiased gradient.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        second_solve: bool,
        /// Starting point of a step's solve.
        start: Start,
    },
    /// Random features in place of the kernel.
    Features(FeatureEstimator),
    /// The gradient of a lower bound on the likelihood, from the solution for y alone.
    Cglb {
        /// The bound.
        bound: InducingBound,
        /// Starting point of a step's solve.
        start: Start,
    },
}

impl GradientEstimator {
    /// Starting point of a step's solve; `None` where no system is solved.
    pub fn start(&self) -> Option<Start> {
        match self {
            GradientEstimator::Solutions { start, .. } | GradientEstimator::Cglb { start, .. } => {
                Some(*start)
            }
            GradientEstimator::Exact | GradientEstimator::Features(_) => None,
        }
    }

    /// The bound whose gradient is taken, if one is.
    pub fn bound(&self) -> Option<InducingBound> {
        if let GradientEstimator::Cglb { bound, .. } = self { Some(*bound) } else { None }
    }
}

/// A lower bound on the likelihood from inducing points and an approximate solution (CGLB, Artemev et al. 2021).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InducingBound {
    /// Number of inducing points, at most that of the training rows.
    pub points: usize,
    /// How they are chosen.
    pub select: PointSelection,
    /// Steps after which they are chosen anew; 0 keeps the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reselect: u64,
    /// What the bound may lose by an inexact solution, in nats.
    pub gap: f64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

words! {
    /// How the inducing points of a bound are chosen among the training inputs.
    #[derive(Default)]
    pub enum PointSelection {
        /// Each is the row whose variance those before it explain least, under the kernel of the step.
        #[default]
        Greedy = "greedy",
        /// Rows drawn without repeats.
        Subset = "subset",
        /// Centres of clusters.
        Kmeans = "kmeans",
    }
}

words! {
    /// Starting point of the solve of an outer step.
    pub enum Start {
        /// Zero, with right-hand sides drawn afresh in each step.
        Cold = "cold",
        /// The last step's solutions, for right-hand sides that are drawn once.
        Warm = "warm",
        /// A point on the line through the last two steps' solutions, for right-hand sides that are drawn once.
        Extrapolated = "extrapolated",
    }
}

impl Start {
    /// Whether right-hand sides are drawn once, and solves start from earlier solutions.
    pub fn is_warm(self) -> bool {
        self != Start::Cold
    }
}

/// How the terms of the log marginal likelihood and its gradient are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum LikelihoodEstimator {
    /// Solutions of linear systems.
    Solutions {
        /// Right-hand sides in addition to y.
        probes: Probes,
        /// Whether y is solved for twice, independently.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        second_solve: bool,
        /// Nodes of the quadrature that estimates log |H|; if absent, log |H| is not estimated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quadrature: Option<Quadrature>,
    },
    /// Random features in place of the kernel.
    Features(FeatureEstimator),
}

/// Number of nodes of stochastic Lanczos quadrature, which equals the number of iterations of conjugate gradients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Quadrature {
    /// A fixed number of nodes.
    Fixed {
        /// The number of nodes.
        nodes: usize,
    },
    /// A random number J of nodes for each probe, with P(J) ~ exp(-rate J). Terms are re-weighted so that the mean
    /// has no truncation error.
    Random {
        /// The smallest number of nodes.
        min: usize,
        /// The decay rate of the probability.
        rate: f64,
    },
}
