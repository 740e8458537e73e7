//! A file with repeated rows, with and without collapsing them.

use crate::support::Sandbox;
use serde_json::Value;

const SPEC: &str = r#"schema = 1
name = "duplicates"
task = "posterior"

[matrix]
dataset = ["all", "collapsed"]
kernel = ["matern32"]
estimator = ["pathwise"]
solver = ["cholesky", "cg"]

[dataset.all]
path = "rows.csv"

[dataset.collapsed]
path = "rows.csv"
collapse_duplicates = true

[kernel.matern32]
hyperparameters = { signal_scale = 1.0, noise_scale = 0.3, length_scale = 0.8 }

[estimator.pathwise]
probes = 4
features = 200

[budget]
tolerance = 1e-6
max_epochs = 200
"#;

/// 300 rows of two inputs; 60 of them are distinct.
fn rows() -> String {
    let row = |i: usize| {
        let point = ((i * i + 7 * i) % 120) as f64;
        format!("{},{},{}\n", (0.7 * point).sin(), (0.3 * point).cos(), (i as f64).sin() + point / 60.0)
    };
    (0..300).map(row).collect()
}

fn case<'a>(cases: &'a [Value], dataset: &str, solver: &str) -> &'a Value {
    let wanted = |case: &&Value| case["dataset"] == dataset && case["solver"] == solver;
    cases.iter().find(wanted).unwrap_or_else(|| panic!("{dataset}, {solver}: {cases:?}"))
}

#[test]
fn collapsed_rows_give_the_same_predictions_with_fewer_entries() {
    let sandbox = Sandbox::with_spec(SPEC);
    sandbox.write("rows.csv", &rows());
    let planned = sandbox.run(&["plan", "spec.toml"]).exits(0);
    assert_eq!(planned.stdout.matches("collapsed (duplicates collapsed)").count(), 2, "{}", planned.stdout);

    sandbox.run(&["run", "spec.toml"]).exits(0);
    let cases = sandbox.cases();
    for solver in ["cholesky", "cg"] {
        let [all, collapsed] = ["all", "collapsed"].map(|dataset| case(&cases, dataset, solver));
        assert_eq!((&all["status"], &collapsed["status"]), (&"ok".into(), &"ok".into()), "{solver}");
        let metric = |case: &Value, name: &str| case["metrics"][name].as_f64();
        let unique = metric(collapsed, "unique_inputs").unwrap();
        assert!(unique <= 60.0 && metric(all, "unique_inputs").is_none(), "{solver}: {unique}");
        for name in ["test_rmse", "test_nll"] {
            let (one, other) = (metric(all, name).unwrap(), metric(collapsed, name).unwrap());
            assert!((one - other).abs() < 1e-4 * one.abs(), "{solver}, {name}: {one}, {other}");
        }
        assert!(metric(collapsed, "residual_max").unwrap() < 4e-6, "{solver}");
        let (of_all, of_unique) = (metric(all, "epochs").unwrap(), metric(collapsed, "epochs").unwrap());
        assert!(of_unique < 0.2 * of_all, "{solver}: {of_unique} epochs for {of_all}");
        if solver == "cholesky" {
            let share = (unique / 270.0).powi(2);
            assert!((of_unique / of_all - share).abs() < 0.2 * share, "{of_unique} of {of_all}, not {share}");
        }
    }
    let report = sandbox.run(&["report", "latest", "--format", "md"]).exits(0);
    report.prints(&["rows.csv; duplicates collapsed"]);
}
