//! Identities that hold in exact arithmetic, whatever the numbers.

use gpbench_plugin_eigenpro::EigenPro;
use gpbench_sdk::minibatch::Batches;
use gpbench_sdk::ndarray::{Array2, ShapeBuilder};
use gpbench_sdk::symmetric::column_major;
use gpbench_sdk::{ParamValue, lapack};
use gpbench_testing::{DenseProblem, matern32, scattered_inputs, scattered_right_hand_sides};
use gpbench_testkit::assert_close;

const N: usize = 120;
const NOISE: f64 = 0.3;

fn kernel_matrix() -> Array2<f64> {
    matern32(&scattered_inputs(N), 1.0, 0.0, &[0.5; 2])
}

fn x(params: &[(&str, ParamValue)]) -> Array2<f64> {
    DenseProblem::scattered(NOISE, 0.5, 3).tolerance(0.0).solve::<EigenPro>(params).unwrap().x
}

/// With all rows in subset and batch a step damps the eigenvectors of K itself.
#[test]
fn a_step_on_all_rows_damps_the_leading_eigenvectors() {
    let (rank, exponent, rate) = (7, 0.9, 60.0);
    let mut vectors = column_major(&kernel_matrix());
    let values = lapack::symmetric_eigen(&mut vectors).unwrap();
    let b = scattered_right_hand_sides(N, 3);
    let mut parts = vectors.t().dot(&b);
    let tail = values[N - 1 - rank];
    for (mut part, value) in parts.rows_mut().into_iter().zip(&values) {
        let damping = if *value > tail { (tail / value).powf(exponent) } else { 1.0 };
        part *= rate / N as f64 * damping;
    }
    let found = x(&[
        ("subset_size", (N as i64).into()),
        ("batch_size", (N as i64).into()),
        ("rank", (rank as i64).into()),
        ("exponent", exponent.into()),
        ("learning_rate", rate.into()),
        ("max_iterations", 1.into()),
    ]);
    assert_close(&found, &vectors.dot(&parts), 1e-11);
}

/// Without damping it is stochastic gradient descent.
#[test]
fn an_exponent_of_zero_damps_nothing() {
    let (size, rate, steps) = (10, 4.0, 30);
    let a = matern32(&scattered_inputs(N), 1.0, NOISE, &[0.5; 2]);
    let b = scattered_right_hand_sides(N, 3);
    let mut expected = Array2::<f64>::zeros((N, 3).f());
    let mut batches = Batches::new(N, size, 0);
    for _ in 0..steps {
        let residual = &b - &a.dot(&expected);
        for &row in batches.draw() {
            expected.row_mut(row).scaled_add(rate / size as f64, &residual.row(row));
        }
    }
    let found = x(&[
        ("exponent", 0.0.into()),
        ("rank", 5.into()),
        ("batch_size", (size as i64).into()),
        ("learning_rate", rate.into()),
        ("max_iterations", (steps as i64).into()),
    ]);
    assert_close(&found, &expected, 1e-12);
}
