//! Predictions on the test rows, in the units of the file, and their error in them.

use gpbench_data::{Split, TestRows};
use gpbench_record::{Metrics, Predictions, names};
use ndarray::ArrayView1;

use crate::rows::Rows;

/// Predictions on the test rows, in units of the scaled targets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Predicted<'a> {
    /// Means.
    pub(crate) mean: ArrayView1<'a, f64>,
    /// Variances of the targets, noise included; `None` without variances.
    pub(crate) variance: Option<ArrayView1<'a, f64>>,
    /// Variances of the latent function, without noise; `None` where they are not known.
    pub(crate) latent_variance: Option<ArrayView1<'a, f64>>,
}

impl Predicted<'_> {
    /// The predictions in the units of the file. `split` is that of the rows, with the prior mean subtracted that the means lack.
    /// `None` where predictions are not kept, and where a mean is not finite; deviations are left out where one is not finite.
    pub(crate) fn in_units(&self, rows: &Rows, split: &Split) -> Option<Box<Predictions>> {
        let TestRows { rows: row, ids, targets } = rows.test_rows.as_ref()?;
        let deviations = |variances: Option<ArrayView1<f64>>| {
            let deviations = variances.into_iter().flatten().map(|variance| variance.sqrt() * split.y_std);
            let deviations: Vec<f64> = deviations.collect();
            let are_known = deviations.iter().all(|deviation| deviation.is_finite());
            if are_known { deviations } else { Vec::new() }
        };
        let predictions = Predictions {
            row: row.clone(),
            id: ids.clone(),
            target: targets.clone(),
            mean: self.mean.iter().map(|mean| mean * split.y_std + split.y_mean).collect(),
            deviation: deviations(self.variance),
            latent_deviation: deviations(self.latent_variance),
        };
        let is_whole = predictions.is_complete() && predictions.is_finite() && !predictions.is_empty();
        is_whole.then(|| Box::new(predictions))
    }
}

/// Adds the error on the test rows in the units of the target's column, where these are known.
pub(crate) fn add_error_in_units(metrics: &mut Metrics, rows: &Rows) {
    if let (Some(units), Some(rmse)) = (&rows.units, metrics.get(names::TEST_RMSE)) {
        metrics.insert(names::TEST_RMSE_UNITS, rmse * units.target.divisor);
    }
}
