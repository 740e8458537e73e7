//! Centres of clusters by k-means.
//!
//! It is implemented here because linfa's k-means needs an older ndarray. The centre of each row is found
//! independently, and the rows of each centre are summed in order, so results do not depend on the number of threads.

use gpbench_numerics::Pool;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Zip};
use rand::{Rng, RngExt};

use crate::threads::Here;

/// Maximum number of iterations; the first few have most of the effect.
const ITERATIONS: usize = 30;

/// Rows that are compared with all centres at once.
const ROWS: usize = 256;

/// Rows whose weights are summed together.
const CHUNK: usize = 4096;

/// `count` centres (count x d) of the rows of `x`, which is row-major with at least `count` rows.
pub(super) fn centres(x: ArrayView2<f64>, count: usize, rng: &mut impl Rng) -> Array2<f64> {
    let mut centres = x.select(Axis(0), &seeds(x, count, rng));
    let mut nearest = Vec::new();
    for _ in 0..ITERATIONS {
        let found = nearest_centres(x, centres.view());
        if found == nearest {
            break;
        }
        nearest = found;
        move_to_means(x, &nearest, &mut centres);
    }
    centres
}

/// The rows of the initial centres, each drawn with probability proportional to its squared distance to the earlier
/// ones. If all distances are 0, the first row that is not yet chosen is taken.
fn seeds(x: ArrayView2<f64>, count: usize, rng: &mut impl Rng) -> Vec<usize> {
    let n = x.nrows();
    let mut weights = vec![f64::INFINITY; n];
    let mut taken = vec![false; n];
    let mut chosen = rng.random_range(0..n);
    let mut seeds = Vec::with_capacity(count);
    loop {
        seeds.push(chosen);
        taken[chosen] = true;
        if seeds.len() == count {
            return seeds;
        }
        let sums = lower_weights(x, x.row(chosen), &mut weights);
        let target = rng.random::<f64>() * sums.iter().sum::<f64>();
        let drawn = draw(&weights, &sums, target);
        chosen = drawn.or_else(|| taken.iter().position(|taken| !taken)).expect("fewer seeds than rows");
    }
}

/// Lowers each row's weight to its squared distance to `seed`; returns the sums of the weights by chunk.
fn lower_weights(x: ArrayView2<f64>, seed: ArrayView1<f64>, weights: &mut [f64]) -> Vec<f64> {
    let chunks = x.axis_chunks_iter(Axis(0), CHUNK).zip(weights.chunks_mut(CHUNK));
    Here.map(chunks, |(rows, weights)| {
        for (row, weight) in rows.rows().into_iter().zip(&mut *weights) {
            let square = Zip::from(row).and(seed).fold(0.0, |sum, a, b| sum + (a - b) * (a - b));
            *weight = weight.min(square);
        }
        weights.iter().sum()
    })
}

/// The row at which the running sum of the weights exceeds `target`; `None` if all weights are 0.
fn draw(weights: &[f64], sums: &[f64], target: f64) -> Option<usize> {
    let mut before = 0.0;
    let mut last = None;
    for (chunk, sum) in sums.iter().enumerate() {
        if *sum > 0.0 {
            last = Some(chunk);
            if before + sum > target {
                break;
            }
        }
        before += sum;
    }
    // By rounding, `target` may equal the sum of all weights; the last row with a positive weight is then drawn.
    let chunk = last?;
    let start = chunk * CHUNK;
    let mut running = sums[..chunk].iter().sum::<f64>();
    let mut found = None;
    for (row, weight) in weights.iter().enumerate().skip(start).take(CHUNK).filter(|(_, w)| **w > 0.0) {
        found = Some(row);
        running += weight;
        if running > target {
            break;
        }
    }
    found
}

/// The nearest centre of each row; ties go to the first.
fn nearest_centres(x: ArrayView2<f64>, centres: ArrayView2<f64>) -> Vec<usize> {
    let squares: Array1<f64> = centres.rows().into_iter().map(|row| row.dot(&row)).collect();
    let found = Here.map(x.axis_chunks_iter(Axis(0), ROWS), |rows| {
        // |x - c|^2 minus |x|^2, which is the same for all centres.
        let mut distances = Array2::zeros((rows.nrows(), centres.nrows()));
        distances += &squares;
        general_mat_mul(-2.0, &rows, &centres.t(), 1.0, &mut distances);
        distances.rows().into_iter().map(first_least).collect::<Vec<_>>()
    });
    found.concat()
}

