//! Matrices with closed-form inverses.
//!
//! Each is also a kernel matrix: of inputs far apart, of inputs that coincide, and of inputs on a line with the
//! exponential kernel. So a test can use them directly or through a kernel.

use ndarray::{Array1, Array2};

/// A symmetric positive definite matrix with its inverse and determinant.
#[derive(Debug, Clone)]
pub struct ClosedForm {
    /// The matrix A, n x n.
    pub matrix: Array2<f64>,
    /// Its inverse, n x n: A X = B is solved by `inverse.dot(&b)`.
    pub inverse: Array2<f64>,
    /// log |A|.
    pub log_det: f64,
}

impl ClosedForm {
    /// A diagonal matrix of positive `entries`: inputs that are far apart.
    #[must_use]
    pub fn diagonal(entries: &[f64]) -> ClosedForm {
        let entries = Array1::from_iter(entries.iter().copied());
        ClosedForm {
            matrix: Array2::from_diag(&entries),
            inverse: Array2::from_diag(&entries.recip()),
            log_det: entries.ln().sum(),
        }
    }

    /// I + u u^T, inverted by the Sherman-Morrison formula. With constant `u`: inputs that coincide, and unit noise.
    #[must_use]
    pub fn identity_plus_rank_one(u: &[f64]) -> ClosedForm {
        let n = u.len();
        let one_plus_square = 1.0 + u.iter().map(|u| u * u).sum::<f64>();
        let rank_one = Array2::from_shape_fn((n, n), |(i, j)| u[i] * u[j]);
        ClosedForm {
            matrix: Array2::eye(n) + &rank_one,
            inverse: Array2::eye(n) - rank_one / one_plus_square,
            log_det: one_plus_square.ln(),
        }
    }

    /// rho^|i - j| for 0 < `rho` < 1: the exponential kernel (Matern-1/2) on `n` equally spaced
    /// inputs. That process is Markov, and so the inverse is tridiagonal.
    #[must_use]
    pub fn exponential_on_a_grid(n: usize, rho: f64) -> ClosedForm {
        let innovation = 1.0 - rho * rho;
        let precision = |i: usize, j: usize| match i.abs_diff(j) {
            0 if n == 1 => 1.0,
            0 if i == 0 || i == n - 1 => 1.0 / innovation,
            0 => (1.0 + rho * rho) / innovation,
            1 => -rho / innovation,
            _ => 0.0,
        };
        ClosedForm {
            matrix: Array2::from_shape_fn((n, n), |(i, j)| rho.powf(i.abs_diff(j) as f64)),
            inverse: Array2::from_shape_fn((n, n), |(i, j)| precision(i, j)),
            log_det: (n as f64 - 1.0) * innovation.ln(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// log |A| by elimination, which needs no pivoting on a positive definite matrix.
    fn log_det(mut a: Array2<f64>) -> f64 {
        let n = a.nrows();
        for k in 0..n {
            for i in k + 1..n {
                let factor = a[(i, k)] / a[(k, k)];
                for j in k..n {
                    a[(i, j)] -= factor * a[(k, j)];
                }
            }
        }
        a.diag().ln().sum()
    }

    #[test]
    fn inverses_invert_and_determinants_determine() {
        let u: Vec<f64> = (0..9).map(|i| (i as f64).cos()).collect();
        for known in [
            ClosedForm::diagonal(&[0.5, 3.0, 1e-3]),
            ClosedForm::diagonal(&[2.0]),
            ClosedForm::identity_plus_rank_one(&u),
            ClosedForm::identity_plus_rank_one(&[0.0, 0.0]),
            ClosedForm::exponential_on_a_grid(1, 0.5),
            ClosedForm::exponential_on_a_grid(2, 0.5),
            ClosedForm::exponential_on_a_grid(12, 0.9),
        ] {
            let n = known.matrix.nrows();
            for ((i, j), expected) in Array2::<f64>::eye(n).indexed_iter() {
                let entry: f64 = (0..n).map(|k| known.matrix[(i, k)] * known.inverse[(k, j)]).sum();
                assert!((entry - expected).abs() < 1e-14, "{i}, {j}: {entry}");
            }
            assert!((known.log_det - log_det(known.matrix.clone())).abs() < 1e-13);
        }
    }
}
