//! The oracle's problem, and problems with inducing points.

use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array2, ArrayRef2, ShapeBuilder};
use gpbench_sdk::{Family, Workers};
use gpbench_testing::{DenseProblem, scattered, scattered_inputs, scattered_right_hand_sides};
use gpbench_testkit::json::{self, Value, matrix, number, vector};

/// Least-squares problems of the right-hand sides `b` at inducing points `z`.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) family: Family,
    pub(crate) kernel: Kernel,
    pub(crate) noise_scale: f64,
    pub(crate) x: Array2<f64>,
    pub(crate) z: Array2<f64>,
    pub(crate) b: Array2<f64>,
}

/// What was computed elsewhere for a small system, in extended precision and without jitter.
pub(crate) fn oracle() -> Value {
    json::parse(include_str!("data/falkon_small.json"))
}

impl Given {
    /// The oracle's problem: y and two probes.
    pub(crate) fn of_oracle(name: &str) -> Given {
        let inputs = &oracle()["inputs"];
        let (y, probes) = (vector(&inputs["y"]), matrix(&inputs["probes"]));
        let b = Array2::from_shape_fn((40, 3).f(), |(i, j)| if j == 0 { y[i] } else { probes[[i, j - 1]] });
        let family = if name == "rbf" { Family::Rbf } else { Family::Matern32 };
        let kernel = Kernel {
            family: family.into(),
            signal_scale: number(&inputs["signal_scale"]),
            length_scale: vector(&inputs["length_scale"]).to_vec(),
        };
        let (x, z) = (matrix(&inputs["X"]), matrix(&inputs["Z"]));
        Given { family, kernel, noise_scale: number(&inputs["noise_scale"]), x, z, b }
    }

    /// `n` rows of two inputs, `m` points beside them, three right-hand sides.
    pub(crate) fn scattered(n: usize, m: usize) -> Given {
        let family = Family::Matern32;
        let kernel = Kernel { family: family.into(), signal_scale: 1.3, length_scale: vec![0.5, 0.8] };
        let z = Array2::from_shape_fn((m, 2), |(i, j)| 0.9 * scattered(i, j + 80));
        let (x, b) = (scattered_inputs(n), scattered_right_hand_sides(n, 3));
        Given { family, kernel, noise_scale: 0.3, x, z, b }
    }

    pub(crate) fn gram(&self, rows: &ArrayRef2<f64>, columns: &ArrayRef2<f64>) -> Array2<f64> {
        self.kernel.gram(rows, columns, Workers::new(1))
    }

    /// The problem with inducing points.
    pub(crate) fn problem(&self) -> DenseProblem {
        self.tell(DenseProblem::new(self.gram(&self.x, &self.z), self.b.clone())).basis(&self.z)
    }

    /// The problem without them, H a = b.
    pub(crate) fn square(&self) -> DenseProblem {
        let mut h = self.gram(&self.x, &self.x);
        h.diag_mut().mapv_inplace(|entry| entry + self.noise_scale.powi(2));
        self.tell(DenseProblem::new(h, self.b.clone()))
    }

    fn tell(&self, problem: DenseProblem) -> DenseProblem {
        let Kernel { signal_scale, length_scale, .. } = self.kernel.clone();
        problem.kernel(self.family, self.x.clone(), signal_scale, self.noise_scale, length_scale)
    }

    /// Relative norms of the normal equations' residuals.
    pub(crate) fn residuals(&self, a: &Array2<f64>) -> Vec<f64> {
        let (cross, square) = (self.gram(&self.x, &self.z), self.gram(&self.z, &self.z));
        let rhs = cross.t().dot(&self.b);
        let left = cross.t().dot(&cross.dot(a)) + square.dot(a) * self.noise_scale.powi(2);
        let norm = |column: gpbench_sdk::ndarray::ArrayView1<'_, f64>| column.dot(&column).sqrt();
        let residual = &rhs - &left;
        residual.columns().into_iter().zip(rhs.columns()).map(|(r, b)| norm(r) / norm(b)).collect()
    }
}
