//! The file of an exact reference: what dense Cholesky factorisation says of a
//! data set, split and kernel.

use std::path::Path;

use ndarray::Array1;

use crate::binary::{self, FileError};

const MAGIC: &[u8; 8] = b"GPBEXAC1";
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
    } = reference;
    let scalars: [f64; SCALARS] = [*log_marginal_likelihood, *log_det, *y_hinv_y, *test_rmse, *test_nll];
    let numbers = scalars.iter().chain(v).chain(mean).chain(latent_variance);
    binary::write(path, MAGIC, &[v.len() as u64, mean.len() as u64], numbers)
}

/// Reads a reference and checks that it is one for n training and `n_test` test rows.
pub fn read(path: &Path, n: usize, n_test: usize) -> Result<Reference, FileError> {
    let count = |[n, n_test]: [usize; 2]| n_test.checked_mul(2)?.checked_add(n)?.checked_add(SCALARS);
    let (found, numbers) = binary::read(path, MAGIC, count)?;
    if found != [n, n_test] {
        let [rows, tests] = found;
        let what = format!("is a reference for {rows} training and {tests} test rows, not {n} and {n_test}");
        return Err(FileError::Format { path: path.to_owned(), what });
    }
    let (scalars, arrays) = numbers.split_at(SCALARS);
    let (v, predictions) = arrays.split_at(n);
    let (mean, latent_variance) = predictions.split_at(n_test);
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
    })
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
        };
        write(&path, &reference).unwrap();
        assert_eq!(read(&path, 3, 2).unwrap(), reference);
        let error = read(&path, 2, 3).unwrap_err().to_string();
        assert!(error.ends_with("is a reference for 3 training and 2 test rows, not 2 and 3"), "{error}");
    }
}
