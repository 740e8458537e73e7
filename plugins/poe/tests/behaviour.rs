//! Fits through the tables of the interface.

use gpbench_plugin_poe::Poe;
use gpbench_sdk::ndarray::{Array1, Array2, s};
use gpbench_sdk::{Family, Model, ParamValue, Reason, Workers, exact};
use gpbench_testing::{FitHost, FitRun, scattered};

const SMALL: [(&str, ParamValue); 1] = [("points", ParamValue::Int(20))];

fn with(more: &[(&'static str, ParamValue)]) -> Vec<(&'static str, ParamValue)> {
    SMALL.into_iter().chain(more.iter().cloned()).collect()
}

/// Five experts of 20 rows, the last of which has ten of the first's.
fn host() -> FitHost {
    FitHost::wave(90).passes(4.0).trained_mean()
}

fn array(model: &Model, name: &str) -> Array2<f64> {
    model.array(name).unwrap().to_owned()
}

/// The exact process of an expert of a model.
fn expert(host: &FitHost, model: &Model, e: usize) -> (exact::Posterior, f64) {
    let kernel = gpbench_sdk::kernel::Kernel {
        family: Family::Rbf.into(),
        signal_scale: array(model, "signal_scale")[[0, e]],
        length_scale: array(model, "length_scale").column(e).to_vec(),
    };
    let rows: Vec<usize> = array(model, "rows").column(e).iter().map(|&row| row as usize).collect();
    let x = host.x().select(gpbench_sdk::ndarray::Axis(0), &rows);
    let y: Array1<f64> = rows.iter().map(|&row| host.y()[row]).collect();
    let noise_scale = array(model, "noise_scale")[[0, e]];
    let mean = array(model, "mean")[[0, e]];
    let posterior = exact::Posterior::new(kernel, noise_scale, mean, x.view(), &y, Workers::new(1));
    (posterior.unwrap(), noise_scale.powi(2))
}

fn free(run: &FitRun<'_>) -> Vec<f64> {
    let model = run.model().unwrap();
    let names = ["signal_scale", "noise_scale", "length_scale", "mean", "weight"];
    names.into_iter().flat_map(|name| array(&model, name).into_iter()).collect()
}

fn near(a: &Array1<f64>, b: &Array1<f64>, tolerance: f64) {
    a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < tolerance, "{a} against {b}"));
}

#[test]
fn it_learns() {
    let host = FitHost::wave(300).passes(60.0).trained_mean();
    for combine in ["observed", "latent"] {
        let settings = [("points", 80.into()), ("learning_rate", 0.1.into()), ("combine", combine.into())];
        let mut run = host.begin::<Poe>(&settings).unwrap();
        let report = run.fit().unwrap();
        assert_eq!((report.reason, report.steps), (Reason::Stopped, 60));
        assert_eq!(report.numbers, [("experts".to_owned(), 4.0), ("failed_experts".to_owned(), 0.0)]);
        let trace = run.trace();
        assert!(trace.last().unwrap().1 < trace[0].1 - 0.5, "{trace:?}");
        let test = Array2::from_shape_fn((50, 2), |(i, j)| 0.9 * scattered(i + 500, j));
        let truth: Array1<f64> = test.outer_iter().map(|x| (2.0 * x[0]).sin() + x[0] * x[1]).collect();
        let error = truth - run.predict(&test).unwrap().0;
        let error = &error - error.mean().unwrap();
        assert!((error.dot(&error) / 50.0).sqrt() < 0.06, "{error}");
    }
}

#[test]
fn one_expert_is_the_exact_process() {
    for n in [1, 2, 40] {
        let host = FitHost::wave(n).passes(5.0).trained_mean();
        let mut run = host.begin::<Poe>(&[]).unwrap();
        run.fit().unwrap();
        let model = run.model().unwrap();
        assert_eq!(array(&model, "rows").dim(), (n, 1), "no row is repeated");
        let (posterior, noise) = expert(&host, &model, 0);
        let (mean, latent) = posterior.predict(host.x(), Workers::new(1));
        let (means, variances) = run.predict(host.x()).unwrap();
        near(&means, &mean, 1e-10);
        near(&variances, &(latent + noise), 1e-10);
    }
}

#[test]
fn predictions_are_those_of_the_model() {
    let host = host();
    for combine in ["observed", "latent"] {
        let mut run = host.begin::<Poe>(&with(&[("combine", combine.into())])).unwrap();
        run.fit().unwrap();
        let model = run.model().unwrap();
        assert_eq!(array(&model, "combine")[[0, 0]], f64::from(combine == "latent"));
        let (mut precision, mut weighted, mut added) = (Array1::zeros(90), Array1::zeros(90), 0.0);
        for e in 0..5 {
            let (posterior, noise) = expert(&host, &model, e);
            let (mean, mut variance) = posterior.predict(host.x(), Workers::new(1));
            if combine == "observed" {
                variance += noise;
            } else {
                added += noise / 5.0;
            }
            precision += &(0.2 / &variance);
            weighted += &(0.2 * mean / &variance);
        }
        let (means, variances) = run.predict(host.x()).unwrap();
        near(&means, &(weighted / &precision), 1e-10);
        near(&variances, &(1.0 / precision + added), 1e-10);
        let (part, _) = run.predict(&host.x().slice(s![20..30, ..]).to_owned()).unwrap();
        near(&part, &means.slice(s![20..30]).to_owned(), 1e-12);
    }
}

