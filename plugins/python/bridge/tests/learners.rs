//! Learners in Python, in the host that runs cases too.

use gpbench_abi::Status;
use gpbench_sdk::{Activation, NetworkShape};
use gpbench_terms::{ParamValue, Reason};
use gpbench_testing::FitHost;
use ndarray::Array2;

use crate::python::{is_here, learner, zoo};

fn line() -> gpbench_host::LearnerEntry {
    learner(&zoo("learner"), "line")
}

#[test]
fn a_fit_takes_the_steps_that_its_passes_grant() {
    if !is_here() {
        return;
    }
    let host = FitHost::wave(60).passes(3.0);
    let mut run = host.begin_with(line(), &[("batch", ParamValue::Int(20))]).unwrap();
    let report = run.fit().unwrap();
    assert_eq!((report.reason, report.steps), (Reason::Stopped, 9));
    assert_eq!(report.numbers, [("weights".to_owned(), 2.0)]);
    assert_eq!(run.trace().len(), 9);
    assert_eq!(run.notes()[8].0, 9);
    let used = run.used();
    assert_eq!((used.rows_of_passes, used.entries, used.features), (180, 180.0, 180.0));
    let (mean, variance) = run.predict(host.x()).unwrap();
    assert!(mean.iter().any(|&value| value != 0.0) && variance.iter().all(|&value| value > 0.0));
    let one = host.x().slice(ndarray::s![3..4, ..]).to_owned();
    let alone = run.predict(&one).unwrap();
    assert!((alone.0[0] - mean[3]).abs() < 1e-14);
    assert_eq!(run.predict(&Array2::zeros((0, 2))).unwrap().0.len(), 0);
}

#[test]
fn pauses_and_saved_states_change_no_bit() {
    if !is_here() {
        return;
    }
    let host = FitHost::wave(50).passes(4.0);
    let params = [("batch", ParamValue::Int(9))];
    let mut whole = host.begin_with(line(), &params).unwrap();
    whole.fit().unwrap();
    let mut paused = host.begin_with(line(), &params).unwrap();
    paused.steps(5).unwrap();
    let saved = paused.save().unwrap();
    let mut resumed = host.resume_with(line(), &params, &saved).unwrap();
    while paused.steps(2).unwrap().steps < whole.trace().len() as i64 {}
    let report = resumed.fit().unwrap();
    assert_eq!(report.steps, whole.trace().len() as i64);
    assert_eq!(paused.trace(), whole.trace());
    assert_eq!(resumed.trace(), whole.trace()[5..]);
    assert_eq!(paused.predict(host.x()).unwrap(), whole.predict(host.x()).unwrap());
    assert_eq!(resumed.predict(host.x()).unwrap(), whole.predict(host.x()).unwrap());
}

#[test]
fn a_state_of_other_data_or_parameters_is_refused() {
    if !is_here() {
        return;
    }
    let host = FitHost::wave(50).passes(4.0);
    let mut run = host.begin_with(line(), &[]).unwrap();
    run.steps(1).unwrap();
    let saved = run.save().unwrap();
    let other = FitHost::wave(50).passes(4.0).seed(9);
    let params = [("rate", ParamValue::Float(0.2))];
    for refused in [host.resume_with(line(), &params, &saved), other.resume_with(line(), &[], &saved)] {
        let error = refused.err().expect("an error").to_string();
        assert!(error.contains("belongs to other data or other parameters"), "{error}");
    }
}

#[test]
fn a_model_crosses_as_matrices() {
    if !is_here() {
        return;
    }
    let host = FitHost::wave(20);
    let run = host.begin_with(line(), &[("modelled", ParamValue::Bool(true))]).unwrap();
    run.model().unwrap();
    let run = host.begin_with(line(), &[]).unwrap();
    assert_eq!(run.model().err().and_then(|error| error.status()), Some(Status::UNSUPPORTED));
    let run = host.begin_with(learner(&zoo("learner"), "plain"), &[]).unwrap();
    assert_eq!(run.save().err().and_then(|error| error.status()), Some(Status::UNSUPPORTED));
}

#[test]
fn a_step_that_is_no_number_has_diverged() {
    if !is_here() {
        return;
    }
    let host = FitHost::wave(50).passes(4.0);
    for act in ["nan", "linalg"] {
        let mut run = host.begin_with(line(), &[("fail", ParamValue::Text(act.into()))]).unwrap();
        let report = run.fit().unwrap();
        assert_eq!((report.reason, report.steps), (Reason::Diverged, 2), "{act}");
    }
    let mut run = host.begin_with(line(), &[("fail", ParamValue::Text("raise".into()))]).unwrap();
    let error = run.fit().unwrap_err().to_string();
    assert!(error.contains("ValueError: wrong batch (learner.py:"), "{error}");
}

#[test]
fn a_network_and_inducing_points_arrive() {
    if !is_here() {
        return;
    }
    let network = NetworkShape { widths: vec![7, 3], activation: Activation::Relu, random: Some(10) };
    let host = FitHost::wave(30).network(network).trained_mean().shared_length_scale();
    let host = host.basis(&Array2::from_elem((4, 2), 0.5));
    let run = host.begin_with(learner(&zoo("data"), "data"), &[]).unwrap();
    let (mean, variance) = run.predict(host.x()).unwrap();
    assert_eq!(mean.as_slice().unwrap()[..6], [7.0, 3.0, 10.0, 4.0, 3.0, 1.0]);
    assert_eq!(variance[0], 0.3);
}
