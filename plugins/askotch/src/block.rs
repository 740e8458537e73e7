//! Approximate inverses of A on a block of rows.
//!
//! A step needs P^-1 g for a b x b matrix P close to A\[S, S\], and the largest eigenvalue of P^-1 A\[S, S\], which limits
//! the length of the step. A Cholesky factor gives P = A\[S, S\], with the eigenvalue 1. A randomised Nystrom approximation of rank r
//! takes 4 b^2 r operations instead of b^3 / 3, so that it pays for blocks of more than 12 r rows.

use gpbench_sdk::ndarray::{Array1, Array2, Axis, ShapeBuilder};
use gpbench_sdk::symmetric::add_diagonal;
use gpbench_sdk::{Error, Result, Workers, exact, lapack, tall};

use crate::Damping;

/// Largest number of increases of the shift until the core of the approximation has a Cholesky factor.
const INCREASES: i32 = 6;

/// P^-1, for a P close to A on b rows.
#[derive(Debug, Clone)]
pub enum BlockInverse {
    /// P = I.
    Identity,
    /// P = L L^T, the block itself.
    Exact {
        /// L in the lower triangle, column-major.
        factor: Array2<f64>,
    },
    /// P = U diag(values) U^T + rho I.
    Nystrom {
        /// U, b x r, with orthonormal columns.
        vectors: Array2<f64>,
        /// Eigenvalues of the approximation, largest first, not negative.
        values: Array1<f64>,
        /// Multiple of the identity.
        rho: f64,
    },
}

impl BlockInverse {
    /// The inverse itself, from A\[S, S\], by its Cholesky factor.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`], with the leading minor counted within the block.
    pub fn exact(mut block: Array2<f64>, workers: Workers<'_>) -> Result<BlockInverse> {
        exact::factorise(&mut block, workers)?;
        Ok(BlockInverse::Exact { factor: block })
    }

    /// A Nystrom approximation of K = A\[S, S\] - noise_variance I at the test matrix `omega`, b x r and column-major, plus
    /// rho I: Frangella, Tropp and Udell 2023 (arXiv 2110.02820), Algorithm 2.1, as ASkotch uses it.
    ///
    /// # Errors
    /// If the block is not finite, or its kernel matrix has no positive trace on the range of `omega`.
    pub fn nystrom(
        block: &Array2<f64>,
        mut omega: Array2<f64>,
        noise_variance: f64,
        damping: Damping,
        workers: Workers<'_>,
    ) -> Result<BlockInverse> {
        let triangle = lapack::qr_upper(&mut omega.clone())?;
        lapack::divide_by_upper(&mut omega, &triangle)?;
        let mut vectors = product(block, &omega, workers);
        vectors.scaled_add(-noise_variance, &omega);
        let core = tall::product(&omega, &vectors, workers);
        let (factor, shift) = shifted_factor(core)?;
        // B = (K + shift I) Omega C^-T, whose square B B^T approximates K + shift I.
        vectors.scaled_add(shift, &omega);
        lapack::divide_by_lower_transposed(&mut vectors, &factor)?;
        let singular = lapack::left_singular_vectors(&mut vectors)?;
        let values = singular.mapv(|value| (value * value - shift).max(0.0));
        let least = values.last().copied().unwrap_or(0.0);
        let rho = match damping {
            Damping::Adaptive => noise_variance + least,
            Damping::Noise => noise_variance,
        };
        Ok(BlockInverse::Nystrom { vectors, values, rho })
    }

    /// P^-1 G in place of G, b x s and column-major.
    pub fn apply(&self, g: &mut Array2<f64>, workers: Workers<'_>) {
        match self {
            BlockInverse::Identity => {}
            BlockInverse::Exact { factor } => exact::solve(factor, g, workers),
            BlockInverse::Nystrom { vectors, values, rho } => {
                // P^-1 = (I - U diag(l / (l + rho)) U^T) / rho
                let mut coefficients = tall::product(vectors, g, workers);
                for (mut row, value) in coefficients.axis_iter_mut(Axis(0)).zip(values) {
                    row *= value / (value + rho);
                }
                tall::add_product(-1.0, vectors, &coefficients, g, workers);
                *g /= *rho;
            }
        }
    }

    /// Length of a step: the inverse of P^-1 A\[S, S\]'s largest eigenvalue, estimated by a power iteration from `start`,
    /// b x 1. 1 if P is the block itself.
    ///
    /// Ten rounds from a Gaussian start find 0.95 of the eigenvalue on average.
    pub fn step_size(
        &self,
        block: &Array2<f64>,
        start: Array2<f64>,
        rounds: usize,
        workers: Workers<'_>,
    ) -> f64 {
        if matches!(self, BlockInverse::Exact { .. }) {
            return 1.0;
        }
        let inner = |a: &Array2<f64>, b: &Array2<f64>| a.column(0).dot(&b.column(0));
        let (mut vector, mut eigenvalue) = (start, 0.0);
        for _ in 0..rounds {
            vector /= inner(&vector, &vector).sqrt();
            let mut next = product(block, &vector, workers);
            self.apply(&mut next, workers);
            eigenvalue = inner(&vector, &next);
            vector = next;
        }
        1.0 / eigenvalue
    }
}

/// A B, column-major.
fn product(a: &Array2<f64>, b: &Array2<f64>, workers: Workers<'_>) -> Array2<f64> {
    let mut product = Array2::zeros((a.nrows(), b.ncols()).f());
    tall::add_product(1.0, a, b, &mut product, workers);
    product
}

