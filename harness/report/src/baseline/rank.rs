//! A rank test for times: Mann and Whitney's statistic summed over strata.
//!
//! Times are skewed and have outliers, so means and standard errors say little about them; ranks are robust. In each stratum (a
//! seed, since systems of different seeds take different times) U counts the pairs of a new and
//! an old time in which the new one is the larger (Mann and Whitney 1947); the sum over strata is a
//! case of van Elteren's test (1960). If nothing changed, every order of the times of a stratum is as
//! likely as any other, so the distribution of the sum is known exactly.

/// Pairs up to which the distribution is computed rather than approximated by a normal one.
const EXACT: usize = 10_000;

/// Old and new times of one stratum.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Stratum {
    pub(super) old: Vec<f64>,
    pub(super) new: Vec<f64>,
}

/// Probability, if nothing changed, that the new times rank at least as high as they do.
///
/// Equal times count as if the new one were the smaller, which errs towards no change.
pub(super) fn p_of_larger(strata: &[Stratum]) -> f64 {
    let u = strata.iter().map(|s| larger(&s.new, &s.old)).sum();
    tail(&shapes(strata), u)
}

/// The same for new times that rank low.
pub(super) fn p_of_smaller(strata: &[Stratum]) -> f64 {
    let u = strata.iter().map(|s| larger(&s.old, &s.new)).sum();
    tail(&shapes(strata), u)
}

/// The smallest probability that strata of these shapes can give: that of one order among all.
pub(super) fn p_at_best(strata: &[Stratum]) -> f64 {
    shapes(strata).iter().map(|&(m, n)| 1.0 / orders(m, n)).product()
}

/// Number of ways to choose m of m + n.
pub(super) fn orders(m: usize, n: usize) -> f64 {
    (1..=m.min(n)).map(|k| (m.max(n) + k) as f64 / k as f64).product()
}

/// Marks which of several hypotheses can be rejected with a chance of at most `alpha` that any of them
/// is rejected wrongly (Holm 1979).
pub(super) fn holm(p: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut rejected = vec![false; p.len()];
    for (rank, &at) in order.iter().enumerate() {
        if p[at] > alpha / (p.len() - rank) as f64 {
            break;
        }
        rejected[at] = true;
    }
    rejected
}

/// Pairs in which the first exceeds the second.
fn larger(first: &[f64], second: &[f64]) -> usize {
    first.iter().map(|a| second.iter().filter(|b| a > b).count()).sum()
}

fn shapes(strata: &[Stratum]) -> Vec<(usize, usize)> {
    strata.iter().map(|s| (s.old.len(), s.new.len())).filter(|&(m, n)| m > 0 && n > 0).collect()
}

/// Probability of a sum of at least `u`.
fn tail(shapes: &[(usize, usize)], u: usize) -> f64 {
    let pairs: usize = shapes.iter().map(|(m, n)| m * n).sum();
    if pairs > EXACT {
        let variance: f64 = shapes.iter().map(|&(m, n)| (m * n * (m + n + 1)) as f64 / 12.0).sum();
        return upper_normal((u as f64 - 0.5 - pairs as f64 / 2.0) / variance.sqrt());
    }
    let mut sum = vec![1.0];
    for &(m, n) in shapes {
        sum = convolved(&sum, &distribution(m, n));
    }
    sum[u.min(sum.len() - 1)..].iter().sum::<f64>().min(1.0)
}

/// Probability of each value of U for m old and n new times: the largest of all times is an old one
/// (m of m + n times), and U that of the others, or a new one, and m pairs are added.
fn distribution(m: usize, n: usize) -> Vec<f64> {
    // Row n of a table over (old, new), kept for 0..=n new times while the old ones grow.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for old in 1..=m {
        for new in 1..=n {
            let mut next = vec![0.0; old * new + 1];
            let share = old as f64 / (old + new) as f64;
            for (u, p) in row[new].iter().enumerate() {
                next[u] += share * p;
            }
            for (u, p) in row[new - 1].iter().enumerate() {
                next[u + old] += (1.0 - share) * p;
            }
            row[new] = next;
        }
    }
    row.swap_remove(n)
}

fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len() + b.len() - 1];
    for (i, p) in a.iter().enumerate() {
        for (j, q) in b.iter().enumerate() {
            out[i + j] += p * q;
        }
    }
    out
}

/// Upper tail of the standard normal distribution: a series about 0, and Mills' continued fraction further out.
fn upper_normal(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - upper_normal(-z);
    }
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z < 2.0 {
        let (mut term, mut sum) = (z, z);
        for k in 1..40 {
            term *= -z * z / f64::from(2 * k);
            sum += term / f64::from(2 * k + 1);
        }
        return 0.5 - sum / (2.0 * std::f64::consts::PI).sqrt();
    }
    let fraction = (1..60).rev().fold(z, |below, k| z + f64::from(k) / below);
    density / fraction
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
        assert_eq!(
            distribution(2, 2).iter().map(|p| (6.0 * p).round() as u32).collect::<Vec<_>>(),
            [1, 1, 2, 1, 1]
        );
        let separated = stratum(&[1.0, 2.0], &[3.0, 4.0]);
        assert!((p_of_larger(std::slice::from_ref(&separated)) - 1.0 / 6.0).abs() < 1e-15);
        assert!((p_of_smaller(std::slice::from_ref(&separated)) - 1.0).abs() < 1e-15);
        assert!((p_at_best(&[separated.clone(), separated.clone()]) - 1.0 / 36.0).abs() < 1e-15);
        assert!((p_of_larger(&[separated.clone(), separated]) - 1.0 / 36.0).abs() < 1e-15);
        // Ties are evidence of no change.
        assert_eq!(p_of_larger(&[stratum(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0])]), 1.0);
        assert_eq!(p_of_larger(&[]), 1.0);
    }

    #[test]
    fn the_exact_distribution_is_one_and_symmetric() {
        for (m, n) in [(1, 1), (5, 5), (3, 8), (12, 7)] {
            let p = distribution(m, n);
            assert_eq!(p.len(), m * n + 1);
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(p.iter().zip(p.iter().rev()).all(|(a, b)| (a - b).abs() < 1e-12));
            assert!((p[0] * orders(m, n) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn many_pairs_are_approximated_closely() {
        let exact = tail(&[(70, 70)], 2900);
        let variance = 70.0 * 70.0 * 141.0 / 12.0_f64;
        let normal = upper_normal((2900.0 - 0.5 - 2450.0) / variance.sqrt());
        assert!((exact / normal - 1.0).abs() < 0.05, "{exact} {normal}");
        for (z, p) in [(0.0, 0.5), (0.5, 0.308_537_538_7), (1.0, 0.158_655_253_9), (3.0, 1.349_898_0e-3)] {
            assert!((upper_normal(z) / p - 1.0).abs() < 1e-6, "{z}");
            assert!((upper_normal(-z) - (1.0 - p)).abs() < 1e-8, "{z}");
        }
    }

    #[test]
    fn holm_steps_down() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(holm(&[0.03, 0.02], 0.05), [true, true]);
        assert_eq!(holm(&[], 0.05), [] as [bool; 0]);
    }
}
