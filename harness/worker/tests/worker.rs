//! The program itself, with the real plugins: solves, their verification, and what they cost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpbench_record::{Family, Inducing, Kernel, Message, ParamValue, StopReason, names};

use crate::common;
use crate::common::worker::{assert_close, cg, exact, job, job_of, solve, verify};

#[test]
fn cg_solves_and_verification_agrees() {
    let (mut job, folder) = job(cg(1e-8), 2);
    exact(&mut job, &folder);
    let (trace, solved) = solve(&job);
    assert_eq!((solved.n, solved.d, solved.reason), (300, 2, StopReason::Converged));
    assert_eq!(solved.claimed.len(), 4);
    assert!(solved.peak_memory_bytes >= solved.base_memory_bytes);
    let used = solved.entries.used / 9e4;
    assert!(used >= solved.iterations as f64 && used <= solved.iterations as f64 + 2.0, "{used}");

    let points: Vec<_> = trace
        .iter()
        .map(|message| match message {
            Message::Trace(point) => point,
            other => panic!("{other:?}"),
        })
        .collect();
    let evaluations = points.iter().filter(|point| point.metrics.get(names::W2_TO_EXACT).is_some()).count();
    assert!((5..=60).contains(&evaluations), "{evaluations}");
    assert!(points.is_sorted_by(|a, b| a.seconds <= b.seconds && a.epochs <= b.epochs));
    let (first, last) = (points[0], points[points.len() - 1]);
    for name in [names::RMSE_TO_EXACT, names::WEIGHT_ERROR, names::RKHS_ERROR] {
        let error = |point: &gpbench_record::TracePoint| point.metrics.get(name).unwrap();
        assert!(error(last) < 1e-4 && error(first) > 100.0 * error(last), "{name}");
    }

    let metrics = verify(&job);
    assert!(metrics.get(names::RESIDUAL_MAX).unwrap() < 1e-6);
    assert!(metrics.get(names::WEIGHT_ERROR).unwrap() < 1e-4);
    assert!(metrics.get(names::RKHS_ERROR).unwrap() < 1e-4);
    assert!((0.0..0.3).contains(&metrics.get(names::FEATURE_ERROR).unwrap()));
    let rmse = metrics.get(names::TEST_RMSE_EXACT).unwrap();
    assert_close(&metrics, names::TEST_RMSE, rmse, 1e-6);
    assert!(metrics.get(names::TEST_NLL).is_some());
}

#[test]
fn cholesky_is_the_exact_answer() {
    let (mut job, folder) = job(common::by("cholesky", common::case(300)), 2);
    let summary = exact(&mut job, &folder);
    let (trace, solved) = solve(&job);
    assert_eq!(solved.reason, StopReason::Converged);
    assert_eq!(trace.len(), 1, "one evaluation, at the end");
    let metrics = verify(&job);
    assert!(metrics.get(names::RESIDUAL_MAX).unwrap() < 1e-10);
    assert_close(&metrics, names::TEST_RMSE, summary.get(names::TEST_RMSE_EXACT).unwrap(), 1e-10);
    assert_close(&metrics, names::TEST_NLL_EXACT, summary.get(names::TEST_NLL_EXACT).unwrap(), 0.0);
    assert_close(&metrics, names::RMSE_TO_EXACT, 0.0, 1e-10);
}

#[test]
fn a_solution_does_not_depend_on_the_threads() {
    let solution = |threads| {
        let (job, _folder) = job(cg(1e-3), threads);
        let (_, solved) = solve(&job);
        let numbers = (solved.iterations, solved.claimed, solved.entries);
        (fs::read(&job.solution_file).unwrap(), numbers, verify(&job))
    };
    assert!(solution(1) == solution(2));
}

#[test]
fn an_exact_solution_does_not_depend_on_the_threads() {
    let solution = |threads| {
        let case = common::by("cholesky", common::case(700));
        let (mut job, folder) = job(case, threads);
        let summary = exact(&mut job, &folder);
        let (_, solved) = solve(&job);
        assert_eq!(solved.reason, StopReason::Converged);
        (fs::read(&job.solution_file).unwrap(), summary, verify(&job))
    };
    assert!(solution(1) == solution(2));
}

#[test]
fn the_epoch_budget_stops_a_solver() {
    let mut case = cg(1e-12);
    case.task = common::solving(common::pathwise(3));
    case.budget.max_epochs = Some(7.0);
    let (job, _folder) = job(case, 1);
    let (_, solved) = solve(&job);
    assert_eq!(solved.reason, StopReason::Epochs);
    assert!(solved.entries.used <= 7.0 * 9e4);
    let metrics = verify(&job);
    assert!(metrics.get(names::RESIDUAL_Y).is_some_and(|residual| residual > 1e-12));
    assert_eq!(metrics.get(names::TEST_RMSE), None, "task solve predicts nothing");
}