/// The Cholesky factor of core + shift I, and the shift: the rounding error of the core's trace, or more if that is not
/// enough.
fn shifted_factor(core: Array2<f64>) -> Result<(Array2<f64>, f64)> {
    let trace = core.diag().sum();
    if !trace.is_finite() {
        return Err(Error::new("a block of the kernel matrix is not finite"));
    }
    let mut shift = f64::EPSILON * trace;
    for attempt in 0.. {
        let mut factor = core.clone();
        add_diagonal(shift, &mut factor);
        match lapack::cholesky(&mut factor) {
            Ok(()) => return Ok((factor, shift)),
            Err(error) if attempt == INCREASES => return Err(error.into()),
            Err(_) => shift *= 10.0,
        }
    }
    unreachable!("the last attempt returns")
}

#[cfg(test)]
mod tests {
    use gpbench_sdk::symmetric::column_major;
    use gpbench_testing::{matern32, scattered, scattered_inputs};
    use gpbench_testkit::{assert_close, assert_number};

    use super::*;

    const NOISE: f64 = 0.3;
    const ROWS: usize = 40;

    fn workers() -> Workers<'static> {
        Workers::new(2)
    }

    /// A well-conditioned block, column-major.
    fn block() -> Array2<f64> {
        matern32(&scattered_inputs(ROWS), 1.0, NOISE, &[0.3, 0.3]).reversed_axes()
    }

    fn columns(s: usize) -> Array2<f64> {
        Array2::from_shape_fn((ROWS, s).f(), |(i, j)| scattered(i, j + 7))
    }

    fn applied(inverse: &BlockInverse, g: &Array2<f64>) -> Array2<f64> {
        let mut product = g.clone();
        inverse.apply(&mut product, workers());
        product
    }

    #[test]
    fn an_exact_inverse_undoes_the_block() {
        let inverse = BlockInverse::exact(block(), workers()).unwrap();
        let g = columns(11);
        assert_close(&applied(&inverse, &column_major(&block().dot(&g))), &g, 1e-13);
        assert_eq!(inverse.step_size(&block(), columns(1), 10, workers()), 1.0);
    }

    #[test]
    fn a_nystrom_approximation_of_full_rank_is_the_inverse() {
        let omega = Array2::eye(ROWS).reversed_axes();
        let inverse =
            BlockInverse::nystrom(&block(), omega, NOISE * NOISE, Damping::Noise, workers()).unwrap();
        let exact = BlockInverse::exact(block(), workers()).unwrap();
        let g = columns(3);
        assert_close(&applied(&inverse, &g), &applied(&exact, &g), 1e-11);
        assert_number(inverse.step_size(&block(), columns(1), 10, workers()), 1.0, 1e-12);
    }

    #[test]
    fn a_step_never_overshoots_by_much() {
        // P^-1 A has the eigenvalues of L^T P^-1 L.
        for (damping, rounds) in [(Damping::Adaptive, 10), (Damping::Noise, 30)] {
            let inverse =
                BlockInverse::nystrom(&block(), columns(12), NOISE * NOISE, damping, workers()).unwrap();
            let mut factor = block();
            lapack::cholesky(&mut factor).unwrap();
            for j in 0..ROWS {
                (0..j).for_each(|i| factor[[i, j]] = 0.0);
            }
            let mut form = column_major(&factor.t().dot(&applied(&inverse, &factor)));
            let largest = lapack::symmetric_eigen(&mut form).unwrap()[ROWS - 1];
            let estimate = 1.0 / inverse.step_size(&block(), columns(1), rounds, workers());
            assert!(estimate <= largest * (1.0 + 1e-12) && estimate >= 0.7 * largest, "{estimate} {largest}");
        }
    }

    #[test]
    fn adaptive_damping_adds_the_least_eigenvalue() {
        let of =
            |damping| match BlockInverse::nystrom(&block(), columns(5), NOISE * NOISE, damping, workers())
                .unwrap()
            {
                BlockInverse::Nystrom { values, rho, .. } => (values, rho),
                other => panic!("{other:?}"),
            };
        let ((values, adaptive), (_, noise)) = (of(Damping::Adaptive), of(Damping::Noise));
        assert_eq!(noise, NOISE * NOISE);
        assert_number(adaptive, NOISE * NOISE + values[4], 1e-15);
        assert!(values.windows(2).into_iter().all(|pair| pair[0] >= pair[1]) && values[4] > 0.0);
    }

    #[test]
    fn a_kernel_matrix_of_low_rank_has_an_approximation() {
        // Rank 1, and a shift that the first attempt may find too small.
        let block = Array2::from_elem((ROWS, ROWS).f(), 1.0) + Array2::<f64>::eye(ROWS) * 1e-3;
        let inverse = BlockInverse::nystrom(&block, columns(6), 1e-3, Damping::Noise, workers()).unwrap();
        let g = columns(2);
        assert_close(&block.dot(&applied(&inverse, &g)), &g, 1e-8);
    }

    #[test]
    fn a_block_that_is_not_finite_is_an_error() {
        let mut bad = block();
        bad[[3, 4]] = f64::NAN;
        let error = BlockInverse::nystrom(&bad, columns(6), 0.1, Damping::Adaptive, workers()).unwrap_err();
        assert!(error.to_string().contains("not finite"), "{error}");
    }
}
