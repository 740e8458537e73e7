//! Costs, budgets, momentum, degenerate systems: what has to hold whatever the numbers.

use gpbench_plugin_askotch::{Askotch, AskotchParams, BlockSolver, Damping};
use gpbench_sdk::abi::Status;
use gpbench_sdk::ndarray::{Array2, array};
use gpbench_sdk::{Family, ParamValue, Reason};
use gpbench_testing::{
    DenseProblem, Outcome, matern32, relative_residuals, scattered_inputs, scattered_right_hand_sides,
};

const N: usize = 120;

/// Rows of a block in most tests: twelve blocks.
const BLOCK: usize = 10;

fn well_posed() -> DenseProblem {
    DenseProblem::scattered(0.3, 0.5, 5).tolerance(1e-6)
}

type Params<'p> = Vec<(&'p str, ParamValue)>;

/// Blocks of ten rows, solved exactly, unless `params` say otherwise.
fn blocks<'p>(params: &[(&'p str, ParamValue)]) -> Params<'p> {
    let all: Params<'p> = vec![("block_size", (BLOCK as i64).into()), ("block_solver", "exact".into())];
    let given = |name: &str| params.iter().any(|(other, _)| *other == name);
    all.into_iter().filter(|(name, _)| !given(name)).chain(params.iter().cloned()).collect()
}

fn solve(problem: &DenseProblem, params: &[(&str, ParamValue)]) -> Outcome {
    problem.solve::<Askotch>(&blocks(params)).unwrap()
}

/// Kernel entries of so many steps.
fn entries(steps: i64) -> f64 {
    steps as f64 * (BLOCK * (N + BLOCK)) as f64
}

#[test]
fn a_step_costs_its_columns_and_its_block_and_a_claim_one_epoch() {
    for solver in ["exact", "nystrom", "identity"] {
        let solver = [("block_solver", solver.into()), ("rank", 4.into())];
        let outcome = solve(&well_posed(), &solver);
        assert_eq!((outcome.reason, outcome.entries_prepare), (Reason::Converged, 0.0));
        assert_eq!(outcome.entries, entries(outcome.iterations) + (N * N) as f64);
        // Where nothing is claimed to have converged, no residual is computed.
        let few = [&solver[..], &[("max_iterations", 7.into())]].concat();
        let outcome = solve(&well_posed(), &few);
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, 7));
        assert_eq!(outcome.entries, entries(7));
    }
}

#[test]
fn scores_cost_a_few_rows() {
    let outcome = solve(&well_posed(), &[("sampling", "leverage".into())]);
    // Four times the square root of 120.
    assert_eq!(outcome.entries_prepare, (43 * (43 + N)) as f64);
}

#[test]
fn the_host_sees_the_iterate_a_few_times_an_epoch() {
    let outcome = solve(&well_posed(), &[]);
    let (last, regular) = outcome.trace.split_last().unwrap();
    assert!(regular.iter().enumerate().all(|(k, (iteration, _))| *iteration == 3 * k as i64));
    assert_eq!(last.0, outcome.iterations);
    assert!(outcome.iterations > 12);
}

#[test]
fn momentum_saves_steps_at_little_noise_and_is_off_at_much() {
    let steps = |noise: f64, momentum: &str| {
        let problem = DenseProblem::scattered(noise, 0.5, 5).tolerance(1e-6);
        let outcome = solve(&problem, &[("momentum", momentum.into())]);
        assert_eq!(outcome.reason, Reason::Converged);
        outcome
    };
    let (with, without) = (steps(0.1, "relative"), steps(0.1, "none"));
    println!("{} steps with momentum, {} without", with.iterations, without.iterations);
    assert!(10 * with.iterations < 9 * without.iterations);
    // 0.3^2 is above b / n.
    let (with, without) = (steps(0.3, "relative"), steps(0.3, "none"));
    assert_eq!(with.x, without.x);
    assert_eq!(with.numbers, [("block_size".to_owned(), 10.0)]);
}

