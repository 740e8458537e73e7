//! The gate of baselines.

use gpbench_statistics::gate::{ONE_IN, Stratum, decides, is_gross, needed_repeats, rejects, tail_of_larger};
use serde_json::Value;

use crate::limits::limit;
use crate::support::{at, example, lists, same};

/// The old and new times of an example, by seed.
fn strata(name: &str) -> Vec<Stratum> {
    let (old, new) = (lists(&format!("gate/{name}/old")), lists(&format!("gate/{name}/new")));
    old.into_iter().zip(new).map(|(old, new)| Stratum { old, new }).collect()
}

/// The rank statistic.
fn u(strata: &[Stratum]) -> usize {
    let of =
        |s: &Stratum| s.new.iter().map(|new| s.old.iter().filter(|old| new > *old).count()).sum::<usize>();
    strata.iter().map(of).sum()
}

#[test]
fn repeats_that_are_needed() {
    assert_eq!(*example("gate/alpha"), format!("1/{ONE_IN}"));
    for (key, repeats) in example("gate/needed_repeats").as_object().unwrap() {
        let count = |part: &str| part.split_once('=').unwrap().1.parse::<usize>().unwrap();
        let (seeds, groups) = key.split_once(',').unwrap();
        assert_eq!(needed_repeats(count(seeds), count(groups)).map(|r| r as u64), repeats.as_u64(), "{key}");
    }
}

#[test]
fn integers_decide_what_rounding_does_not() {
    let of = |key: &str| at(&format!("gate/two_roundings/{key}")) as usize;
    let shapes = vec![(of("repeats"), of("repeats")); of("seeds")];
    let tail = tail_of_larger(&vec![Stratum { old: vec![1.0; 3], new: vec![2.0; 3] }; of("seeds")]);
    assert_eq!(tail.orders, Some((1, of("orders") as u128)));
    assert_eq!(ONE_IN * of("groups") as u128, of("needs") as u128);
    assert!(decides(&shapes, of("groups")) && example("gate/two_roundings/comparable").as_bool().unwrap());
    assert_eq!(rejects(&[tail, tail], of("groups")), [true, true]);
    // What floats say.
    same(0.05 * 0.05, at("gate/two_roundings/float_product"));
    let says = 0.05 * 0.05 <= at("gate/two_roundings/float_threshold");
    assert_eq!(Value::Bool(says), *example("gate/two_roundings/float_says"));
}

#[test]
fn tails() {
    let strata = strata("tail");
    assert_eq!(u(&strata) as f64, at("gate/tail/u"));
    let tail = tail_of_larger(&strata);
    assert_eq!(tail.orders, Some((at("gate/tail/count") as u128, at("gate/tail/total") as u128)));
    same(tail.p, at("gate/tail/p"));
    assert_eq!(Value::Bool(rejects(&[tail], 1)[0]), *example("gate/tail/rejected_of_1"));
    assert_eq!(Value::Bool(is_gross(&strata)), *example("gate/tail/gross"));
}

#[test]
fn a_tenfold_slowdown() {
    let strata = strata("tenfold");
    assert_eq!(u(&strata) as f64, at("gate/tenfold/u"));
    let tail = tail_of_larger(&strata);
    assert_eq!(tail.orders, Some((at("gate/tenfold/count") as u128, at("gate/tenfold/total") as u128)));
    assert_eq!(Value::Bool(is_gross(&strata)), *example("gate/tenfold/gross"));
    for (groups, decided) in example("gate/tenfold/decides_by_rank").as_object().unwrap() {
        let groups = groups.parse().unwrap();
        assert_eq!(Value::Bool(decides(&[(3, 3), (3, 3)], groups)), *decided);
        assert!(!decides(&[(3, 3), (3, 3)], groups) || rejects(&vec![tail; groups], groups)[0]);
    }
}

/// The limits that `examples/simulate` judges its counts by.
#[test]
fn counts_of_simulations_allow_for_chance() {
    for (count, chance) in [("tables_of_1000_at_0_05", 0.05), ("gates_of_1000_at_0_005", 0.005)] {
        assert_eq!(limit(1000, chance) as f64, at(&format!("gate/simulated_null_limits/{count}")));
    }
    assert_eq!(limit(1000, 0.0), 0);
}
