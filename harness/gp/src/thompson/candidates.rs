//! Random points at which posterior samples are evaluated.

use gpbench_record::{Candidates, Exploit};
use ndarray::{Array2, ArrayView1, ArrayView2};
use rand::distr::weighted::WeightedIndex;
use rand::distr::{Distribution, Uniform};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// The candidates of a round (points x d): some are uniform on the unit cube, and come first; the others lie near rows of
/// `x` (n x d), which are chosen by their observed values `y`. Candidates outside of the cube are moved to its boundary.
pub fn candidates(
    of: &Candidates,
    length_scale: &[f64],
    x: ArrayView2<f64>,
    y: ArrayView1<f64>,
    rng: &mut impl Rng,
) -> Array2<f64> {
    let uniform = (of.explore * of.points as f64).round() as usize;
    let mut candidates = Array2::zeros((of.points, x.ncols()));
    let rows = Rows::weighted(of.exploit, y);
    for (index, mut candidate) in candidates.rows_mut().into_iter().enumerate() {
        if index < uniform {
            candidate.iter_mut().for_each(|value| *value = rng.random());
            continue;
        }
        let row = x.row(rows.sample(rng));
        for ((value, near), length) in candidate.iter_mut().zip(row).zip(length_scale) {
            let step: f64 = rng.sample(StandardNormal);
            *value = (near + of.nearby * length * step).clamp(0.0, 1.0);
        }
    }
    candidates
}

/// The distribution of the rows.
enum Rows {
    Weighted(WeightedIndex<f64>),
    /// Uniform, where all weights are 0.
    Uniform(Uniform<u64>),
}

impl Rows {
    /// Rows with probabilities proportional to a weight of their values; a negative weight counts as 0.
    fn weighted(exploit: Exploit, y: ArrayView1<f64>) -> Rows {
        let least = y.iter().copied().fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> = match exploit {
            Exploit::Shifted => y.iter().map(|value| value - least).collect(),
            Exploit::Public2023 => {
                let sum: f64 = y.iter().map(|value| value + least).sum();
                y.iter().map(|value| ((value + least) / sum).max(0.0)).collect()
            }
        };
        let uniform = || Uniform::new(0, y.len() as u64).expect("there is a row");
        WeightedIndex::new(weights).map_or_else(|_| Rows::Uniform(uniform()), Rows::Weighted)
    }

    fn sample(&self, rng: &mut impl Rng) -> usize {
        match self {
            Rows::Weighted(law) => law.sample(rng),
            Rows::Uniform(law) => law.sample(rng) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Axis};

    use super::*;
    use crate::seed::{self, Streams};

    /// The mean value of the rows that are chosen, where values are standard normal.
    fn mean_of_picks(exploit: Exploit) -> f64 {
        let y = Streams::new(5, &[]).normals("values", 50_000, 1).remove_axis(Axis(1));
        let rows = Rows::weighted(exploit, y.view());
        let rng = &mut seed::stream(5, &["picks"]);
        (0..200_000).map(|_| y[rows.sample(rng)]).sum::<f64>() / 200_000.0
    }

    /// The mean under probabilities proportional to `y - min` is 1 / |min|, where values have mean 0 and variance 1; the
    /// public law has the opposite sign. The smallest of 50 000 normal numbers is about -4.3.
    #[test]
    fn shifted_weights_prefer_high_values_and_the_public_ones_low_values() {
        // The standard error of a mean of 200 000 picks is 0.002.
        let (shifted, public) = (mean_of_picks(Exploit::Shifted), mean_of_picks(Exploit::Public2023));
        assert!((shifted - 0.225).abs() < 0.02, "{shifted}");
        assert!((public + 0.225).abs() < 0.02, "{public}");
    }

    #[test]
    fn equal_values_are_chosen_uniformly() {
        for exploit in [Exploit::Shifted, Exploit::Public2023] {
            let y = Array1::from_elem(10, 0.0);
            let rows = Rows::weighted(exploit, y.view());
            let rng = &mut seed::stream(6, &["picks"]);
            let mut counts = [0; 10];
            (0..10_000).for_each(|_| counts[rows.sample(rng)] += 1);
            // Four standard errors of a count are 120.
            assert!(counts.iter().all(|count: &i32| (count - 1000).abs() < 120), "{counts:?}");
        }
    }

    #[test]
    fn candidates_lie_in_the_cube_and_near_rows() {
        for d in [1, 3, 50] {
            let x = Array2::from_elem((4, d), 0.5);
            let of =
                Candidates { rounds: 1, points: 8, explore: 0.25, nearby: 0.5, exploit: Exploit::Shifted };
            let y = Array1::from_vec(vec![0.0, 1.0, 2.0, 3.0]);
            let rng = &mut seed::stream(7, &[]);
            let found = candidates(&of, &vec![0.01; d], x.view(), y.view(), rng);
            assert_eq!(found.dim(), (8, d));
            assert!(found.iter().all(|value| (0.0..=1.0).contains(value)));
            let near = |row: usize| found.row(row).iter().all(|value| (value - 0.5).abs() < 0.05);
            assert!((2..8).all(near));
            if d > 1 {
                assert!(!near(0) && !near(1));
            }
        }
    }
}
