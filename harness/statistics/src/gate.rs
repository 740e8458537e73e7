//! The gate: whether new times are slower than old ones, group by group, by a rank test in exact arithmetic.
//!
//! In each stratum (a seed, since systems of different seeds take different times) U counts the pairs of a new and an
//! old time in which the new one is the larger (Mann and Whitney 1947); its sum over strata is a case of van
//! Elteren's test (1960). If only chance orders old and new times, all orders of a stratum are equally likely, so the
//! distribution of the sum is known exactly. It is counted in integers: in floats, 1/20 · 1/20 exceeds 1/400.

mod orders;
mod session;

pub use orders::{Stratum, Tail, tail_of_larger, tail_of_smaller};
pub use session::{SESSIONS, session_limit};

use orders::choose;

/// One over the chance that a gate of any number of groups fails wrongly: 0.5 %.
pub const ONE_IN: u128 = 200;

/// Fewest repeats of all seeds together from which the gross rule decides.
pub const GROSS_REPEATS: usize = 3;

/// Factor of the gross rule.
pub const GROSS_FACTOR: f64 = 2.0;

/// Relative rounding that is allowed for where integers overflow.
const ROUNDING: f64 = 1e-9;

/// Whether strata of these shapes (numbers of old and of new times) can show a change among `groups` groups: whether
/// they have [`ONE_IN`] orders for each group, one of which is the most extreme.
pub fn decides(shapes: &[(usize, usize)], groups: usize) -> bool {
    let orders = shapes.iter().map(|&(m, n)| choose(m, n).unwrap_or(u128::MAX)).fold(1, u128::saturating_mul);
    orders >= ONE_IN.saturating_mul(groups as u128)
}

/// Fewest repeats of each of `seeds` seeds, two or more, that [`decides`] accepts; `None` without seeds.
pub fn needed_repeats(seeds: usize, groups: usize) -> Option<usize> {
    let repeats = |count: &usize| decides(&vec![(*count, *count); seeds], groups);
    (seeds > 0).then(|| (2..).find(repeats)).flatten()
}

/// Marks the groups that changed, from the tails of all groups that can be decided, of `groups` in the whole gate:
/// with a chance of at most 1 in [`ONE_IN`] that any is marked wrongly (Holm 1979).
pub fn rejects(tails: &[Tail], groups: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..tails.len()).collect();
    order.sort_by(|&a, &b| tails[a].p.total_cmp(&tails[b].p));
    let mut rejected = vec![false; tails.len()];
    for (step, &at) in order.iter().enumerate() {
        if !is_within(&tails[at], tails.len(), groups, tails.len() - step) {
            break;
        }
        rejected[at] = true;
    }
    rejected
}

/// Whether p is at most decided / (200 groups left).
fn is_within(tail: &Tail, decided: usize, groups: usize, left: usize) -> bool {
    let exact = tail.orders.and_then(|(count, total)| {
        let scaled = count.checked_mul(ONE_IN)?.checked_mul(groups as u128)?.checked_mul(left as u128)?;
        Some(scaled <= total.checked_mul(decided as u128)?)
    });
    let limit = decided as f64 / (ONE_IN as f64 * groups as f64 * left as f64);
    exact.unwrap_or(tail.p <= limit * (1.0 + ROUNDING))
}

/// Whether new times are slower beyond doubt: in every seed the fastest is more than twice the slowest old one, with
/// three repeats or more of all seeds together. For groups that ranks cannot decide.
pub fn is_gross(strata: &[Stratum]) -> bool {
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = |times: &[f64]| times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let both = |stratum: &Stratum| stratum.old.len().min(stratum.new.len());
    let is_slower =
        |stratum: &Stratum| both(stratum) > 0 && least(&stratum.new) > GROSS_FACTOR * largest(&stratum.old);
    strata.iter().all(is_slower) && strata.iter().map(both).sum::<usize>() >= GROSS_REPEATS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stratum(old: &[f64], new: &[f64]) -> Stratum {
        Stratum { old: old.to_vec(), new: new.to_vec() }
    }

    #[test]
    fn advice_and_test_cannot_differ() {
        for (seeds, groups) in [(1, 1), (2, 2), (2, 6), (3, 100), (10, 100)] {
            let repeats = needed_repeats(seeds, groups).unwrap();
            assert!(decides(&vec![(repeats, repeats); seeds], groups));
            assert!(repeats == 2 || !decides(&vec![(repeats - 1, repeats - 1); seeds], groups));
        }
        assert_eq!(needed_repeats(0, 1), None);
        assert!(decides(&[(500, 500)], usize::MAX));
    }

    #[test]
    fn the_gross_rule_needs_every_seed_and_three_repeats() {
        let slower = stratum(&[1.0, 1.1], &[2.3, 2.4]);
        assert!(is_gross(&[slower.clone(), slower.clone()]));
        assert!(!is_gross(std::slice::from_ref(&slower)));
        assert!(!is_gross(&[slower.clone(), slower.clone(), stratum(&[1.0], &[1.9])]));
        assert!(!is_gross(&[slower.clone(), slower, stratum(&[], &[9.0])]) && !is_gross(&[]));
    }

    #[test]
    fn beyond_integers_floats_decide() {
        let tail = |p: f64| Tail { orders: None, p };
        assert_eq!(rejects(&[tail(0.005), tail(0.1)], 2), [false, false]);
        assert_eq!(rejects(&[tail(0.0025), tail(0.005)], 2), [true, true]);
        assert_eq!(rejects(&[], 2), [] as [bool; 0]);
    }
}
