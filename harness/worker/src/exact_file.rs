//! The file of an exact reference: the results of a dense Cholesky factorisation for a data set, split and kernel.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `v`, `mean`, `latent_variance` | n, test rows, test rows | fields of [`Reference`] |
//! | `scalars` | 5 | the numbers whose names are the state |
//! | `likelihood_error` | 1 | the number of this name; absent from files of earlier versions |
//! | `curve/mean`, `curve/latent_variance` | points | fields of [`ExactCurve`], where there is one input only |
//! | `curve/eigenvalues`, `curve/functions` | rank; points x functions | the same |

use std::path::Path;

use gpbench_files::Durability;
use ndarray::{Array1, aview1};

use crate::array_file::{ArrayFile, ArrayWriter, FileError};
use crate::exact_curve::{self, ExactCurve, functions};

const KIND: &str = "exact-reference";

/// Names of the numbers in the array `scalars`.
const SCALARS: [&str; 5] = ["log_marginal_likelihood", "log_det", "y_hinv_y", "test_rmse", "test_nll"];

/// Name of the array with the rounding error.
const ERROR: &str = "likelihood_error";

/// Exact results.
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
    /// Estimate of the rounding error in it; NaN where it is not known.
    pub likelihood_error: f64,
    /// log |H|.
    pub log_det: f64,
    /// y^T H^-1 y.
    pub y_hinv_y: f64,
    /// Root mean square error on the test rows.
    pub test_rmse: f64,
    /// Mean negative log-likelihood of the test rows.
    pub test_nll: f64,
    /// Results along the input, where there is one input only.
    pub curve: Option<ExactCurve>,
}

impl Reference {
    /// The rounding error of the log marginal likelihood over its magnitude, where it is above 1e-6.
    pub fn relative_error(&self) -> Option<f64> {
        let error = self.likelihood_error / self.log_marginal_likelihood.abs();
        (error > 1e-6).then_some(error)
    }
}

/// Writes a reference.
pub fn write(path: &Path, reference: &Reference) -> Result<(), FileError> {
    let Reference {
        v,
        mean,
        latent_variance,
        log_marginal_likelihood,
        likelihood_error,
        log_det,
        y_hinv_y,
        test_rmse,
        test_nll,
        curve,
    } = reference;
    let scalars = [*log_marginal_likelihood, *log_det, *y_hinv_y, *test_rmse, *test_nll];
    let mut file = ArrayWriter::new(KIND, &SCALARS)
        .array("v", v.view())
        .array("mean", mean.view())
        .array("latent_variance", latent_variance.view())
        .array("scalars", aview1(&scalars))
        .array(ERROR, aview1(std::slice::from_ref(likelihood_error)));
    if let Some(ExactCurve { mean, latent_variance, eigenvalues, functions }) = curve {
        file = file
            .array("curve/mean", mean.view())
            .array("curve/latent_variance", latent_variance.view())
            .array("curve/eigenvalues", eigenvalues.view())
            .array("curve/functions", functions.view());
    }
    file.write(path, Durability::Whole)
}

/// Reads a reference and checks that it is one for n training and `n_test` test rows.
pub fn read(path: &Path, n: usize, n_test: usize) -> Result<Reference, FileError> {
    let most = n_test.saturating_mul(2).saturating_add(n).saturating_add(exact_curve::MOST_NUMBERS);
    let file = ArrayFile::read(path, KIND, most.saturating_mul(8))?;
    let [v, mean, latent_variance] = read_vectors(&file, ["v", "mean", "latent_variance"])?;
    if [v.len(), mean.len(), latent_variance.len()] != [n, n_test, n_test] {
        let (rows, tests) = (v.len(), mean.len());
        let what =
            format!("it is a reference for {rows} training and {tests} test rows, not {n} and {n_test}");
        return Err(file.mismatch(what));
    }
    let scalars = file.vector("scalars")?.to_vec();
    let Ok([log_marginal_likelihood, log_det, y_hinv_y, test_rmse, test_nll]) = <[f64; 5]>::try_from(scalars)
    else {
        return Err(file.mismatch(format!("it has not the scalars {}", SCALARS.join(", "))));
    };
    let error = file.has(ERROR).then(|| file.vector(ERROR)).transpose()?;
    Ok(Reference {
        v,
        mean,
        latent_variance,
        log_marginal_likelihood,
        likelihood_error: error.and_then(|error| error.first().copied()).unwrap_or(f64::NAN),
        log_det,
        y_hinv_y,
        test_rmse,
        test_nll,
        curve: file.has("curve/mean").then(|| read_curve(&file)).transpose()?,
    })
}

/// Reads the results along the input.
fn read_curve(file: &ArrayFile) -> Result<ExactCurve, FileError> {
    let [mean, latent_variance, eigenvalues] =
        read_vectors(file, ["curve/mean", "curve/latent_variance", "curve/eigenvalues"])?;
    let on_grid = file.column_major("curve/functions")?;
    let points = mean.len();
    if latent_variance.len() != points || on_grid.dim() != (points, functions(eigenvalues.len()).len()) {
        return Err(file.mismatch("the arrays of its curve do not belong together"));
    }
    Ok(ExactCurve { mean, latent_variance, eigenvalues, functions: on_grid })
}

fn read_vectors(file: &ArrayFile, names: [&str; 3]) -> Result<[Array1<f64>; 3], FileError> {
    let [first, second, third] = names.map(|name| file.vector(name));
    Ok([first?, second?, third?])
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_reference_survives_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exact");
        let reference = Reference {
            v: array![1.0, 2.0, 3.0],
            mean: array![4.0, 5.0],
            latent_variance: array![6.0, 7.0],
            log_marginal_likelihood: -8.0,
            likelihood_error: 0.5,
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
        let reference = Reference { curve: Some(curve.clone()), ..reference };
        write(&path, &reference).unwrap();
        assert_eq!(read(&path, 3, 2).unwrap(), reference);
        let error = read(&path, 2, 3).unwrap_err().to_string();
        assert!(error.ends_with("is a reference for 3 training and 2 test rows, not 2 and 3"), "{error}");
        let curve = ExactCurve { latent_variance: array![3.0], ..curve };
        write(&path, &Reference { curve: Some(curve), ..reference }).unwrap();
        let error = read(&path, 3, 2).unwrap_err().to_string();
        assert!(error.ends_with("the arrays of its curve do not belong together"), "{error}");
    }
}
