//! The systems of the suite: small, dense and well-conditioned.

use ndarray::{Array2, ArrayView1, Axis, s};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Dimension of the inputs.
const D: usize = 3;

/// A kernel matrix H = K + noise_scale^2 I with the Matern-3/2 kernel and unit signal.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSystem {
    /// Inputs, n x 3, of about unit standard deviation.
    pub x: Array2<f64>,
    /// One length scale an input.
    pub length_scale: Vec<f64>,
    /// Standard deviation of the noise.
    pub noise_scale: f64,
}

impl KernelSystem {
    /// A system with inputs drawn uniformly by `seed`, sorted by the first input, as data files often are. The
    /// condition number is about 10, so that stochastic methods need no tuning.
    #[must_use]
    pub fn new(n: usize, seed: u64) -> KernelSystem {
        let mut points: Vec<[f64; D]> = Vec::with_capacity(n);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        points.resize_with(n, || std::array::from_fn(|_| 1.7 * symmetric(&mut rng)));
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let x = Array2::from_shape_fn((n, D), |(i, j)| points[i][j]);
        KernelSystem { x, length_scale: vec![0.5, 0.45, 0.55], noise_scale: 0.7 }
    }

    /// The same with every row twice in succession, and negligible noise. The matrix has half the rank, so a
    /// right-hand side in general position has no solution.
    #[must_use]
    pub fn singular(pairs: usize, seed: u64) -> KernelSystem {
        let once = KernelSystem::new(pairs, seed);
        let x = Array2::from_shape_fn((2 * pairs, D), |(i, j)| once.x[[i / 2, j]]);
        KernelSystem { x, noise_scale: 1e-100, ..once }
    }

    /// The system with its rows in another order.
    #[must_use]
    pub fn reordered(&self, order: &[usize]) -> KernelSystem {
        KernelSystem { x: self.x.select(Axis(0), order), ..self.clone() }
    }

    /// Number of rows.
    #[must_use]
    pub fn n(&self) -> usize {
        self.x.nrows()
    }

    /// H, n x n.
    #[must_use]
    pub fn matrix(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.n(), self.n()), |(i, j)| {
            let noise = if i == j { self.noise_scale * self.noise_scale } else { 0.0 };
            self.kernel(self.x.row(i), self.x.row(j)) + noise
        })
    }

    /// (1 + a) exp(-a), a = sqrt(3) r.
    fn kernel(&self, a: ArrayView1<f64>, b: ArrayView1<f64>) -> f64 {
        let scaled = a.iter().zip(b).zip(&self.length_scale).map(|((a, b), length)| (a - b) / length);
        let root = (3.0 * scaled.map(|difference| difference * difference).sum::<f64>()).sqrt();
        (1.0 + root) * (-root).exp()
    }

    /// H^-1 B, by a dense Cholesky factorisation; B is n x s.
    #[must_use]
    pub fn exact(&self, rhs: &Array2<f64>) -> Array2<f64> {
        let (l, n) = (cholesky(self.matrix()), self.n());
        let mut x = rhs.clone();
        for mut column in x.columns_mut() {
            for i in 0..n {
                let sum: f64 = (0..i).map(|k| l[[i, k]] * column[k]).sum();
                column[i] = (column[i] - sum) / l[[i, i]];
            }
            for i in (0..n).rev() {
                let sum: f64 = (i + 1..n).map(|k| l[[k, i]] * column[k]).sum();
                column[i] = (column[i] - sum) / l[[i, i]];
            }
        }
        x
    }

    /// Residual norms ||b - H x||, relative to ||b|| where that is not 0; one a column.
    #[must_use]
    pub fn residuals(&self, rhs: &Array2<f64>, x: &Array2<f64>) -> Vec<f64> {
        let product = self.matrix().dot(x);
        let columns = rhs.columns().into_iter().zip(product.columns());
        let relative = columns.map(|(b, product)| match norm(b) {
            0.0 => norm(product),
            scale => norm((&b - &product).view()) / scale,
        });
        relative.collect()
    }
}

/// The lower Cholesky factor L of A = L L^T. It is not a number where A is not positive definite.
pub(super) fn cholesky(a: Array2<f64>) -> Array2<f64> {
    let mut l = a;
    let n = l.nrows();
    for j in 0..n {
        for i in j..n {
            let sum: f64 = (0..j).map(|k| l[[i, k]] * l[[j, k]]).sum();
            let entry = l[[i, j]] - sum;
            l[[i, j]] = if i == j { entry.sqrt() } else { entry / l[[j, j]] };
        }
        l.slice_mut(s![j, j + 1..]).fill(0.0);
    }
    l
}

/// Euclidean norm.
pub(super) fn norm(column: ArrayView1<f64>) -> f64 {
    column.dot(&column).sqrt()
}

/// Right-hand sides, n x s, uniform on \[-1, 1\].
#[must_use]
pub(super) fn right_hand_sides(n: usize, s: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((n, s), || symmetric(&mut rng))
}

/// Uniform on \[-1, 1\].
fn symmetric(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * f64::EPSILON - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_solutions_leave_no_residual() {
        for n in [1, 2, 40] {
            let system = KernelSystem::new(n, 3);
            let rhs = right_hand_sides(n, 3, 4);
            let worst = system.residuals(&rhs, &system.exact(&rhs)).into_iter().fold(0.0, f64::max);
            assert!(worst < 1e-13, "{worst}");
            let zero = Array2::zeros(rhs.dim());
            assert_eq!(system.residuals(&rhs, &zero), [1.0; 3]);
            assert!(rhs.iter().all(|b| b.abs() <= 1.0) && rhs.iter().any(|b| *b < 0.0));
        }
    }

    #[test]
    fn rows_come_in_the_order_of_their_first_input() {
        let system = KernelSystem::new(50, 1);
        assert!(system.x.column(0).windows(2).into_iter().all(|pair| pair[0] <= pair[1]));
        let swapped = KernelSystem::new(2, 1).reordered(&[1, 0]);
        assert_eq!(swapped.x.row(0), KernelSystem::new(2, 1).x.row(1));
    }

    #[test]
    fn pairs_are_singular_and_no_solution_exists() {
        let system = KernelSystem::singular(5, 1);
        let matrix = system.matrix();
        assert_eq!(matrix.row(0), matrix.row(1));
        assert_eq!(matrix[[0, 1]], matrix[[0, 0]]);
    }
}
