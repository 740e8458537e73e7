//! Sixty points on a line, with a target and two samples.

use gpbench_sdk::ndarray::{Array2, ShapeBuilder, s};
use gpbench_sdk::{Family, lapack};
use gpbench_testing::{DenseProblem, matern32, scattered};

pub const N: usize = 60;
pub const NOISE: f64 = 0.5;

/// The system A = K + noise_scale^2 I with right-hand sides.
pub struct Line {
    pub x: Array2<f64>,
    /// K, without noise; n x n.
    pub k: Array2<f64>,
    pub noise_scale: f64,
    pub length_scale: f64,
    /// A target and two samples; n x 3.
    pub b: Array2<f64>,
    /// The samples' prior draws; n x 2.
    pub f: Array2<f64>,
    /// Their noise; n x 2.
    pub noise: Array2<f64>,
}

impl Line {
    /// Neighbours are alike, and A has a condition number of 200.
    pub fn smooth() -> Line {
        Line::new(0.2)
    }

    /// Neighbours are hardly alike, and K is close to I.
    pub fn rough() -> Line {
        Line::new(0.01)
    }

    fn new(length_scale: f64) -> Line {
        let x = Array2::from_shape_fn((N, 1), |(i, _)| i as f64 / N as f64);
        let k = matern32(&x, 1.0, 0.0, &[length_scale]);
        let f = lower(&k).dot(&Array2::from_shape_fn((N, 2), |(i, j)| 1.7 * scattered(i, j)));
        let noise = Array2::from_shape_fn((N, 2), |(i, j)| 1.7 * NOISE * scattered(i, j + 2));
        let mut b = Array2::zeros((N, 3).f());
        b.column_mut(0).assign(&x.column(0).mapv(|x| (6.0 * x).sin()));
        b.slice_mut(s![.., 1..]).assign(&(&f + &noise));
        Line { x, k, noise_scale: NOISE, length_scale, b, f, noise }
    }

    /// K + noise_scale^2 I.
    pub fn a(&self) -> Array2<f64> {
        let noise: Array2<f64> = Array2::eye(N) * self.noise_scale.powi(2);
        &self.k + &noise
    }

    /// The lower triangular factor of K.
    pub fn root(&self) -> Array2<f64> {
        lower(&self.k)
    }

    /// A^-1 B.
    pub fn solution(&self) -> Array2<f64> {
        let (factor, mut solution) = (lower(&self.a()), self.b.clone());
        lapack::cholesky_solve(&factor, &mut solution).unwrap();
        solution
    }

    /// A X = B with the parts of the samples, and random features of K.
    pub fn problem(&self) -> DenseProblem {
        self.with_rhs(self.b.clone()).pathwise(&self.f, &self.noise)
    }

    /// A X = `b` with random features of K.
    pub fn with_rhs(&self, b: Array2<f64>) -> DenseProblem {
        self.tell(DenseProblem::new(self.a(), b)).random_features(self.root())
    }

    /// The kernel that the system has.
    pub fn tell(&self, problem: DenseProblem) -> DenseProblem {
        let lengths = vec![self.length_scale];
        problem.kernel(Family::Matern32, self.x.clone(), 1.0, self.noise_scale, lengths)
    }
}

/// The lower triangular factor of a matrix.
fn lower(matrix: &Array2<f64>) -> Array2<f64> {
    let mut factor = Array2::zeros(matrix.dim().f());
    factor.assign(matrix);
    lapack::cholesky(&mut factor).unwrap();
    Array2::from_shape_fn(matrix.dim().f(), |(i, j)| if i >= j { factor[[i, j]] } else { 0.0 })
}
