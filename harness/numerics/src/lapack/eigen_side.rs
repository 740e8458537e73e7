//! The eigenvalues of a symmetric matrix on one side of a limit, with their eigenvectors.

use std::ffi::{c_char, c_int};

use ndarray::{Array1, Array2, ArrayRef2, ShapeBuilder, s};

use super::{LOWER, check_info, column_major, int, square, sturm};
use crate::{Error, Result};

/// The eigenvalues on one side of a limit, and their eigenvectors.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenSide {
    /// Whether the eigenvalues are those less than the limit; the others if not.
    pub is_below: bool,
    /// The eigenvalues, from the end of the spectrum towards the limit.
    pub values: Array1<f64>,
    /// Their eigenvectors, in columns of norm 1: n x k.
    pub vectors: Array2<f64>,
}

/// Eigenvalues and eigenvectors of a symmetric matrix on that side of `limit` where there are fewer. The upper
/// triangle is not read.
///
/// For few eigenvalues this takes a third of the time of [`symmetric_eigen`](super::symmetric_eigen). Both reduce A
/// to a tridiagonal matrix; this function computes only the wanted eigenpairs, by bisection and inverse iteration,
/// and transforms only these back.
///
/// # Errors
/// As `symmetric_eigen`.
pub fn symmetric_eigen_side(a: &ArrayRef2<f64>, limit: f64) -> Result<EigenSide> {
    let order = a.nrows();
    let mut tridiagonal = Tridiagonal::new(a)?;
    let below = sturm::count(&tridiagonal.diagonal, &tridiagonal.beside, limit);
    let above = order - below;
    let is_below = below <= above;
    if !is_below {
        tridiagonal.negate();
    }
    let (values, vectors) = tridiagonal.lowest(below.min(above))?;
    let values = if is_below { values } else { -values };
    Ok(EigenSide { is_below, values, vectors })
}

/// A = Q T Q^T with a tridiagonal T.
struct Tridiagonal {
    /// The reflections whose product is Q, below the diagonal, and their factors.
    reflections: Array2<f64>,
    factors: Vec<f64>,
    /// The entries of T: n on the diagonal, n - 1 beside it.
    diagonal: Vec<f64>,
    beside: Vec<f64>,
}

impl Tridiagonal {
    fn new(a: &ArrayRef2<f64>) -> Result<Tridiagonal> {
        let mut reflections = Array2::zeros(a.dim().f());
        reflections.assign(a);
        let (n, ld) = square(&reflections, "the matrix")?;
        let order = a.nrows();
        let [mut diagonal, mut beside, mut factors] = [(); 3].map(|()| vec![0.0; order]);
        let (mut work, length) = work_space(64 * order)?;
        let mut info = 0;
        // SAFETY: the matrix is n x n, column-major, with leading dimension `ld`; the vectors hold n numbers, of
        // which n or n - 1 are written, and the work space is as large as it is said to be.
        unsafe {
            lapack_sys::dsytrd_(
                &LOWER,
                &n,
                reflections.as_mut_ptr(),
                &ld.max(1),
                diagonal.as_mut_ptr(),
                beside.as_mut_ptr(),
                factors.as_mut_ptr(),
                work.as_mut_ptr(),
                &length,
                &mut info,
            );
        }
        check_info("dsytrd", info)?;
        beside.truncate(order.saturating_sub(1));
        if !diagonal.iter().chain(&beside).all(|entry| entry.is_finite()) {
            return Err(Error::Routine("there are no eigenvalues: is the matrix finite?".into()));
        }
        Ok(Tridiagonal { reflections, factors, diagonal, beside })
    }

    /// -A = Q (-T) Q^T in place of A = Q T Q^T.
    fn negate(&mut self) {
        self.diagonal.iter_mut().chain(&mut self.beside).for_each(|entry| *entry = -*entry);
    }

    /// The `count` smallest eigenvalues of A, ascending, and their vectors.
    fn lowest(&self, count: usize) -> Result<(Array1<f64>, Array2<f64>)> {
        let order = self.diagonal.len();
        let few = match count {
            0 => return Ok((Array1::zeros(0), Array2::zeros((order, 0).f()))),
            // Inverse iteration orthogonalises its vectors one by one, which is slow for many.
            _ if count <= order.div_ceil(4) => self.few(count)?,
            _ => None,
        };
        let (values, mut vectors) = match few {
            Some(found) => found,
            None => self.all(count)?,
        };
        self.take_back(&mut vectors)?;
        Ok((values, vectors))
    }

