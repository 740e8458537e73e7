//! The oracle's data, and bounds at given points.

use gpbench_plugin_sgpr::{BoundMemory, BoundPoint, BoundRows, CollapsedBound, CollapsedGradient};
use gpbench_sdk::inducing::InducingPosterior;
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array1, Array2, ArrayRef2};
use gpbench_sdk::{Family, Workers, lapack, symmetric};
use gpbench_testkit::json::{self, Value, matrix, number, vector};

pub(crate) const FAMILIES: [&str; 2] = ["matern32", "rbf"];

/// Training data, and the scales of a sparse process.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) kernel: Kernel,
    pub(crate) noise_scale: f64,
    pub(crate) x: Array2<f64>,
    /// Targets less the prior mean.
    pub(crate) residual: Array1<f64>,
    pub(crate) z: Array2<f64>,
    /// Jitter in units of the signal variance.
    pub(crate) jitter: f64,
}

/// What was computed elsewhere for a small system, in extended precision and without jitter.
pub(crate) fn oracle() -> Value {
    json::parse(include_str!("data/sgpr_small.json"))
}

impl Given {
    /// The oracle's data and scales.
    pub(crate) fn of_oracle(family: &str) -> Given {
        let inputs = &oracle()["inputs"];
        let kernel = Kernel {
            family: if family == "rbf" { Family::Rbf } else { Family::Matern32 }.into(),
            signal_scale: number(&inputs["signal_scale"]),
            length_scale: vector(&inputs["length_scale"]).to_vec(),
        };
        Given {
            kernel,
            noise_scale: number(&inputs["noise_scale"]),
            x: matrix(&inputs["X"]),
            residual: vector(&inputs["y"]),
            z: matrix(&inputs["Z"]),
            jitter: 0.0,
        }
    }

    /// The bound, and its gradient by the scales and by Z.
    pub(crate) fn evaluate(&self, threads: usize) -> (CollapsedBound, CollapsedGradient) {
        let point = BoundPoint {
            kernel: &self.kernel,
            noise_scale: self.noise_scale,
            z: self.z.view(),
            jitter: self.jitter,
        };
        let rows = BoundRows { x: self.x.view(), residual: self.residual.view() };
        BoundMemory::default().evaluate(&point, &rows, true, Workers::new(threads)).unwrap()
    }

    /// Means and latent variances at the rows of `x`, with the distribution of a bound.
    pub(crate) fn predict(&self, bound: &CollapsedBound, x: &ArrayRef2<f64>) -> (Array1<f64>, Array1<f64>) {
        let workers = Workers::new(2);
        let mut factor = self.kernel.gram(&self.z, &self.z, workers);
        symmetric::add_diagonal(self.jitter * self.kernel.signal_scale.powi(2), &mut factor);
        lapack::cholesky(&mut factor).unwrap();
        let posterior = InducingPosterior {
            kernel: &self.kernel,
            z: self.z.view(),
            factor: factor.view(),
            mean: bound.distribution.mean.view(),
            root: bound.distribution.root.view(),
        };
        posterior.predict(x, workers).unwrap()
    }
}
