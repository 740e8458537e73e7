//! The stored run of `tests/data`, the same as if it had trained, and the charts of a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gpbench_record::{
    FinalPrediction, GradientEstimator, PathwiseTargets, Probes, RateSchedule, StandardProbes, Start, Step,
    StopReason, Task, TaskOutput, Training, TrainingOutput,
};
use gpbench_report::{Run, WriteOptions, write_all};

/// The folder of the stored run.
pub(crate) fn stored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run")
}

/// The stored run.
pub(crate) fn run() -> Run {
    Run::open(stored()).unwrap()
}

/// A gradient from pathwise targets and warm starts, or from standard probes and cold starts.
fn gradient(targets: PathwiseTargets, standard: bool) -> GradientEstimator {
    let (probes, start) = match standard {
        true => {
            let probes = StandardProbes { probes: targets.probes, distribution: Default::default() };
            (Probes::Standard(probes), Start::Cold)
        }
        false => (Probes::Pathwise(targets), Start::Warm),
    };
    GradientEstimator::Solutions { probes, second_solve: false, start }
}

/// The stored run as if it had trained: each case once with pathwise targets and warm starts, and once,
/// in twice the time, with standard probes from cold starts.
pub(crate) fn trained() -> Run {
    let mut run = run();
    let pathwise = run.record.rows.clone();
    let standard = pathwise.iter().cloned().map(|mut row| {
        row.id += "-standard";
        row.labels.estimator = Some("standard".into());
        row
    });
    run.record.rows = pathwise.iter().cloned().chain(standard).collect();
    for row in &mut run.record.rows {
        let is_standard = row.labels.estimator.as_deref() == Some("standard");
        let Task::Posterior(posterior) = &row.case.task else { panic!("the stored cases are posteriors") };
        let targets = posterior.targets;
        row.case.task = Task::Train(Box::new(Training {
            estimator: row.labels.estimator.clone().unwrap(),
            gradient: gradient(targets, is_standard),
            steps: 4,
            learning_rate: 0.1,
            schedule: RateSchedule::Constant,
            shared_length_scale: false,
            replay: vec![],
            fixed: vec![],
            subset: None,
            landscape: None,
            optimum: false,
            prediction: FinalPrediction { targets, params: BTreeMap::new() },
        }));
        row.metrics.insert("seconds_train", if is_standard { 20.0 } else { 10.0 });
        row.trace.clear();
        let step = |step: u64| {
            let scale = 1.0 / (1.0 + step as f64);
            Step {
                step,
                hyperparameters: [("noise_scale".to_owned(), scale), ("length_scale_0".to_owned(), 1.0)]
                    .into(),
                reason: StopReason::Converged,
                metrics: [("epochs", 10.0 + scale), ("iterations", 8.0), ("initial_distance", 3.0 * scale)]
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            }
        };
        let steps = (0..4).map(step).collect();
        row.output = TaskOutput::Train(Box::new(TrainingOutput { steps, ..TrainingOutput::default() }));
    }
    run
}

/// The charts of a run, by file name.
pub(crate) fn charts(run: &Run) -> BTreeMap<String, String> {
    let output = tempfile::tempdir().unwrap();
    let options = WriteOptions { output: Some(output.path().to_owned()) };
    let written = write_all(run, &options).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let all = written.figures.iter().map(|path| (name(path), fs::read_to_string(path).unwrap()));
    let all: BTreeMap<String, String> = all.collect();
    for (name, svg) in &all {
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name} has no numbers");
    }
    all
}
