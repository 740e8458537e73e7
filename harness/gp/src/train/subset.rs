//! Initial hyperparameters from exact fits to subsets of the data.

use ndarray::{ArrayView1, ArrayView2, Axis};
use rand::Rng;
use rand::seq::index;

use super::{Adam, Hyperparameters, Parameters};
use crate::Family;
use crate::exact::{ExactError, ExactGp};

/// The heuristic for large data sets of Lin et al. 2023, appendix A.1: maximise the exact likelihood on the rows
/// nearest to each of some random rows, and average the hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsetFit {
    /// Number of random training rows, without repeats.
    pub centroids: usize,
    /// Rows of each subset, the centroid among them; all rows if there are fewer.
    pub size: usize,
    /// Steps of Adam on each subset.
    pub steps: u64,
    /// Learning rate of these steps.
    pub learning_rate: f64,
}

impl SubsetFit {
    /// The averages of fits that start at `initial`. `x` is n x d, `y` has n entries. Takes `centroids * steps`
    /// factorisations and inverses of order `size`.
    ///
    /// # Errors
    /// Where a kernel matrix is singular in double precision.
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
    ) -> Result<Hyperparameters, ExactError> {
        let (n, d) = x.dim();
        assert!(self.centroids > 0 && self.size > 0 && n > 0, "a fit needs centroids and rows");
        let centroids = index::sample(rng, n, self.centroids.min(n)).into_vec();
        let mut sums = vec![0.0; initial.scales().len()];
        for &centroid in &centroids {
            let rows = nearest(x, centroid, self.size);
            let (x, y) = (x.select(Axis(0), &rows), y.select(Axis(0), &rows));
            let mut parameters = Parameters::new(initial);
            let mut adam = Adam::new(sums.len());
            for _ in 0..self.steps {
                let scales = parameters.hyperparameters();
                let kernel = scales.kernel(family, d);
                let gp = ExactGp::fit(&kernel, scales.noise_scale, x.view(), y.view(), threads)?;
                let gradient = parameters.chain(&gp.gradient(x.view()));
                adam.ascend(&mut parameters.unconstrained, &gradient, self.learning_rate);
            }
            let found = parameters.hyperparameters().scales();
            sums.iter_mut().zip(found).for_each(|(sum, scale)| *sum += scale);
        }
        let means: Vec<f64> = sums.into_iter().map(|sum| sum / centroids.len() as f64).collect();
        Ok(Hyperparameters {
            noise_scale: means[0],
            signal_scale: means[1],
            length_scale: means[2..].to_vec(),
        })
    }
}

/// The rows of least Euclidean distance to a row, in their own order; ties go to the earlier.
fn nearest(x: ArrayView2<f64>, centroid: usize, size: usize) -> Vec<usize> {
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
            let subset = SubsetFit { centroids, size, steps, learning_rate: 0.1 };
            let rng = &mut streams.stream("centroids");
            subset.fit(Family::Rbf, &initial, x.view(), y.view(), rng, 1).unwrap()
        };
        let (one, three) = (fit(1, 60, 40), fit(3, 100, 40));
        for (a, b) in one.scales().into_iter().zip(three.scales()) {
            assert!((a - b).abs() < 1e-12);
        }
        assert!((0.05..0.25).contains(&one.noise_scale), "{one:?}");
        // Smaller subsets give less accurate scales.
        let parts = fit(3, 30, 40);
        assert!((0.05..0.4).contains(&parts.noise_scale), "{parts:?}");
        assert_eq!(fit(2, 30, 0), initial);
    }
}
