//! Against numbers that other code has computed in extended precision.

use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_testkit::json::{Value, matrix, number, vector};
use gpbench_testkit::{assert_close, assert_number};

use crate::given::{FAMILIES, Given, dense, oracle, sparse, units};

const TOLERANCE: f64 = 1e-9;

fn test_rows() -> Array2<f64> {
    matrix(&oracle()["inputs"]["X_test"])
}

fn assert_predicted((mean, variance): &(Array1<f64>, Array1<f64>), expected: &Value) {
    assert_close(mean, &vector(&expected["mean"]), TOLERANCE);
    assert_close(variance, &vector(&expected["latent_variance"]), TOLERANCE);
}

#[test]
fn sparse_actions_have_this_bound_and_these_predictions() {
    for family in FAMILIES {
        let expected = &oracle()["kernels"][family]["cagp"];
        let (given, actions) = (Given::of_oracle(family), sparse());
        let projected = given.project(&actions, 2);
        assert_number(projected.bound, number(&expected["elbo"]), TOLERANCE);
        assert_number(projected.divergence, number(&expected["kl"]), TOLERANCE);
        assert_close(&projected.weights, &vector(&expected["compressed_weights"]), TOLERANCE);
        assert_predicted(&given.predict(&actions, &projected, &test_rows()), expected);
    }
}

#[test]
fn gradients_by_scales_and_entries() {
    for family in FAMILIES {
        let expected = &oracle()["kernels"][family]["cagp"];
        let by = Given::of_oracle(family).gradient(&sparse(), 2);
        let scales: Array1<f64> =
            [by.noise_scale, by.signal_scale].into_iter().chain(by.length_scale).collect();
        assert_close(&scales, &vector(&expected["grad"]), TOLERANCE);
        assert_close(&by.entries, &vector(&expected["grad_entries"]), TOLERANCE);
    }
}

#[test]
fn residuals_of_conjugate_gradients_as_actions() {
    for family in FAMILIES {
        let given = Given::of_oracle(family);
        for count in [1, 4, 8] {
            let expected = &oracle()["kernels"][family]["cagp"][format!("cg_{count}")];
            let (actions, projected) = given.conjugate_gradients(count);
            assert_eq!(actions.count(), count);
            assert_number(projected.bound, number(&expected["elbo"]), TOLERANCE);
            // The iterate of conjugate gradients.
            let weights = dense(&actions).dot(&projected.weights);
            assert_close(&weights, &vector(&expected["weights"]), TOLERANCE);
            assert_predicted(&given.predict(&actions, &projected, &test_rows()), expected);
        }
    }
}

#[test]
fn rows_as_actions_give_the_exact_process_of_these_rows() {
    for family in FAMILIES {
        let known = &oracle()["kernels"][family];
        let given = Given::of_oracle(family);
        let expected = &known["cagp"]["unit_actions_first_8"];
        let actions = units(40, 8);
        let projected = given.project(&actions, 1);
        assert_number(projected.bound, number(&expected["elbo"]), TOLERANCE);
        assert_predicted(&given.predict(&actions, &projected, &test_rows()), expected);

        let all = units(40, 40);
        let projected = given.project(&all, 1);
        assert_number(projected.bound, number(&known["cagp"]["S_is_identity_elbo"]), TOLERANCE);
        assert_number(projected.bound, number(&known["exact"]["lml"]), TOLERANCE);
        assert_predicted(&given.predict(&all, &projected, &test_rows()), &known["exact"]);
        let by = given.gradient(&all, 1);
        let scales: Array1<f64> =
            [by.noise_scale, by.signal_scale].into_iter().chain(by.length_scale).collect();
        assert_close(&scales, &vector(&known["exact"]["grad"]), 1e-8);
        // Lengths of actions change nothing.
        assert!(by.entries.iter().all(|by| by.abs() < 1e-6), "{:?}", by.entries);
    }
}
