//! Rankings over data sets.

use gpbench_statistics::Estimate;
use gpbench_statistics::ranking::{Ranking, ranking};
use serde_json::Value;

use crate::support::{all_same, example, lists, number, same};

pub const SOLVERS: [&str; 4] = ["cg", "cholesky", "sgd", "ap"];

/// The ranking of the example, with cholesky as the reference.
pub fn of_example() -> Ranking {
    let costs = example("ranking/costs").as_object().unwrap().values();
    let of_dataset = |costs: &Value| costs.as_array().unwrap().iter().map(Value::as_f64).collect();
    ranking(&costs.map(of_dataset).collect::<Vec<_>>(), Some(1)).unwrap()
}

#[track_caller]
fn is(found: Option<Estimate>, expected: &Value, [mean, low, high]: [&str; 3]) {
    let Some(found) = found else {
        assert!(expected.get(mean).is_none(), "no {mean}");
        return;
    };
    same(found.mean, number(&expected[mean]));
    same(found.interval.unwrap().low, number(&expected[low]));
    same(found.interval.unwrap().high, number(&expected[high]));
}

#[test]
fn ranks_and_ratios() {
    assert_eq!(*example("ranking/solvers"), serde_json::json!(SOLVERS));
    let ranking = of_example();
    for (found, expected) in ranking.ranks.iter().zip(lists("ranking/ranks")) {
        all_same(found, &expected);
    }
    for (solver, found) in SOLVERS.iter().zip(&ranking.solvers) {
        let expected = example(&format!("ranking/result/{solver}"));
        is(Some(found.mean_rank), expected, ["mean_rank", "low", "high"]);
        is(found.to_best, expected, ["ratio_to_best", "ratio_low", "ratio_high"]);
        is(found.over_reference, expected, ["over_cholesky", "over_low", "over_high"]);
        assert_eq!(found.solved as f64, number(&expected["solved"]));
    }
}
