//! What follows from the formulae, whatever the numbers.

use gpbench_plugin_sgpr::{BoundMemory, BoundPoint, BoundRows, select};
use gpbench_sdk::kernel::Kernel;
use gpbench_sdk::ndarray::{Array1, Array2, Axis};
use gpbench_sdk::{Family, Workers, lapack};
use gpbench_testing::{scattered, scattered_inputs};

use crate::given::Given;

/// `n` rows of two inputs, and `m` points beside them.
fn given(n: usize, m: usize, family: Family) -> Given {
    let x = scattered_inputs(n);
    let residual = Array1::from_shape_fn(n, |i| (2.0 * x[[i, 0]]).sin() + 0.3 * scattered(i, 9));
    let z = Array2::from_shape_fn((m, 2), |(i, j)| 0.9 * scattered(i, j + 80));
    let kernel = Kernel { family: family.into(), signal_scale: 1.3, length_scale: vec![0.5, 0.8] };
    Given { kernel, noise_scale: 0.4, x, residual, z, jitter: 1e-3 }
}

/// The log marginal likelihood of the exact process.
fn likelihood(given: &Given) -> f64 {
    let mut factor = given.kernel.gram(&given.x, &given.x, Workers::new(1));
    factor.diag_mut().mapv_inplace(|entry| entry + given.noise_scale.powi(2));
    lapack::cholesky(&mut factor).unwrap();
    let mut white = given.residual.clone().insert_axis(Axis(1));
    lapack::solve_lower(&factor, false, &mut white).unwrap();
    let squares: f64 = white.iter().map(|entry| entry * entry).sum();
    let normal = given.residual.len() as f64 * std::f64::consts::TAU.ln();
    -0.5 * (normal + lapack::log_determinant(&factor) + squares)
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{what}: {found} against {expected}");
}

/// The jitter moves with the signal scale, so that its derivative counts.
#[test]
fn gradients_are_derivatives_of_the_bound() {
    for family in [Family::Rbf, Family::Matern32, Family::Matern52] {
        let given = given(40, 7, family);
        let difference = |change: &dyn Fn(&mut Given, f64)| {
            let along = |h: f64| {
                let mut moved = given.clone();
                change(&mut moved, h);
                moved.evaluate(1).0.lower
            };
            let central = |h: f64| (along(h) - along(-h)) / (2.0 * h);
            (4.0 * central(1e-4) - central(2e-4)) / 3.0
        };
        let (_, by) = given.evaluate(1);
        close(by.noise_scale, difference(&|at, h| at.noise_scale += h), "noise");
        close(by.signal_scale, difference(&|at, h| at.kernel.signal_scale += h), "signal");
        for k in 0..2 {
            close(by.length_scale[k], difference(&|at, h| at.kernel.length_scale[k] += h), "length");
        }
        close(by.mean, difference(&|at, h| at.residual -= h), "mean");
        for ((i, k), &by) in by.points.indexed_iter() {
            close(by, difference(&|at, h| at.z[[i, k]] += h), "point");
        }
    }
}

#[test]
fn more_greedy_points_never_lower_the_bound_and_the_likelihood_lies_between() {
    for family in [Family::Rbf, Family::Matern32] {
        let mut given = Given { jitter: 1e-12, ..given(60, 1, family) };
        let rows = select(&given.kernel, &given.x, 24, Workers::new(1)).rows;
        let exact = likelihood(&given);
        let mut lower = f64::NEG_INFINITY;
        for m in 1..=24 {
            given.z = given.x.select(Axis(0), &rows[..m]);
            let (bound, _) = given.evaluate(1);
            assert!(bound.lower >= lower - 1e-8, "{m}: {bound:?}");
            assert!(bound.lower <= exact + 1e-8 && exact <= bound.upper + 1e-8, "{m}: {exact}, {bound:?}");
            lower = bound.lower;
        }
    }
}

/// As in other units of the targets.
#[test]
fn scales_and_targets_together_shift_the_bound() {
    let one = given(50, 9, Family::Matern32);
    let mut ten = one.clone();
    ten.kernel.signal_scale *= 10.0;
    ten.noise_scale *= 10.0;
    ten.residual *= 10.0;
    let ((a, by_a), (b, by_b)) = (one.evaluate(1), ten.evaluate(1));
    close(b.lower, a.lower - 50.0 * 10_f64.ln(), "lower");
    close(b.upper, a.upper - 50.0 * 10_f64.ln(), "upper");
    close(10.0 * by_b.signal_scale, by_a.signal_scale, "by the signal scale");
    close(b.trace / ten.noise_scale.powi(2), a.trace / one.noise_scale.powi(2), "trace");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let given = given(700, 300, Family::Matern32);
    let one = given.evaluate(1);
    assert_eq!(one, given.evaluate(2));
    assert_eq!(one, given.evaluate(7));
}

#[test]
fn memory_serves_other_numbers_of_points_and_rows() {
    let mut memory = BoundMemory::default();
    let mut evaluate = |given: &Given| {
        let Given { kernel, noise_scale, x, residual, z, jitter } = given;
        let point = BoundPoint { kernel, noise_scale: *noise_scale, z: z.view(), jitter: *jitter };
        let rows = BoundRows { x: x.view(), residual: residual.view() };
        memory.evaluate(&point, &rows, true, Workers::new(1))
    };
    let (large, small) = (given(90, 20, Family::Rbf), given(40, 6, Family::Rbf));
    for given in [&large, &small, &large] {
        assert_eq!(evaluate(given).unwrap(), given.evaluate(1));
    }
    // An evaluation that fails, or gives no number, leaves the memory usable.
    let lost = Given { z: Array2::from_elem((6, 2), f64::NAN), ..small.clone() };
    assert!(!evaluate(&lost).is_ok_and(|(bound, _)| bound.lower.is_finite()));
    assert_eq!(evaluate(&small).unwrap(), small.evaluate(1));
    // Repeated points are held apart by the jitter.
    let repeated = Given { z: Array2::zeros((6, 2)), jitter: 1e-6, ..small.clone() };
    assert!(evaluate(&repeated).unwrap().0.lower.is_finite());
}