#[test]
fn mu_is_reported_and_may_be_given() {
    let mu = |params: &[(&str, ParamValue)]| {
        let problem = DenseProblem::matern32(
            &scattered_inputs(N),
            2.0,
            0.1,
            &[0.5; 2],
            &scattered_right_hand_sides(N, 1),
        );
        let few = [params, &[("max_iterations", 2.into())]].concat();
        solve(&problem, &few).number("mu")
    };
    let close = |got: f64, expected: f64| assert!((got / expected - 1.0).abs() < 1e-12, "{got} {expected}");
    close(mu(&[]), 0.0025);
    close(mu(&[("block_solver", "nystrom".into()), ("rank", 4.into())]), 0.01);
    // So few rows are solved exactly.
    close(mu(&[("block_solver", "nystrom".into()), ("rank", 10.into())]), 0.0025);
    close(mu(&[("momentum", "published".into())]), 0.01);
    close(mu(&[("mu", 0.05.into())]), 0.05);
}

#[test]
fn mixed_precision_reaches_the_tolerance_in_double() {
    for solver in ["exact", "nystrom"] {
        let params = [("block_solver", solver.into()), ("rank", 4.into()), ("precision", "mixed".into())];
        let problem = well_posed().tolerance(1e-9);
        let outcome = solve(&problem, &params);
        assert_eq!(outcome.reason, Reason::Converged);
        let truth = problem.residuals(&outcome.x);
        assert!(truth[0] <= 1.01e-9, "{truth:?}");
        assert!(outcome.claimed.iter().zip(&truth).all(|(claimed, truth)| (claimed - truth).abs() < 1e-14));
    }
}

