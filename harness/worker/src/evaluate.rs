//! Metrics of solutions: of weights ([`weights`]), of predictions ([`predictions`], `calibration`), and of the system
//! itself.

pub(crate) mod calibration;
pub(crate) mod model;
pub mod predictions;
pub(crate) mod test_rows;
pub mod weights;

use gpbench_record::{Metrics, names};
use ndarray::{Array2, ArrayView2, Axis};

use crate::exact_file::Reference;
use crate::system::{Formulation, System};

/// Number of training rows on which the random features are compared with the kernel.
const FEATURE_ROWS: usize = 512;

/// Metrics that do not depend on a solution: the error of the random features, and the exact reference.
pub fn of_system(system: &System, exact: Option<&Reference>) -> Metrics {
    let mut found = Metrics::default();
    if let Some(features) = &system.features {
        found.insert(names::FEATURE_ERROR, features.relative_error(some_rows(system).view()));
    }
    if let Some(exact) = exact {
        found.extend(&of_exact(exact));
    }
    found
}

/// Metrics of the exact process.
pub fn of_exact(exact: &Reference) -> Metrics {
    let mut found = Metrics::default();
    found.insert(names::TEST_RMSE_EXACT, exact.test_rmse);
    found.insert(names::TEST_NLL_EXACT, exact.test_nll);
    found.insert(names::LOG_MARGINAL_LIKELIHOOD, exact.log_marginal_likelihood);
    if let Some(error) = exact.relative_error() {
        found.insert(names::EXACT_ERROR, error);
    }
    found
}

/// Metrics of a finite solution (n x s, or m x s with inducing points) as weights: [`weights::errors`], and
/// [`weights::residuals`] at the cost of one epoch or the number of inducing points.
pub fn of_weights(system: &System, exact: Option<&Reference>, solution: ArrayView2<f64>) -> Metrics {
    let mut found = weights::errors(system, exact, solution);
    match &system.formulation {
        Formulation::Inducing { z, .. } => found.insert(names::INDUCING_POINTS, z.nrows() as f64),
        Formulation::Full => found.extend(&weights::residuals(system, solution)),
        Formulation::Collapsed(collapse) => {
            found.extend(&weights::residuals(system, solution));
            found.insert(names::UNIQUE_INPUTS, collapse.inputs.count() as f64);
        }
    }
    found
}

/// Whether all entries are finite.
pub fn is_finite(solution: ArrayView2<f64>) -> bool {
    solution.iter().all(|value| value.is_finite())
}

/// The first column with an entry that is not finite.
pub fn bad_column(solution: ArrayView2<f64>) -> Option<usize> {
    solution.columns().into_iter().position(|column| column.iter().any(|value| !value.is_finite()))
}

/// Evenly spaced training rows.
fn some_rows(system: &System) -> Array2<f64> {
    let n = system.n();
    let count = n.min(FEATURE_ROWS);
    let rows: Vec<usize> = (0..count).map(|row| row * n / count).collect();
    system.data.x_train.select(Axis(0), &rows)
}
