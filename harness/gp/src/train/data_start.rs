//! Initial hyperparameters from the data.
//!
//! The marginal likelihood has local optima, and gradient ascent from scales of 1 ends in a bad one where the
//! function varies faster than that: noise then explains everything. Here a few starts are made from the distances of
//! the rows and the variance of the targets, and the one of greatest exact likelihood on a sample of the rows is
//! taken. That costs one Cholesky factor of the sample's order for each start, and no gradient.

use std::sync::Arc;

use gpbench_statistics::geometric_mean;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rand::seq::index;
use rand::{Rng, RngExt};
use rayon::ThreadPool;

use super::Hyperparameters;
use super::subset::nearest;
use crate::exact::ExactGp;
use crate::{Family, ThreadsRefused, UniqueInputs, thread_pool};

/// Most rows on which starts are compared.
const ROWS: usize = 512;

/// Neighbourhoods in a sample of the rows.
const CENTRES: usize = 4;

/// Pairs of rows whose distances are taken.
const PAIRS: usize = 4096;

/// Factor between two lengths in a row.
const RATIO: f64 = 3.0;

/// Shares of the variance that the noise may have, where nothing is known of it.
const SHARES: [f64; 3] = [0.1, 0.01, 0.5];

/// Smallest and largest share that replicates may give.
const SHARE_LIMITS: [f64; 2] = [1e-6, 0.95];

/// Least degrees of freedom for an estimate of the noise from replicates.
const LEAST_FREEDOM: usize = 10;

/// Most rows among which replicates are looked for.
const MOST_ROWS: usize = 200_000;

/// Scales that the user gives, which no start changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GivenScales {
    /// Standard deviation of the noise.
    pub noise_scale: Option<f64>,
    /// Standard deviation of the latent function.
    pub signal_scale: Option<f64>,
    /// One length scale for all inputs, or one for each.
    pub length_scale: Option<Vec<f64>>,
}

/// What starts are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct DataStarts {
    /// Family of the kernel.
    pub family: Family,
    /// Number of starts; at least one is made.
    pub starts: usize,
    /// Whether all inputs share one length scale.
    pub shared_length_scale: bool,
    /// Scales that are given.
    pub given: GivenScales,
}

/// Starts, and the rows on which they are compared.
#[derive(Debug)]
pub struct StartSample {
    family: Family,
    /// Starts, the likelier ones first.
    starts: Vec<Hyperparameters>,
    /// m x d.
    x: Array2<f64>,
    y: Array1<f64>,
    pool: Arc<ThreadPool>,
}

impl DataStarts {
    /// Makes the starts for the rows of `x` (n x d) and their targets `y`, under a prior mean of 0.
    ///
    /// Length scales are multiples of the median distance along each input, from three times the typical distance of
    /// two rows down to that of neighbours, by factors of three. The noise has a tenth of the variance of the
    /// targets, a hundredth or half of it; or, where inputs repeat, the variance within replicates, pooled over all
    /// of them. Further starts are drawn between these limits.
    ///
    /// # Errors
    /// Where the threads cannot be started.
    ///
    /// # Panics
    /// Without rows.
    pub fn sample(
        &self,
        x: ArrayView2<f64>,
        y: ArrayView1<f64>,
        rng: &mut impl Rng,
        threads: usize,
    ) -> Result<StartSample, ThreadsRefused> {
        assert!(x.nrows() > 0 && x.nrows() == y.len(), "a target for each row, and at least one row");
        let rows = sampled_rows(x, ROWS, rng);
        let sample = x.select(Axis(0), &rows);
        let distances = Distances::of(x, sample.view(), rng);
        let variance = y.dot(&y) / y.len() as f64;
        let variance = if variance > 0.0 { variance } else { 1.0 };
        let starts = self.starts(&distances, variance, replicate_variance(x, y), rng);
        let y = y.select(Axis(0), &rows);
        Ok(StartSample { family: self.family, starts, x: sample, y, pool: thread_pool(threads)? })
    }

