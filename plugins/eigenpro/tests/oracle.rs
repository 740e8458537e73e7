//! Against numbers that other code has computed in extended precision, from the formulae as published.

use gpbench_plugin_eigenpro::EigenPro;
use gpbench_sdk::Reason;
use gpbench_sdk::ndarray::Array1;
use gpbench_testkit::json::{matrix, number, vector};
use gpbench_testkit::{assert_close, assert_number};

use crate::given::{Given, oracle, problem};

const FAMILIES: [&str; 2] = ["matern32", "rbf"];

#[test]
fn eigenvalues_and_the_length_of_a_step() {
    for family in FAMILIES {
        let known = &oracle()["kernels"][family]["eigenpro"];
        let outcome = problem(family).solve::<Given>(&[("steps", 1.into())]).unwrap();
        let noted = |name: &str| -> Array1<f64> {
            outcome.notes.iter().filter(|(_, noted, _)| noted == name).map(|(_, _, value)| *value).collect()
        };
        let values = vector(&known["scaled_values"]);
        let found: Array1<f64> = noted("eigenvalue").iter().take(values.len()).copied().collect();
        assert_close(&found, &values, 1e-13);
        assert_number(noted("rate")[0], number(&known["step_over_batch"]), 1e-14);
    }
}

#[test]
fn iterates() {
    for family in FAMILIES {
        let known = &oracle()["kernels"][family]["eigenpro"];
        for (steps, name) in [(1, "x_after_1"), (12, "x_after_12")] {
            let outcome = problem(family).solve::<Given>(&[("steps", steps.into())]).unwrap();
            assert_close(&outcome.x, &matrix(&known[name]), 1e-11);
        }
    }
}

/// The fixed point is the solution, whatever is damped.
#[test]
fn the_limit_is_the_solution() {
    for family in FAMILIES {
        let weights = matrix(&oracle()["kernels"][family]["exact"]["weights"]);
        for rank in [0, 1, 5] {
            let params = [("rank", rank.into()), ("subset_size", 20.into())];
            let outcome = problem(family).tolerance(1e-11).solve::<EigenPro>(&params).unwrap();
            assert_eq!(outcome.reason, Reason::Converged);
            assert_close(&outcome.x, &weights, 1e-9);
        }
    }
}
