//! Plugins that were compiled against the headers of earlier minor versions, which are kept in `earlier`, solve as they did.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use gpbench_record::{ParamValue, SolverKind, StopReason};
use gpbench_worker::plugin::{HostTable, Library, Session, SolverObject};
use gpbench_worker::process;
use ndarray::{Array2, ShapeBuilder};

use crate::common::{LIMITS, case, exact_solution, system};

/// The plugin, compiled against the header of a version. None, with a line, if there is no C compiler.
fn library(version: &str, folder: &Path) -> Option<Library> {
    let earlier = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier");
    let file = folder.join(format!("libearlier-{version}.so"));
    let outcome = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"])
        .args(["-O1", "-shared", "-fPIC", "-I"])
        .arg(earlier.join(version))
        .arg("-o")
        .arg(&file)
        .arg(earlier.join("plugin.c"))
        .output();
    match outcome {
        Err(error) => {
            eprintln!("SKIPPED: no `cc` to compile a plugin with ({error})");
            None
        }
        Ok(outcome) => {
            assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
            Some(Library::load(&file, HostTable::new(None)).unwrap())
        }
    }
}

/// The iterate after a hundred steps.
fn solve(library: &Library) -> Array2<f64> {
    let system = system(&case(40));
    let params = BTreeMap::from([("step".to_owned(), ParamValue::Float(0.02))]);
    let entry = library.solver("richardson").unwrap();
    let mut solver = SolverObject::create(entry, library.host(), &params).unwrap();
    let mut x = Array2::zeros((system.m(), system.columns()).f());
    let observer = &mut ();
    let session = Session::new(&system, LIMITS, process::now, observer);
    let outcome = solver.run(&session, &mut x).unwrap();
    assert_eq!((outcome.reason, outcome.cost.iterations), (StopReason::Iterations, 100));
    let exact = exact_solution(&system);
    let size = |a: &Array2<f64>| a.iter().map(|a| a * a).sum::<f64>().sqrt();
    assert!(size(&(&x - &exact)) < 0.9 * size(&exact), "the iterate is no nearer to the solution than zero");
    x
}

#[test]
fn plugins_of_earlier_versions_solve_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let libraries: Vec<Library> =
        ["1.0", "1.1"].iter().filter_map(|version| library(version, folder.path())).collect();
    let solutions: Vec<Array2<f64>> = libraries.iter().map(solve).collect();
    assert!(solutions.windows(2).all(|pair| pair[0] == pair[1]));
    let versions: Vec<String> = libraries.iter().map(Library::abi).collect();
    assert!(versions.is_empty() || versions == ["1.0", "1.1"], "{versions:?}");
}

#[test]
fn learners_of_earlier_versions_are_listed_and_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["1.0", "1.1"] {
        let Some(library) = library(version, folder.path()) else { return };
        let offers: Vec<_> = library.offers().map(|info| (info.id.as_str(), info.kind)).collect();
        let learner = SolverKind::Learner;
        let cannot_run = library.offers().filter(|info| info.listed_only).map(|info| info.id.as_str());
        assert_eq!(cannot_run.collect::<Vec<_>>(), ["early", "early-2"]);
        assert_eq!(offers, [("richardson", SolverKind::Solver), ("early", learner), ("early-2", learner)]);
        let error = library.learner("early-2").err().unwrap().to_string();
        let expected = format!(
            "was built for interface {version}, which has no functions of learners: `early-2` cannot run; build it again"
        );
        assert!(error.ends_with(&expected), "{error}");
    }
}
