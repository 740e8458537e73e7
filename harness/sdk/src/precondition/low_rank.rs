//! P = c (I - V V^T), and the V of a low-rank matrix plus noise.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, ArrayView2, Axis, ShapeBuilder, Zip, s};

use super::ROWS;
use super::orthonormal::{LOSS, multiply_transposed, orthonormalise};
use crate::{Error, Precision, Result, Workers};

/// Share of P's least eigenvalue that may be lost to rounding.
const NEGLIGIBLE: f64 = 1e-3;

/// Least eigenvalue of I - V V^T down to which V may be stored in single precision.
const SINGLE: f64 = 1e-8;

/// Factor of a V in single precision, which keeps its largest singular value below 1 in spite of its rounding errors.
const SHRINK: f64 = 1.0 - 1e-6;

/// The columns V.
#[derive(Debug, Clone)]
enum Basis {
    Double(Array2<f64>),
    Single(Array2<f32>),
}

/// P = c (I - V V^T), which is symmetric in floating-point arithmetic too, since one factor is on both sides.
#[derive(Debug, Clone)]
pub struct Preconditioner {
    /// V in the first n rows, column-major.
    basis: Basis,
    n: usize,
    /// Lower bound of I - V V^T's eigenvalues.
    least: f64,
    /// c.
    scale: f64,
}

impl Preconditioner {
    /// (L L^T + s^2 I)^-1 for the `factor` L, n x k, and the noise scale s > 0.
    ///
    /// With the QR factorisation [L; s I] = [V; W] R, Woodbury's identity reads P = (I - V V^T) / s^2.
    /// Orthonormal columns are needed: with L^T L + s^2 I, whose condition number is the square, P would not be
    /// positive definite at small noise. The least eigenvalue of I - V V^T is s^2 / (|L|^2 + s^2), and what the columns
    /// lack in orthogonality is kept far below it. Takes 2 n k^2 operations, or 4 n k^2 at small noise.
    pub fn low_rank_plus_noise(
        factor: Array2<f64>,
        noise_scale: f64,
        workers: Workers<'_>,
    ) -> Result<Preconditioner> {
        check_noise(noise_scale)?;
        let (n, k) = factor.dim();
        let mut basis = Array2::zeros((n + k, k).f());
        let mut squares = vec![0.0; k];
        let columns = basis.columns_mut().into_iter().zip(factor.columns()).zip(&mut squares);
        workers.for_each(columns, |((mut column, of_factor), square)| {
            column.slice_mut(s![..n]).assign(&of_factor);
            *square = of_factor.dot(&of_factor);
        });
        basis.slice_mut(s![n.., ..]).diag_mut().fill(noise_scale);
        let square: f64 = squares.iter().sum();
        drop(factor);
        let least = noise_scale.powi(2) / (square + noise_scale.powi(2));
        if k > 0 {
            orthonormalise(&mut basis, LOSS.min(NEGLIGIBLE * least), workers)?;
        }
        Ok(Preconditioner { basis: Basis::Double(basis), n, least, scale: noise_scale.powi(-2) })
    }

    /// I - V V^T for a column-major V, with eigenvalues of at least `least`.
    pub(super) fn identity_minus(basis: Array2<f64>, least: f64) -> Preconditioner {
        let n = basis.nrows();
        Preconditioner { basis: Basis::Double(basis), n, least, scale: 1.0 }
    }

    /// Columns of V.
    pub fn rank(&self) -> usize {
        match &self.basis {
            Basis::Double(basis) => basis.ncols(),
            Basis::Single(basis) => basis.ncols(),
        }
    }

    /// The preconditioner for a solver of this precision: in mixed precision V is stored, and applied, in single precision, unless the least
    /// eigenvalue of I - V V^T is too small for it. Half the memory, and less than half the time.
    ///
    /// P stays symmetric and positive definite, with a V that is slightly smaller: where V V^T is within 1e-6 of the
    /// identity, P is larger than it was.
    #[must_use]
    pub fn stored_in(self, precision: Precision, workers: Workers<'_>) -> Preconditioner {
        match self.basis {
            Basis::Double(basis) if precision == Precision::Mixed && self.least >= SINGLE => {
                let mut single = Array2::zeros((self.n, basis.ncols()).f());
                let columns = single.columns_mut().into_iter().zip(basis.columns());
                workers.for_each(columns, |(mut single, column)| {
                    single
                        .zip_mut_with(&column.slice(s![..self.n]), |single, v| *single = (SHRINK * v) as f32);
                });
                Preconditioner { basis: Basis::Single(single), ..self }
            }
            basis => Preconditioner { basis, ..self },
        }
    }

    /// Relative rounding error of P r.
    pub fn rounding(&self) -> f64 {
        match &self.basis {
            Basis::Double(_) => f64::EPSILON,
            Basis::Single(_) => f64::from(f32::EPSILON),
        }
    }

    /// P r, for a column-major r, n x s. Takes 4 n k s operations.
    pub fn apply(&self, r: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        match &self.basis {
            Basis::Double(basis) => self.apply_double(&basis.slice(s![..self.n, ..]), r, workers),
            Basis::Single(basis) => self.apply_single(&basis.view(), r, workers),
        }
    }

