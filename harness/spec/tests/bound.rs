//! Training by the gradient of a bound: its keys, its cost, and the identity of other cases.

use gpbench_record::{GradientEstimator, InducingBound, PointSelection, Start, Training};
use gpbench_spec::{SpecCase, SpecPlan};

use crate::common::check_text;

const TRAIN: &str = r#"
schema = 1
name = "bounds"
task = "train"
[matrix]
dataset = ["pol"]
kernel = ["matern32"]
estimator = ["cglb", "few", "rows", "standard"]
solver = ["cg"]
[estimator.few]
method = "cglb"
points = 100
reselect = 0
gap = 0.25
warm_start = true
[estimator.rows]
method = "cglb"
select = "subset"
probes = 0
[budget]
tolerance = 0.01
"#;

fn planned(text: &str) -> SpecPlan {
    check_text(text, &[]).unwrap_or_else(|errors| panic!("{errors}")).plan()
}

fn case<'p>(plan: &'p SpecPlan, estimator: &str) -> &'p SpecCase {
    let wanted = |planned: &&SpecCase| planned.case.task.estimator() == Some(estimator);
    plan.cases.iter().find(wanted).expect("planned")
}

fn training<'p>(plan: &'p SpecPlan, estimator: &str) -> &'p Training {
    case(plan, estimator).case.task.training().expect("a training case")
}

#[test]
fn bounds_are_resolved_with_their_defaults() {
    let plan = planned(TRAIN);
    let bound = |estimator: &str| training(&plan, estimator).gradient;
    let greedy = InducingBound { points: 512, select: PointSelection::Greedy, reselect: 20, gap: 1.0 };
    assert_eq!(bound("cglb"), GradientEstimator::Cglb { bound: greedy, start: Start::Cold });
    let few = InducingBound { points: 100, reselect: 0, gap: 0.25, ..greedy };
    assert_eq!(bound("few"), GradientEstimator::Cglb { bound: few, start: Start::Warm });
    // A subset is the same at every step.
    let rows = InducingBound { select: PointSelection::Subset, reselect: 0, ..greedy };
    assert_eq!(bound("rows"), GradientEstimator::Cglb { bound: rows, start: Start::Cold });
    // `probes` is the number of samples of the prediction alone.
    let samples = |estimator: &str| training(&plan, estimator).prediction.targets.probes;
    assert_eq!([samples("cglb"), samples("rows")], [64, 0]);
    assert_eq!(case(&plan, "cglb").case.task.probes(), None);
}

#[test]
fn the_form_of_a_bound_in_plans_and_journals_is_known() {
    let plan = planned(TRAIN);
    let text = |estimator: &str| serde_json::to_string(&training(&plan, estimator).gradient).expect("JSON");
    let expected =
        r#"{"from":"cglb","bound":{"points":512,"select":"greedy","reselect":20,"gap":1.0},"start":"cold"}"#;
    assert_eq!(text("cglb"), expected);
    let expected = r#"{"from":"cglb","bound":{"points":512,"select":"subset","gap":1.0},"start":"cold"}"#;
    assert_eq!(text("rows"), expected);
    for estimator in ["cglb", "rows", "standard"] {
        let read: GradientEstimator = serde_json::from_str(&text(estimator)).expect("its own form");
        assert_eq!(read, training(&plan, estimator).gradient);
    }
}

#[test]
fn a_bound_costs_its_factor_and_solves_for_one_right_hand_side() {
    let plan = planned(TRAIN);
    let cost = |estimator: &str| case(&plan, estimator).cost(2).expect("rows are known");
    let n = case(&plan, "cglb").n.expect("known") as f64;
    let numbers = |m: f64| 8.0 * (n * m + 6.0 * m * m);
    let beside = cost("cglb").memory_bytes - cost("standard").memory_bytes;
    assert!((beside - numbers(512.0)).abs() < 1.0, "{beside}");
    let beside = cost("few").memory_bytes - cost("standard").memory_bytes;
    assert!((beside - numbers(100.0)).abs() < 1.0, "{beside}");
    assert!(cost("few").seconds < cost("cglb").seconds && cost("cglb").seconds < cost("standard").seconds);
}

#[test]
fn keys_of_a_bound_change_no_other_case() {
    let others =
        TRAIN.replace("points = 100", "points = 200").replace("select = \"subset\"", "select = \"kmeans\"");
    let (plan, changed) = (planned(TRAIN), planned(&others));
    for (estimator, is_same) in [("standard", true), ("cglb", true), ("few", false), ("rows", false)] {
        let same = case(&plan, estimator).case == case(&changed, estimator).case;
        assert_eq!(same, is_same, "{estimator}");
    }
}
