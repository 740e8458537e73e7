//! The program itself, with the real plugins.

use crate::common;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::worker::{
    WORKER, assert_close, exact, failure, fault, job, job_of, library, messages, solve, verified, verify,
    worker,
};
use gpbench_abi::{MAJOR, MINOR};
use gpbench_data::{Table, copy};
use gpbench_record::metric::{METRICS, Metric, Shown};
use gpbench_record::{
    Arithmetic, BenchInputs, BenchRequest, Case, CaseStatus, Family, FaultCause, Inducing, Kernel,
    LibraryInfo, Message, ParamValue, Product, Program, ReadOptions, SCHEMA, Source, StopReason, metric,
    names,
};
use ndarray::{Array1, Array2};

fn cg(tolerance: f64) -> Case {
    let mut case = common::case(300);
    case.budget.tolerance = Some(tolerance);
    case
}

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
fn predictions_have_a_calibration_beside_that_of_the_exact_process() {
    let (mut job, folder) = job(common::by("cholesky", common::case(300)), 2);
    let (trace, _) = solve(&job);
    let alone = verified(&job);
    exact(&mut job, &folder);
    let both = verified(&job);
    let value = |name: &str| both.metrics.get(name).unwrap_or_else(|| panic!("no {name}"));
    let measures: Vec<&Metric> =
        METRICS.iter().filter(|metric| metric.is_shown(Shown::Calibration)).collect();
    for metric in measures {
        let of_exact = metric::of_exact(metric).unwrap().name;
        assert!(value(of_exact).is_finite());
        assert_eq!(alone.metrics.get(metric.name), Some(value(metric.name)), "{}", metric.name);
        assert_eq!(alone.metrics.get(of_exact), None);
        let is_traced = |message: &Message| match message {
            Message::Trace(point) => point.metrics.get(metric.name).is_some(),
            other => panic!("{other:?}"),
        };
        assert!(!trace.iter().any(is_traced), "points of a trace have no calibration");
    }
    // The trivial model of the loss is that of the training targets, and Cholesky's mean is the exact one.
    let trivial = |nll: &str, msll: &str| value(nll) - value(msll);
    let [own, exact] =
        [trivial(names::TEST_NLL, names::MSLL), trivial(names::TEST_NLL_EXACT, names::MSLL_EXACT)];
    assert!((own - exact).abs() < 1e-10, "{own} {exact}");
    assert!((value(names::SMSE) - value(names::SMSE_EXACT)).abs() < 1e-10);
    // The variances of three samples are not.
    assert!((value(names::WIDTH_95) - value(names::WIDTH_95_EXACT)).abs() > 1e-3);

    let (shares, without) = (both.calibration.unwrap(), alone.calibration.unwrap());
    assert_eq!((&without.own, without.exact.as_ref()), (&shares.own, None));
    for rows in [&shares.own, shares.exact.as_ref().unwrap()] {
        assert!(rows.is_complete() && rows.coverage.is_sorted(), "{rows:?}");
        assert!((rows.pit.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{rows:?}");
    }
}

/// A draw on a line under a smooth kernel, of whose signal scale the square is 4.
fn on_a_line() -> Case {
    let mut case = common::case(200);
    let Source::GpDraw(draw) = &mut case.dataset.source else { panic!("not a draw") };
    draw.d = 1;
    case.kernel.family = Family::Rbf.into();
    case.kernel.signal_scale = 2.0;
    case.kernel.length_scale = vec![0.5];
    case.task = common::posterior(40, None);
    case
}

#[test]
fn one_input_has_a_posterior_curve_and_an_exact_one() {
    let (mut job, folder) = job(common::by("cholesky", on_a_line()), 2);
    solve(&job);
    let without = verified(&job).curve.unwrap();
    assert!(without.exact_mean.is_empty() && without.w2.is_empty() && without.spectrum.is_none());
    exact(&mut job, &folder);
    let mut curve = *verified(&job).curve.unwrap();
    let spectrum = curve.spectrum.take().unwrap();
    let (mean, w2) = (std::mem::take(&mut curve.exact_mean), std::mem::take(&mut curve.w2));
    let deviation = std::mem::take(&mut curve.exact_deviation);
    assert_eq!(curve, *without);

    let [low, high] = curve.range;
    assert!(curve.x.is_sorted() && curve.x[0] < low && *curve.x.last().unwrap() > high);
    assert!(curve.rows.len() == 200 && curve.rows[0][0] == low && curve.rows[199][0] == high);
    assert_eq!((curve.samples.len(), curve.samples[0].len()), (5, curve.x.len()));
    // The mean is exact; of the deviation, forty samples tell a ninth.
    assert!(curve.mean.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-5));
    let ratios = curve.deviation.iter().zip(&deviation).map(|(a, b)| a / b);
    assert!(ratios.clone().all(|ratio| (0.5..1.6).contains(&ratio)), "{ratios:?}");
    let distances = w2.iter().zip(curve.deviation.iter().zip(&deviation));
    assert!(distances.clone().all(|(w2, (a, b))| (w2 - (a - b).abs()).abs() < 1e-5));

    // The trace of K: n s^2.
    let trace: f64 = spectrum.eigenvalues.iter().map(|(_, value)| value).sum();
    assert!((trace / 800.0 - 1.0).abs() < 1e-5, "{trace}");
    // Functions of unit norm in the Hilbert space are at most s.
    assert!(spectrum.functions.len() >= 5 && spectrum.functions[0].0 == 1);
    for (index, function) in &spectrum.functions {
        let most = function.iter().copied().fold(0.0, f64::max);
        assert!((0.05..=2.0).contains(&most), "{index}: {most}");
    }
}

#[test]
fn several_inputs_and_bare_systems_have_no_curve() {
    let (several, _folder) = job(cg(1e-2), 1);
    solve(&several);
    assert_eq!(verified(&several).curve, None);
    let mut case = on_a_line();
    case.task = common::solving(common::pathwise(3));
    let (bare, _folder) = job(case, 1);
    solve(&bare);
    assert_eq!(verified(&bare).curve, None);
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
fn a_solve_that_needs_too_much_memory_is_refused() {
    let mut case = common::by("cholesky", common::case(300));
    case.budget.memory_bytes = Some(1 << 20);
    let (job, _folder) = job(case, 1);
    let (status, reason) = failure(&job);
    assert_eq!(status, CaseStatus::OutOfMemory);
    assert!(reason.ends_with("the budget is 1 MiB"), "{reason}");
}

#[test]
fn wrong_parameters_and_absent_solvers_are_named() {
    let mut case = cg(0.1);
    case.solver.params.insert("rnak".into(), ParamValue::Int(3));
    let (status, reason) = failure(&job(case, 1).0);
    assert_eq!((status, reason.as_str()), (CaseStatus::Invalid, "solver `cg` has no parameter `rnak`"));
    let mut case = cg(0.1);
    case.solver.plugin = "cgg".into();
    let (_, reason) = failure(&job_of(case, library("cg"), 1).0);
    assert!(reason.ends_with("offers no solver `cgg`; it offers `cg`"), "{reason}");
}

#[test]
fn files_that_are_away_or_damaged_are_faults_and_no_failures() {
    let missing = PathBuf::from("/nowhere/libgpbench_plugin_none.so");
    let away = fault("case", &job_of(cg(0.1), missing, 1).0);
    assert_eq!(away.cause, FaultCause::Plugin);
    assert!(
        away.reason.starts_with("/nowhere/libgpbench_plugin_none.so cannot be read: "),
        "{}",
        away.reason
    );

    let (mut of, folder) = job(cg(0.1), 1);
    exact(&mut of, &folder);
    solve(&of);
    for (file, cause) in [
        (of.solution_file.clone(), FaultCause::Solution),
        (of.exact_file.clone().unwrap(), FaultCause::Reference),
    ] {
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() - 8]).unwrap();
        assert_eq!(fault("verify", &of).cause, cause, "cut");
        fs::remove_file(&file).unwrap();
        let away = fault("verify", &of);
        assert_eq!((away.cause, away.plugin_ran), (cause, false), "away");
        fs::write(&file, &whole).unwrap();
    }
    of.solution_file = PathBuf::from("/nowhere/solution.safetensors");
    let unwritten = fault("case", &of);
    assert_eq!((unwritten.cause, unwritten.plugin_ran), (FaultCause::Storage, true));

    of.case.dataset.source = Source::File { path: "wine.csv".into(), options: ReadOptions::default() };
    of.dataset_file = Some(folder.path().join("wine.gpb"));
    assert_eq!(fault("case", &of).cause, FaultCause::Dataset);
    fs::write(of.dataset_file.as_ref().unwrap(), "something else").unwrap();
    assert_eq!(fault("verify", &of).cause, FaultCause::Dataset);
    // Another copy, which is whole.
    let table = Table {
        name: "wine".into(),
        x: Array2::from_shape_fn((20, 2), |(row, column)| (row * (column + 1)) as f64),
        y: Array1::linspace(0.0, 1.0, 20),
        ..Table::default()
    };
    copy::write(&table, of.dataset_file.as_ref().unwrap()).unwrap();
    of.dataset_sha256 = Some("0".repeat(64));
    let other = fault("verify", &of);
    assert!(
        other.cause == FaultCause::Dataset && other.reason.contains("another than planned"),
        "{}",
        other.reason
    );
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

#[test]
fn inducing_points_are_refused_for_a_solver_that_does_not_know_them() {
    let mut case = cg(0.01);
    case.task = common::posterior(3, Some(Inducing::Subset { points: 10 }));
    let (job, _folder) = job(case, 1);
    let expected = (CaseStatus::Invalid, "solver `cg` does not take inducing points".to_owned());
    assert_eq!(failure(&job), expected);
}

#[test]
fn describe_lists_good_and_bad_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("libgpbench_plugin_bad.so");
    fs::write(&bad, "not a library").unwrap();
    let mut command = Command::new(WORKER);
    command.arg("describe").arg(&bad).arg(library("cg")).arg(&bad);
    let output = command.output().unwrap();
    assert!(output.status.success());
    let entries: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(entries[0]["error"].as_str().unwrap().contains("cannot be loaded"), "{entries:?}");
    let info: LibraryInfo = serde_json::from_value(entries[1].clone()).unwrap();
    assert_eq!((info.file, info.abi.as_str()), (library("cg"), format!("{MAJOR}.{MINOR}").as_str()));
    assert!(info.solvers.iter().any(|solver| solver.id == "cg" && !solver.params.is_empty()));
    assert_eq!(entries.len(), 3);
}

