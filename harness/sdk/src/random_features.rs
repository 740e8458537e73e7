//! Random Fourier features of the RBF kernel, with their pull-back (Rahimi and Recht 2007).
//!
//! phi(z) = signal_scale / sqrt(R/2) [sin(a), cos(a)], a = z frequencies / length_scale, with standard normal
//! frequencies, d x R/2, drawn once.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayRef2, ArrayView2, Axis, Zip, s};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::{Error, Result, Workers};
use gpbench_numerics::pieces::in_order;

/// Rows of a piece of a batch, one thread's unit of work.
const ROWS: usize = 512;

/// The frequencies of random features.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomFeatures {
    /// Standard normal numbers, d x R/2.
    frequencies: Array2<f64>,
}

/// The features of a batch, with the data that [`RandomFeatures::pull_back`] needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    angles: Array2<f64>,
    features: Array2<f64>,
    length_scale: f64,
}

/// Derivatives by the scales and the points of random features.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomGradient {
    /// Derivative by the logarithm of the signal scale.
    pub log_signal_scale: f64,
    /// Derivative by the logarithm of the length scale.
    pub log_length_scale: f64,
    /// Derivatives by the points, b x d.
    pub points: Array2<f64>,
}

impl Evaluated {
    /// The features, b x R, row-major: sines, then cosines.
    pub fn features(&self) -> ArrayView2<'_, f64> {
        self.features.view()
    }
}

impl RandomFeatures {
    /// `count` features, sines and cosines together, of points with `inputs` coordinates. The random stream is
    /// ChaCha8's of the seed.
    ///
    /// # Errors
    /// [`InvalidArgument`](Error::InvalidArgument) if `count` is odd or 0, or there are no inputs.
    pub fn new(inputs: usize, count: usize, seed: u64) -> Result<RandomFeatures> {
        if inputs == 0 || count == 0 || count % 2 == 1 {
            let text =
                format!("{count} random features of {inputs} inputs: they come in pairs, and need an input");
            return Err(Error::InvalidArgument(text));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let draw = || StandardNormal.sample(&mut rng);
        Ok(RandomFeatures { frequencies: Array2::from_shape_simple_fn((inputs, count / 2), draw) })
    }

    /// Features of given frequencies, d x R/2, as from a saved state.
    pub fn with_frequencies(frequencies: Array2<f64>) -> RandomFeatures {
        RandomFeatures { frequencies }
    }

    /// The frequencies, d x R/2.
    pub fn frequencies(&self) -> ArrayView2<'_, f64> {
        self.frequencies.view()
    }

    /// Number of features R.
    pub fn count(&self) -> usize {
        2 * self.frequencies.ncols()
    }

    /// The features of the rows of `points`, b x d.
    ///
    /// # Panics
    /// If the number of coordinates is another.
    pub fn evaluate(
        &self,
        points: &ArrayRef2<f64>,
        signal_scale: f64,
        length_scale: f64,
        workers: Workers<'_>,
    ) -> Evaluated {
        let (rows, half) = (points.nrows(), self.frequencies.ncols());
        let amplitude = signal_scale / (half as f64).sqrt();
        let mut angles = Array2::zeros((rows, half));
        let mut features = Array2::zeros((rows, 2 * half));
        let outputs =
            angles.axis_chunks_iter_mut(Axis(0), ROWS).zip(features.axis_chunks_iter_mut(Axis(0), ROWS));
        let pieces = outputs.zip(points.axis_chunks_iter(Axis(0), ROWS));
        workers.for_each(pieces, |((mut angles, features), points)| {
            general_mat_mul(1.0 / length_scale, &points, &self.frequencies, 0.0, &mut angles);
            let (sines, cosines) = features.split_at(Axis(1), half);
            Zip::from(&angles).and(sines).and(cosines).for_each(|angle, sine, cosine| {
                let (sin, cos) = angle.sin_cos();
                (*sine, *cosine) = (amplitude * sin, amplitude * cos);
            });
        });
        Evaluated { angles, features, length_scale }
    }

