//! The distribution of the rank statistic, counted over all orders.

use crate::distribution::normal_cdf;

/// Pairs up to which the distribution is computed rather than approximated by a normal one.
const EXACT: usize = 10_000;

/// Old and new times of one seed, in any unit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stratum {
    /// Old times.
    pub old: Vec<f64>,
    /// New times.
    pub new: Vec<f64>,
}

/// How extreme times rank, if only chance orders old and new ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// Number of orders with a statistic at least as large, and of all orders; `None` where integers overflow.
    pub orders: Option<(u128, u128)>,
    /// The probability, count over total.
    pub p: f64,
}

/// The tail of new times that rank high. Equal times count as if the new one were the smaller, which errs towards no
/// change.
pub fn tail_of_larger(strata: &[Stratum]) -> Tail {
    tail(&shapes(strata), strata.iter().map(|s| larger(&s.new, &s.old)).sum())
}

/// The tail of new times that rank low. Equal times count as if the new one were the larger.
pub fn tail_of_smaller(strata: &[Stratum]) -> Tail {
    tail(&shapes(strata), strata.iter().map(|s| larger(&s.old, &s.new)).sum())
}

/// Number of ways to choose m of m + n; `None` beyond 128 bits.
pub(super) fn choose(m: usize, n: usize) -> Option<u128> {
    let (least, most) = (m.min(n) as u128, m.max(n) as u128);
    (1..=least).try_fold(1_u128, |ways, k| Some(ways.checked_mul(most + k)? / k))
}

/// Pairs in which the first exceeds the second.
fn larger(first: &[f64], second: &[f64]) -> usize {
    first.iter().map(|a| second.iter().filter(|b| a > b).count()).sum()
}

/// Numbers of old and new times, of strata that have both.
fn shapes(strata: &[Stratum]) -> Vec<(usize, usize)> {
    strata.iter().map(|s| (s.old.len(), s.new.len())).filter(|&(m, n)| m > 0 && n > 0).collect()
}

/// The tail of a sum of at least `u`.
fn tail(shapes: &[(usize, usize)], u: usize) -> Tail {
    let pairs: usize = shapes.iter().map(|(m, n)| m * n).sum();
    if pairs > EXACT {
        let variance: f64 = shapes.iter().map(|&(m, n)| (m * n * (m + n + 1)) as f64 / 12.0).sum();
        let z = (u as f64 - 0.5 - pairs as f64 / 2.0) / variance.sqrt();
        return Tail { orders: None, p: normal_cdf(-z) };
    }
    if let Some((count, total)) = counted(shapes, u) {
        return Tail { orders: Some((count, total)), p: count as f64 / total as f64 };
    }
    let sums = shapes.iter().fold(vec![1.0], |sum, &(m, n)| convolved(&sum, &shares(m, n)));
    Tail { orders: None, p: sums[u.min(pairs)..].iter().sum::<f64>().min(1.0) }
}

/// Number of orders with a sum of at least `u`, and of all orders, unless these overflow. No count exceeds the number
/// of all orders.
fn counted(shapes: &[(usize, usize)], u: usize) -> Option<(u128, u128)> {
    let total = shapes.iter().try_fold(1_u128, |total, &(m, n)| total.checked_mul(choose(m, n)?))?;
    let counts = |m: usize, n: usize| distribution(m, n, 1_u128, |old, new, _, _| old + new);
    let sums = shapes.iter().fold(vec![1], |sum, &(m, n)| convolved(&sum, &counts(m, n)));
    Some((sums[u.min(sums.len() - 1)..].iter().sum(), total))
}

/// Probability of each value of U.
fn shares(m: usize, n: usize) -> Vec<f64> {
    distribution(m, n, 1.0, |old, new, m, n| (m as f64 * old + n as f64 * new) / (m + n) as f64)
}

/// The distribution of U for m old and n new times. The largest of all times is an old one, and U is that of the
/// others, or it is a new one, and adds m pairs; `join` joins the two, given m and n.
fn distribution<T: Copy + Default>(
    m: usize,
    n: usize,
    one: T,
    join: impl Fn(T, T, usize, usize) -> T,
) -> Vec<T> {
    // A row over 0 to n new times, while the old ones grow.
    let mut row: Vec<Vec<T>> = vec![vec![one]; n + 1];
    for old in 1..=m {
        for new in 1..=n {
            let of_old = |u: usize| row[new].get(u).copied().unwrap_or_default();
            let of_new =
                |u: usize| u.checked_sub(old).and_then(|u| row[new - 1].get(u)).copied().unwrap_or_default();
            let next = (0..=old * new).map(|u| join(of_old(u), of_new(u), old, new)).collect();
            row[new] = next;
        }
    }
    row.swap_remove(n)
}

/// The distribution of a sum of two.
fn convolved<T>(a: &[T], b: &[T]) -> Vec<T>
where
    T: Copy + Default + std::ops::AddAssign + std::ops::Mul<Output = T>,
{
    let mut out = vec![T::default(); a.len() + b.len() - 1];
    for (i, p) in a.iter().enumerate() {
        for (j, q) in b.iter().enumerate() {
            out[i + j] += *p * *q;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stratum(old: &[f64], new: &[f64]) -> Stratum {
        Stratum { old: old.to_vec(), new: new.to_vec() }
    }

    #[test]
    fn small_samples_are_as_counted_by_hand() {
        // All six orders of two and two: U is 0, 1, 2 (twice), 3, 4.
        assert_eq!((0..5).map(|u| counted(&[(2, 2)], u).unwrap().0).collect::<Vec<_>>(), [6, 5, 4, 2, 1]);
        let separated = stratum(&[1.0, 2.0], &[3.0, 4.0]);
        assert_eq!(tail_of_larger(std::slice::from_ref(&separated)).orders, Some((1, 6)));
        assert_eq!(tail_of_smaller(std::slice::from_ref(&separated)).orders, Some((6, 6)));
        assert_eq!(tail_of_larger(&[separated.clone(), separated]).orders, Some((1, 36)));
        // Ties are evidence of no change.
        let ties = stratum(&[1.0; 3], &[1.0; 3]);
        assert_eq!((tail_of_larger(std::slice::from_ref(&ties)).p, tail_of_smaller(&[ties]).p), (1.0, 1.0));
        assert_eq!(tail_of_larger(&[]).p, 1.0);
    }

    #[test]
    fn floats_and_integers_agree() {
        for (m, n) in [(1, 1), (5, 5), (3, 8), (12, 7)] {
            let (shares, total) = (shares(m, n), choose(m, n).unwrap());
            assert_eq!(shares.len(), m * n + 1);
            for u in 0..=m * n {
                let count = counted(&[(m, n)], u).unwrap().0;
                assert!((shares[u..].iter().sum::<f64>() - count as f64 / total as f64).abs() < 1e-12);
            }
        }
        assert_eq!(choose(3, 3), Some(20));
        assert!(choose(500, 500).is_none() && counted(&[(90, 90)], 0).is_none());
    }

    #[test]
    fn many_pairs_are_approximated_closely() {
        let exact = tail(&[(70, 70)], 2900);
        let variance = 70.0 * 70.0 * 141.0 / 12.0_f64;
        let normal = normal_cdf(-(2900.0 - 0.5 - 2450.0) / variance.sqrt());
        assert!(exact.orders.is_none() && (exact.p / normal - 1.0).abs() < 0.05, "{} {normal}", exact.p);
        assert!(tail(&[(200, 200)], 0).p > 0.999);
    }
}
