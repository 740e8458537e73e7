//! Initial hyperparameters from exact fits to subsets of the data.

use gpbench_numerics::Alone;
use ndarray::{ArrayView1, ArrayView2, Axis};
use rand::Rng;
use rand::seq::index;

use super::{Adam, Hyperparameters, Parameters};
use crate::exact::{ExactError, ExactGp};
use crate::{Family, ThreadsRefused};

/// The heuristic for large data sets of Lin et al. 2023, appendix A.1: maximise the exact likelihood on the rows
/// nearest to each of some random rows, and average the hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsetFit {
    /// Number of random training rows, without repeats.
    pub centroids: usize,
    /// Rows of each subset, the centroid among them; all rows if there are fewer.
    pub size: usize,
    /// Maximum number of steps of Adam on each subset.
    pub steps: u64,
    /// Learning rate of these steps.
    pub learning_rate: f64,
    /// Gain in the log marginal likelihood per row over ten steps below which a fit has converged.
    pub tolerance: f64,
}

/// Hyperparameters averaged over fits.
#[derive(Debug, Clone, PartialEq)]
pub struct SubsetFitted {
    /// The averaged scales.
    pub hyperparameters: Hyperparameters,
    /// Number of fits that took all steps without converging.
    pub unconverged: usize,
}

/// Steps over which the gain of a fit is measured, because not every step of Adam increases the likelihood.
const WINDOW: usize = 10;

impl SubsetFit {
    /// The averages of fits that start at `initial`. `x` is n x d, `y` has n entries. Takes at most
    /// `centroids * (steps + 1)` factorisations and inverses of order `size`.
    ///
    /// A fit that reaches a kernel matrix that is singular in double precision ends there, and counts as one that has not
    /// converged.
    ///
    /// # Errors
    /// Where the threads cannot be started.
    ///
    /// # Panics
    /// Without centroids or rows.
    pub fn fit(
        &self,
        family: Family,
        initial: &Hyperparameters,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        rng: &mut impl Rng,
        threads: usize,
    ) -> Result<SubsetFitted, ThreadsRefused> {
        let n = x.nrows();
        assert!(self.centroids > 0 && self.size > 0 && n > 0, "a fit needs centroids and rows");
        let centroids = index::sample(rng, n, self.centroids.min(n)).into_vec();
        let mut sums = vec![0.0; initial.scales().len()];
        let mut unconverged = 0;
        for &centroid in &centroids {
            let rows = nearest(x, centroid, self.size);
            let (x, y) = (x.select(Axis(0), &rows), y.select(Axis(0), &rows));
            let (found, converged) = self.fit_one(family, initial, x.view(), y.view(), threads)?;
            unconverged += usize::from(!converged);
            sums.iter_mut().zip(found.scales()).for_each(|(sum, scale)| *sum += scale);
        }
        let means: Vec<f64> = sums.into_iter().map(|sum| sum / centroids.len() as f64).collect();
        let hyperparameters = Hyperparameters {
            noise_scale: means[0],
            signal_scale: means[1],
            length_scale: means[2..].to_vec(),
        };
        Ok(SubsetFitted { hyperparameters, unconverged })
    }

    /// The hyperparameters of the greatest likelihood along one fit, and whether it has converged.
    fn fit_one(
        &self,
        family: Family,
        initial: &Hyperparameters,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        threads: usize,
    ) -> Result<(Hyperparameters, bool), ThreadsRefused> {
        let (n, d) = x.dim();
        let mut parameters = Parameters::new(initial);
        let mut adam = Adam::new(parameters.unconstrained.len());
        let mut best = (f64::NEG_INFINITY, initial.clone());
        // The greatest likelihood per row up to each step.
        let mut reached: Vec<f64> = Vec::new();
        loop {
            let scales = parameters.hyperparameters();
            let gp = match ExactGp::fit(&scales.kernel(family, d), scales.noise_scale, x, y, threads) {
                Ok(gp) => gp,
                Err(ExactError::Singular(_)) => return Ok((best.1, false)),
                Err(ExactError::Threads(refused)) => return Err(refused),
            };
            let likelihood = gp.log_marginal_likelihood / n as f64;
            if likelihood > best.0 {
                best = (likelihood, scales);
            }
            reached.push(best.0);
            let before = reached.len().checked_sub(WINDOW + 1).map(|index| reached[index]);
            if before.is_some_and(|before| best.0 - before < self.tolerance) {
                return Ok((best.1, true));
            }
            if adam.steps == self.steps {
                return Ok((best.1, false));
            }
            let gradient = parameters.chain(&gp.gradient(x));
            adam.ascend(&mut parameters.unconstrained, &gradient, self.learning_rate, Alone);
        }
    }
}