fn first_least(distances: ArrayView1<f64>) -> usize {
    let mut least = (0, f64::INFINITY);
    for (centre, &distance) in distances.iter().enumerate() {
        if distance < least.1 {
            least = (centre, distance);
        }
    }
    least.0
}

/// Moves each centre to the mean of its rows; a centre without rows does not move.
fn move_to_means(x: ArrayView2<f64>, nearest: &[usize], centres: &mut Array2<f64>) {
    let mut ends = vec![0; centres.nrows() + 1];
    nearest.iter().for_each(|&centre| ends[centre + 1] += 1);
    for centre in 0..centres.nrows() {
        ends[centre + 1] += ends[centre];
    }
    let starts = ends.clone();
    let mut members = vec![0; nearest.len()];
    for (row, &centre) in nearest.iter().enumerate() {
        members[ends[centre]] = row;
        ends[centre] += 1;
    }
    Here.for_each(centres.rows_mut().into_iter().enumerate(), |(centre, mut to)| {
        let members = &members[starts[centre]..starts[centre + 1]];
        if !members.is_empty() {
            to.fill(0.0);
            members.iter().for_each(|&row| to += &x.row(row));
            to /= members.len() as f64;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Streams, stream};

    #[test]
    fn a_row_is_drawn_in_proportion_to_its_weight() {
        let weights = [0.0, 1.0, 0.0, 3.0, 0.0];
        let drawn = |target| draw(&weights, &[4.0], target);
        assert_eq!([drawn(0.0), drawn(0.9), drawn(1.0), drawn(3.9)], [1, 1, 3, 3].map(Some));
        assert_eq!(drawn(4.0), Some(3), "rounding up to the end");
        assert_eq!(draw(&[0.0; 3], &[0.0], 0.0), None);
    }

    #[test]
    fn draws_cross_chunks_of_weights() {
        let mut weights = vec![0.0; 2 * CHUNK + 7];
        (weights[CHUNK + 1], weights[2 * CHUNK + 6]) = (2.0, 1.0);
        let sums = [0.0, 2.0, 1.0];
        let drawn = [0.0, 1.9, 2.0, 3.0].map(|target| draw(&weights, &sums, target));
        assert_eq!(drawn, [CHUNK + 1, CHUNK + 1, 2 * CHUNK + 6, 2 * CHUNK + 6].map(Some));
    }

    #[test]
    fn rows_have_their_nearest_centres_and_centres_the_means_of_their_rows() {
        let x = Streams::new(5, &[]).normals("x", 700, 3).as_standard_layout().to_owned();
        let mut centres = x.select(Axis(0), &[0, 100, 200, 300]);
        let nearest = nearest_centres(x.view(), centres.view());
        let square = |a: ArrayView1<f64>, b: ArrayView1<f64>| (&a - &b).mapv(|v| v * v).sum();
        for (row, &centre) in x.rows().into_iter().zip(&nearest) {
            let least = centres.rows().into_iter().map(|c| square(row, c)).fold(f64::INFINITY, f64::min);
            assert!(square(row, centres.row(centre)) <= least * (1.0 + 1e-12) + 1e-12);
        }
        move_to_means(x.view(), &nearest, &mut centres);
        for (c, centre) in centres.rows().into_iter().enumerate() {
            let rows: Vec<usize> = (0..700).filter(|&row| nearest[row] == c).collect();
            let mean = x.select(Axis(0), &rows).mean_axis(Axis(0)).unwrap();
            assert!((&mean - &centre).iter().all(|e| e.abs() < 1e-13));
        }
    }

    #[test]
    fn fewer_distinct_rows_than_centres_are_allowed() {
        let x = Array2::from_shape_fn((6, 2), |(i, _)| if i < 4 { 1.0 } else { -1.0 });
        let seeds = seeds(x.view(), 5, &mut stream(1, &[]));
        let mut sorted = seeds.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 5, "{seeds:?}");
    }
}
