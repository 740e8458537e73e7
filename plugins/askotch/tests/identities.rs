//! Identities that hold in exact arithmetic, whatever the numbers.

use gpbench_plugin_askotch::Askotch;
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::{ParamValue, Reason};
use gpbench_testing::{DenseProblem, Outcome, scattered_inputs, scattered_right_hand_sides};
use gpbench_testkit::json::matrix;
use gpbench_testkit::{assert_close, relative_error};

use crate::given::{BLOCK, Given, N, kernel_matrix, noise_variance, oracle, problem};

#[test]
fn with_mu_nu_of_one_momentum_changes_nothing() {
    let solve = |mu: f64| problem("matern32").iterates().solve::<Given>(&[("mu", mu.into())]).unwrap();
    // mu = b / n, and a larger one, which counts as that.
    let plain = solve(0.0);
    for mu in [0.2, 0.7] {
        let with = solve(mu);
        let pairs = with.iterates.iter().zip(&plain.iterates).skip(1);
        pairs.for_each(|(with, plain)| assert_close(with, plain, 1e-13));
    }
    assert!(relative_error(&solve(0.1).x, &plain.x) > 1e-3);
}

#[test]
fn exact_blocks_in_turn_are_block_gauss_seidel() {
    let params: [(&str, ParamValue); 2] = [("cyclic", true.into()), ("steps", 10.into())];
    let outcome = problem("matern32").iterates().solve::<Given>(&params).unwrap();
    let a = kernel_matrix("matern32") + Array2::<f64>::eye(N) * noise_variance();
    let b = a.dot(&matrix(&oracle()["kernels"]["matern32"]["exact"]["weights"]));
    for (step, pair) in outcome.iterates.windows(2).enumerate() {
        let residual = &b - &a.dot(&pair[1]);
        for row in 0..N {
            // The block's rows solve their equations, and all others stay.
            if row / BLOCK == step % (N / BLOCK) {
                assert!(residual.row(row).iter().all(|entry| entry.abs() < 1e-12), "step {step}, row {row}");
            } else {
                assert_eq!(pair[0].row(row), pair[1].row(row));
            }
        }
    }
}

#[test]
fn every_setting_leads_to_the_solution() {
    let problem = DenseProblem::scattered(0.3, 0.5, 3).tolerance(1e-10);
    let solution = solve(&problem, &[("block_solver", "exact".into()), ("block_size", 120.into())]).x;
    for solver in ["nystrom", "exact", "identity"] {
        for damping in ["adaptive", "noise"] {
            for momentum in ["relative", "published", "none"] {
                for sampling in ["uniform", "leverage"] {
                    let params = [
                        ("block_size", 20.into()),
                        ("rank", 10.into()),
                        ("block_solver", solver.into()),
                        ("damping", damping.into()),
                        ("momentum", momentum.into()),
                        ("sampling", sampling.into()),
                    ];
                    let outcome = solve(&problem, &params);
                    let error = relative_error(&outcome.x, &solution);
                    let name = format!("{solver}, {damping}, {momentum}, {sampling}");
                    println!("{name}: {} steps, error {error:.1e}", outcome.iterations);
                    assert!(outcome.reason == Reason::Converged && error < 1e-7, "{name}: {error:e}");
                }
            }
        }
    }
}

fn solve(problem: &DenseProblem, params: &[(&str, ParamValue)]) -> Outcome {
    problem.solve::<Askotch>(params).unwrap()
}

/// Both variances times c divide the iterates by c where mu is relative. The published mu depends on the units.
#[test]
fn only_a_relative_mu_is_free_of_the_scale() {
    let scaled = |c: f64, solver: &str, momentum: &str| {
        let (x, b) = (scattered_inputs(120), scattered_right_hand_sides(120, 2));
        let (signal, noise) = (c.sqrt(), 0.1 * c.sqrt());
        let problem = DenseProblem::matern32(&x, signal, noise, &[0.5; 2], &b);
        let params = [
            ("block_size", 20.into()),
            ("rank", 10.into()),
            ("block_solver", solver.into()),
            ("momentum", momentum.into()),
            ("max_iterations", 60.into()),
        ];
        solve(&problem, &params)
    };
    for solver in ["exact", "nystrom", "identity"] {
        let unit = scaled(1.0, solver, "relative");
        for c in [1e-2, 1e-4] {
            assert_close(&(scaled(c, solver, "relative").x * c), &unit.x, 1e-9);
            assert!(relative_error(&(scaled(c, solver, "published").x * c), &unit.x) > 1e-2);
        }
        // With unit variance both are the same.
        assert_eq!(scaled(1.0, solver, "published").number("mu"), 0.1 * 0.1);
        assert_close(&scaled(1.0, solver, "published").x, &unit.x, 1e-9);
    }
}
