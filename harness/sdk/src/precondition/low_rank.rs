//! P = c (I - V V^T), and the V of a low-rank matrix plus noise.

use gpbench_numerics::layout::column_major;
use ndarray::{Array2, ArrayRef2};

use super::orthonormal::{LOSS, orthonormalise_over};
use super::tall_tiles::TallTiles;
use crate::{Error, Precision, Result, Workers};

/// Share of P's least eigenvalue that may be lost to rounding.
const NEGLIGIBLE: f64 = 1e-3;

/// Least eigenvalue of I - V V^T down to which V may be stored in single precision.
const SINGLE: f64 = 1e-8;

/// Factor of a V in single precision, which keeps its largest singular value below 1 in spite of its rounding errors.
const SHRINK: f64 = 1.0 - 1e-6;

/// The columns V, n x k.
#[derive(Debug, Clone)]
enum Basis {
    Double(TallTiles<f64>),
    Single(TallTiles<f32>),
}

/// P = c (I - V V^T), which is symmetric in floating-point arithmetic too, since one factor is on both sides.
#[derive(Debug, Clone)]
pub struct Preconditioner {
    basis: Basis,
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
    /// lack in orthogonality is kept far below it. Takes 2 n k^2 operations, or 4 n k^2 at small noise. V replaces L in
    /// its memory, if L is column-major.
    pub fn low_rank_plus_noise(
        factor: Array2<f64>,
        noise_scale: f64,
        workers: Workers<'_>,
    ) -> Result<Preconditioner> {
        check_noise(noise_scale)?;
        let mut basis = if factor.t().is_standard_layout() { factor } else { column_major(&factor) };
        let mut squares = vec![0.0; basis.ncols()];
        workers.for_each(basis.columns().into_iter().zip(&mut squares), |(column, square)| {
            *square = column.dot(&column);
        });
        let square: f64 = squares.iter().sum();
        let least = noise_scale.powi(2) / (square + noise_scale.powi(2));
        if basis.ncols() > 0 {
            orthonormalise_over(&mut basis, noise_scale, LOSS.min(NEGLIGIBLE * least), workers)?;
        }
        Ok(Preconditioner {
            basis: Basis::Double(TallTiles::new(basis, workers)),
            least,
            scale: noise_scale.powi(-2),
        })
    }

    /// I - V V^T for a column-major V, with eigenvalues of at least `least`.
    pub(super) fn identity_minus(basis: Array2<f64>, least: f64, workers: Workers<'_>) -> Preconditioner {
        Preconditioner { basis: Basis::Double(TallTiles::new(basis, workers)), least, scale: 1.0 }
    }

    /// Columns of V.
    pub fn rank(&self) -> usize {
        match &self.basis {
            Basis::Double(basis) => basis.rank(),
            Basis::Single(basis) => basis.rank(),
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
                let single = basis.map(|v| (SHRINK * v) as f32, workers);
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

    /// P r, for r of n rows and s columns. Takes 4 n k s operations.
    pub fn apply(&self, r: &ArrayRef2<f64>, workers: Workers<'_>) -> Array2<f64> {
        match &self.basis {
            Basis::Double(basis) => basis.subtract_projection(r, self.scale, workers),
            Basis::Single(basis) => basis.subtract_projection(r, self.scale, workers),
        }
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
    use ndarray::{ShapeBuilder, s};

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

    /// Several blocks of columns, pieces and tiles of rows, none of them whole at the end.
    #[test]
    fn neither_threads_nor_the_layout_of_the_factor_change_bits() {
        let (n, k) = (2100, 261);
        let rows = Array2::from_shape_fn((n, k), |(i, j)| ((i + 1) as f64 * (j as f64 + 0.7)).cos());
        let r = Array2::from_shape_fn((n, 3).f(), |(i, j)| ((i * (j + 2)) as f64).sin());
        let of = |factor: &Array2<f64>, threads, precision| {
            let workers = Workers { threads, pool: None };
            let built = Preconditioner::low_rank_plus_noise(factor.clone(), 0.5, workers).unwrap();
            let built = built.stored_in(precision, workers);
            [built.apply(&r, workers), built.apply(&column_major(&r.slice(s![.., 1..2])), workers)]
        };
        for (precision, tolerance) in [(Precision::Double, 1e-12), (Precision::Mixed, 1e-4)] {
            let one = of(&rows, 1, precision);
            assert_eq!(one, of(&column_major(&rows), 2, precision));
            assert_eq!(one, of(&rows, 7, precision));
            // One right-hand side alone takes other routines of BLAS.
            let apart = &one[0].column(1) - &one[1].column(0);
            assert!(apart.iter().all(|difference| difference.abs() < tolerance));
        }
    }

    #[test]
    fn of_rank_0_it_divides_by_the_noise() {
        let workers = Workers { threads: 2, pool: None };
        for columns in [1, 3] {
            let r = Array2::from_elem((70, columns).f(), 3.0);
            let of = Preconditioner::low_rank_plus_noise(Array2::zeros((70, 0).f()), 0.5, workers).unwrap();
            assert_eq!(of.apply(&r, workers), 4.0 * &r);
            assert_eq!(of.stored_in(Precision::Mixed, workers).apply(&r, workers), 4.0 * &r);
        }
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
