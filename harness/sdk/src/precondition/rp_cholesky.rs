//! Partial Cholesky factor with pivots drawn at random, many at a time.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::ROWS;
use super::pivoted_cholesky::{NEGLIGIBLE, PivotedCholesky, take_columns};
use crate::{Error, Operator, Purpose, Result, Workers, lapack};

/// Largest number of candidates in a round: enough for matrix products, and few enough that the entries between them
/// are few beside the columns of the accepted ones.
const CANDIDATES: usize = 128;

impl PivotedCholesky {
    /// Takes `rank` steps, or fewer if nothing remains, with pivots drawn with probabilities proportional
    /// to the remaining diagonal.
    ///
    /// Randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2022) in its accelerated form (Epperly,
    /// Tropp and Webber 2024, Algorithm 2): candidates are drawn together from the diagonal that remains
    /// before them, and each is accepted with the probability that turns this into a draw from what remains
    /// after the ones accepted before it. Pivots have the same distribution as if drawn one at a
    /// time, but columns are computed together, in matrix products: n k^2 operations. Asks for k columns of A and, for each
    /// round, the square between its candidates. Fails if the diagonal of K is negative or not finite.
    pub fn random(
        operator: Operator<'_>,
        noise_variance: f64,
        rank: usize,
        seed: u64,
        workers: Workers<'_>,
    ) -> Result<PivotedCholesky> {
        PivotedCholesky::random_while(operator, noise_variance, rank, seed, workers, |_| true)
    }

    /// As [`random`](Self::random), while `goes_on` says so, which is asked after each round of candidates: it gets the sum
    /// of the remaining diagonal after each column. The columns do not depend on where it ends.
    pub fn random_while(
        operator: Operator<'_>,
        noise_variance: f64,
        rank: usize,
        seed: u64,
        workers: Workers<'_>,
        mut goes_on: impl FnMut(&[f64]) -> bool,
    ) -> Result<PivotedCholesky> {
        let n = operator.n();
        let rank = rank.min(n);
        let mut rng = Purpose::Pivots.generator(seed, 0);
        let mut remaining = operator.diagonal()? - noise_variance;
        let largest = remaining.fold(0.0, |max: f64, &entry| max.max(entry));
        if !remaining.iter().all(|&entry| entry >= -NEGLIGIBLE * largest && entry.is_finite()) {
            return Err(Error::new("the kernel matrix has a diagonal that is negative or not finite"));
        }
        let negligible = NEGLIGIBLE * largest;
        let mut factor = Array2::zeros((n, rank).f());
        let (mut pivots, mut remaining_trace) = (Vec::with_capacity(rank), Vec::with_capacity(rank));
        while pivots.len() < rank {
            // Smaller entries are rounding errors, and are not drawn.
            remaining.mapv_inplace(|entry| if entry <= negligible { 0.0 } else { entry });
            let wanted = rank - pivots.len();
            let Some(candidates) = draw(&remaining, CANDIDATES.min(wanted), &mut rng) else { break };
            let m = pivots.len();
            let (done, mut rest) = factor.multi_slice_mut((s![.., ..m], s![.., m..]));
            let mut between = Array2::zeros((candidates.len(), candidates.len()).f());
            operator.block(&candidates[..], &candidates[..], &mut between)?;
            for ((i, j), entry) in between.indexed_iter_mut() {
                if candidates[i] == candidates[j] {
                    *entry -= noise_variance;
                }
            }
            let explained = done.select(Axis(0), &candidates);
            general_mat_mul(-1.0, &explained, &explained.t(), 1.0, &mut between);
            let accepted = reject(&candidates, &mut between, negligible, &mut rng);
            if accepted.is_empty() {
                // The first is always accepted, unless its remaining diagonal is rounding error.
                candidates.iter().for_each(|&row| remaining[row] = 0.0);
                continue;
            }
            let rows: Vec<usize> = accepted.iter().map(|&position| candidates[position]).collect();
            let mut lower = Array2::zeros((rows.len(), rows.len()).f());
            for (j, &column) in accepted.iter().enumerate() {
                accepted
                    .iter()
                    .enumerate()
                    .skip(j)
                    .for_each(|(i, &row)| lower[[i, j]] = between[[row, column]]);
            }
            let mut columns = rest.slice_mut(s![.., ..rows.len()]);
            operator.block(0..n, &rows[..], &mut columns)?;
            rows.iter().enumerate().for_each(|(j, &row)| columns[[row, j]] -= noise_variance);
            eliminate(&done.view(), &rows, &lower, &mut columns, workers)?;
            for (j, column) in columns.columns_mut().into_iter().enumerate() {
                let mut column = column;
                // Known values are set exactly, so that rounding errors do not accumulate.
                pivots.iter().for_each(|&earlier: &usize| column[earlier] = 0.0);
                column[rows[j]] = lower[[j, j]];
                remaining.zip_mut_with(&column, |left, entry| *left = (*left - entry * entry).max(0.0));
                remaining[rows[j]] = 0.0;
                pivots.push(rows[j]);
                remaining_trace.push(remaining.sum());
            }
            if !goes_on(&remaining_trace) {
                break;
            }
        }
        let factor = if pivots.len() == rank { factor } else { take_columns(&factor, pivots.len()) };
        Ok(PivotedCholesky { factor, pivots, remaining_trace })
    }
}

