//! Real data: the exact Gaussian process on UCI sets, against values computed elsewhere.
//!
//! Needs the sets in `GPBENCH_DATA`, and says so where it is not set.

mod support;

use support::Bench;

/// Set, split, test RMSE and test negative log-likelihood of the exact Gaussian process with
/// the published hyperparameters, from scipy in double precision. A set takes half a minute,
/// so one stands for all.
const EXACT: (&str, u64, f64, f64) = ("pol", 0, 0.083_359_005_152_061_53, -1.213_637_347_218_171_2);

#[test]
fn cholesky_on_pol_agrees_with_an_independent_computation() {
    let Some(data) = std::env::var_os("GPBENCH_DATA").filter(|d| !d.is_empty()) else {
        eprintln!("GPBENCH_DATA is not set: the comparison on real data is SKIPPED");
        return;
    };
    let (dataset, seed, rmse, nll) = EXACT;
    let bench = Bench::new();
    bench.write(
        "spec.toml",
        &format!(
            r#"schema = 1
name = "exact"
task = "posterior"
seeds = [{seed}]

[matrix]
dataset = ["{dataset}"]
kernel = ["matern32"]
estimator = ["pathwise"]
solver = ["cholesky"]

[kernel.matern32]
hyperparameters = "published"

[estimator.pathwise]
probes = 1
features = 20
"#
        ),
    );
    let mut command = bench.command(&["run", "spec.toml"]);
    let output = command.env("GPBENCH_DATA", data).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let cases = bench.cases();
    let metric =
        |name: &str| cases[0]["metrics"][name].as_f64().unwrap_or_else(|| panic!("{name} is missing"));
    assert!((metric("test_rmse") - rmse).abs() < 1e-6, "{}", metric("test_rmse"));
    assert!((metric("test_nll_exact") - nll).abs() < 1e-6, "{}", metric("test_nll_exact"));
    assert!(metric("residual_max") < 1e-10, "{}", metric("residual_max"));
}
