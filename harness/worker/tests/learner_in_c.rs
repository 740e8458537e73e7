//! The example of a learner in C, run by the program itself: it takes the steps that the same method in Rust takes.

use crate::common;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::worker::{job_of, library_of, solve, verify};
use gpbench_record::{Case, Job, Kernel, Metrics, ParamValue, Solved, Task, names};

/// The library, compiled. None, with a line, if there is no C compiler.
fn example(folder: &Path) -> Option<PathBuf> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/examples/c-scale-descent");
    let file = folder.join("libc_scale_descent.so");
    let outcome = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../abi/include"))
        .arg("-o")
        .arg(&file)
        .arg(examples.join("c_scale_descent.c"))
        .arg("-lm")
        .output();
    match outcome {
        Err(error) => {
            eprintln!("SKIPPED: no `cc` to compile a plugin with ({error})");
            None
        }
        Ok(outcome) => {
            assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
            Some(file)
        }
    }
}

/// Six passes over 200 rows in batches of 30, with two looks.
fn case(id: &str) -> Case {
    let mut case = common::by(id, common::case(200));
    case.kernel = Kernel { signal_scale: 2.0, noise_scale: 1.0, ..case.kernel };
    let learning = r#"{"passes":6,"looks":[3,6],"select":"last"}"#;
    case.task = Task::Learn(Box::new(serde_json::from_str(learning).unwrap()));
    case.solver.params.insert("batch".into(), ParamValue::Int(30));
    case.solver.params.insert("learning_rate".into(), ParamValue::Float(0.2));
    case
}

fn learn(job: &Job) -> (Solved, Metrics) {
    let (_, solved) = solve(job);
    (solved, verify(job))
}

#[test]
fn it_takes_the_steps_that_the_same_method_in_rust_takes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = example(folder.path()) else { return };
    let (c, _c_folder) = job_of(case("c-scale-descent"), library, 1);
    let (rust, _rust_folder) = job_of(case("scale-descent"), library_of("gpbench-learners"), 1);
    let ((c, c_verified), (rust, rust_verified)) = (learn(&c), learn(&rust));
    assert_eq!((c.iterations, c.reason, c.entries.used), (rust.iterations, rust.reason, rust.entries.used));
    assert!(c_verified.get(names::PREDICTION_GAP).unwrap() < 1e-9, "{c_verified:?}");
    for name in [names::NLML, names::TEST_RMSE, names::TEST_NLL, names::CLAIMED_TEST_RMSE] {
        let [c, rust] = [&c_verified, &rust_verified].map(|metrics| metrics.get(name).expect(name));
        assert!((c - rust).abs() < 1e-9, "{name}: {c} in C, {rust} in Rust");
    }
}

#[test]
fn it_goes_on_from_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = example(folder.path()) else { return };
    let (whole, _whole_folder) = job_of(case("c-scale-descent"), library.clone(), 1);
    let (_, uninterrupted) = learn(&whole);
    let (mut part, part_folder) = job_of(case("c-scale-descent"), library, 1);
    part.checkpoint_file = Some(part_folder.path().join("checkpoint.safetensors"));
    let mut stopping = part.clone();
    let Task::Learn(learning) = &mut stopping.case.task else { panic!("another task") };
    // Without further looks the fit goes on to its end, and the checkpoint is that of the first look.
    learning.looks.truncate(1);
    learn(&stopping);
    let (_, resumed) = learn(&part);
    assert_eq!(resumed, uninterrupted);
}
