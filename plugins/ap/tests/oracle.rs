//! Against the independent oracle, at its stated tolerances.

use gpbench_plugin_ap::Ap;
use gpbench_sdk::Reason;
use gpbench_sdk::ndarray::{Array2, Axis};
use gpbench_testing::{DenseProblem, matern32};
use gpbench_testkit::json::{self, Value, matrix, number, vector};
use gpbench_testkit::{SmallSystem, relative_error};

/// The only block in which one iterate differs from the one before.
fn changed_block(before: &Array2<f64>, after: &Array2<f64>, block_size: usize) -> f64 {
    let changed = |row: &usize| before.row(*row) != after.row(*row);
    let rows: Vec<usize> = (0..before.nrows()).filter(changed).collect();
    let block = rows[0] / block_size;
    assert!(rows.iter().all(|row| row / block_size == block), "rows of several blocks: {rows:?}");
    block as f64
}

/// Sixty projections: which block each is on, what residual it leaves, and where they end.
fn agrees(setting: &str, size: &str) {
    let oracle = json::parse(include_str!("data/solvers_small.json"));
    let expected: &Value = &oracle["settings"][setting]["ap"][size];
    let system = SmallSystem::load();
    let given = system.setting(setting);
    let a = matern32(&system.x_train, given.signal_scale, given.noise_scale, &given.length_scale);
    let block_size = number(&expected["block_size"]) as usize;
    let params = [
        ("block_size", (block_size as i64).into()),
        ("partition", "contiguous".into()),
        ("max_iterations", 60.into()),
    ];
    // So few blocks that every projection is observed.
    let outcome = DenseProblem::new(a, matrix(&oracle["b"])).iterates().solve::<Ap>(&params).unwrap();
    assert_eq!((outcome.reason, outcome.iterations), (Reason::Iterations, 60));

    let chosen: Vec<f64> =
        outcome.iterates.windows(2).map(|pair| changed_block(&pair[0], &pair[1], block_size)).collect();
    assert_eq!(chosen, vector(&expected["chosen"]).to_vec());

    let norms = matrix(&expected["residual_norms"]);
    let observed: Vec<f64> = outcome.trace.iter().flat_map(|(_, norms)| norms.clone()).collect();
    let observed = Array2::from_shape_vec(norms.dim(), observed).unwrap();
    let worst = observed.axis_iter(Axis(0)).zip(norms.axis_iter(Axis(0)));
    let worst = worst.map(|(observed, norms)| relative_error(&observed, &norms)).fold(0.0, f64::max);
    let error = relative_error(&outcome.x, &matrix(&expected["v_final"]));
    println!("{setting}, {size}: residuals {worst:.1e}, final error {error:.1e}");
    assert!(worst <= 1e-10 && error <= 1e-10, "{setting}, {size}: {worst:e}, {error:e}");
}

#[test]
fn blocks_that_divide_the_rows() {
    ["matern32_ones", "matern32_paper", "matern32_smooth"].iter().for_each(|it| agrees(it, "block_50"));
}

#[test]
fn a_last_block_that_is_smaller() {
    ["matern32_ones", "matern32_paper", "matern32_smooth"].iter().for_each(|it| agrees(it, "block_64"));
}
