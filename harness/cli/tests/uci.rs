//! Real data: the exact Gaussian process on a UCI set, against values computed elsewhere.

use crate::support::{Ended, Sandbox};

/// Set, split, test RMSE and test negative log-likelihood of the exact Gaussian process with the published
/// hyperparameters, from scipy in double precision. A set takes half a minute, so one represents all.
const EXACT: (&str, u64, f64, f64) = ("pol", 0, 0.083_359_005_152_061_53, -1.213_637_347_218_171_2);

#[test]
#[ignore = "reads the set `pol` from the folder that GPBENCH_DATA names"]
fn cholesky_on_pol_agrees_with_an_independent_computation() {
    let data = std::env::var_os("GPBENCH_DATA").expect("GPBENCH_DATA names a folder with the set `pol`");
    let (dataset, seed, rmse, nll) = EXACT;
    let text = format!(
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
    );
    let sandbox = Sandbox::with_spec(&text);
    Ended::of(sandbox.command(&["run", "spec.toml"]).env("GPBENCH_DATA", data)).exits(0);
    let cases = sandbox.cases();
    let metric =
        |name: &str| cases[0]["metrics"][name].as_f64().unwrap_or_else(|| panic!("{name} is missing"));
    assert!((metric("test_rmse") - rmse).abs() < 1e-6, "{}", metric("test_rmse"));
    assert!((metric("test_nll_exact") - nll).abs() < 1e-6, "{}", metric("test_nll_exact"));
    assert!(metric("residual_max") < 1e-10, "{}", metric("residual_max"));
}