    /// The starts: all lengths with each share of the noise, and then random ones.
    fn starts(
        &self,
        distances: &Distances,
        variance: f64,
        replicates: Option<f64>,
        rng: &mut impl Rng,
    ) -> Vec<Hyperparameters> {
        let noise = self.given.noise_scale.map(|noise| noise * noise).or(replicates);
        let of_noise = noise.map(|noise| (noise / variance).clamp(SHARE_LIMITS[0], SHARE_LIMITS[1]));
        let shares = of_noise.map_or(SHARES.to_vec(), |share| vec![share]);
        let levels = if self.given.length_scale.is_some() { vec![1.0] } else { distances.levels() };
        let all = shares.iter().flat_map(|share| levels.iter().map(move |level| (*level, *share)));
        let mut starts: Vec<Hyperparameters> = all
            .take(self.starts.max(1))
            .map(|(level, share)| self.scales(distances.lengths(level), share, variance))
            .collect();
        let least = levels.iter().copied().fold(f64::INFINITY, f64::min);
        let most = levels.iter().copied().fold(0.0, f64::max);
        while starts.len() < self.starts {
            let mut between = |low: f64, high: f64| low * (high / low).powf(rng.random::<f64>());
            let share = between(SHARES[1] / 10.0, SHARES[2]);
            let level = between(least, most);
            let mut lengths = distances.lengths(level);
            lengths.iter_mut().for_each(|length| *length *= between(1.0 / RATIO, RATIO));
            starts.push(self.scales(lengths, share, variance));
        }
        starts
    }

    /// A start of these length scales, whose noise has this share of the variance.
    fn scales(&self, lengths: Vec<f64>, share: f64, variance: f64) -> Hyperparameters {
        let GivenScales { noise_scale, signal_scale, length_scale } = &self.given;
        let lengths = match self.shared_length_scale {
            true => vec![geometric_mean(lengths.iter().copied())],
            false => lengths,
        };
        Hyperparameters {
            noise_scale: noise_scale.unwrap_or((share * variance).sqrt()),
            signal_scale: signal_scale.unwrap_or(((1.0 - share) * variance).sqrt()),
            length_scale: length_scale.clone().unwrap_or(lengths),
        }
    }
}

impl StartSample {
    /// Rows on which starts are compared.
    pub fn rows(&self) -> usize {
        self.x.nrows()
    }

    /// The exact log marginal likelihood of the sample over its rows; `None` where the kernel matrix is singular in
    /// double precision.
    pub fn likelihood(&self, of: &Hyperparameters) -> Option<f64> {
        let kernel = of.kernel(self.family, self.x.ncols());
        let (x, y) = (self.x.view(), self.y.view());
        let gp = ExactGp::fit_on(&kernel, of.noise_scale, x, y, &self.pool).ok()?;
        let per_row = gp.log_marginal_likelihood / self.rows() as f64;
        per_row.is_finite().then_some(per_row)
    }

