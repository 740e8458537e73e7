//! Calibration of predictions on the test rows, beside that of the exact process on the same rows.
//!
//! Both are computed in verification alone: points along a solve and evaluations of a learner have errors and likelihoods
//! of predictions, but no calibration.

use gpbench_data::Split;
use gpbench_gp::pathwise::Prediction;
use gpbench_record::{CalibrationShares, Metrics, RowShares, names};
use gpbench_statistics::calibration::{self, Calibration};
use ndarray::ArrayView1;

use crate::exact_file::Reference;
use crate::rounding::six_digits;
use crate::system::System;

/// Calibrations on the test rows of a case; each is absent where its predictions are not known.
#[derive(Debug)]
pub(crate) struct Calibrations {
    own: Option<Calibration>,
    exact: Option<Calibration>,
}

impl Calibrations {
    /// The calibration of predictions that have no exact ones beside them. `variance` includes the noise.
    pub(crate) fn of(split: &Split, mean: ArrayView1<f64>, variance: ArrayView1<f64>) -> Calibrations {
        Calibrations { own: calibration(split, mean, variance), exact: None }
    }

    /// The calibrations of predictions from samples, and of the exact process with the system's hyperparameters.
    pub(crate) fn of_system(
        system: &System,
        exact: Option<&Reference>,
        prediction: Option<&Prediction>,
    ) -> Calibrations {
        let noise = system.operator.noise_scale().powi(2);
        let of = |mean: ArrayView1<f64>, latent_variance: ArrayView1<f64>| {
            calibration(&system.data, mean, (&latent_variance + noise).view())
        };
        Calibrations {
            own: prediction.and_then(|own| of(own.mean.view(), own.sample_variance.as_ref()?.view())),
            exact: exact.and_then(|exact| of(exact.mean.view(), exact.latent_variance.view())),
        }
    }

    /// The numbers that describe them.
    pub(crate) fn metrics(&self) -> Metrics {
        let named = |of: &Option<Calibration>, exact: bool| {
            let numbers = of.as_ref().map(numbers).into_iter().flatten();
            numbers.map(move |(own, of_exact, value)| {
                let name = if exact { of_exact } else { own };
                (name.to_owned(), value)
            })
        };
        named(&self.own, false).chain(named(&self.exact, true)).collect()
    }

    /// The shares of rows for charts.
    pub(crate) fn shares(&self) -> Option<Box<CalibrationShares>> {
        let own = shares(self.own.as_ref()?);
        Some(Box::new(CalibrationShares { own, exact: self.exact.as_ref().map(shares) }))
    }
}

/// The calibration of predictions on the test rows of a split. `None` without test rows, and where a mean is not finite or a
/// variance, which includes the noise, is not finite and positive.
fn calibration(split: &Split, mean: ArrayView1<f64>, variance: ArrayView1<f64>) -> Option<Calibration> {
    let [y, mean, variance, y_train] =
        [split.y_test.view(), mean, variance, split.y_train.view()].map(|numbers| numbers.to_vec());
    calibration::calibration(&y, &mean, &variance, &y_train)
}

/// The numbers of a calibration: the name of each, the name of that of the exact process, and its value. One that is not
/// known is NaN, which [`Metrics`] leave out.
fn numbers(of: &Calibration) -> [(&'static str, &'static str, f64); 11] {
    let [coverage_50, coverage_90, coverage_95] = of.coverage;
    let [width_50, width_90, width_95] = of.width;
    [
        (names::COVERAGE_50, names::COVERAGE_50_EXACT, coverage_50),
        (names::COVERAGE_90, names::COVERAGE_90_EXACT, coverage_90),
        (names::COVERAGE_95, names::COVERAGE_95_EXACT, coverage_95),
        (names::WIDTH_50, names::WIDTH_50_EXACT, width_50),
        (names::WIDTH_90, names::WIDTH_90_EXACT, width_90),
        (names::WIDTH_95, names::WIDTH_95_EXACT, width_95),
        (names::CRPS, names::CRPS_EXACT, of.crps),
        (names::SMSE, names::SMSE_EXACT, of.smse.unwrap_or(f64::NAN)),
        (names::MSLL, names::MSLL_EXACT, of.msll.unwrap_or(f64::NAN)),
        (names::Z_SQUARED, names::Z_SQUARED_EXACT, of.z_squared),
        (names::CALIBRATION_ERROR, names::CALIBRATION_ERROR_EXACT, of.error),
    ]
}

