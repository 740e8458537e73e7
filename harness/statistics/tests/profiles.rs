//! Profiles over problems and targets.

use gpbench_statistics::profile::{
    ErrorTrace, Staircase, performance_profile, runtime_profile, runtimes, targets, work_precision,
};

use crate::support::{all_same, at, example, list, number, numbers, same};

/// The evaluations of a run of the example.
fn trace(run: &str) -> Vec<(f64, f64)> {
    let of = &example("runtime_profile/traces")[run];
    numbers(&of["cost"]).into_iter().zip(numbers(&of["value"])).collect()
}

/// The runtimes of a solver of the example, of one problem and two seeds.
fn profile(solver: &str, runtimes: impl Fn(&[(f64, f64)], &[f64]) -> Vec<f64>) -> Staircase {
    let targets = targets(0.01);
    let of_seed = |seed: u8| runtimes(&trace(&format!("{solver}/seed{seed}")), &targets);
    runtime_profile(&[vec![of_seed(0), of_seed(1)]])
}

#[track_caller]
fn has_heights(profile: &Staircase, name: &str) {
    let grid = list("runtime_profile/grid");
    let heights: Vec<f64> = grid.iter().map(|cost| profile.at(*cost)).collect();
    all_same(&heights, &list(&format!("runtime_profile/{name}")));
}

/// The cost of the first evaluation within each target, whatever follows: the definition of COCO.
fn first_hits(trace: &[(f64, f64)], targets: &[f64]) -> Vec<f64> {
    let hit = |target: &f64| trace.iter().find(|(_, error)| error <= target);
    targets.iter().map(|target| hit(target).map_or(f64::INFINITY, |(cost, _)| *cost)).collect()
}

#[test]
fn runtime_profiles() {
    all_same(&targets(0.01), &list("runtime_profile/targets"));
    for (run, expected) in example("runtime_profile/runtimes_for_good").as_object().unwrap() {
        all_same(&runtimes(&trace(run), &targets(0.01)), &numbers(expected));
    }
    has_heights(&profile("a", runtimes), "profile_a");
    has_heights(&profile("b", runtimes), "profile_b");
    has_heights(&profile("a", first_hits), "profile_a_first_hit");
}

#[test]
fn errors_against_cost() {
    let runs = ["a/seed0", "a/seed1"].map(|run| ErrorTrace { trace: trace(run), failed: false });
    let curve = work_precision(&runs, &list("work_precision/grid"));
    let curve: Option<Vec<f64>> = curve.into_iter().collect();
    all_same(&curve.unwrap(), &list("work_precision/geometric_mean"));
    assert_eq!(example("work_precision/series"), "a");
}

#[test]
fn performance_profiles() {
    let solvers = ["a", "b", "c"];
    let times = example("performance_profile/times").as_object().unwrap().values();
    let of_problem = |times: &serde_json::Value| {
        vec![solvers.iter().map(|solver| times[solver].as_f64().unwrap_or(f64::INFINITY)).collect::<Vec<_>>()]
    };
    let profile = performance_profile(&times.map(of_problem).collect::<Vec<_>>());
    assert_eq!((profile.problems as f64, profile.unsolved), (at("performance_profile/problems"), 1));
    for (solver, of_solver) in solvers.iter().zip(&profile.solvers) {
        for (x, height) in example(&format!("performance_profile/rho/{solver}")).as_object().unwrap() {
            same(of_solver.at(x.parse().unwrap()), number(height));
        }
        same(of_solver.area(10.0), at(&format!("performance_profile/area_to_10/{solver}")));
        let mut steps = list(&format!("performance_profile/ratios/{solver}"));
        steps.dedup();
        all_same(&of_solver.steps().iter().map(|(x, _)| *x).collect::<Vec<_>>(), &steps);
    }
}