    /// The start of the greatest likelihood, the first of equal ones, and this likelihood over the rows; `None` where
    /// the kernel matrix of each is singular.
    pub fn best(&self) -> Option<(&Hyperparameters, f64)> {
        let known = self.starts.iter().filter_map(|start| Some((start, self.likelihood(start)?)));
        known.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// The best start, or the first one where no likelihood is known.
    pub fn chosen(&self) -> &Hyperparameters {
        self.best().map_or(&self.starts[0], |(start, _)| start)
    }
}

/// At most `size` rows, ascending: half of them random, and the neighbours of some of these. Random rows alone would
/// be too far apart to show how a function varies over short distances.
fn sampled_rows(x: ArrayView2<f64>, size: usize, rng: &mut impl Rng) -> Vec<usize> {
    let n = x.nrows();
    if n <= size {
        return (0..n).collect();
    }
    let mut rows = index::sample(rng, n, size / 2).into_vec();
    let centres: Vec<usize> = rows.iter().copied().take(CENTRES).collect();
    rows.extend(centres.into_iter().flat_map(|centre| nearest(x, centre, size / 2 / CENTRES)));
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Distances of the rows, in units of the median distance along each input.
struct Distances {
    /// Median distance of two rows along each input, without zeros; 1 where all rows are alike.
    medians: Vec<f64>,
    /// Median distance of two rows.
    typical: f64,
    /// First quartile of the distances of the rows of the sample to their nearest neighbours.
    neighbours: f64,
}

impl Distances {
    fn of(x: ArrayView2<f64>, sample: ArrayView2<f64>, rng: &mut impl Rng) -> Distances {
        let (n, d) = x.dim();
        let pairs: Vec<(usize, usize)> =
            (0..PAIRS).map(|_| (rng.random_range(0..n), rng.random_range(0..n))).collect();
        let along = |k: usize| pairs.iter().map(move |&(i, j)| (x[(i, k)] - x[(j, k)]).abs());
        let medians: Vec<f64> = (0..d).map(|k| quantile(along(k), 0.5).unwrap_or(1.0)).collect();
        let distance = |a: ArrayView1<f64>, b: ArrayView1<f64>| {
            let terms = a.iter().zip(b).zip(&medians).map(|((a, b), median)| ((a - b) / median).powi(2));
            terms.sum::<f64>().sqrt()
        };
        let typical = quantile(pairs.iter().map(|&(i, j)| distance(x.row(i), x.row(j))), 0.5).unwrap_or(1.0);
        let to_nearest = sample.rows().into_iter().map(|row| {
            let others = sample.rows().into_iter().map(|other| distance(row, other));
            others.filter(|distance| *distance > 0.0).fold(f64::INFINITY, f64::min)
        });
        let neighbours =
            quantile(to_nearest.filter(|distance| distance.is_finite()), 0.25).unwrap_or(typical);
        Distances { medians, typical, neighbours }
    }

    /// Lengths in units of the medians: the typical distance, a third and three times of it, and then shorter ones
    /// down to the distance of neighbours.
    fn levels(&self) -> Vec<f64> {
        let mut levels = vec![self.typical, self.typical / RATIO, self.typical * RATIO];
        let shorter = (2..).map(|k| self.typical / RATIO.powi(k));
        levels.extend(shorter.take_while(|level| *level > self.neighbours));
        levels
    }

    /// Length scales of this length.
    fn lengths(&self, level: f64) -> Vec<f64> {
        self.medians.iter().map(|median| median * level).collect()
    }
}

/// A quantile of the positive values; `None` without any.
fn quantile(values: impl Iterator<Item = f64>, share: f64) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| *value > 0.0).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get((share * values.len() as f64) as usize).copied()
}

