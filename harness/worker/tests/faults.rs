//! What the program refuses, and faults that are not the solver's.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use gpbench_abi::{MAJOR, MINOR};
use gpbench_data::{Table, copy};
use gpbench_record::{
    Arithmetic, BenchInputs, BenchRequest, CaseStatus, FaultCause, Inducing, LibraryInfo, Message,
    ParamValue, Product, Program, ReadOptions, SCHEMA, Source,
};
use ndarray::{Array1, Array2};

use crate::common;
use crate::common::worker::{
    WORKER, cg, exact, failure, fault, job, job_of, library, messages, solve, worker,
};

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