/// The rows of least Euclidean distance to a row, in their own order; ties go to the earlier.
pub(super) fn nearest(x: ArrayView2<f64>, centroid: usize, size: usize) -> Vec<usize> {
    let centre = x.row(centroid);
    let distance = |row: ArrayView1<f64>| (&row - &centre).mapv(|difference| difference * difference).sum();
    let distances: Vec<f64> = x.rows().into_iter().map(distance).collect();
    let mut rows: Vec<usize> = (0..x.nrows()).collect();
    rows.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
    rows.truncate(size);
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::seed::Streams;

    #[test]
    fn the_nearest_rows_are_the_centroid_and_its_neighbours() {
        let x = array![[0.0], [5.0], [1.0], [2.0], [1.0], [-9.0]];
        assert_eq!(nearest(x.view(), 2, 3), [0, 2, 4]);
        assert_eq!(nearest(x.view(), 5, 10), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn parts_that_are_the_whole_are_fitted_as_the_whole() {
        let streams = Streams::new(5, &[]);
        let (x, noise) = (streams.normals("x", 60, 1), streams.normals("noise", 60, 1));
        let y = x.column(0).mapv(f64::sin) + &noise.column(0) * 0.1;
        let initial = Hyperparameters { noise_scale: 1.0, signal_scale: 1.0, length_scale: vec![1.0] };
        let fit = |centroids: usize, size: usize, steps: u64| {
            let subset = SubsetFit { centroids, size, steps, learning_rate: 0.1, tolerance: 1e-3 };
            let rng = &mut streams.stream("centroids");
            subset.fit(Family::Rbf, &initial, x.view(), y.view(), rng, 1).unwrap()
        };
        let (one, three) = (fit(1, 60, 60), fit(3, 100, 60));
        assert_eq!((one.unconverged, three.unconverged), (0, 0));
        for (a, b) in one.hyperparameters.scales().into_iter().zip(three.hyperparameters.scales()) {
            assert!((a - b).abs() < 1e-12);
        }
        assert!((0.05..0.25).contains(&one.hyperparameters.noise_scale), "{one:?}");
        // Smaller subsets give less accurate scales.
        let parts = fit(3, 30, 60);
        assert!((0.05..0.4).contains(&parts.hyperparameters.noise_scale), "{parts:?}");
        assert_eq!(fit(2, 30, 0), SubsetFitted { hyperparameters: initial.clone(), unconverged: 2 });
    }

    /// Published scales are as small as 0.0065, and a fit begins at 1.
    #[test]
    fn a_fit_reaches_small_scales_and_says_when_it_has_not() {
        let streams = Streams::new(5, &[]);
        let (x, noise) = (streams.normals("x", 200, 1), streams.normals("noise", 200, 1));
        let y = x.column(0).mapv(f64::sin) + &noise.column(0) * 0.01;
        let initial = Hyperparameters { noise_scale: 1.0, signal_scale: 1.0, length_scale: vec![1.0] };
        let fit = |steps, learning_rate| {
            let subset = SubsetFit { centroids: 1, size: 200, steps, learning_rate, tolerance: 1e-3 };
            let rng = &mut streams.stream("centroids");
            subset.fit(Family::Rbf, &initial, x.view(), y.view(), rng, 1).unwrap()
        };
        let found = fit(200, 0.1);
        assert_eq!(found.unconverged, 0);
        assert!((0.008..0.012).contains(&found.hyperparameters.noise_scale), "{found:?}");
        let slow = fit(100, 0.03);
        assert_eq!(slow.unconverged, 1, "{slow:?}");
        assert!(slow.hyperparameters.noise_scale > 0.05, "{slow:?}");
    }
}
