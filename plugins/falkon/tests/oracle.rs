//! Against numbers that other code has computed in extended precision, and the identities.

use gpbench_plugin_falkon::Falkon;
use gpbench_sdk::ndarray::{Array1, Array2};
use gpbench_sdk::{ParamValue, Reason};
use gpbench_testkit::assert_close;
use gpbench_testkit::json::{matrix, vector};

use crate::given::{Given, oracle};

const FAMILIES: [&str; 2] = ["matern32", "rbf"];

/// Without jitter, as the oracle; `steps` iterations.
fn after(given: &Given, steps: i64) -> Array2<f64> {
    let params: [(&str, ParamValue); 2] = [("jitter", 0.0.into()), ("max_iterations", steps.into())];
    let outcome = given.problem().solve::<Falkon>(&params).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, steps));
    outcome.x
}

#[test]
fn iterates_and_their_limit() {
    for family in FAMILIES {
        let expected = &oracle()["kernels"][family]["falkon"];
        let given = Given::of_oracle(family);
        assert_close(&after(&given, 1), &matrix(&expected["alpha_after_1"]), 1e-9);
        assert_close(&after(&given, 3), &matrix(&expected["alpha_after_3"]), 1e-8);
        let outcome = given.problem().tolerance(1e-12).solve::<Falkon>(&[]).unwrap();
        assert_eq!(outcome.reason, Reason::Converged);
        assert_close(&outcome.x, &matrix(&expected["alpha"]), 1e-8);
    }
}

/// The predictions are the means of sparse Gaussian process regression at the same points.
#[test]
fn predictions_are_those_of_the_collapsed_bound() {
    for family in FAMILIES {
        let known = &oracle()["kernels"][family];
        let given = Given::of_oracle(family);
        let x = given.problem().tolerance(1e-12).solve::<Falkon>(&[]).unwrap().x;
        let x_test = matrix(&oracle()["inputs"]["X_test"]);
        let mean: Array1<f64> = given.gram(&x_test, &given.z).dot(&x.column(0));
        assert_close(&mean, &vector(&known["falkon"]["mean"]), 1e-8);
        assert_close(&mean, &vector(&known["sgpr"]["mean"]), 1e-8);
    }
}

/// With all rows as inducing points the preconditioner is the inverse.
#[test]
fn all_rows_as_points_are_solved_in_one_step() {
    for family in FAMILIES {
        let weights = matrix(&oracle()["kernels"][family]["exact"]["weights"]);
        let given = Given::of_oracle(family);
        let outcome = given.square().tolerance(1e-6).solve::<Falkon>(&[("jitter", 0.0.into())]).unwrap();
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Converged, 1), "{family}");
        assert_close(&outcome.x, &weights, 1e-5);

        let given = Given { z: given.x.clone(), ..given };
        let k = given.gram(&given.x, &given.x);
        assert_close(&k.dot(&after(&given, 1)), &k.dot(&weights), 1e-6);
    }
}

/// Steps after the exact solution have no direction, and are none.
#[test]
fn nothing_is_divided_by_zero_after_exact_convergence() {
    let given = Given::of_oracle("matern32");
    for problem in [given.square(), Given { z: given.x.clone(), ..given.clone() }.problem()] {
        let outcome = problem.solve::<Falkon>(&[("max_iterations", 60.into())]).unwrap();
        assert!(outcome.x.iter().all(|x| x.is_finite()) && outcome.claimed.iter().all(|norm| *norm < 1e-9));
    }
}
