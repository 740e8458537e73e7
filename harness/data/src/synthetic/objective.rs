//! Objectives: draws from a Gaussian process that can be asked at any point, again and again.
//!
//! Random numbers depend on the seed, on the objective's own parameters and on how often it was asked, so everyone who asks
//! the same points in the same order gets the same answers, to the last bit.

use gpbench_gp::seed::Streams;
use gpbench_gp::{GrowingDraw, Kernel, RandomFeatures};
use gpbench_record::{GpDraw, Objective, ObjectiveDraw};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rand::RngExt;

use super::gp_draw::{DrawError, check};

/// An objective with the state of its draw.
#[derive(Debug, Clone)]
pub struct DrawnObjective {
    of: Objective,
    streams: Streams,
    draw: Draw,
    /// How often it was asked.
    asked: usize,
}

#[derive(Debug, Clone)]
enum Draw {
    /// A linear model of random features, with its weights (m x 1).
    Features(RandomFeatures, Array2<f64>),
    /// By a Cholesky factor of the points so far.
    Exact(GrowingDraw),
}

/// Rows of an initial design.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Places, n x d, row-major.
    pub x: Array2<f64>,
    /// Values without noise, n.
    pub values: Array1<f64>,
    /// Observed values, n.
    pub observed: Array1<f64>,
}

impl DrawnObjective {
    /// Draws an objective that has not been asked.
    ///
    /// # Errors
    /// If a size or a scale is impossible.
    pub fn new(of: &Objective, seed: u64) -> Result<DrawnObjective, DrawError> {
        let Objective { n, d, kernel, signal_scale, noise_scale, length_scale, draw } = *of;
        check(&GpDraw { n, n_test: 1, d, kernel, signal_scale, noise_scale, length_scale })?;
        let kernel = Kernel::new(kernel, signal_scale, &[length_scale], d);
        let key = serde_json::to_string(of).expect("plain data serialises");
        let streams = Streams::new(seed, &["objective", &key]);
        let draw = match draw {
            ObjectiveDraw::Features { features, frequencies } => {
                let rng = &mut streams.stream("frequencies");
                let features = RandomFeatures::draw(&kernel, frequencies, features, rng);
                let weights = streams.normals("weights", features.count(), 1);
                Draw::Features(features, weights)
            }
            ObjectiveDraw::Exact => Draw::Exact(GrowingDraw::new(&kernel)),
        };
        Ok(DrawnObjective { of: of.clone(), streams, draw, asked: 0 })
    }

    /// Asks the initial design, whose points are uniform on the unit cube. It must be asked first.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn design(&mut self) -> Result<Design, DrawError> {
        assert_eq!(self.asked, 0, "the design is asked before anything else");
        let x = self.uniform("design", self.of.n);
        let (values, observed) = self.ask(x.view())?;
        Ok(Design { x, values, observed })
    }

    /// Values at the rows of `x` (m x d), without noise and with it; on the rayon pool of the caller.
    ///
    /// # Errors
    /// If an exact draw would have more than [`Objective::MOST_EXACT_POINTS`] points.
    pub fn ask(&mut self, x: ArrayView2<f64>) -> Result<(Array1<f64>, Array1<f64>), DrawError> {
        let normals = |purpose: &str| {
            let numbers = self.streams.normals(&format!("{purpose}/{}", self.asked), x.nrows(), 1);
            numbers.remove_axis(Axis(1))
        };
        let values = match &mut self.draw {
            Draw::Features(features, weights) => features.apply(x, weights.view()).remove_axis(Axis(1)),
            Draw::Exact(draw) => {
                let points = draw.len() + x.nrows();
                if points > Objective::MOST_EXACT_POINTS {
                    return Err(DrawError::TooManyPoints { points });
                }
                draw.extend(x, normals("values").view())
            }
        };
        let observed = &values + &(self.of.noise_scale * normals("noise"));
        self.asked += 1;
        Ok((values, observed))
    }

    /// The random features that the objective is made of, unless it is drawn exactly.
    pub fn features(&self) -> Option<&RandomFeatures> {
        match &self.draw {
            Draw::Features(features, _) => Some(features),
            Draw::Exact(_) => None,
        }
    }

    /// Random streams of the seed and the objective.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    fn uniform(&self, purpose: &str, rows: usize) -> Array2<f64> {
        let mut rng = self.streams.stream(purpose);
        Array2::from_shape_simple_fn((rows, self.of.d), || rng.random())
    }
}

/// The largest value of an objective, without noise, after each of `steps` batches of points that are uniform on the unit
/// cube. The objective has been asked its initial design, whose largest value is `best`.
///
/// # Errors
/// Those of [`DrawnObjective::ask`].
pub fn random_search(
    mut objective: DrawnObjective,
    mut best: f64,
    steps: u64,
    batch: usize,
) -> Result<Vec<f64>, DrawError> {
    let mut found = Vec::new();
    for step in 0..steps {
        let x = objective.uniform(&format!("random-search/{step}"), batch);
        best = best.max(largest(objective.ask(x.view())?.0.view()));
        found.push(best);
    }
    Ok(found)
}

