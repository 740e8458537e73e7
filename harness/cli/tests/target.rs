//! A quality target: which solver reaches it first.

use std::fmt::Write as _;

use crate::support::Sandbox;

/// A question in fifteen lines.
const SPEC: &str = "\
schema = 1
name = \"sales\"
task = \"posterior\"
seeds = [0, 1, 2]

[matrix]
dataset = [\"sales\"]
kernel = [\"matern32\", \"rbf\"]
solver = [\"cholesky\", \"cg\"]

[dataset.sales]
path = \"sales.csv\"

[budget]
max_epochs = 60

[target]
rmse_to_exact = \"1%\"
";

/// A user's file of 200 rows, and the spec.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_spec(SPEC);
    let mut csv = "age,area,price\n".to_owned();
    for k in 0..200 {
        let (a, b) = (f64::from(k * 37 % 200) / 200.0, f64::from(k * 83 % 200) / 200.0);
        let noise = 0.3 * (f64::from(k) * 12.9898).sin();
        writeln!(csv, "{a},{b},{}", (6.0 * a).sin() + b * b + noise).expect("a text");
    }
    sandbox.write("sales.csv", &csv);
    sandbox
}

#[test]
fn the_report_says_which_solver_is_first_within_a_percent_of_the_exact_rmse() {
    let sandbox = sandbox();
    let ended = sandbox.run(&["run", "spec.toml"]).exits(0);
    assert!(
        ended.stdout.starts_with("First to reach the target: RMSE to the exact mean at most 1 %"),
        "{}",
        ended.stdout
    );
    let report = sandbox.read("reports/sales/latest/report.md");
    let (_, ranking) = report.split_once("### First to reach the target").expect("a table of places");
    let (ranking, _) = ranking.split_once("\n### ").expect("further tables");
    for kernel in ["matern32", "rbf"] {
        let places: Vec<&str> =
            ranking.lines().filter(|line| line.starts_with(&format!("| sales · {kernel} |"))).collect();
        assert_eq!(places.len(), 2, "{report}");
        assert!(places.iter().all(|line| line.contains("3/3")), "{report}");
    }
    let column = sandbox.run(&["report", "sales", "--format", "csv"]).exits(0).stdout;
    assert!(column.lines().next().is_some_and(|line| line.contains("epochs_to_target")), "{column}");

    // Another target is another question to the same results.
    let again = sandbox.run(&["run", "spec.toml", "--set", "target.rmse_to_exact = \"10%\""]).exits(0);
    assert!(again.stderr.contains("nothing was left to run"), "{}", again.stderr);
    assert!(again.stdout.contains("at most 10 %"), "{}", again.stdout);
}

#[test]
fn a_case_may_end_at_the_target() {
    let sandbox = sandbox();
    let epochs = |set: &[&str]| {
        sandbox.run(&[&["run", "spec.toml", "-s", "cg", "--set"], set].concat()).exits(0);
        let cases = sandbox.cases();
        assert!(cases.iter().all(|case| case["status"] == "ok"), "{cases:?}");
        cases.iter().map(|case| case["metrics"]["epochs"].as_f64().expect("epochs")).sum::<f64>()
    };
    let (whole, stopped) = (epochs(&["target.stop = false"]), epochs(&["target.stop = true"]));
    assert!(stopped < 0.8 * whole, "{stopped} of {whole} epochs");
}

#[test]
fn a_check_fails_where_the_target_is_no_longer_reached() {
    let sandbox = sandbox();
    sandbox.run(&["check", "spec.toml", "--update"]).exits(0);
    assert!(sandbox.read("baselines/spec.toml").contains("epochs_to_target"));
    sandbox.run(&["check", "spec.toml"]).exits(0);
    let missed = sandbox.run(&["check", "spec.toml", "--set", "target.rmse_to_exact = 1e-30"]).exits(3);
    assert!(missed.stdout.contains("epochs_to_target"), "{}", missed.stdout);
}
