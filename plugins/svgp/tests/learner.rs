//! What this learner does beyond the suite: counts, units, degenerate inducing points, what it learns.

use gpbench_plugin_svgp::Svgp;
use gpbench_sdk::ndarray::{Array1, Array2, Axis, concatenate, s};
use gpbench_sdk::{Activation, NetworkShape, ParamValue, Reason, Scales};
use gpbench_testing::FitHost;

const SMALL: [(&str, ParamValue); 1] = [("batch", ParamValue::Int(16))];

fn with<'v>(more: &[(&'v str, ParamValue)]) -> Vec<(&'v str, ParamValue)> {
    SMALL.iter().chain(more).cloned().collect()
}

#[test]
fn passes_have_short_last_batches_and_work_is_counted() {
    let host = FitHost::wave(70).passes(2.0);
    let mut run = host.begin::<Svgp>(&SMALL).unwrap();
    run.fit().unwrap();
    let sizes: Vec<usize> = run.batches().iter().map(|(_, rows)| rows.len()).collect();
    // Sixteen inducing points first.
    assert_eq!(sizes, [16, 16, 16, 16, 16, 6, 16, 16, 16, 16, 6]);
    assert_eq!(run.used().entries, (16 * 16 * 10 + 16 * 140) as f64);
    assert_eq!(run.used().features, 0.0);
    let whole = host.begin::<Svgp>(&[("batch", 1000.into())]);
    let mut whole = whole.unwrap();
    assert_eq!(whole.fit().unwrap().steps, 2);
}

#[test]
fn at_learning_rate_0_nothing_changes_and_units_do_not_matter() {
    // Full batches: the objective is the bound of all rows.
    let objective = |scale: f64, params: &[(&str, ParamValue)]| {
        let wave = FitHost::wave(50);
        let scales =
            Scales { signal_scale: scale, noise_scale: 0.3 * scale, length_scale: vec![1.0; 2], mean: 0.0 };
        let host = FitHost::new(wave.x(), &(wave.y() * scale)).scales(scales).passes(3.0);
        let mut run = host
            .begin::<Svgp>(&[&[("learning_rate", 0.0.into()), ("batch", 50.into())], params].concat())
            .unwrap();
        let before = run.model().unwrap();
        run.fit().unwrap();
        assert_eq!(run.model().unwrap(), before);
        let trace = run.trace();
        assert!(trace.iter().all(|(_, objective)| (objective - trace[0].1).abs() < 1e-12));
        trace[0].1
    };
    let (one, half) =
        (objective(1.0, &[("jitter", 4e-6.into())]), objective(0.5, &[("jitter", 1e-6.into())]));
    assert!((one - half - 2_f64.ln()).abs() < 1e-10, "{one} {half}");
}

#[test]
fn the_best_distribution_takes_one_pass_and_stays() {
    let host = FitHost::wave(70).passes(3.0);
    let mut run = host.begin::<Svgp>(&with(&[("train", "distribution".into())])).unwrap();
    assert_eq!(run.fit().unwrap().steps, 3);
    // Sixteen inducing points first.
    let sizes: Vec<usize> = run.batches().iter().map(|(_, rows)| rows.len()).collect();
    assert_eq!(sizes, [16, 70, 70, 70]);
    assert_eq!(run.used().entries, (3 * 16 * (16 + 70)) as f64);
    let trace = run.trace();
    assert!(trace.iter().all(|(_, objective)| *objective == trace[0].1));
}

#[test]
fn more_points_than_rows_and_repeated_points_are_finite() {
    let host = FitHost::wave(20).passes(3.0);
    let z = concatenate![Axis(0), host.x().view(), host.x().slice(s![..7, ..])];
    for z in [z, Array2::zeros((5, 2))] {
        let host = host.clone().basis(&z);
        let mut run = host.begin::<Svgp>(&SMALL).unwrap();
        let report = run.fit().unwrap();
        assert_eq!(report.reason, Reason::Stopped);
        assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()));
        let model = run.model().unwrap();
        assert_eq!(model.array("z").unwrap().dim(), z.dim());
        let (means, variances) = run.predict(host.x()).unwrap();
        assert!(
            means.iter().all(|mean| mean.is_finite()) && variances.iter().all(|&variance| variance > 0.0)
        );
    }
}

#[test]
fn a_smooth_function_is_learned() {
    let deep = NetworkShape { activation: Activation::Relu, widths: vec![16, 16], random: None };
    let host = FitHost::wave(200).passes(60.0);
    for (host, rate) in [(host.clone(), 0.05), (host.network(deep).shared_length_scale(), 0.02)] {
        let params = [("batch", 40.into()), ("learning_rate", rate.into())];
        let mut run = host.begin::<Svgp>(&params).unwrap();
        run.fit().unwrap();
        let (means, variances) = run.predict(host.x()).unwrap();
        let y = host.y();
        let rmse = |mean: &Array1<f64>| (&y - mean).mapv(|error| error * error).mean().unwrap().sqrt();
        let baseline = rmse(&Array1::zeros(200));
        assert!(rmse(&means) < 0.4 * baseline, "{} of {baseline}", rmse(&means));
        assert!(variances.iter().all(|&variance| variance >= 1e-4));
        let trace = run.trace();
        assert!(trace[trace.len() - 1].1 < trace[0].1 - 0.5, "{:?}", trace.last());
    }
}

#[test]
fn points_that_do_not_move_stay() {
    let host = FitHost::wave(40).passes(2.0).basis(&FitHost::wave(8).x().to_owned());
    let run = |moves: bool| {
        let mut run = host.begin::<Svgp>(&with(&[("move_points", moves.into())])).unwrap();
        run.fit().unwrap();
        run.model().unwrap().array("z").unwrap().to_owned()
    };
    let start = FitHost::wave(8).x().to_owned();
    assert_eq!(run(false), start);
    assert_ne!(run(true), start);
}

#[test]
fn targets_that_are_no_numbers_diverge_and_leave_a_finite_model() {
    let wave = FitHost::wave(30);
    let mut y = wave.y();
    y[3] = f64::NAN;
    let host = FitHost::new(wave.x(), &y);
    let mut run = host.begin::<Svgp>(&[]).unwrap();
    assert_eq!(run.fit().unwrap().reason, Reason::Diverged);
    assert!(run.model().unwrap().array("q_mean").unwrap().iter().all(|entry| entry.is_finite()));
}
