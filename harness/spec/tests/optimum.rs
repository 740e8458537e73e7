//! Cases that are compared with the optimum of the likelihood.

use gpbench_record::TaskKind;
use gpbench_spec::{Optima, SpecPlan};

use crate::common::check_text;
use crate::common::plans::planned;

const TRAIN: &str = r#"
schema = 1
name = "compared"
task = "train"
seeds = [0, 1]
[matrix]
dataset = ["pol", "few"]
kernel = ["matern32"]
estimator = ["pathwise", "exact"]
solver = ["cg"]
[dataset.few]
from = "pol"
subsample = 2000
[budget]
tolerance = 0.01
[train]
optimum = true
"#;

const LEARN: &str = r#"
schema = 1
name = "compared"
task = "learn"
[matrix]
dataset = ["few"]
kernel = ["rbf", "deep"]
solver = ["bsgd"]
[dataset.few]
from = "pol"
subsample = 2000
[kernel.deep]
family = "rbf"
network = { widths = [4, 2] }
[learn]
optimum = true
"#;

/// Names of the data sets and kernels of the cases that are compared, once each.
fn compared(plan: &SpecPlan) -> Vec<String> {
    let is_compared = plan.cases.iter().filter(|planned| planned.case.task.optimum());
    let mut names: Vec<String> = is_compared
        .map(|planned| format!("{}/{}", planned.case.dataset.name, planned.case.kernel.name))
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn few_rows_are_compared_and_all_cases_share_a_search() {
    let plan = planned(TRAIN, &[]);
    assert_eq!(plan.task, TaskKind::Train);
    assert_eq!(compared(&plan), ["few/matern32"], "pol has more than 3000 rows");
    // One for each seed, whose rows are others.
    let optima = Optima::of(&plan.cases, 2).unwrap();
    assert_eq!(optima.count, 2);
    assert!((1.0..3600.0).contains(&optima.seconds), "{optima:?}");
    let each: Vec<f64> = plan.cases.iter().map(|planned| planned.optimum_seconds(2)).collect();
    assert_eq!(each.iter().filter(|seconds| **seconds == 0.5 * optima.seconds).count(), 4, "{each:?}");

    let all = planned(TRAIN, &["train.optimum=20000"]);
    assert_eq!(compared(&all), ["few/matern32", "pol/matern32"]);
    assert_eq!(Optima::of(&all.cases, 2).unwrap().count, 4);
    for off in ["train.optimum=false", "train={}"] {
        let plan = planned(TRAIN, &[off]);
        assert_eq!((compared(&plan), Optima::of(&plan.cases, 2)), (vec![], None), "{off}");
    }
}

#[test]
fn a_case_that_is_not_compared_is_the_same_as_without_the_key() {
    let json = |sets: &[&str]| {
        let plan = planned(TRAIN, sets);
        let of_pol = plan.cases.iter().filter(|planned| planned.case.dataset.name == "pol");
        of_pol.map(|planned| serde_json::to_string(&planned.case).unwrap()).collect::<Vec<String>>()
    };
    assert_eq!(json(&[]), json(&["train={}"]));
}

#[test]
fn kernels_on_a_network_have_no_optimum() {
    let plan = planned(LEARN, &[]);
    assert_eq!(compared(&plan), ["few/rbf"]);
    assert_eq!(Optima::of(&plan.cases, 2).unwrap().count, 1);
}

#[test]
fn an_optimum_that_no_data_set_is_small_enough_for_is_a_mistake() {
    let text = TRAIN
        .replace("\"pol\", \"few\"", "\"pol\"")
        .replace("[dataset.few]\nfrom = \"pol\"\nsubsample = 2000\n", "")
        .replace("optimum = true", "optimum = 100");
    let errors = check_text(&text, &[]).map(|_| ()).unwrap_err();
    let [error] = errors.errors() else { panic!("{errors}") };
    assert_eq!(error.what, "`optimum` has no effect: every data set has more than 100 training rows");
    assert_eq!(
        error.hint.as_deref(),
        Some("write a number of rows, such as optimum = 13500, whose search takes n^2 memory and n^3 time")
    );
    let wrong =
        check_text(&TRAIN.replace("optimum = true", "optimum = \"yes\""), &[]).map(|_| ()).unwrap_err();
    assert_eq!(wrong.errors()[0].what, "`optimum` takes true, false, or a number of rows, not a text");
}