    /// Derivatives of a function of the features whose derivatives by the features are `cotangent`, b x R.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn pull_back(
        &self,
        evaluated: &Evaluated,
        cotangent: &ArrayRef2<f64>,
        workers: Workers<'_>,
    ) -> RandomGradient {
        assert_eq!(evaluated.features.dim(), cotangent.dim(), "one derivative a feature");
        let rows = cotangent.nrows();
        let mut points = Array2::zeros((rows, self.frequencies.nrows()));
        let (mut log_signal_scale, mut log_length_scale) = (0.0, 0.0);
        let piece = |piece: usize| ROWS * piece..rows.min(ROWS * (piece + 1));
        let make = |i: usize| {
            let part = |of: &ArrayRef2<f64>| of.slice(s![piece(i), ..]).to_owned();
            self.pull_back_of(
                &part(&evaluated.angles),
                &part(&evaluated.features),
                &part(cotangent),
                evaluated.length_scale,
            )
        };
        in_order(rows.div_ceil(ROWS), workers, make, |i, part| {
            log_signal_scale += part.log_signal_scale;
            log_length_scale += part.log_length_scale;
            points.slice_mut(s![piece(i), ..]).assign(&part.points);
        });
        RandomGradient { log_signal_scale, log_length_scale, points }
    }

    /// The derivatives of some rows.
    fn pull_back_of(
        &self,
        angles: &Array2<f64>,
        features: &Array2<f64>,
        cotangent: &Array2<f64>,
        length_scale: f64,
    ) -> RandomGradient {
        let half = self.frequencies.ncols();
        let (sines, cosines) = features.view().split_at(Axis(1), half);
        let (by_sines, by_cosines) = cotangent.view().split_at(Axis(1), half);
        let mut by_angles = &by_sines * &cosines;
        Zip::from(&mut by_angles)
            .and(by_cosines)
            .and(sines)
            .for_each(|sum, by_cosine, sine| *sum -= by_cosine * sine);
        RandomGradient {
            log_signal_scale: (cotangent * features).sum(),
            log_length_scale: -(&by_angles * angles).sum(),
            points: by_angles.dot(&self.frequencies.t()) / length_scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;
    use crate::differences::{assert_close, derivatives, uniform};
    use crate::kernel::Kernel;

    #[test]
    fn inner_products_approach_the_kernel() {
        let features = RandomFeatures::new(3, 20_000, 1).unwrap();
        let points = uniform(10, 3, 2);
        let phi = features.evaluate(&points, 1.3, 0.8, Workers::new(1));
        let kernel = Kernel { family: Family::Rbf.into(), signal_scale: 1.3, length_scale: vec![0.8] };
        let error = phi.features().dot(&phi.features().t()) - kernel.gram(&points, &points, Workers::new(1));
        // 1.69 / sqrt(10 000) is the largest standard deviation.
        assert!(error.iter().all(|error| error.abs() < 5.0 * 0.0169), "{error}");
        // A point's own inner product is exact.
        assert!(error.diag().iter().all(|error| error.abs() < 1e-13));
    }

    #[test]
    fn the_pull_back_is_the_derivative() {
        let features = RandomFeatures::new(2, 14, 3).unwrap();
        let (points, cotangent, workers) = (uniform(5, 2, 4), uniform(5, 14, 5), Workers::new(1));
        let value = |logs: &[f64], points: &Array2<f64>| {
            (&cotangent * &features.evaluate(points, logs[0].exp(), logs[1].exp(), workers).features()).sum()
        };
        let logs: [f64; 2] = [0.3, -0.4];
        let evaluated = features.evaluate(&points, logs[0].exp(), logs[1].exp(), workers);
        let found = features.pull_back(&evaluated, &cotangent, workers);
        let expected = derivatives(&logs, |logs| value(logs, &points));
        assert_close(&[found.log_signal_scale, found.log_length_scale], &expected, 1e-9);
        let reshape = |points: &[f64]| Array2::from_shape_vec((5, 2), points.to_vec()).unwrap();
        let expected = derivatives(points.as_slice().unwrap(), |points| value(&logs, &reshape(points)));
        assert_close(&found.points, &expected, 1e-8);
    }

    #[test]
    fn frequencies_are_those_of_the_seed() {
        let features = RandomFeatures::new(4, 10, 6).unwrap();
        assert_eq!((features.frequencies().dim(), features.count()), ((4, 5), 10));
        assert_eq!(features, RandomFeatures::new(4, 10, 6).unwrap());
        assert_ne!(features, RandomFeatures::new(4, 10, 7).unwrap());
        assert_eq!(features, RandomFeatures::with_frequencies(features.frequencies().to_owned()));
        for (inputs, count) in [(4, 0), (4, 5), (0, 4)] {
            assert!(RandomFeatures::new(inputs, count, 6).unwrap_err().to_string().contains("in pairs"));
        }
    }

    #[test]
    fn the_bits_do_not_depend_on_the_threads() {
        let features = RandomFeatures::new(3, 20, 8).unwrap();
        let (points, cotangent) = (uniform(1500, 3, 9), uniform(1500, 20, 10));
        let of = |threads| {
            let evaluated = features.evaluate(&points, 1.1, 0.7, Workers::new(threads));
            (features.pull_back(&evaluated, &cotangent, Workers::new(threads)), evaluated)
        };
        assert_eq!(of(1), of(3));
    }
}
