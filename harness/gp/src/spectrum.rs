//! The spectrum of a kernel matrix and its spectral basis functions (Lin et al. 2023, section 3.4).
//!
//! With `K = U Lambda U^T`, the functions `u_i(x) = sum_j U_ji / sqrt(lambda_i) k(x_j, x)` have unit
//! norm in the reproducing kernel Hilbert space and are orthogonal there. SGD converges fast along those of large
//! eigenvalues and slowly along the others, which is why its error is largest at the edges of the data.
//!
//! A smooth kernel of one input has few eigenvalues above rounding error, so no n x n matrix is needed: a Cholesky
//! factorisation that pivots to the largest remaining diagonal entry gives `K = F F^T` with F n x r, and the left
//! singular vectors of F are the eigenvectors of K. Computed from `F^T F`, they would have half the digits.

use gpbench_numerics::lapack;
use ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};

use crate::{Kernel, blas};

/// Largest remainder of the factorisation, as a share of the trace: rounding error.
const REMAINDER: f64 = 1e-13;

/// The largest eigenvalues of a kernel matrix, with their eigenvectors.
#[derive(Debug, Clone)]
pub struct Spectrum {
    /// Eigenvalues of K (without noise), largest first: those above 1e-13 of the trace; smaller ones are rounding
    /// error.
    pub eigenvalues: Array1<f64>,
    /// The orthonormal eigenvectors, n x rank, one column per eigenvalue.
    pub vectors: Array2<f64>,
}

impl Spectrum {
    /// The spectrum of `kernel` over the rows of `x` (n x d), in O(n rank) memory and O(n rank^2) time. `None`
    /// where a factor of `max_rank` columns leaves more than 1e-13 of the trace, as for rough kernels and many
    /// rows, or where LAPACK does not converge.
    pub fn of(kernel: &Kernel, x: ArrayView2<f64>, max_rank: usize) -> Option<Spectrum> {
        blas::start_single_threaded();
        let (mut factor, remainder) = low_rank_factor(kernel, x, max_rank)?;
        let singular = lapack::left_singular_vectors(&mut factor).ok()?;
        let eigenvalues = singular.mapv(|value| value * value);
        // By Weyl's inequality the error of an eigenvalue is at most the remaining trace.
        let certain = eigenvalues.iter().take_while(|&&value| value > remainder).count();
        let kept = s![..certain];
        Some(Spectrum {
            eigenvalues: eigenvalues.slice(kept).to_owned(),
            vectors: factor.slice(s![.., ..certain]).to_owned(),
        })
    }

    /// Spectral basis functions `u_i` at the rows of `at` (m x d), one column for each of the `indices` i, counted
    /// from 1. `x` are the rows of the spectrum. The sign, which is arbitrary, makes the entry of largest absolute
    /// value positive.
    pub fn basis_functions(
        &self,
        kernel: &Kernel,
        x: ArrayView2<f64>,
        at: ArrayView2<f64>,
        indices: &[usize],
    ) -> Array2<f64> {
        let columns: Vec<usize> = indices.iter().map(|index| index - 1).collect();
        let mut weights = self.vectors.select(Axis(1), &columns);
        weights /= &self.eigenvalues.select(Axis(0), &columns).mapv(f64::sqrt);
        let mut functions = kernel.matrix(at, x).dot(&weights);
        for mut function in functions.columns_mut() {
            let largest =
                function.iter().fold(0.0_f64, |most, v| if v.abs() > most.abs() { *v } else { most });
            if largest < 0.0 {
                function.mapv_inplace(|value| -value);
            }
        }
        functions
    }
}