#[test]
fn inducing_points_are_solved_for_and_verified() {
    let mut case = common::by("sgd-rff", common::case(300));
    case.solver.params.insert("max_iterations".into(), ParamValue::Int(3000));
    case.task = common::posterior(3, Some(Inducing::Kmeans { points: 30 }));
    let (mut job, folder) = job(case, 2);
    exact(&mut job, &folder);
    let (trace, solved) = solve(&job);
    assert_eq!((solved.n, solved.reason), (300, StopReason::Iterations));
    let errors = trace.iter().filter_map(|message| match message {
        Message::Trace(point) => point.metrics.get(names::RMSE_TO_EXACT),
        _ => None,
    });
    let errors: Vec<f64> = errors.collect();
    let metrics = verify(&job);
    assert_eq!(metrics.get(names::RMSE_TO_EXACT), errors.last().copied(), "the same points, chosen anew");
    assert!(errors[errors.len() - 1] < 0.3 * errors[0], "{errors:?}");
    assert_eq!(metrics.get(names::INDUCING_POINTS), Some(30.0));
    assert_eq!((metrics.get(names::RESIDUAL_Y), metrics.get(names::WEIGHT_ERROR)), (None, None));
    assert!(metrics.get(names::TEST_NLL).is_some());
}

/// With enough memory, entries are cached: nothing is evaluated twice, and no bit changes.
#[test]
fn kernel_entries_are_cached_within_the_memory_budget() {
    let (plain, _folder) = job(cg(1e-8), 2);
    let (_, without) = solve(&plain);
    assert_eq!(without.cached_bytes, 0, "memory is not limited");
    let mut case = cg(1e-8);
    case.budget.memory_bytes = Some(1 << 30);
    let (roomy, _folder) = job(case, 2);
    let (_, with) = solve(&roomy);
    assert!(with.cached_bytes > 0 && with.cached_bytes < 1 << 30);
    assert_eq!((with.iterations, with.entries.used), (without.iterations, without.entries.used));
    assert!(with.entries.evaluated < 3.0 * 9e4 && without.entries.evaluated > with.entries.evaluated);
    assert_eq!(with.entries.evaluated + with.entries.found, without.entries.evaluated);
    assert_eq!(without.entries.found, 0.0);
}

/// What a case may plan with bounds the cache only.
#[test]
fn a_small_share_of_the_memory_changes_nothing_but_the_cache() {
    let solve_with = |limit, share| {
        let (mut job, folder) = job(cg(1e-8), 2);
        (job.limits.memory_bytes, job.limits.memory_share) = (limit, share);
        let (_, solved) = solve(&job);
        (solved, fs::read(&job.solution_file).unwrap(), folder)
    };
    let (with, expected, _folder) = solve_with(Some(1 << 30), None);
    let (small, solution, _folder) = solve_with(Some(1 << 30), Some(1 << 20));
    assert!(with.cached_bytes > 0 && small.cached_bytes == 0);
    assert!(solution == expected, "the cache changes no bit");
    let (unlimited, ..) = solve_with(None, Some(1 << 30));
    assert_eq!(unlimited.cached_bytes, 0, "memory is not limited");
}

#[test]
fn an_exact_reference_says_its_own_accuracy() {
    let error = |noise_scale: f64| {
        let mut case = cg(1e-2);
        case.kernel = Kernel { noise_scale, length_scale: vec![3.0], ..case.kernel };
        case.kernel.family = Family::Rbf.into();
        let (mut job, folder) = job(case, 1);
        let summary = exact(&mut job, &folder);
        solve(&job);
        let of_row = verify(&job).get(names::EXACT_ERROR);
        assert_eq!(summary.get(names::EXACT_ERROR), of_row);
        of_row
    };
    assert_eq!(error(0.3), None, "below a millionth");
    assert!(error(1e-6).is_some_and(|error| error > 1e-5), "{:?}", error(1e-6));
}

/// A correct solver in C that works for 1.5 s where the fault says; `None`, with a line, if there is no C compiler.
fn late_library(folder: &Path, fault: &str) -> Option<PathBuf> {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let file = folder.join(format!("{fault}.so"));
    let outcome = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-DID=\"late\"", &format!("-DFAULT_{fault}"), "-I"])
        .arg(harness.join("abi/include"))
        .arg("-o")
        .arg(&file)
        .arg(harness.join("testkit/hostile/c/library.c"))
        .arg("-lm")
        .output();
    let Ok(outcome) = outcome else {
        eprintln!("SKIPPED: no `cc` to compile a plugin with");
        return None;
    };
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
    Some(file)
}

#[test]
fn work_of_a_solver_beside_its_solve_counts() {
    let folder = tempfile::tempdir().unwrap();
    for fault in ["WORK_IN_CONSTRUCTOR", "WORK_IN_ENTRY", "WORK_IN_CREATE", "WORK_IN_DESTROY"] {
        let Some(file) = late_library(folder.path(), fault) else { return };
        let (job, _folder) = job_of(common::by("late", cg(1e-2)), file, 1);
        let (_, solved) = solve(&job);
        if fault != "WORK_IN_DESTROY" {
            // Before there is data, it is shown apart.
            let import = solved.metrics.get(names::SECONDS_IMPORT).unwrap();
            assert!(import > 1.3, "{fault}: {import} s");
            continue;
        }
        // Of 1.5 s, 0.05 s and a twentieth of the counted time are free.
        let counted = solved.prepare.wall + solved.solve.wall;
        let free = solved.metrics.get(names::SECONDS_ITERATES).unwrap();
        assert!(counted > 1.3 && free <= 0.05 + 0.05 * counted + 1e-9, "{fault}: {counted} s of {free} s");
    }
}
