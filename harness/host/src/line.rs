//! The posterior along the input, for data sets that have one.
//!
//! The grid reaches half of the data's range beyond both of its ends, where a posterior goes back to
//! the prior: errors of iterative solvers stand between the two (Lin et al. 2023, Figure 4). A range
//! of very many length scales would be a blur; there, the grid shows the upper end of the data.

use gpbench_gp::exact::ExactGp;
use gpbench_gp::spectrum::Spectrum;
use gpbench_gp::{Kernel, pathwise};
use gpbench_record as record;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::system::{SetupError, System};

/// Places of the grid.
const PLACES: usize = 401;

/// Length scales that a grid spans at most, and those that it spans where that is too few for all.
const WIDEST: f64 = 100.0;
const WINDOW: f64 = 50.0;

/// Samples that are kept.
const SAMPLES: usize = 5;

/// Training rows that are kept.
const ROWS: usize = 300;

/// Columns of the low-rank factor beyond which a spectrum is not worth its time.
const MAX_RANK: usize = 2000;

/// Spectral basis functions that are kept: those of Lin et al. 2023, Figure 4.
const INDICES: [usize; 8] = [1, 2, 3, 4, 11, 16, 41, 45];

/// Exact answers on the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactLine {
    /// Predictive mean, one a place.
    pub mean: Array1<f64>,
    /// Variance of the latent function, one a place.
    pub latent_variance: Array1<f64>,
    /// Eigenvalues of the kernel matrix, largest first; none where the kernel is too rough.
    pub eigenvalues: Array1<f64>,
    /// Spectral basis functions, places x [`functions`].
    pub functions: Array2<f64>,
}

impl ExactLine {
    /// What an exact Gaussian process over the rows of `x` says of the grid; `None` with several inputs.
    pub fn of(gp: &ExactGp, x: ArrayView2<f64>) -> Option<ExactLine> {
        let kernel = gp.operator().kernel();
        let grid = grid(kernel, x)?;
        let (mean, latent_variance) = gp.predict(grid.view());
        let (eigenvalues, functions) = match Spectrum::of(kernel, x, MAX_RANK) {
            Some(spectrum) => {
                let indices = functions(spectrum.eigenvalues.len());
                let functions = spectrum.basis_functions(kernel, x, grid.view(), &indices);
                (spectrum.eigenvalues, functions)
            }
            None => {
                eprintln!("the spectrum needs more than {MAX_RANK} columns; it is left out");
                (Array1::zeros(0), Array2::zeros((PLACES, 0)))
            }
        };
        Some(ExactLine { mean, latent_variance, eigenvalues, functions })
    }
}

/// Indices of the basis functions that are kept of a spectrum of this many eigenvalues.
pub fn functions(eigenvalues: usize) -> Vec<usize> {
    INDICES.into_iter().filter(|&index| index <= eigenvalues).collect()
}

/// The grid of inputs, as a column; `None` with several inputs, or where all rows have the same.
fn grid(kernel: &Kernel, x: ArrayView2<f64>) -> Option<Array2<f64>> {
    let &[length_scale] = kernel.length_scale.as_slice() else { return None };
    let [low, high] = range(x.column(0));
    if low >= high {
        return None;
    }
    let reach = 0.5 * (high - low);
    let (low, high) = match (high - low) + 2.0 * reach {
        all if all <= WIDEST * length_scale => (low - reach, high + reach),
        _ => (high - 0.75 * WINDOW * length_scale, high + 0.25 * WINDOW * length_scale),
    };
    let places = Array1::linspace(low, high, PLACES);
    Some(places.insert_axis(Axis(1)))
}

/// The posterior that a solution stands for, along the input; `None` with several inputs, or where
/// a number is not finite.
///
/// # Errors
/// Where the prior cannot be drawn on the grid.
pub fn curve(
    system: &System,
    exact: Option<&ExactLine>,
    solution: ArrayView2<f64>,
) -> Result<Option<record::Curve>, SetupError> {
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

fn spectrum(exact: &ExactLine) -> Option<record::Spectrum> {
    let ExactLine { eigenvalues, functions: on_grid, .. } = exact;
    let count = eigenvalues.len();
    let numbered = |index: usize| (index, six_digits(eigenvalues[index - 1]));
    let functions = functions(count).into_iter().zip(on_grid.columns());
    (count > 0).then(|| record::Spectrum {
        eigenvalues: thinned(count).into_iter().map(numbered).collect(),
        functions: functions.map(|(index, function)| (index, rounded(function))).collect(),
    })
}

/// 1, 2, .. `count`: every index up to a hundred, then one for each twentieth more.
fn thinned(count: usize) -> Vec<usize> {
    let next = |index: &usize| Some(if *index < 100 { index + 1 } else { index + index / 20 });
    let mut indices: Vec<usize> = std::iter::successors(Some(1), next).take_while(|i| *i <= count).collect();
    if indices.last() != Some(&count) {
        indices.push(count);
    }
    indices
}

/// Training rows under the grid: all, or as many at even distances as are kept.
fn some_rows(x: ArrayView1<f64>, y: ArrayView1<f64>, grid: ArrayView1<f64>) -> Vec<[f64; 2]> {
    let [low, high] = range(grid);
    let rows = x.iter().zip(&y).filter(|(x, _)| (low..=high).contains(*x));
    let mut all: Vec<[f64; 2]> = rows.map(|(&x, &y)| [six_digits(x), six_digits(y)]).collect();
    // By even steps through the file, so that the kept rows crowd where all do.
    let count = all.len().min(ROWS);
    all = (0..count).map(|i| all[i * all.len() / count]).collect();
    all.sort_by(|a, b| a[0].total_cmp(&b[0]));
    all
}

fn range(values: ArrayView1<f64>) -> [f64; 2] {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    [low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

fn rounded(values: ArrayView1<f64>) -> Vec<f64> {
    values.iter().copied().map(six_digits).collect()
}

pub(crate) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use gpbench_gp::Family;

    use super::*;

    fn ends(length_scale: f64) -> [f64; 2] {
        let kernel = Kernel::new(Family::Rbf, 1.0, &[length_scale], 1);
        let x = Array1::linspace(-1.0, 3.0, 9).insert_axis(Axis(1));
        range(grid(&kernel, x.view()).unwrap().column(0))
    }

    #[test]
    fn a_grid_reaches_beyond_the_data_and_is_never_a_blur() {
        assert_eq!(ends(0.1), [-3.0, 5.0]);
        assert_eq!(ends(0.01), [3.0 - 0.375, 3.0 + 0.125]);
        for d in [1, 2] {
            let kernel = Kernel::new(Family::Rbf, 1.0, &[1.0], d);
            assert!(grid(&kernel, Array2::zeros((4, d)).view()).is_none());
        }
    }

    #[test]
    fn kept_rows_are_ordered_and_few() {
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