/// F with `K = F F^T` up to a positive semi-definite remainder, and the trace of the remainder, at most
/// [`REMAINDER`] of the trace of K.
fn low_rank_factor(kernel: &Kernel, x: ArrayView2<f64>, max_rank: usize) -> Option<(Array2<f64>, f64)> {
    let n = x.nrows();
    let enough = REMAINDER * kernel.variance() * n as f64;
    let most = max_rank.min(n);
    let mut factor = Array2::zeros((n, most).f());
    let mut diagonal = Array1::from_elem(n, kernel.variance());
    for rank in 0..=most {
        let remainder = diagonal.sum();
        if remainder <= enough || rank == n {
            return Some((factor.slice(s![.., ..rank]).to_owned(), remainder.max(enough)));
        }
        if rank == most {
            break;
        }
        let pivot = (0..n).fold(0, |best, i| if diagonal[i] > diagonal[best] { i } else { best });
        let mut column = kernel.matrix(x, x.slice(s![pivot..=pivot, ..])).remove_axis(Axis(1));
        let done = factor.slice(s![.., ..rank]);
        column -= &done.dot(&done.row(pivot));
        column /= diagonal[pivot].sqrt();
        // Rounding can make an entry negative.
        diagonal.zip_mut_with(&column, |rest, entry| *rest = (*rest - entry * entry).max(0.0));
        diagonal[pivot] = 0.0;
        factor.column_mut(rank).assign(&column);
    }
    None
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::Family;

    /// Forty points that are denser towards both ends of [-2, 2].
    fn crowded() -> Array2<f64> {
        Array2::from_shape_fn((40, 1), |(i, _)| 2.0 * (1.7 * (i + 1) as f64).sin())
    }

    #[test]
    fn two_points_by_hand() {
        let kernel = Kernel::new(Family::Matern12, 2.0, &[1.0], 1);
        // K = [[4, 2], [2, 4]].
        let x = array![[0.0], [2.0_f64.ln()]];
        let spectrum = Spectrum::of(&kernel, x.view(), 10).unwrap();
        assert!((&spectrum.eigenvalues - &array![6.0, 2.0]).iter().all(|e| e.abs() < 1e-14));
        let functions = spectrum.basis_functions(&kernel, x.view(), x.view(), &[1, 2]);
        // At the rows, u_i(x_j) = sqrt(lambda_i) U_ji.
        let expected = array![[3.0_f64.sqrt(), 1.0], [3.0_f64.sqrt(), -1.0]];
        let (found, other) = (functions.mapv(f64::abs), expected.mapv(f64::abs));
        assert!((&found - &other).iter().all(|e| e.abs() < 1e-14), "{functions}");
        assert!(functions[(0, 1)] * functions[(1, 1)] < 0.0);
    }

    #[test]
    fn a_smooth_kernel_needs_few_columns_and_is_accurate() {
        let kernel = Kernel::new(Family::Rbf, 1.2, &[0.6], 1);
        let x = crowded();
        let spectrum = Spectrum::of(&kernel, x.view(), 30).unwrap();
        assert!((20..30).contains(&spectrum.eigenvalues.len()), "{}", spectrum.eigenvalues.len());
        for (found, truth) in spectrum.eigenvalues.iter().zip(EIGENVALUES) {
            assert!((found - truth).abs() < 1e-11, "{found} {truth}");
        }
        let at = array![[-3.0], [0.3], [2.5]];
        let functions = spectrum.basis_functions(&kernel, x.view(), at.view(), &[1, 4, 11]);
        for (function, truth) in functions.columns().into_iter().zip(FUNCTIONS) {
            let sign = (function[0] * truth[0]).signum();
            assert!(function.iter().zip(truth).all(|(a, b)| (a - sign * b).abs() < 1e-7), "{function}");
        }
    }

    /// From a dense symmetric eigensolver in double precision (numpy).
    const EIGENVALUES: [f64; 6] =
        [17.52253380867, 16.75372872632, 10.80430467095, 6.766368646075, 3.302925518778, 1.551521712101];
    const FUNCTIONS: [[f64; 3]; 3] = [
        [-0.122296929, -0.346988426, -0.179442642],
        [0.093806891, 0.503091060, -0.327407418],
        [-0.291808345, -0.007972395, -0.283064306],
    ];

    #[test]
    fn eigenvectors_are_orthonormal_and_solve_their_equation() {
        let kernel = Kernel::new(Family::Matern32, 0.7, &[0.5], 1);
        let x = crowded();
        let Spectrum { eigenvalues, vectors } = Spectrum::of(&kernel, x.view(), 40).unwrap();
        assert_eq!(eigenvalues.len(), 40);
        assert!((vectors.t().dot(&vectors) - Array2::<f64>::eye(40)).iter().all(|e| e.abs() < 1e-13));
        let rest = kernel.matrix(x.view(), x.view()).dot(&vectors) - &vectors * &eigenvalues;
        assert!(rest.iter().all(|e| e.abs() < 1e-13));
    }

    #[test]
    fn a_rough_kernel_over_many_rows_is_declined() {
        let kernel = Kernel::new(Family::Matern12, 1.0, &[0.5], 1);
        assert!(Spectrum::of(&kernel, crowded().view(), 39).is_none());
    }
}
