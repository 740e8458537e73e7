//! Pairs: values of two solvers on the same seeds. Their differences vary less than the values themselves, since what a seed
//! draws is the same for both.

use std::collections::BTreeMap;

use gpbench_record::metric::Direction;

use crate::aggregate::MeanWithError;

/// Fewest pairs for which a difference can be significant.
pub(crate) const FEWEST: usize = 5;

/// Standard errors beyond which a mean difference is significant.
const BEYOND: f64 = 2.0;

/// The differences `of - from` of the keys that both have.
pub(crate) fn differences<K: Ord>(of: &BTreeMap<K, f64>, from: &BTreeMap<K, f64>) -> Vec<f64> {
    of.iter().filter_map(|(key, value)| Some(value - from.get(key)?)).collect()
}

/// The mean difference `of - from` over the keys that both have; `None` where there are none.
pub(crate) fn mean_difference<K: Ord>(
    of: &BTreeMap<K, f64>,
    from: &BTreeMap<K, f64>,
) -> Option<MeanWithError> {
    let differences = differences(of, from);
    MeanWithError::of(&differences, differences.len())
}

/// Differences below this share of the values count as rounding errors.
const ROUNDING: f64 = 1e-6;

/// Marks the solvers that no other beats, by their values: another beats one where its mean paired difference is better by
/// more than [`BEYOND`] standard errors and more than rounding, over [`FEWEST`] pairs or more. None is marked where no solver is beaten.
pub(crate) fn unbeaten<K: Ord>(values: &[BTreeMap<K, f64>], direction: Direction) -> Vec<bool> {
    let sign = match direction {
        Direction::Higher => 1.0,
        Direction::Lower => -1.0,
        Direction::Neither => return vec![false; values.len()],
    };
    let beats = |other: &BTreeMap<K, f64>, own: &BTreeMap<K, f64>| {
        let Some(difference) = mean_difference(other, own).filter(|found| found.seeds >= FEWEST) else {
            return false;
        };
        let size = own.values().map(|value| value.abs()).sum::<f64>() / own.len() as f64;
        let chance = BEYOND * difference.stderr.unwrap_or(f64::INFINITY);
        sign * difference.mean > chance.max(ROUNDING * size)
    };
    let are_unbeaten: Vec<bool> =
        values.iter().map(|own| !own.is_empty() && !values.iter().any(|other| beats(other, own))).collect();
    let is_shown = values.iter().zip(&are_unbeaten).any(|(own, unbeaten)| !own.is_empty() && !unbeaten);
    are_unbeaten.into_iter().map(|unbeaten| unbeaten && is_shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of ten seeds that differ much: 0 to 9, with an offset that itself varies by `spread`.
    fn values(offset: f64, spread: f64) -> BTreeMap<u64, f64> {
        let value = |seed: u64| seed as f64 + offset + if seed.is_multiple_of(2) { spread } else { -spread };
        (0..10).map(|seed| (seed, value(seed))).collect()
    }

    #[test]
    fn pairs_show_what_means_do_not() {
        // Means differ by 0.1, with standard errors of 0.96 each; differences are 0.1 with a standard error of 0.033.
        let [worse, better] = [values(0.0, 0.0), values(0.1, 0.1)];
        let difference = mean_difference(&better, &worse).unwrap();
        assert!(
            (difference.mean - 0.1).abs() < 1e-12 && (difference.stderr.unwrap() - 0.1 / 3.0).abs() < 1e-12
        );
        assert_eq!(unbeaten(&[worse.clone(), better.clone()], Direction::Higher), [false, true]);
        assert_eq!(unbeaten(&[worse.clone(), better.clone()], Direction::Lower), [true, false]);
        assert_eq!(unbeaten(&[worse, better], Direction::Neither), [false, false]);
    }

    #[test]
    fn what_pairs_do_not_tell_apart_is_not_marked() {
        // The difference is 0.1 with a standard error of 0.1.
        let close = [values(0.0, 0.0), values(0.1, 0.3)];
        assert_eq!(unbeaten(&close, Direction::Higher), [false, false]);
        // Two that are not told apart are both better than a third.
        let third = [&close[..], &[values(-3.0, 0.0)]].concat();
        assert_eq!(unbeaten(&third, Direction::Higher), [true, true, false]);
        // Rounding, however regular; equal solvers; few pairs; no common seed; no value.
        let rounded = [values(0.0, 0.0), values(1e-9, 0.0)];
        assert_eq!(unbeaten(&rounded, Direction::Higher), [false, false]);
        let equal = [values(0.0, 0.0), values(0.0, 0.0)];
        assert_eq!(unbeaten(&equal, Direction::Higher), [false, false]);
        let few = equal.map(|all| all.into_iter().take(FEWEST - 1).collect::<BTreeMap<u64, f64>>());
        let better = few[0].iter().map(|(seed, value)| (*seed, value + 1.0)).collect();
        assert_eq!(unbeaten(&[few[0].clone(), better], Direction::Higher), [false, false]);
        let elsewhere = few[0].iter().map(|(seed, value)| (seed + 100, value + 1.0)).collect();
        assert_eq!(unbeaten(&[few[0].clone(), elsewhere, BTreeMap::new()], Direction::Higher), [false; 3]);
    }
}
