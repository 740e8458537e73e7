//! The exact posterior along the input, for data sets that have one.
//!
//! The grid reaches half of the data's range beyond both of its ends, where a posterior returns to
//! the prior: errors of iterative solvers are largest between the two (Lin et al. 2023, Figure 4). A plot over a range
//! of very many length scales would show no detail; in this case the grid covers the upper end of the data.

use gpbench_gp::Kernel;
use gpbench_gp::exact::ExactGp;
use gpbench_gp::spectrum::Spectrum;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// Points of the grid.
const POINTS: usize = 401;

/// Largest number of length scales that a grid spans; where the whole range has more, the grid spans exactly this
/// number.
const WIDEST: f64 = 100.0;
const WINDOW: f64 = 50.0;

/// Columns of the low-rank factor beyond which a spectrum takes too long.
const MAX_RANK: usize = 2000;

/// Spectral basis functions that are recorded: those of Lin et al. 2023, Figure 4.
const INDICES: [usize; 8] = [1, 2, 3, 4, 11, 16, 41, 45];

/// Largest number of numbers of an [`ExactCurve`].
pub const MOST_NUMBERS: usize = POINTS * (2 + INDICES.len()) + MAX_RANK;

/// Exact results on the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactCurve {
    /// Predictive mean, one per point.
    pub mean: Array1<f64>,
    /// Variance of the latent function, one per point.
    pub latent_variance: Array1<f64>,
    /// Eigenvalues of the kernel matrix, largest first; none where the kernel is too rough.
    pub eigenvalues: Array1<f64>,
    /// Spectral basis functions, points x [`functions`].
    pub functions: Array2<f64>,
}

impl ExactCurve {
    /// The results of an exact Gaussian process over the rows of `x`; `None` with several inputs.
    pub fn of(gp: &ExactGp, x: ArrayView2<f64>) -> Option<ExactCurve> {
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
                crate::log::line(format_args!(
                    "the spectrum needs more than {MAX_RANK} columns; it is not computed"
                ));
                (Array1::zeros(0), Array2::zeros((POINTS, 0)))
            }
        };
        Some(ExactCurve { mean, latent_variance, eigenvalues, functions })
    }
}

/// Indices of the basis functions that are recorded for a spectrum of this many eigenvalues.
pub fn functions(eigenvalues: usize) -> Vec<usize> {
    INDICES.into_iter().filter(|&index| index <= eigenvalues).collect()
}

/// The grid of inputs, as a column; `None` with several inputs, or where all rows have the same input.
pub(crate) fn grid(kernel: &Kernel, x: ArrayView2<f64>) -> Option<Array2<f64>> {
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
    let points = Array1::linspace(low, high, POINTS);
    Some(points.insert_axis(Axis(1)))
}

/// The smallest and the largest value.
pub(crate) fn range(values: ArrayView1<f64>) -> [f64; 2] {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    [low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
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
    fn a_grid_reaches_beyond_the_data_and_shows_few_length_scales() {
        assert_eq!(ends(0.1), [-3.0, 5.0]);
        assert_eq!(ends(0.01), [3.0 - 0.375, 3.0 + 0.125]);
        for d in [1, 2] {
            let kernel = Kernel::new(Family::Rbf, 1.0, &[1.0], d);
            assert!(grid(&kernel, Array2::zeros((4, d)).view()).is_none());
        }
    }
}