#[test]
fn a_library_without_the_entry_is_named_as_such() {
    // The C library is there on every machine, and is no plugin.
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return };
    let libc =
        maps.lines().find_map(|line| line.split_whitespace().last().filter(|path| path.contains("libc.so")));
    let Some(libc) = libc else { return };
    let output = Command::new(WORKER).arg("describe").arg(libc).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("exports no function `gpbench_plugin_v1`"), "{text}");
}

#[test]
fn a_verb_that_does_not_exist_is_wrong_usage_and_a_bad_job_an_error() {
    let output = worker("dance", &());
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && output.stderr.starts_with(b"usage: gpbench-worker"));
    assert_eq!(worker("case", &"no job").status.code(), Some(70));
    let (mut later, _folder) = job_of(cg(1e-3), "plugin.so".into(), 1);
    later.schema += 1;
    let output = worker("case", &later);
    assert_eq!(output.status.code(), Some(70));
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("the job is of schema 3; this worker reads 2"), "{log}");
    let output = worker("environment", &());
    let facts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for name in ["cpu_dispatch", "blas", "blas_core", "threads"] {
        assert!(!facts[name].is_null(), "{name}");
    }
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
fn a_library_that_is_not_the_one_planned_is_not_loaded() {
    let (mut job, folder) = job(cg(0.1), 1);
    let file = folder.path().join("library.so");
    fs::copy(&job.plugin.file, &file).unwrap();
    job.plugin = Program::of(&file).unwrap();
    solve(&job);
    // The stamp differs and the content does not.
    fs::copy(library("cg"), folder.path().join("new")).unwrap();
    fs::rename(folder.path().join("new"), &file).unwrap();
    solve(&job);
    fs::copy(library("cholesky"), &file).unwrap();
    let changed = fault("case", &job);
    assert_eq!(changed.cause, FaultCause::Plugin);
    assert!(changed.reason.contains("library.so has changed"), "{changed:?}");
}