#[test]
fn far_from_the_data_the_product_is_the_prior() {
    let host = FitHost::wave(90);
    let run = host.begin::<Poe>(&SMALL).unwrap();
    let (mean, variance) = run.predict(&Array2::from_elem((1, 2), 1e6)).unwrap();
    assert!(mean[0].abs() < 1e-12 && (variance[0] - 1.09).abs() < 1e-12, "{mean} {variance}");
}

#[test]
fn subsets_are_disjoint_and_the_last_is_filled_up() {
    let host = host();
    let rows = |seed| {
        let seeded = host.clone().seed(seed);
        let run = seeded.begin::<Poe>(&SMALL).unwrap();
        array(&run.model().unwrap(), "rows").t().iter().map(|&row| row as usize).collect::<Vec<_>>()
    };
    let order = rows(0);
    assert_eq!(order.len(), 100);
    let mut sorted = order[..90].to_vec();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..90), "{order:?}");
    assert_eq!(order[90..], order[..10]);
    assert_ne!(order, rows(1));
}

#[test]
fn a_rate_of_zero_changes_nothing() {
    let host = host();
    let mut run = host.begin::<Poe>(&with(&[("learning_rate", 0.0.into())])).unwrap();
    let before = free(&run);
    run.fit().unwrap();
    assert_eq!(free(&run), before);
}

#[test]
fn a_pass_is_a_step_of_each_expert() {
    let host = host();
    let mut run = host.begin::<Poe>(&SMALL).unwrap();
    // Four experts in a step, then the fifth.
    assert_eq!(run.fit().unwrap().steps, 8);
    assert_eq!(run.used().rows_of_passes, 360);
    assert_eq!(run.used().entries, 4.0 * 5.0 * 400.0);
    let mut first = host.begin::<Poe>(&SMALL).unwrap();
    first.steps(1).unwrap();
    let lengths = array(&first.model().unwrap(), "length_scale");
    assert!(
        lengths.row(0).iter().take(4).all(|&length| length != 1.0) && lengths[[0, 4]] == 1.0,
        "{lengths}"
    );
}

#[test]
fn pauses_states_and_threads_change_no_bit() {
    let (one, three) = (host().threads(1), host().threads(3));
    for settings in [vec![], vec![("optimiser", "adadelta".into())]] {
        let settings = with(&settings);
        let mut whole = one.begin::<Poe>(&settings).unwrap();
        whole.fit().unwrap();
        let mut resumed = three.begin::<Poe>(&settings).unwrap();
        let mut trace = Vec::new();
        for _ in 0..8 {
            resumed.steps(1).unwrap();
            trace.extend(resumed.trace());
            let saved = resumed.save().unwrap();
            resumed = three.resume::<Poe>(&settings, &saved).unwrap();
            assert_eq!(resumed.save().unwrap(), saved);
        }
        assert_eq!(trace, whole.trace());
        assert_eq!(free(&resumed), free(&whole));
        assert_eq!(resumed.predict(one.x()).unwrap(), whole.predict(one.x()).unwrap());
    }
}

#[test]
fn an_expert_that_fails_leaves_the_others() {
    // The square of one target overflows.
    let mut y = host().y();
    y[7] = 1e200;
    let host = FitHost::new(host().x(), &y).passes(20.0);
    let mut run = host.begin::<Poe>(&[("points", 30.into())]).unwrap();
    let report = run.fit().unwrap();
    assert_eq!(report.numbers, [("experts".to_owned(), 3.0), ("failed_experts".to_owned(), 1.0)]);
    let model = run.model().unwrap();
    let weights = array(&model, "weight");
    let rows = array(&model, "rows");
    for e in 0..3 {
        let has_it = rows.column(e).iter().any(|&row| row == 7.0);
        assert_eq!(weights[[0, e]], if has_it { 0.0 } else { 0.5 });
    }
    assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()));
    let (mean, variance) = run.predict(host.x()).unwrap();
    assert!(mean.iter().all(|mean| mean.abs() < 3.0) && variance.iter().all(|&v| v > 0.0));
}

#[test]
fn a_rate_that_is_too_large_diverges() {
    let host = host();
    let mut run = host.begin::<Poe>(&with(&[("learning_rate", 1e5.into())])).unwrap();
    assert_eq!(run.fit().unwrap().reason, Reason::Diverged);
}

#[test]
fn repeated_rows_have_a_likelihood() {
    let equal = FitHost::new(&Array2::zeros((40, 2)), &host().y().slice(s![..40]).to_owned()).passes(3.0);
    let mut run = equal.begin::<Poe>(&SMALL).unwrap();
    run.fit().unwrap();
    assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()));
}
