//! The posterior of a solution along the input, for data sets with one input.

use gpbench_gp::pathwise;
use gpbench_record as record;
use ndarray::{ArrayView1, ArrayView2};

use crate::exact_curve::{ExactCurve, functions, grid, range};
use crate::rounding::six_digits;
use crate::system::{System, SystemError};

/// Number of samples that are recorded.
const SAMPLES: usize = 5;

/// Largest number of training rows that are recorded.
const ROWS: usize = 300;

/// The posterior of a solution along the input; `None` with several inputs, or where
/// a number is not finite.
///
/// # Errors
/// Where the prior cannot be drawn on the grid.
pub fn posterior_curve(
    system: &System,
    exact: Option<&ExactCurve>,
    solution: ArrayView2<f64>,
) -> Result<Option<record::Curve>, SystemError> {
    let System { data, operator, .. } = system;
    let x = data.x_train.view();
    let Some(grid) = grid(operator.kernel(), x).filter(|_| solution.iter().all(|v| v.is_finite())) else {
        return Ok(None);
    };
    let draws = system.prior_at(grid.view())?;
    let prediction = pathwise::predict(system.predictor(), grid.view(), solution, draws.view());
    let deviation = prediction.sample_variance.map(|variance| variance.mapv(f64::sqrt));
    let mut curve = record::Curve {
        x: rounded(grid.column(0)),
        mean: rounded(prediction.mean.view()),
        deviation: deviation.as_ref().map_or_else(Vec::new, |deviation| rounded(deviation.view())),
        samples: prediction.samples.columns().into_iter().take(SAMPLES).map(rounded).collect(),
        range: range(x.column(0)).map(six_digits),
        rows: some_rows(x.column(0), data.y_train.view(), grid.column(0)),
        ..record::Curve::default()
    };
    if let Some(exact) = exact {
        let exact_deviation = exact.latent_variance.mapv(f64::sqrt);
        curve.exact_mean = rounded(exact.mean.view());
        curve.exact_deviation = rounded(exact_deviation.view());
        curve.spectrum = spectrum(exact);
        if let Some(deviation) = deviation {
            let (mean, deviation) = (&prediction.mean - &exact.mean, deviation - exact_deviation);
            curve.w2 = rounded((&mean * &mean + &deviation * &deviation).mapv(f64::sqrt).view());
        }
    }
    let numbers = curve.mean.iter().chain(&curve.deviation).chain(curve.samples.iter().flatten());
    let is_finite = numbers.chain(&curve.w2).all(|number| number.is_finite());
    Ok(is_finite.then_some(curve))
}

fn spectrum(exact: &ExactCurve) -> Option<record::SpectralBasis> {
    let ExactCurve { eigenvalues, functions: on_grid, .. } = exact;
    let count = eigenvalues.len();
    let numbered = |index: usize| (index, six_digits(eigenvalues[index - 1]));
    let functions = functions(count).into_iter().zip(on_grid.columns());
    (count > 0).then(|| record::SpectralBasis {
        eigenvalues: thinned(count).into_iter().map(numbered).collect(),
        functions: functions.map(|(index, function)| (index, rounded(function))).collect(),
    })
}

/// Indices from 1 to `count`: every index up to a hundred, then indices that grow by a twentieth each.
fn thinned(count: usize) -> Vec<usize> {
    let next = |index: &usize| Some(if *index < 100 { index + 1 } else { index + index / 20 });
    let mut indices: Vec<usize> = std::iter::successors(Some(1), next).take_while(|i| *i <= count).collect();
    if indices.last() != Some(&count) {
        indices.push(count);
    }
    indices
}

/// Training rows within the grid: all of them, or [`ROWS`] evenly spaced ones.
fn some_rows(x: ArrayView1<f64>, y: ArrayView1<f64>, grid: ArrayView1<f64>) -> Vec<[f64; 2]> {
    let [low, high] = range(grid);
    let rows = x.iter().zip(&y).filter(|(x, _)| (low..=high).contains(*x));
    let mut all: Vec<[f64; 2]> = rows.map(|(&x, &y)| [six_digits(x), six_digits(y)]).collect();
    // Rows are taken at even steps in file order, so the recorded rows are dense where all rows are.
    let count = all.len().min(ROWS);
    all = (0..count).map(|i| all[i * all.len() / count]).collect();
    all.sort_by(|a, b| a[0].total_cmp(&b[0]));
    all
}

fn rounded(values: ArrayView1<f64>) -> Vec<f64> {
    values.iter().copied().map(six_digits).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::Array1;

    use super::*;

    #[test]
    fn recorded_rows_are_ordered_and_few() {
        let x: Array1<f64> = (0..1000).map(|i| f64::from(i * 37 % 1000)).collect();
        let rows = some_rows(x.view(), (-&x).view(), ndarray::aview1(&[-1.0, 500.0]));
        assert!(rows.len() == ROWS && rows.is_sorted_by(|a, b| a[0] < b[0]));
        assert!(rows.iter().all(|[x, y]| *x == -y && *x <= 500.0));
    }

    #[test]
    fn eigenvalues_are_thinned_to_the_last() {
        assert_eq!(thinned(3), [1, 2, 3]);
        let many = thinned(2000);
        assert!(many.len() < 200 && many[..100].last() == Some(&100) && many.last() == Some(&2000));
    }
}