#[test]
fn address_space_that_openblas_lacks_is_a_fault_that_names_it() {
    let (job, folder) = job(cg(1e-2), 4);
    let input = folder.path().join("job.json");
    fs::write(&input, serde_json::to_vec(&job).unwrap()).unwrap();
    for verb in ["case", "verify"] {
        // Four buffers of 128 MiB do not fit; the first one does.
        let script = format!("ulimit -v 400000; exec {WORKER} {verb} < {}", input.display());
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let Some(Message::Fault(fault)) = messages(&output).pop() else { panic!("{output:?}") };
        assert_eq!((fault.cause, fault.plugin_ran), (FaultCause::Resources, false));
        let expected = "4 x 130 MiB of address space, which OpenBLAS needs for 4 threads; the address space of a \
                        process is limited to 390 MiB";
        assert!(fault.reason.contains(expected), "{}", fault.reason);
    }
}

#[test]
fn products_and_rules_need_address_space_for_openblas_too() {
    let folder = tempfile::tempdir().unwrap();
    let within = |script: String| Command::new("sh").args(["-c", &script]).output().unwrap();
    let limit = "ulimit -v 400000; exec";
    let expected = "3 x 130 MiB of address space, which OpenBLAS needs for 3 threads; the address space of a process is \
                    limited to 390 MiB: raise the limit";
    let input = folder.path().join("request.json");
    let request = BenchRequest {
        schema: SCHEMA,
        product: Product::Operator,
        inputs: BenchInputs::Normal { n: 30, d: 2 },
        kernel: cg(1e-2).kernel,
        rhs: 1,
        precision: Arithmetic::F64,
        threads: 3,
        seconds: 0.01,
        dgemm_order: 30,
        arrays: None,
    };
    fs::write(&input, serde_json::to_vec(&request).unwrap()).unwrap();
    let bench = within(format!("{limit} {WORKER} bench < {}", input.display()));
    let log = String::from_utf8_lossy(&bench.stderr);
    assert!(bench.status.code() == Some(70) && log.contains(expected), "{log}");

    let rules = within(format!("{limit} {WORKER} conform {}", library("cholesky").display()));
    let told = String::from_utf8_lossy(&rules.stdout);
    assert!(rules.status.success() && told.lines().count() == 1 && told.contains(expected), "{told}");
}

#[test]
fn an_unknown_instruction_set_is_refused() {
    let output = Command::new(WORKER).arg("environment").env("GPBENCH_SIMD", "avx2x").output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
    let expected = "GPBENCH_SIMD=avx2x names no instruction set; there are avx512, avx2, portable";
    assert!(log.contains(expected), "{log}");
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