    /// P r with V in single precision; r and the difference stay in double.
    fn apply_single(
        &self,
        basis: &ArrayView2<'_, f32>,
        r: &ArrayRef2<f64>,
        workers: Workers<'_>,
    ) -> Array2<f64> {
        let mut narrow = Array2::zeros(r.dim().f());
        let columns = narrow.columns_mut().into_iter().zip(r.columns());
        workers.for_each(columns, |(mut narrow, r)| narrow.zip_mut_with(&r, |narrow, r| *narrow = *r as f32));
        let coefficients = multiply_transposed(basis, &narrow, workers);
        drop(narrow);
        let mut product = Array2::zeros(r.dim().f());
        let tiles = product.axis_chunks_iter_mut(Axis(0), ROWS);
        let tiles = tiles.zip(r.axis_chunks_iter(Axis(0), ROWS)).zip(basis.axis_chunks_iter(Axis(0), ROWS));
        workers.for_each(tiles, |((mut tile, r), basis)| {
            let mut explained = Array2::zeros(r.dim().f());
            general_mat_mul(1.0, &basis, &coefficients, 0.0, &mut explained);
            Zip::from(&mut tile)
                .and(&r)
                .and(&explained)
                .for_each(|tile, r, explained| *tile = self.scale * (r - f64::from(*explained)));
        });
        product
    }

    fn apply_double(
        &self,
        basis: &ArrayView2<'_, f64>,
        r: &ArrayRef2<f64>,
        workers: Workers<'_>,
    ) -> Array2<f64> {
        let coefficients = multiply_transposed(basis, r, workers);
        let mut product = Array2::zeros(r.dim().f());
        let tiles = product.axis_chunks_iter_mut(Axis(0), ROWS);
        let tiles = tiles.zip(r.axis_chunks_iter(Axis(0), ROWS)).zip(basis.axis_chunks_iter(Axis(0), ROWS));
        workers.for_each(tiles, |((mut tile, r), basis)| {
            tile.assign(&r);
            general_mat_mul(-self.scale, &basis, &coefficients, self.scale, &mut tile);
        });
        product
    }
}

/// Whether there is noise.
pub(super) fn check_noise(noise_scale: f64) -> Result<()> {
    if noise_scale > 0.0 && noise_scale.is_finite() {
        return Ok(());
    }
    Err(Error::Unsupported(format!("the preconditioner needs noise, not a noise scale of {noise_scale}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P inverts L L^T + s^2 I, for singular values of L from 100 down to 1e-4 and little noise.
    #[test]
    fn inverts_at_small_noise() {
        let (n, k) = (400, 30);
        for noise_scale in [1.0f64, 1e-1, 1e-2, 1e-3] {
            let mut factor = Array2::zeros((n, k).f());
            for ((i, j), entry) in factor.indexed_iter_mut() {
                let size = 10f64.powf(1.0 - 0.2 * j as f64);
                *entry = size * ((i + 1) as f64 * (j as f64 + 0.7)).cos();
            }
            let mut b = Array2::zeros((n, 2).f());
            b.indexed_iter_mut().for_each(|((i, j), b)| *b = ((i * (j + 2)) as f64).sin());
            let workers = Workers { threads: 2, pool: None };
            let preconditioner =
                Preconditioner::low_rank_plus_noise(factor.clone(), noise_scale, workers).unwrap();
            let x = preconditioner.apply(&b, workers);
            let back = factor.dot(&factor.t().dot(&x)) + noise_scale.powi(2) * &x;
            let error = (&back - &b).iter().fold(0.0, |max: f64, e| max.max(e.abs()));
            // Amplified by the condition number, 4e10 at the least noise.
            assert!(error < 1e-16 * 4e4 / noise_scale.powi(2) + 1e-11, "{noise_scale}: {error:e}");
        }
    }

    /// In single precision P is as good to six digits, symmetric to as many, and positive where it is smallest.
    #[test]
    fn single_precision_keeps_it_positive() {
        let (n, k, workers) = (400, 30, Workers { threads: 2, pool: None });
        let mut factor = Array2::zeros((n, k).f());
        for ((i, j), entry) in factor.indexed_iter_mut() {
            *entry = 10f64.powf(1.0 - 0.2 * j as f64) * ((i + 1) as f64 * (j as f64 + 0.7)).cos();
        }
        let mut b = Array2::zeros((n, k + 5).f());
        b.indexed_iter_mut().for_each(|((i, j), b)| *b = ((i * (j + 2)) as f64).sin());
        b.slice_mut(s![.., ..k]).assign(&factor);
        let of = |noise| Preconditioner::low_rank_plus_noise(factor.clone(), noise, workers).unwrap();
        let double = of(0.5).apply(&b, workers);
        let single = of(0.5).stored_in(Precision::Mixed, workers);
        assert_eq!(single.rounding(), f64::from(f32::EPSILON));
        let product = single.apply(&b, workers);
        let largest = |a: &Array2<f64>| a.iter().fold(0.0, |max: f64, entry| max.max(entry.abs()));
        assert!(largest(&(&product - &double)) < 1e-4 * largest(&double).max(largest(&b)));
        let form = b.t().dot(&product);
        assert!(form.diag().iter().all(|square| *square > 0.0), "{}", form.diag());
        assert!(largest(&(&form - &form.t())) < 1e-5 * largest(&b.t().dot(&b)));
        // Too small an eigenvalue stays in double precision, as does a solver of double precision.
        assert_eq!(of(1e-3).stored_in(Precision::Mixed, workers).rounding(), f64::EPSILON);
        assert_eq!(of(0.5).stored_in(Precision::Double, workers).rounding(), f64::EPSILON);
    }

    #[test]
    fn without_noise_there_is_none() {
        let workers = Workers { threads: 1, pool: None };
        for noise_scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = Preconditioner::low_rank_plus_noise(Array2::zeros((3, 1)), noise_scale, workers);
            assert!(matches!(refused, Err(Error::Unsupported(_))), "{noise_scale}");
        }
    }
}