fn shares(of: &Calibration) -> RowShares {
    let rows = of.pit.iter().sum::<u64>() as f64;
    RowShares {
        pit: of.pit.iter().map(|count| six_digits(*count as f64 / rows)).collect(),
        coverage: of.curve.iter().copied().map(six_digits).collect(),
    }
}

#[cfg(test)]
mod tests {
    use gpbench_record::metric;
    use ndarray::{Array1, Array2, array};

    use super::*;

    /// Calibrations of these means and variances on a split whose training targets have mean 1 and variance 1.
    fn calibrations(y_test: Array1<f64>, mean: Array1<f64>, variance: Array1<f64>) -> Calibrations {
        let x_test = Array2::zeros((y_test.len(), 1));
        let split = Split { x_test, y_test, ..Split::raw(Array2::zeros((2, 1)), array![0.0, 2.0]) };
        Calibrations::of(&split, mean.view(), variance.view())
    }

    #[test]
    fn standard_normal_predictions_of_one_deviation_by_hand() {
        let found = calibrations(array![-1.0, 1.0], array![0.0, 0.0], array![1.0, 1.0]);
        let metrics = found.metrics();
        for (name, value) in [
            (names::COVERAGE_50, 0.0),
            (names::COVERAGE_90, 1.0),
            (names::COVERAGE_95, 1.0),
            (names::WIDTH_50, 1.3489795003921634),
            (names::WIDTH_90, 3.289707253902945),
            (names::WIDTH_95, 3.919927969080108),
            // z(2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi) at 1 and at -1.
            (names::CRPS, 0.6024413576276163),
            (names::SMSE, 1.0),
            (names::MSLL, -0.5),
            (names::Z_SQUARED, 1.0),
            // 68 % of the distribution lie within one deviation.
            (names::CALIBRATION_ERROR, 5.6 / 19.0),
        ] {
            let found = metrics.get(name).unwrap_or_else(|| panic!("no {name}"));
            assert!((found - value).abs() < 1e-9, "{name}: {found}, not {value}");
        }
        assert_eq!(metrics.iter().count(), 11, "nothing is known of the exact process");
        let shares = found.shares().unwrap();
        assert_eq!(shares.own.pit, [0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0]);
        let coverage = RowShares::nominal().map(|q| if q < 0.68 { 0.0 } else { 1.0 });
        assert!(shares.own.coverage.iter().copied().eq(coverage), "{shares:?}");
        assert!(shares.own.is_complete() && shares.exact.is_none());
    }

    #[test]
    fn predictions_without_rows_or_with_bad_variances_have_no_calibration() {
        for (y, mean, variance) in [
            (Array1::zeros(0), Array1::zeros(0), Array1::zeros(0)),
            (array![0.0, 1.0], array![0.0, 1.0], array![1.0, 0.0]),
            (array![0.0, 1.0], array![0.0, 1.0], array![1.0, -1.0]),
            (array![0.0, 1.0], array![0.0, 1.0], array![f64::INFINITY, 1.0]),
            (array![0.0, 1.0], array![0.0, 1.0], array![f64::NAN, 1.0]),
            (array![0.0, 1.0], array![f64::NAN, 1.0], array![1.0, 1.0]),
        ] {
            let found = calibrations(y, mean, variance);
            assert!(found.metrics().is_empty() && found.shares().is_none(), "{found:?}");
        }
        // Equal targets have no variance to compare an error with.
        let metrics = calibrations(array![0.5], array![0.0], array![1.0]).metrics();
        assert_eq!((metrics.get(names::SMSE), metrics.get(names::COVERAGE_50)), (None, Some(1.0)));
    }

    #[test]
    fn each_number_has_the_names_of_its_metrics() {
        let Calibrations { own, .. } = calibrations(array![0.0], array![0.0], array![1.0]);
        for (name, exact, _) in numbers(&own.unwrap()) {
            let of_exact = metric::find(name).and_then(metric::of_exact);
            assert_eq!(of_exact.map(|metric| metric.name), Some(exact), "{name}");
        }
    }
}
