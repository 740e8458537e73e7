//! Plugins that were compiled against the headers of earlier minor versions, which are in `earlier`, run as they did.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use gpbench_host::{
    FitEnd, FitLimits, FitProblem, FitSession, LearnerObject, Library, Pause, Session, SolverObject,
};
use gpbench_terms::{Covariance, Family, ParamValue, SolverKind, StopReason};
use ndarray::{Array2, ShapeBuilder, array};

use crate::support::{LIMITS, host, system};

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
            Some(Library::load(&file, host()).unwrap())
        }
    }
}

/// The iterate after a hundred steps.
fn solve(library: &Library) -> Array2<f64> {
    let (system, exact) = system(40);
    let params = BTreeMap::from([("step".to_owned(), ParamValue::Float(0.02))]);
    let entry = library.solver("richardson").unwrap();
    let mut solver = SolverObject::create(entry, library.host(), &params).unwrap();
    let mut x = Array2::zeros(exact.dim().f());
    let observer = &mut ();
    let session = Session::new(&system, LIMITS, library.host(), observer);
    let outcome = solver.run(&session, &mut x).unwrap();
    assert_eq!((outcome.stop_reason, outcome.cost.iterations), (StopReason::Iterations, 100));
    let size = |a: &Array2<f64>| a.iter().map(|a| a * a).sum::<f64>().sqrt();
    assert!(size(&(&x - &exact)) < 0.9 * size(&exact), "the iterate is no nearer to the solution than zero");
    x
}

#[test]
fn plugins_of_earlier_versions_solve_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let libraries: Vec<Library> = ["1.0", "1.1", "1.2", "1.3", "1.4"]
        .iter()
        .filter_map(|version| library(version, folder.path()))
        .collect();
    let solutions: Vec<Array2<f64>> = libraries.iter().map(solve).collect();
    assert!(solutions.windows(2).all(|pair| pair[0] == pair[1]));
    let versions: Vec<String> = libraries.iter().map(Library::abi).collect();
    assert!(versions.is_empty() || versions == ["1.0", "1.1", "1.2", "1.3", "1.4"], "{versions:?}");
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

#[test]
fn learners_since_version_1_2_fit_and_predict() {
    let folder = tempfile::tempdir().unwrap();
    ["1.2", "1.3", "1.4"]
        .iter()
        .filter_map(|version| library(version, folder.path()))
        .for_each(|it| learn(&it));
}

/// Fits the mean of four numbers, and predicts by it.
fn learn(library: &Library) {
    let entry = library.learner("mean").unwrap();
    assert_eq!(entry.info.source.as_deref(), Some("Folklore"));
    let mut learner = LearnerObject::create(entry, library.host(), &BTreeMap::new()).unwrap();
    let x = Array2::zeros((4, 2));
    let y = array![1.0, 2.0, 3.0, 6.0];
    let problem = FitProblem {
        x: x.view(),
        y: y.view(),
        basis: None,
        covariance: Covariance::Stationary(Family::Rbf),
        signal_scale: 1.0,
        noise_scale: 0.5,
        length_scale: &[1.0, 1.0],
        shared_length_scale: false,
        mean: 0.0,
        trained_mean: true,
        network: None,
    };
    let limits = FitLimits { passes: 5.0, max_epochs: None, seconds: None, threads: 1, seed: 1 };
    let session = FitSession::new(problem, limits, 1, library.host(), Rc::new(()));
    assert_eq!(learner.begin(&session).unwrap(), None);
    session.pause(Pause::EachStep);
    let outcome = learner.fit(&session).unwrap();
    assert_eq!((outcome.end, outcome.reported_steps), (FitEnd::Paused, 1));
    session.pause(Pause::Never);
    let outcome = learner.fit(&session).unwrap();
    assert_eq!((outcome.end, outcome.reported_steps), (FitEnd::Ended(StopReason::Iterations), 3));
    let predicted = learner.predict(array![[0.0, 0.0]].view()).unwrap();
    assert_eq!(predicted, array![[3.0, 0.25]]);
    learner.destroy().unwrap();
}
