//! What cases are expected to cost.

use gpbench_spec::SpecCase;

use crate::common::plans::{SMALL, planned};

#[test]
fn a_solve_costs_its_budget_or_what_a_tolerance_is_likely_to_take() {
    let text = SMALL.replace("\"cholesky\", \"cg\"", "\"cholesky-mixed\", \"cg\"");
    let cost = |solver: &str, sets: &[&str]| {
        let plan = planned(&text, sets);
        let wanted = |p: &&SpecCase| p.case.solver.name == solver && p.n == Some(13_500);
        plan.cases.iter().find(wanted).expect("planned").cost(1).expect("rows are known")
    };
    let seconds = |sets: &[&str]| cost("cg", sets).seconds;
    let epoch = seconds(&["budget={ max_epochs = 1 }"]);
    assert_eq!(seconds(&["budget={ max_epochs = 4000 }"]), 4000.0 * epoch);
    assert_eq!(seconds(&["budget={ tolerance = 0.1, max_epochs = 4000 }"]), 100.0 * epoch);
    assert_eq!(seconds(&["budget={ tolerance = 0.1, max_epochs = 10 }"]), 10.0 * epoch);
    // An iteration of `cg` is an epoch.
    assert_eq!(seconds(&["budget={ max_epochs = 4000 }", "solver.cg.params.max_iterations=7"]), 7.0 * epoch);
    // A preconditioner that is a factor of the whole matrix: few epochs, and n^2 numbers of four bytes.
    let [factor, none] = ["cholesky-mixed", "cg"].map(|solver| cost(solver, &["budget={ tolerance = 0.1 }"]));
    assert!(factor.seconds < 0.5 * none.seconds, "{factor:?} {none:?}");
    assert_eq!(factor.memory_bytes - none.memory_bytes, 4.0 * 13_500_f64.powi(2));
}

#[test]
fn training_on_random_features_costs_what_was_measured() {
    let text = SMALL.replace("\"posterior\"", "\"train\"").replace("\"cholesky\", \"cg\"", "\"cholesky\"")
        + "[train]\nsteps = 1500\n[estimator.rff]\nfeatures = 1000\n[dataset.pol]\nsubsample = 9600\n";
    let text = text.replace("[budget]", "estimator = [\"rff\"]\n[budget]");
    let plan = planned(&text, &[]);
    let wanted = |p: &&SpecCase| p.n == Some(9600);
    let seconds = plan.cases.iter().find(wanted).expect("planned").cost(2).expect("rows are known").seconds;
    // Twenty steps with 1000 features and 9600 rows took 11.8 s on two threads.
    let measured = 1500.0 / 20.0 * 11.8;
    assert!((measured / 3.0..measured * 3.0).contains(&seconds), "{seconds}, not {measured}");
}