#[test]
fn the_seed_draws_the_blocks_and_the_sketches() {
    for solver in ["exact", "nystrom"] {
        let x = |seed| {
            let params = [("block_solver", solver.into()), ("rank", 4.into())];
            solve(&well_posed().tolerance(1e-2).seed(seed), &params).x
        };
        assert_eq!(x(1), x(1));
        assert_ne!(x(1), x(2));
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // Blocks of more rows than a tile and a panel hold.
    let n = 1100;
    let (x, b) = (scattered_inputs(n), scattered_right_hand_sides(n, 9));
    let problem = DenseProblem::matern32(&x, 1.0, 0.1, &[0.5; 2], &b);
    for solver in ["exact", "nystrom", "identity"] {
        for sampling in ["uniform", "leverage"] {
            let params: [(&str, ParamValue); 5] = [
                ("block_size", 600.into()),
                ("block_solver", solver.into()),
                ("rank", 40.into()),
                ("sampling", sampling.into()),
                ("max_iterations", 4.into()),
            ];
            let x = |threads| problem.clone().threads(threads).solve::<Askotch>(&params).unwrap().x;
            assert_eq!(x(1), x(2));
            assert_eq!(x(1), x(7));
        }
    }
}

#[test]
fn a_tolerance_below_working_precision_stagnates() {
    let outcome = solve(&well_posed().tolerance(1e-18), &[]);
    assert_eq!(outcome.reason, Reason::Stagnated);
    // The residual was computed, not updated to zero.
    let truth = well_posed().residuals(&outcome.x);
    assert!(truth[0] < 1e-13 && outcome.claimed[0] > 1e-18, "{truth:?} {:?}", outcome.claimed);
}

#[test]
fn momentum_with_a_mu_that_is_too_small_diverges() {
    // Less than a tenth of the rate without momentum, which is 0.01 here.
    let problem = DenseProblem::scattered(0.03, 0.5, 5).tolerance(1e-6);
    let of = |mu: f64| solve(&problem, &[("block_size", 20.into()), ("mu", mu.into())]);
    let outcome = of(9e-5);
    assert_eq!(outcome.reason, Reason::Diverged);
    assert!(outcome.x.iter().all(|x| x.is_finite()));
    assert_eq!(of(1e-2).reason, Reason::Converged);
}

#[test]
fn an_indefinite_matrix_diverges() {
    let a = array![[1.0, 2.0], [2.0, 1.0]];
    let problem = DenseProblem::new(a, array![[1.0], [0.0]]).tolerance(1e-6);
    let problem = problem.kernel(Family::Matern32, array![[0.0], [1.0]], 1.0, 0.5, vec![1.0]);
    let by = |size: i64, momentum: &str| {
        let params: [(&str, ParamValue); 3] =
            [("block_size", size.into()), ("block_solver", "exact".into()), ("momentum", momentum.into())];
        problem.solve::<Askotch>(&params)
    };
    for momentum in ["relative", "none"] {
        let outcome = by(1, momentum).unwrap();
        assert_eq!(outcome.reason, Reason::Diverged);
        assert!(outcome.x.iter().all(|x| x.is_finite()));
    }
    // In one block it is seen at once.
    assert_eq!(by(2, "none").unwrap_err().status(), Some(Status::NOT_POSITIVE_DEFINITE));
}

#[test]
fn without_noise_mu_has_to_be_given() {
    let a = Array2::<f64>::eye(N) * 2.0;
    let b = scattered_right_hand_sides(N, 2);
    let problem = DenseProblem::new(a.clone(), b.clone()).tolerance(1e-8);
    let problem = problem.kernel(Family::Rbf, scattered_inputs(N), 1.0, 0.0, vec![1e-9; 2]);
    for params in [vec![], vec![("momentum", "none".into()), ("sampling", "leverage".into())]] {
        let refused = problem.solve::<Askotch>(&blocks(&params)).unwrap_err();
        assert_eq!(refused.status(), Some(Status::UNSUPPORTED), "{refused}");
    }
    for params in [("mu", 0.05.into()), ("momentum", "none".into())] {
        let outcome = solve(&problem, &[params]);
        assert_eq!(outcome.reason, Reason::Converged);
        assert!(relative_residuals(&a, &outcome.x, &b).iter().all(|norm| *norm < 1e-7));
    }
}

#[test]
fn one_block_of_all_rows_by_default() {
    // 120 rows are fewer than 256; a sketch of rank 100 in double precision.
    let problem = well_posed();
    let outcome = problem.solve::<Askotch>(&[]).unwrap();
    assert_eq!((outcome.reason, outcome.number("block_size")), (Reason::Converged, 120.0));
    let truth = relative_residuals(
        &matern32(&scattered_inputs(N), 1.0, 0.3, &[0.5; 2]),
        &outcome.x,
        &scattered_right_hand_sides(N, 5),
    );
    assert!(truth[0] <= 1.01e-6);
}

#[test]
fn defaults_are_the_published_ones() {
    let defaults = AskotchParams::default();
    assert_eq!((defaults.block_solver, defaults.damping), (BlockSolver::Nystrom, Damping::Adaptive));
    assert_eq!((defaults.rank, defaults.power_iterations), (100, 10));
    assert_eq!(defaults.block_size(100_000), 1000);
}

/// Repeated rows of one input, beside an input that is constant, and rows that are all equal: the noise alone tells them
/// apart.
#[test]
fn degenerate_inputs_are_solved() {
    let n = 60;
    let line = Array2::from_shape_fn((n, 1), |(i, _)| (i / 4) as f64 / 5.0);
    let flat = Array2::from_shape_fn((n, 2), |(i, j)| if j == 0 { line[[i, 0]] } else { 3.0 });
    for x in [line, flat, Array2::zeros((n, 1))] {
        let lengths = vec![0.5; x.ncols()];
        let b = scattered_right_hand_sides(n, 1);
        let problem = DenseProblem::matern32(&x, 1.0, 0.3, &lengths, &b).tolerance(1e-4);
        for solver in ["exact", "nystrom", "identity"] {
            for sampling in ["uniform", "leverage"] {
                let params = [
                    ("block_solver", solver.into()),
                    ("rank", 5.into()),
                    ("momentum", "none".into()),
                    ("sampling", sampling.into()),
                ];
                let outcome = solve(&problem, &params);
                let truth = problem.residuals(&outcome.x);
                assert_eq!(outcome.reason, Reason::Converged, "{solver}, {sampling}: {truth:?}");
                assert!(truth[0] <= 1.01e-4, "{solver}, {sampling}: {truth:?}");
            }
        }
    }
}
