//! Fits in the host that runs cases.

use gpbench_template_learner::MinibatchGp;
use gpbench_testing::FitHost;
use gpbench_testing::rules::Tested;

// The rules that every learner keeps: pauses, saved states, threads, batches, passes, NaN.
gpbench_testing::learner_rules! { Tested::learner::<MinibatchGp>() }

#[test]
fn all_rows_in_a_batch_descend() {
    let host = FitHost::wave(57).passes(60.0);
    let mut run = host.begin::<MinibatchGp>(&[("learning_rate", 0.01.into())]).unwrap();
    run.fit().unwrap();
    let trace = run.trace();
    assert!(trace.windows(2).all(|pair| pair[1].1 < pair[0].1), "{trace:?}");
    assert_eq!(run.used().entries, 60.0 * 57.0 * 57.0);
}

#[test]
fn a_shared_length_scale_is_one_number_and_the_model_repeats_it() {
    let host = FitHost::wave(57).shared_length_scale().passes(5.0);
    let mut run = host.begin::<MinibatchGp>(&[]).unwrap();
    run.fit().unwrap();
    let model = run.model().unwrap();
    let lengths = model.array("length_scale").unwrap();
    assert!(lengths[[0, 0]] == lengths[[1, 0]] && lengths[[0, 0]] != 1.0, "{lengths}");
}

#[test]
fn it_learns() {
    let host = FitHost::wave(57).passes(20.0);
    let mut run = host.begin::<MinibatchGp>(&[("batch", 20.into())]).unwrap();
    run.fit().unwrap();
    let (mean, _) = run.predict(host.x()).unwrap();
    let size = |v: &gpbench_sdk::ndarray::Array1<f64>| v.dot(v).sqrt();
    assert!(size(&(mean - host.y())) < 0.3 * size(&host.y()));
}
