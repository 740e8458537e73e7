//! A small part of the simulations of `examples/simulate`, whose modules these are.

use crate::gates::{Gate, alarms, tenfold_slowdowns_passed};
use crate::intervals::{RULES, coverage};
use crate::random::Random;
use crate::tables::tables_with_a_mark;

/// At most the 99.9 % quantile of Binomial(200, 0.05).
#[test]
fn equal_solvers_are_seldom_set_apart() {
    let marked = tables_with_a_mark(200, 6, 5, &mut Random::new(1));
    assert!(marked <= 21, "{marked}");
}

/// At most the 99.9 % quantile of Binomial(500, 0.005).
#[test]
fn gates_without_a_change_seldom_alarm() {
    let found = alarms(500, Gate { groups: 2, seeds: 2, repeats: 3 }, &mut Random::new(1));
    assert!(found <= 8, "{found}");
}

#[test]
fn a_tenfold_slowdown_never_passes() {
    for groups in [1, 2, 3, 6] {
        let gate = Gate { groups, seeds: 2, repeats: 3 };
        assert_eq!(tenfold_slowdowns_passed(100, gate, &mut Random::new(1)), 0, "{groups} groups");
    }
}

/// 0.03 is four standard errors.
#[test]
fn intervals_cover() {
    for rule in RULES {
        let share = coverage(&rule, 1000, &mut Random::new(1));
        let (low, high) = rule.between;
        assert!(low - 0.03 <= share && share <= high + 0.03, "{}: {share}", rule.name);
    }
}