/// Independent draws with probabilities proportional to `weights`; none if all weights are zero.
fn draw(weights: &Array1<f64>, count: usize, rng: &mut ChaCha8Rng) -> Option<Vec<usize>> {
    let mut sum = 0.0;
    let mut cumulative = weights.to_vec();
    for weight in &mut cumulative {
        sum += *weight;
        *weight = sum;
    }
    let last = weights.iter().rposition(|&weight| weight > 0.0)?;
    // The first whose cumulative sum exceeds the number has a positive weight itself.
    let one = |rng: &mut ChaCha8Rng| {
        let at = sum * rng.random::<f64>();
        cumulative.partition_point(|&sum| sum <= at).min(last)
    };
    Some((0..count).map(|_| one(rng)).collect())
}

/// Goes through the candidates in order. The probability to accept one is its remaining diagonal after those accepted
/// before it, divided by its remaining diagonal before the first.
///
/// `between` is the remaining K between the candidates. Returns the positions of those
/// accepted; their columns of `between`, from the diagonal down, then hold the Cholesky factor.
fn reject(
    candidates: &[usize],
    between: &mut Array2<f64>,
    negligible: f64,
    rng: &mut ChaCha8Rng,
) -> Vec<usize> {
    let count = candidates.len();
    let before = between.diag().to_owned();
    let mut accepted: Vec<usize> = Vec::new();
    for j in 0..count {
        // Drawn for every candidate, so that the stream does not depend on rounding.
        let at: f64 = rng.random();
        let square = between[[j, j]];
        let repeated = accepted.iter().any(|&position| candidates[position] == candidates[j]);
        if repeated || !(square > negligible) || at * before[j] >= square {
            continue;
        }
        let root = square.sqrt();
        let column = between.slice(s![j.., j]).mapv(|entry| entry / root);
        between.slice_mut(s![j.., j]).assign(&column);
        for k in j + 1..count {
            let share = column[k - j];
            between.slice_mut(s![k.., k]).scaled_add(-share, &column.slice(s![k - j..]));
        }
        accepted.push(j);
    }
    accepted
}

/// columns = (columns - L L\[rows, :\]^T) lower^-T, for the columns of K at the pivots `rows`.
fn eliminate(
    done: &ArrayView2<'_, f64>,
    rows: &[usize],
    lower: &Array2<f64>,
    columns: &mut ndarray::ArrayViewMut2<'_, f64>,
    workers: Workers<'_>,
) -> Result<()> {
    let explained = done.select(Axis(0), rows);
    let tiles = columns.axis_chunks_iter_mut(Axis(0), ROWS).zip(done.axis_chunks_iter(Axis(0), ROWS));
    let outcomes = workers.map(tiles, |(mut tile, done)| {
        general_mat_mul(-1.0, &done, &explained.t(), 1.0, &mut tile);
        Ok(lapack::divide_by_lower_transposed(&mut tile, lower)?)
    });
    outcomes.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights_and_leave_out_zeros() {
        let weights = Array1::from(vec![0.0, 3.0, 0.0, 1.0, 0.0]);
        let mut rng = Purpose::Pivots.generator(3, 0);
        let drawn = draw(&weights, 4000, &mut rng).unwrap();
        let ones = drawn.iter().filter(|&&row| row == 1).count();
        assert!(drawn.iter().all(|row| [1, 3].contains(row)));
        // 3000 expected, with a standard deviation of 27.
        assert!((2880..3120).contains(&ones), "{ones}");
        assert_eq!(draw(&Array1::zeros(3), 4, &mut rng), None);
    }
}