/// The variance of the targets within replicates, pooled over all of them; `None` where few inputs repeat or
/// replicates do not differ.
fn replicate_variance(x: ArrayView2<f64>, y: ArrayView1<f64>) -> Option<f64> {
    let rows = x.nrows().min(MOST_ROWS);
    let (x, y) = (x.slice(s![..rows, ..]), y.slice(s![..rows]));
    let unique = UniqueInputs::of(x);
    let freedom = rows - unique.count();
    if freedom < LEAST_FREEDOM {
        return None;
    }
    let mut means = Array1::<f64>::zeros(unique.count());
    unique.of_row.iter().zip(y).for_each(|(&of, target)| means[of] += target);
    means /= &unique.counts;
    let squares = unique.of_row.iter().zip(y).map(|(&of, target)| (target - means[of]).powi(2));
    let variance = squares.sum::<f64>() / freedom as f64;
    (variance > 0.0).then_some(variance)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::seed::Streams;

    fn wanted(starts: usize) -> DataStarts {
        let (family, given) = (Family::Matern32, GivenScales::default());
        DataStarts { family, starts, shared_length_scale: false, given }
    }

    /// Hours of `n` days in units of their standard deviation, some of them missing, and a daily period with noise.
    fn hourly(days: usize) -> (Array2<f64>, Array1<f64>) {
        let hours: Vec<f64> = (0..24 * days).filter(|hour| hour % 97 > 7).map(|hour| hour as f64).collect();
        let noise = Streams::new(3, &["hourly"]).normals("noise", hours.len(), 1);
        let scale = 24.0 * days as f64 / 12_f64.sqrt();
        let x = Array2::from_shape_fn((hours.len(), 1), |(row, _)| hours[row] / scale);
        let daily = |row: usize| (std::f64::consts::TAU * hours[row] / 24.0).sin();
        let y = Array1::from_shape_fn(hours.len(), |row| 1.4 * daily(row) + 0.2 * noise[(row, 0)]);
        (x, y)
    }

    #[test]
    fn a_daily_period_gets_a_length_below_a_day() {
        let (x, y) = hourly(62);
        let sample = |threads| {
            let rng = &mut Streams::new(1, &[]).stream("starts");
            wanted(24).sample(x.view(), y.view(), rng, threads).unwrap()
        };
        let of_one = sample(1);
        let (best, likelihood) = of_one.best().unwrap();
        let day = 12_f64.sqrt() / 62.0;
        assert!((0.05 * day..day).contains(&best.length_scale[0]), "{best:?}");
        let ones = Hyperparameters { noise_scale: 1.0, signal_scale: 1.0, length_scale: vec![1.0] };
        assert!(likelihood > of_one.likelihood(&ones).unwrap() + 0.3, "{likelihood}");
        assert!(of_one.rows() > ROWS / 2 && of_one.rows() <= ROWS);
        // The same on any number of threads.
        assert_eq!(sample(2).best(), Some((best, likelihood)));
    }

    #[test]
    fn replicates_give_the_noise() {
        let x = Array2::from_shape_fn((60, 1), |(row, _)| (row / 3) as f64);
        let y = Array1::from_shape_fn(60, |row| (row / 3) as f64 + 0.1 * (row % 3) as f64);
        let variance = replicate_variance(x.view(), y.view()).unwrap();
        assert!((variance - 0.01).abs() < 1e-12, "{variance}");
        assert_eq!(replicate_variance(x.slice(s![..12, ..]), y.slice(s![..12])), None);
        let rng = &mut Streams::new(1, &[]).stream("starts");
        let sample = wanted(40).sample(x.view(), y.view(), rng, 1).unwrap();
        assert!((sample.starts[0].noise_scale - 0.1).abs() < 1e-9, "{:?}", sample.starts[0]);
        assert_eq!(sample.starts.len(), 40);
    }

    #[test]
    fn given_scales_stay_and_a_shared_length_is_one_number() {
        let streams = Streams::new(2, &[]);
        let (x, y) = (streams.normals("x", 30, 3), streams.normals("y", 30, 1));
        let given = GivenScales { noise_scale: Some(0.25), ..GivenScales::default() };
        let starts = DataStarts { given, shared_length_scale: true, ..wanted(6) };
        let sample = starts.sample(x.view(), y.column(0), &mut streams.stream("starts"), 1).unwrap();
        assert_eq!(sample.starts.len(), 6);
        assert!(sample.starts.iter().all(|start| start.noise_scale == 0.25 && start.length_scale.len() == 1));
        let given = GivenScales { length_scale: Some(vec![0.5, 1.0, 2.0]), ..GivenScales::default() };
        let starts = DataStarts { given, ..wanted(3) };
        let sample = starts.sample(x.view(), y.column(0), &mut streams.stream("starts"), 1).unwrap();
        assert!(sample.starts.iter().all(|start| start.length_scale == [0.5, 1.0, 2.0]));
        assert!(sample.starts[0].noise_scale < sample.starts[2].noise_scale);
    }

    #[test]
    fn data_without_variation_have_a_start_all_the_same() {
        let (x, y) = (array![[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], array![0.0, 0.0, 0.0]);
        let rng = &mut Streams::new(1, &[]).stream("starts");
        let sample = wanted(5).sample(x.view(), y.view(), rng, 1).unwrap();
        let scales = sample.chosen().scales();
        assert!(scales.iter().all(|scale| scale.is_finite() && *scale > 0.0), "{scales:?}");
    }
}