    /// The `count` smallest eigenvalues of T and their vectors, by bisection and inverse iteration. `None` if a
    /// vector does not converge.
    fn few(&self, count: usize) -> Result<Option<(Array1<f64>, Array2<f64>)>> {
        let order = self.diagonal.len();
        let values = Array1::from(sturm::lowest(&self.diagonal, &self.beside, count));
        let mut vectors = Array2::zeros((order, count).f());
        let (n, m) = (int(order, "n")?, int(count, "the number of eigenvalues")?);
        // One block, the whole.
        let (blocks, ends) = (vec![1; count], vec![n; order]);
        let (mut work, _) = work_space(5 * order)?;
        let (mut iwork, mut failed) = (vec![0; order], vec![0; count]);
        let mut info = 0;
        // SAFETY: n and n - 1 numbers of T, m eigenvalues with the numbers of their blocks, the end of the only
        // block, n x m column-major numbers for the vectors, 5 n numbers and n integers to work with, m integers for
        // failures.
        unsafe {
            lapack_sys::dstein_(
                &n,
                self.diagonal.as_ptr(),
                self.beside.as_ptr(),
                &m,
                values.as_ptr(),
                blocks.as_ptr(),
                ends.as_ptr(),
                vectors.as_mut_ptr(),
                &n,
                work.as_mut_ptr(),
                iwork.as_mut_ptr(),
                failed.as_mut_ptr(),
                &mut info,
            );
        }
        Ok((info == 0).then_some((values, vectors)))
    }

    /// The same by divide and conquer, which computes all eigenvalues.
    fn all(&self, count: usize) -> Result<(Array1<f64>, Array2<f64>)> {
        const OF_IDENTITY: c_char = b'I' as c_char;
        let order = self.diagonal.len();
        let (mut diagonal, mut beside) = (self.diagonal.clone(), self.beside.clone());
        let mut vectors = Array2::zeros((order, order).f());
        let n = int(order, "n")?;
        let (mut work, length) = work_space(1 + 4 * order + order * order)?;
        let integers = int(3 + 5 * order, "the integer work space")?;
        let mut iwork = vec![0; 3 + 5 * order];
        let mut info = 0;
        // SAFETY: n and n - 1 numbers of T, n x n column-major numbers for the vectors, and work spaces as large as
        // they are said to be.
        unsafe {
            lapack_sys::dstedc_(
                &OF_IDENTITY,
                &n,
                diagonal.as_mut_ptr(),
                beside.as_mut_ptr(),
                vectors.as_mut_ptr(),
                &n,
                work.as_mut_ptr(),
                &length,
                iwork.as_mut_ptr(),
                &integers,
                &mut info,
            );
        }
        check_info("dstedc", info)?;
        Ok((diagonal.into_iter().take(count).collect(), vectors.slice_move(s![.., ..count])))
    }

    /// Multiplies columns by Q, in place.
    fn take_back(&self, columns: &mut ArrayRef2<f64>) -> Result<()> {
        const LEFT: c_char = b'L' as c_char;
        const AS_IT_IS: c_char = b'N' as c_char;
        let (n, ld) = square(&self.reflections, "the reflections")?;
        let (count, ldc) =
            (int(columns.ncols(), "the number of columns")?, column_major(columns, "the columns")?);
        let (mut work, length) = work_space(64 * (self.diagonal.len() + 65))?;
        let mut info = 0;
        // SAFETY: what dsytrd left, and n x count column-major numbers with the leading dimension given, borrowed
        // mutably; the work space is as large as it is said to be.
        unsafe {
            lapack_sys::dormtr_(
                &LEFT,
                &LOWER,
                &AS_IT_IS,
                &n,
                &count,
                self.reflections.as_ptr(),
                &ld,
                self.factors.as_ptr(),
                columns.as_mut_ptr(),
                &ldc,
                work.as_mut_ptr(),
                &length,
                &mut info,
            );
        }
        check_info("dormtr", info)
    }
}

/// Work space of `length` numbers.
fn work_space(length: usize) -> Result<(Vec<f64>, c_int)> {
    let length = length.max(1);
    Ok((vec![0.0; length], int(length, "the work space")?))
}

