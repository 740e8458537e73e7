//! Fits through the tables of the interface.

use gpbench_plugin_sggp::SgGp;
use gpbench_sdk::ndarray::{Array2, s};
use gpbench_sdk::{Family, ParamValue, Reason, Workers, exact};
use gpbench_testing::{FitHost, FitRun};

const SMALL: [(&str, ParamValue); 2] = [("neighbours", ParamValue::Int(6)), ("batch", ParamValue::Int(25))];

fn with(more: &[(&'static str, ParamValue)]) -> Vec<(&'static str, ParamValue)> {
    SMALL.into_iter().chain(more.iter().cloned()).collect()
}

fn host() -> FitHost {
    FitHost::wave(90).passes(5.0).trained_mean()
}

fn free(run: &FitRun<'_>) -> Vec<f64> {
    let model = run.model().unwrap();
    let of = |name| model.array(name).unwrap().iter().copied().collect::<Vec<f64>>();
    [of("signal_scale"), of("noise_scale"), of("length_scale"), of("mean")].concat()
}

#[test]
fn it_learns() {
    let host = FitHost::wave(300).passes(40.0).trained_mean();
    let mut run = host.begin::<SgGp>(&[("batch", 100.into()), ("learning_rate", 0.1.into())]).unwrap();
    let report = run.fit().unwrap();
    assert_eq!((report.reason, report.steps), (Reason::Stopped, 120));
    let test = Array2::from_shape_fn((50, 2), |(i, j)| 0.9 * gpbench_testing::scattered(i + 500, j));
    let (mean, variance) = run.predict(&test).unwrap();
    let truth = test.outer_iter().map(|x| (2.0 * x[0]).sin() + x[0] * x[1]);
    let errors: Vec<f64> = truth.zip(&mean).map(|(truth, mean)| truth - mean).collect();
    let centred: Vec<f64> = errors.iter().map(|e| e - errors.iter().sum::<f64>() / 50.0).collect();
    let rmse = (centred.iter().map(|e| e * e).sum::<f64>() / 50.0).sqrt();
    assert!(rmse < 0.06, "{rmse}");
    assert!(variance.iter().all(|&v| v > 0.0));
    // The noise of the wave is uniform in (-0.1, 0.1).
    let noise = free(&run)[1];
    assert!((0.03..0.12).contains(&noise), "{noise}");
}

#[test]
fn predictions_are_those_of_the_exact_process() {
    let host = host();
    let mut run = host.begin::<SgGp>(&SMALL).unwrap();
    run.fit().unwrap();
    let [signal_scale, noise_scale, first, second, mean] = free(&run)[..] else { panic!("five numbers") };
    let kernel = gpbench_sdk::kernel::Kernel {
        family: Family::Rbf.into(),
        signal_scale,
        length_scale: vec![first, second],
    };
    let posterior =
        exact::Posterior::new(kernel, noise_scale, mean, host.x().view(), &host.y(), Workers::new(1))
            .unwrap();
    let (expected, latent) = posterior.predict(host.x(), Workers::new(1));
    let (means, variances) = run.predict(host.x()).unwrap();
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-10, "{a} against {b}");
    means.iter().zip(&expected).for_each(|(&a, &b)| near(a, b));
    variances.iter().zip(&latent).for_each(|(&a, &b)| near(a, b + noise_scale * noise_scale));
    let (part, _) = run.predict(&host.x().slice(s![20..30, ..]).to_owned()).unwrap();
    part.iter().zip(means.slice(s![20..30])).for_each(|(&a, &b)| near(a, b));
}

#[test]
fn all_rows_in_each_group_give_the_exact_likelihood() {
    let host = FitHost::wave(40).passes(1.0);
    let mut run = host.begin::<SgGp>(&[("neighbours", 40.into()), ("batch", 40.into())]).unwrap();
    run.fit().unwrap();
    let all = Array2::from_shape_fn((1, 40), |(_, i)| i);
    let start =
        gpbench_sdk::Scales { signal_scale: 1.0, noise_scale: 0.3, length_scale: vec![1.0; 2], mean: 0.0 };
    let start = gpbench_sdk::optimise::Hyperparameters::new(
        &start,
        gpbench_sdk::optimise::Transform::Scale,
        false,
        false,
    );
    let data = (host.x(), &host.y(), &all);
    let (nlml, _) =
        gpbench_plugin_sggp::objective(&start.unwrap(), Family::Rbf, data, true, Workers::new(1)).unwrap();
    let [(1, objective)] = run.trace()[..] else { panic!("one step") };
    assert!((objective - nlml).abs() < 1e-12, "{objective} against {nlml}");
}

#[test]
fn a_rate_of_zero_changes_nothing() {
    let host = host();
    let mut run = host.begin::<SgGp>(&with(&[("learning_rate", 0.0.into())])).unwrap();
    let before = free(&run);
    run.fit().unwrap();
    assert_eq!(free(&run), before);
}

#[test]
fn pauses_states_and_threads_change_no_bit() {
    let one = host().threads(1);
    let three = host().threads(3);
    for settings in [
        vec![],
        vec![("grouping", "uniform".into())],
        vec![("neighbours_every", ParamValue::Int(3))],
        vec![("optimiser", "adadelta".into())],
    ] {
        let settings = with(&settings);
        let mut whole = one.begin::<SgGp>(&settings).unwrap();
        whole.fit().unwrap();
        let mut resumed = three.begin::<SgGp>(&settings).unwrap();
        let mut trace = Vec::new();
        // Four steps a pass: states are saved at the ends of passes and between them.
        for _ in 0..7 {
            resumed.steps(3).unwrap();
            trace.extend(resumed.trace());
            let saved = resumed.save().unwrap();
            resumed = three.resume::<SgGp>(&settings, &saved).unwrap();
            assert_eq!(resumed.save().unwrap(), saved);
        }
        assert_eq!(trace, whole.trace(), "{settings:?}");
        assert_eq!(free(&resumed), free(&whole));
        assert_eq!(resumed.predict(one.x()).unwrap(), whole.predict(one.x()).unwrap());
    }
}

#[test]
fn work_is_charged() {
    let host = host();
    let entries = |settings: &[(&'static str, ParamValue)]| {
        let mut run = host.begin::<SgGp>(&with(settings)).unwrap();
        run.fit().unwrap();
        assert_eq!(run.used().rows_of_passes, 450);
        // Each group uses its other rows again.
        assert_eq!(run.used().rows, 450 * 6);
        run.used().entries
    };
    let of_groups = 450.0 * 36.0;
    assert_eq!(entries(&[("grouping", "uniform".into())]), of_groups);
    let [often, seldom] = [1, 5].map(|every| entries(&[("neighbours_every", every.into())]) - of_groups);
    // At most all distances, and those to the boxes of the tree.
    assert!((450.0..2.0 * 90.0 * 90.0).contains(&seldom), "{seldom}");
    assert!(often > 4.0 * seldom, "{often}, {seldom}");
}

#[test]
fn shared_length_scales_stay_equal() {
    let host = host().shared_length_scale();
    let mut run = host.begin::<SgGp>(&SMALL).unwrap();
    run.fit().unwrap();
    let free = free(&run);
    assert_eq!(free[2], free[3]);
    assert_ne!(free[2], 1.0);
}

#[test]
fn small_and_degenerate_sets() {
    for n in [1, 2, 3] {
        let host = FitHost::wave(n).passes(3.0);
        let mut run = host.begin::<SgGp>(&[]).unwrap();
        assert_eq!(run.fit().unwrap().steps, 3, "{n}");
        assert!(run.predict(host.x()).unwrap().1.iter().all(|&v| v > 0.0));
    }
    let equal = FitHost::new(&Array2::zeros((30, 2)), &host().y().slice(s![..30]).to_owned()).passes(3.0);
    let mut run = equal.begin::<SgGp>(&SMALL).unwrap();
    run.fit().unwrap();
    assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()));
}

#[test]
fn a_rate_that_is_too_large_diverges() {
    let host = host();
    let mut run = host.begin::<SgGp>(&with(&[("learning_rate", 1e5.into())])).unwrap();
    assert_eq!(run.fit().unwrap().reason, Reason::Diverged);
}
