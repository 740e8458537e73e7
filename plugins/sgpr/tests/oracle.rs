//! Against numbers that other code has computed in extended precision.

use gpbench_plugin_sgpr::select;
use gpbench_sdk::Workers;
use gpbench_sdk::ndarray::{Array1, Axis};
use gpbench_testkit::json::{matrix, number, vector};
use gpbench_testkit::{assert_close, assert_number};

use crate::given::{FAMILIES, Given, oracle};

const TOLERANCE: f64 = 1e-10;

#[test]
fn bounds_and_their_parts() {
    for family in FAMILIES {
        let expected = &oracle()["kernels"][family]["sgpr"];
        let (bound, _) = Given::of_oracle(family).evaluate(2);
        assert_number(bound.lower, number(&expected["bound"]), TOLERANCE);
        assert_number(bound.upper, number(&expected["upper"]), TOLERANCE);
        assert_number(bound.log_determinant, number(&expected["logdet_Q"]), TOLERANCE);
        assert_number(bound.quadratic, number(&expected["y_Qinv_y"]), TOLERANCE);
        assert_number(bound.trace, number(&expected["trace_K_minus_Q"]), TOLERANCE);
        assert_close(&bound.distribution.mean, &vector(&expected["q_mean"]), TOLERANCE);
        assert_close(&bound.distribution.root, &matrix(&expected["q_root"]), TOLERANCE);
    }
}

#[test]
fn gradients_by_scales_and_points() {
    for family in FAMILIES {
        let expected = &oracle()["kernels"][family]["sgpr"];
        let (_, by) = Given::of_oracle(family).evaluate(2);
        let scales: Array1<f64> =
            [by.noise_scale, by.signal_scale].into_iter().chain(by.length_scale).collect();
        assert_close(&scales, &vector(&expected["grad"]), TOLERANCE);
        assert_close(&by.points, &matrix(&expected["grad_Z"]), TOLERANCE);
    }
}

#[test]
fn predictions() {
    let x_test = matrix(&oracle()["inputs"]["X_test"]);
    for family in FAMILIES {
        let expected = &oracle()["kernels"][family]["sgpr"];
        let given = Given::of_oracle(family);
        let (mean, variance) = given.predict(&given.evaluate(1).0, &x_test);
        assert_close(&mean, &vector(&expected["mean"]), TOLERANCE);
        assert_close(&variance, &vector(&expected["latent_variance"]), TOLERANCE);
    }
}

#[test]
fn greedy_pivots_and_the_bound_there() {
    for family in FAMILIES {
        let expected = &oracle()["kernels"][family]["sgpr"];
        let mut given = Given::of_oracle(family);
        let selection = select(&given.kernel, &given.x, 12, Workers::new(2));
        let pivots: Array1<f64> = selection.rows.iter().map(|&row| row as f64).collect();
        assert_eq!(pivots, vector(&expected["greedy_pivots"]));
        assert_close(&Array1::from(selection.remaining), &vector(&expected["greedy_trace"]), 1e-12);
        given.z = given.x.select(Axis(0), &selection.rows[..8]);
        let (bound, _) = given.evaluate(1);
        assert_number(bound.lower, number(&expected["bound_at_first_8_pivots"]), TOLERANCE);
    }
}

#[test]
fn all_rows_as_points_give_the_exact_process() {
    let x_test = matrix(&oracle()["inputs"]["X_test"]);
    for family in FAMILIES {
        let known = &oracle()["kernels"][family];
        let mut given = Given::of_oracle(family);
        given.z = given.x.clone();
        let (bound, by) = given.evaluate(2);
        assert_number(bound.lower, number(&known["sgpr"]["Z_is_X_bound"]), 1e-9);
        assert_number(bound.lower, number(&known["exact"]["lml"]), 1e-9);
        let scales: Array1<f64> =
            [by.noise_scale, by.signal_scale].into_iter().chain(by.length_scale).collect();
        assert_close(&scales, &vector(&known["exact"]["grad"]), 1e-7);
        let (mean, variance) = given.predict(&bound, &x_test);
        assert_close(&mean, &vector(&known["exact"]["mean"]), 1e-8);
        assert_close(&variance, &vector(&known["exact"]["latent_variance"]), 1e-8);
    }
}