#[cfg(test)]
mod tests {
    use super::super::symmetric_eigen;
    use super::*;
    use crate::fixtures::uniform;
    use crate::layout::column_major as copied;

    /// A symmetric matrix, and a copy with other numbers above the diagonal, which must not be read.
    fn matrix(order: usize) -> (Array2<f64>, Array2<f64>) {
        let part = uniform(order, order, 3);
        let clean = &part + &part.t();
        let mut dirty = copied(&clean);
        dirty.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = f64::NAN);
        (clean, dirty)
    }

    fn distance(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
        assert_eq!(a.dim(), b.dim());
        (a - b).iter().fold(0.0, |most, gap| most.max(gap.abs()))
    }

    #[test]
    fn the_pairs_on_the_smaller_side_are_those_of_the_whole() {
        for order in [1, 2, 5, 40, 130] {
            let (clean, dirty) = matrix(order);
            let mut vectors = dirty.clone();
            let all = symmetric_eigen(&mut vectors).unwrap();
            for below in [0, 1, order / 5, order / 2, order - order / 3, order - order / 5, order] {
                // Between two eigenvalues, or beyond all of them.
                let limit = match (below.checked_sub(1).map(|last| all[last]), all.get(below)) {
                    (Some(last), Some(next)) => (last + next) / 2.0,
                    (None, Some(next)) => next - 1.0,
                    (last, None) => last.unwrap_or(0.0) + 1.0,
                };
                let EigenSide { is_below, values, vectors } = symmetric_eigen_side(&dirty, limit).unwrap();
                let count = below.min(order - below);
                assert_eq!((is_below, values.len()), (2 * below <= order, count), "{order} {limit}");
                let expected = |i: usize| if is_below { all[i] } else { all[order - 1 - i] };
                assert!(values.iter().enumerate().all(|(i, value)| (value - expected(i)).abs() < 1e-12));
                assert!(distance(&clean.dot(&vectors), &(&vectors * &values)) < 1e-12);
                assert!(distance(&vectors.t().dot(&vectors), &Array2::eye(count)) < 1e-12);
            }
        }
    }

    /// Tests both methods, with counts on either side of the threshold between them.
    #[test]
    fn a_few_are_the_same_by_either_way() {
        let tridiagonal = Tridiagonal::new(&matrix(60).1).unwrap();
        let (few, few_vectors) = tridiagonal.few(9).unwrap().unwrap();
        let (all, all_vectors) = tridiagonal.all(9).unwrap();
        assert!((few - all).iter().all(|gap| gap.abs() < 1e-13));
        assert!(distance(&few_vectors.mapv(f64::abs), &all_vectors.mapv(f64::abs)) < 1e-11);
    }

    #[test]
    fn repeated_eigenvalues_have_orthogonal_vectors() {
        // A matrix with decoupled rows, whose tridiagonal form splits into blocks, and one with coupled rows.
        let apart = Array2::from_diag(&Array1::from_shape_fn(60, |i| if i % 6 == 0 { -1.0 } else { 1.0 }));
        let axis = Array2::from_shape_fn((60, 1), |(i, _)| (i as f64 + 1.0).recip());
        let square = (&axis * &axis).sum();
        let turn = Array2::<f64>::eye(60) - axis.dot(&axis.t()) * (2.0 / square);
        for matrix in [apart.clone(), turn.dot(&apart).dot(&turn)] {
            // The same ten vectors below 0.5, and above -0.5 for the negated matrix.
            for (sign, is_below) in [(1.0, true), (-1.0, false)] {
                let matrix = &matrix * sign;
                let side = symmetric_eigen_side(&copied(&matrix), 0.5 * sign).unwrap();
                assert_eq!((side.is_below, side.values.len()), (is_below, 10));
                assert!(distance(&side.vectors.t().dot(&side.vectors), &Array2::eye(10)) < 1e-13);
                assert!(distance(&matrix.dot(&side.vectors), &(&side.vectors * -sign)) < 1e-13);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_finite_is_an_error() {
        let mut broken = copied(&Array2::eye(4));
        broken[[2, 1]] = f64::NAN;
        assert!(symmetric_eigen_side(&broken, 0.0).is_err());
        let none = symmetric_eigen_side(&copied(&Array2::zeros((0, 0))), 0.0).unwrap();
        assert_eq!((none.values.len(), none.vectors.dim()), (0, (0, 0)));
    }
}