/// The largest of some values.
pub fn largest(values: ArrayView1<f64>) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use gpbench_gp::{Family, seed};
    use gpbench_numerics::lapack;
    use gpbench_record::Frequencies;
    use ndarray::ShapeBuilder;
    use rand_distr::StandardNormal;

    use super::*;

    fn objective(draw: ObjectiveDraw) -> Objective {
        let (signal_scale, noise_scale, length_scale) = (1.5, 0.1, 0.4);
        Objective { n: 30, d: 3, kernel: Family::Matern32, signal_scale, noise_scale, length_scale, draw }
    }

    const FEW: ObjectiveDraw = features(Frequencies::MultivariateT);

    const fn features(frequencies: Frequencies) -> ObjectiveDraw {
        ObjectiveDraw::Features { features: 256, frequencies }
    }

    /// The largest deviation of the second moments of 5000 draws at 20 points from the kernel, in standard errors.
    fn deviation(draw: ObjectiveDraw) -> f64 {
        let mut rng = seed::stream(4, &["places"]);
        let x = Array2::from_shape_simple_fn((20, 3), || rng.random::<f64>());
        let of = objective(draw);
        let draws = 5000;
        let mut values = Array2::zeros((20, draws));
        for seed in 0..draws {
            let mut objective = DrawnObjective::new(&of, seed as u64).unwrap();
            // In parts, so that an exact draw has to extend its factor.
            let (first, second) = x.view().split_at(Axis(0), 12);
            let both = [first, second].map(|x| objective.ask(x).unwrap().0);
            let both = both.iter().flatten();
            values.column_mut(seed).iter_mut().zip(both).for_each(|(to, value)| *to = *value);
        }
        let exact = Kernel::new(of.kernel, of.signal_scale, &[of.length_scale], 3).matrix(x.view(), x.view());
        let mut worst: f64 = 0.0;
        for i in 0..20 {
            for j in 0..=i {
                let products = &values.row(i) * &values.row(j);
                let mean = products.mean().unwrap();
                let error = products.std(1.0) / (draws as f64).sqrt();
                worst = worst.max((mean - exact[(i, j)]).abs() / error);
            }
        }
        worst
    }

    #[test]
    fn draws_have_the_covariance_of_the_kernel() {
        // The largest of 210 deviations; 4 is exceeded by chance in about one of 75 such tests.
        for draw in [ObjectiveDraw::Exact, FEW] {
            let worst = deviation(draw);
            assert!(worst < 4.0, "{draw:?}: {worst}");
        }
    }

    #[test]
    fn independent_components_have_another_covariance() {
        assert!(deviation(features(Frequencies::ProductT)) > 6.0);
    }

    #[test]
    fn asking_again_gives_the_same_bits_and_seeds_and_parameters_count() {
        for draw in [ObjectiveDraw::Exact, FEW] {
            let of = objective(draw);
            let asked = |of: &Objective, seed: u64| {
                let mut objective = DrawnObjective::new(of, seed).unwrap();
                let design = objective.design().unwrap();
                let again = objective.ask(design.x.view().split_at(Axis(0), 5).0).unwrap();
                (design, again)
            };
            let (design, (values, observed)) = asked(&of, 1);
            assert_eq!(asked(&of, 1), (design.clone(), (values.clone(), observed.clone())));
            assert_ne!(asked(&of, 2).0, design);
            assert_ne!(asked(&Objective { length_scale: 0.5, ..of.clone() }, 1).0.x, design.x);
            // Up to the jitter of an exact draw, the function is the same; the noise is not.
            let gaps = |a: &Array1<f64>, b: &Array1<f64>| {
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect::<Vec<_>>()
            };
            assert!(gaps(&values, &design.values).iter().all(|gap| *gap < 6.0 * 4.5e-5 * of.signal_scale));
            assert!(gaps(&observed, &design.observed).iter().all(|gap| *gap > 1e-4));
            let noise = &design.observed - &design.values;
            assert!((noise.std(0.0) / of.noise_scale - 1.0).abs() < 0.5);
        }
    }

    #[test]
    fn an_exact_draw_refuses_too_many_points() {
        let mut objective =
            DrawnObjective::new(&Objective { n: 2, ..objective(ObjectiveDraw::Exact) }, 0).unwrap();
        let x = Array2::zeros((Objective::MOST_EXACT_POINTS + 1, 3));
        let error = objective.ask(x.view()).unwrap_err();
        assert_eq!(error.to_string(), "an exact objective was to be asked at 5001 points; 5000 are the most");
    }

    /// The mean largest value of random search, against independent dense draws at uniform points.
    #[test]
    fn random_search_finds_what_uniform_points_hold() {
        let of = Objective { n: 10, d: 1, ..objective(FEW) };
        let draws = 1000;
        let found: Array1<f64> = (0..draws)
            .map(|seed| {
                let mut objective = DrawnObjective::new(&of, seed).unwrap();
                let best = largest(objective.design().unwrap().values.view());
                *random_search(objective, best, 3, 5).unwrap().last().unwrap()
            })
            .collect();
        let kernel = Kernel::new(of.kernel, of.signal_scale, &[of.length_scale], 1);
        let mut rng = seed::stream(8, &["simulation"]);
        let expected: Array1<f64> = (0..draws)
            .map(|_| {
                let x = Array2::from_shape_simple_fn((25, 1), || rng.random::<f64>());
                let mut factor = kernel.matrix(x.view(), x.view()).reversed_axes();
                factor.diag_mut().mapv_inplace(|v| v + 1e-9);
                lapack::cholesky(&mut factor).unwrap();
                let mut values: Array2<f64> =
                    Array2::from_shape_simple_fn((25, 1).f(), || rng.sample(StandardNormal));
                lapack::multiply_lower(&factor, false, &mut values).unwrap();
                largest(values.column(0))
            })
            .collect();
        let error = ((found.var(1.0) + expected.var(1.0)) / draws as f64).sqrt();
        let gap = found.mean().unwrap() - expected.mean().unwrap();
        assert!(gap.abs() < 4.0 * error, "{gap} with a standard error of {error}");
    }
}
