//! The file of an exact reference: the answers of dense Cholesky factorisation for a
//! data set, split and kernel.

use std::path::Path;

use gpbench_files::Durability;
use ndarray::{Array1, Array2, ShapeBuilder};

use crate::binary::{self, FileError};
use crate::exact_curve::{self, ExactCurve, functions};

const MAGIC: &[u8; 8] = b"GPBEXAC3";
const SCALARS: usize = 5;

/// Exact answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Representer weights H^-1 y.
    pub v: Array1<f64>,
    /// Predictive mean on the test rows.
    pub mean: Array1<f64>,
    /// Variance of the latent function on the test rows, noise excluded.
    pub latent_variance: Array1<f64>,
    /// Log marginal likelihood.
    pub log_marginal_likelihood: f64,
    /// log |H|.
    pub log_det: f64,
    /// y^T H^-1 y.
    pub y_hinv_y: f64,
    /// Root mean square error on the test rows.
    pub test_rmse: f64,
    /// Mean negative log-likelihood of the test rows.
    pub test_nll: f64,
    /// Answers along the input, where there is one input only.
    pub curve: Option<ExactCurve>,
}

/// Writes a reference.
pub fn write(path: &Path, reference: &Reference) -> Result<(), FileError> {
    let Reference {
        v,
        mean,
        latent_variance,
        log_marginal_likelihood,
        log_det,
        y_hinv_y,
        test_rmse,
        test_nll,
        curve,
    } = reference;
    let scalars: [f64; SCALARS] = [*log_marginal_likelihood, *log_det, *y_hinv_y, *test_rmse, *test_nll];
    let [points, rank] = curve.as_ref().map_or([0, 0], |curve| [curve.mean.len(), curve.eigenvalues.len()]);
    let sizes = [v.len(), mean.len(), points, rank].map(|size| size as u64);
    let on_grid = curve.iter().flat_map(|curve| {
        let ExactCurve { mean, latent_variance, eigenvalues, functions } = curve;
        mean.iter().chain(latent_variance).chain(eigenvalues).chain(functions.t())
    });
    let numbers = scalars.iter().chain(v).chain(mean).chain(latent_variance).chain(on_grid);
    binary::write_numbers(path, Durability::Whole, MAGIC, &sizes, numbers)
}

/// Reads a reference and checks that it is one for n training and `n_test` test rows.
pub fn read(path: &Path, n: usize, n_test: usize) -> Result<Reference, FileError> {
    let count = |[n, n_test, points, rank]: [usize; 4]| {
        let on_grid = points.checked_mul(2 + functions(rank).len())?.checked_add(rank)?;
        n_test.checked_mul(2)?.checked_add(n)?.checked_add(SCALARS)?.checked_add(on_grid)
    };
    let most = n_test.saturating_mul(2).saturating_add(n).saturating_add(SCALARS + exact_curve::MOST_NUMBERS);
    let ([rows, tests, points, rank], numbers) = binary::read_numbers(path, MAGIC, most, count)?;
    if [rows, tests] != [n, n_test] {
        let what =
            format!("it is a reference for {rows} training and {tests} test rows, not {n} and {n_test}");
        return Err(FileError::mismatch(path, what));
    }
    let (scalars, arrays) = numbers.split_at(SCALARS);
    let (v, predictions) = arrays.split_at(n);
    let (mean, predictions) = predictions.split_at(n_test);
    let (latent_variance, on_grid) = predictions.split_at(n_test);
    let &[log_marginal_likelihood, log_det, y_hinv_y, test_rmse, test_nll] = scalars else {
        unreachable!("split off as {SCALARS} numbers");
    };
    Ok(Reference {
        v: v.to_vec().into(),
        mean: mean.to_vec().into(),
        latent_variance: latent_variance.to_vec().into(),
        log_marginal_likelihood,
        log_det,
        y_hinv_y,
        test_rmse,
        test_nll,
        curve: (points > 0).then(|| curve(on_grid, points, rank)),
    })
}

/// The part of a file that is along the input; its length has been checked.
fn curve(numbers: &[f64], points: usize, rank: usize) -> ExactCurve {
    let (mean, rest) = numbers.split_at(points);
    let (latent_variance, rest) = rest.split_at(points);
    let (eigenvalues, on_grid) = rest.split_at(rank);
    let shape = (points, functions(rank).len()).f();
    ExactCurve {
        mean: mean.to_vec().into(),
        latent_variance: latent_variance.to_vec().into(),
        eigenvalues: eigenvalues.to_vec().into(),
        functions: Array2::from_shape_vec(shape, on_grid.to_vec()).expect("as many numbers as the sizes say"),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_reference_survives_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exact.bin");
        let reference = Reference {
            v: array![1.0, 2.0, 3.0],
            mean: array![4.0, 5.0],
            latent_variance: array![6.0, 7.0],
            log_marginal_likelihood: -8.0,
            log_det: 9.0,
            y_hinv_y: 10.0,
            test_rmse: 11.0,
            test_nll: 12.0,
            curve: None,
        };
        write(&path, &reference).unwrap();
        assert_eq!(read(&path, 3, 2).unwrap(), reference);
        let curve = ExactCurve {
            mean: array![1.0, 2.0],
            latent_variance: array![3.0, 4.0],
            eigenvalues: array![6.0, 5.0, 4.0],
            functions: array![[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]],
        };
        let reference = Reference { curve: Some(curve), ..reference };
        write(&path, &reference).unwrap();
        assert_eq!(read(&path, 3, 2).unwrap(), reference);
        let error = read(&path, 2, 3).unwrap_err().to_string();
        assert!(error.ends_with("is a reference for 3 training and 2 test rows, not 2 and 3"), "{error}");
    }
}
