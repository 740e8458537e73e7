//! Fits through the tables of the interface.

use gpbench_plugin_vecchia::Vecchia;
use gpbench_sdk::ndarray::{Array1, Array2, s};
use gpbench_sdk::{ModelKind, ParamValue, Reason};
use gpbench_testing::{DenseModel, FitHost, FitRun};

type Settings = Vec<(&'static str, ParamValue)>;

fn with(more: &[(&'static str, ParamValue)]) -> Settings {
    let few = [("neighbours", ParamValue::Int(6)), ("batch", ParamValue::Int(25))];
    few.into_iter().chain(more.iter().cloned()).collect()
}

fn adam() -> (&'static str, ParamValue) {
    ("optimiser", "adam".into())
}

fn host() -> FitHost {
    FitHost::wave(90).passes(25.0).trained_mean()
}

fn scales(run: &FitRun<'_>) -> Vec<f64> {
    let model = run.model().unwrap();
    let of = |name| model.array(name).unwrap().iter().copied().collect::<Vec<f64>>();
    [of("signal_scale"), of("noise_scale"), of("length_scale"), of("mean")].concat()
}

/// Rows beside the training rows, and the values of the wave there, centred.
fn test_rows() -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((50, 2), |(i, j)| 0.9 * gpbench_testing::scattered(i + 500, j));
    let y: Array1<f64> = x.outer_iter().map(|x| (2.0 * x[0]).sin() + x[0] * x[1]).collect();
    (x, y)
}

#[test]
fn it_learns_and_ends() {
    let host = FitHost::wave(300).passes(200.0).trained_mean();
    for settings in [
        vec![("neighbours", 15.into())],
        vec![("neighbours", 15.into()), ("order", "random".into())],
        vec![("neighbours", 8.into()), ("inducing", 20.into())],
        vec![("neighbours", 8.into()), ("inducing", 8.into()), ("move_points", true.into())],
        vec![("neighbours", 15.into()), adam(), ("batch", 100.into()), ("learning_rate", 0.1.into())],
    ] {
        let mut run = host.begin::<Vecchia>(&settings).unwrap();
        let report = run.fit().unwrap();
        let moves = settings.contains(&("move_points", true.into()));
        let is_endless = settings.contains(&adam()) || moves;
        assert!(is_endless || report.reason == Reason::Converged, "{settings:?}: {report:?}");
        let (x, truth) = test_rows();
        let (mean, variance) = run.predict(&x).unwrap();
        let errors = &truth - &mean;
        let rmse = errors.std(0.0);
        assert!(rmse < 0.06, "{settings:?}: {rmse}");
        assert!(variance.iter().all(|&v| v > 0.0));
        // The noise of the wave is uniform in (-0.1, 0.1).
        let noise = scales(&run)[1];
        assert!((0.03..0.12).contains(&noise), "{settings:?}: {noise}");
    }
}

#[test]
fn the_objective_falls_with_lbfgs() {
    let host = host();
    let mut run = host.begin::<Vecchia>(&with(&[("neighbours", 89.into())])).unwrap();
    run.fit().unwrap();
    let trace = run.trace();
    // All earlier rows: the likelihood is exact, and no search changes it. The last evaluation is not reported.
    assert!(trace.windows(2).all(|pair| pair[1].1 <= pair[0].1), "{trace:?}");
    let last = trace[trace.len() - 1].1;
    let dense = DenseModel::new(&host, gpbench_sdk::Model::gp(&of_run(&run)));
    assert!(last < trace[0].1 && dense.nlml() < last + 1e-9, "{} against {last}", dense.nlml());
    assert!(dense.nlml() > last - 0.01, "{} against {last}", dense.nlml());
}

fn of_run(run: &FitRun<'_>) -> gpbench_sdk::Scales {
    let [signal_scale, noise_scale, first, second, mean] = scales(run)[..] else { panic!("five numbers") };
    gpbench_sdk::Scales { signal_scale, noise_scale, length_scale: vec![first, second], mean }
}

#[test]
fn models_are_of_the_kind_that_predicts() {
    let host = host();
    let of = |settings: &[(&'static str, ParamValue)]| {
        let mut run = host.begin::<Vecchia>(&with(settings)).unwrap();
        run.steps(3).unwrap();
        let own = run.predict(host.x()).unwrap();
        (run.model().unwrap(), own)
    };
    let (near, own) = of(&[]);
    assert_eq!(near.kind(), Some(ModelKind::Neighbours));
    assert_eq!(near.array("neighbours").unwrap()[[0, 0]], 12.0);
    let (mean, variance) = DenseModel::new(&host, near).predict(host.x());
    assert!((&mean - &own.0).iter().chain(&(&variance - &own.1)).all(|gap| gap.abs() < 1e-9));

    let (exact, own) = of(&[("predict", "exact".into())]);
    assert_eq!(exact.kind(), Some(ModelKind::Gp));
    let (mean, variance) = DenseModel::new(&host, exact).predict(host.x());
    assert!((&mean - &own.0).iter().chain(&(&variance - &own.1)).all(|gap| gap.abs() < 1e-9));

    let (sparse, _) = of(&[("inducing", 7.into()), ("prediction_neighbours", 9.into())]);
    assert_eq!(sparse.kind(), Some(ModelKind::Neighbours));
    assert_eq!(sparse.array("neighbours").unwrap()[[0, 0]], 9.0);
    assert_eq!(sparse.array("z").unwrap().dim(), (7, 2));
    assert_eq!(sparse.array("q_root").unwrap().dim(), (7, 7));
}

#[test]
fn a_row_is_predicted_alone() {
    let host = host();
    for settings in [with(&[]), with(&[("inducing", 7.into())])] {
        let mut run = host.begin::<Vecchia>(&settings).unwrap();
        run.steps(2).unwrap();
        let (means, variances) = run.predict(host.x()).unwrap();
        let part = run.predict(&host.x().slice(s![20..30, ..])).unwrap();
        assert!((&part.0 - &means.slice(s![20..30])).iter().all(|gap| gap.abs() < 1e-12));
        assert!((&part.1 - &variances.slice(s![20..30])).iter().all(|gap| gap.abs() < 1e-12));
    }
}

#[test]
fn a_rate_of_zero_changes_nothing() {
    let host = host();
    let mut run = host.begin::<Vecchia>(&with(&[adam(), ("learning_rate", 0.0.into())])).unwrap();
    let before = scales(&run);
    run.fit().unwrap();
    assert_eq!(scales(&run), before);
    assert!((before[1] - 0.3).abs() < 1e-14);
}

#[test]
fn pauses_states_and_threads_change_no_bit() {
    let (one, three) = (host().threads(1), host().threads(3));
    for settings in [
        vec![("neighbours_every", ParamValue::Int(3))],
        vec![("neighbours_every", ParamValue::Int(3)), ("inducing", 7.into())],
        vec![("neighbours_every", ParamValue::Int(4)), ("inducing", 5.into()), ("move_points", true.into())],
        vec![adam(), ("neighbours_every", ParamValue::Int(2)), ("order", "random".into())],
    ] {
        let settings = with(&settings);
        let mut whole = one.begin::<Vecchia>(&settings).unwrap();
        let end = whole.fit().unwrap();
        let mut resumed = three.begin::<Vecchia>(&settings).unwrap();
        let mut trace = Vec::new();
        for _ in 0..40 {
            let report = resumed.steps(3).unwrap();
            trace.extend(resumed.trace());
            let saved = resumed.save().unwrap();
            resumed = three.resume::<Vecchia>(&settings, &saved).unwrap();
            assert_eq!(resumed.save().unwrap(), saved);
            if report.steps == end.steps {
                break;
            }
        }
        assert_eq!(trace, whole.trace(), "{settings:?}");
        assert_eq!(scales(&resumed), scales(&whole));
        assert_eq!(resumed.predict(one.x()).unwrap(), whole.predict(one.x()).unwrap());
    }
}

#[test]
fn work_is_charged() {
    let host = FitHost::wave(90).passes(5.0);
    let used = |settings: &[(&'static str, ParamValue)]| {
        let mut run = host.begin::<Vecchia>(&with(settings)).unwrap();
        run.fit().unwrap();
        run.used()
    };
    let groups = 5.0 * 90.0 * 49.0;
    let order = 90.0 * 90.0;
    // At the start all distances of the earlier rows: there is one block.
    let search = 90.0 * 89.0 / 2.0;
    let never = ("neighbours_every", ParamValue::Int(100));
    let lbfgs = used(std::slice::from_ref(&never));
    assert_eq!((lbfgs.rows_of_passes, lbfgs.rows), (450, 450 * 7));
    assert_eq!(lbfgs.entries, groups + order + search);
    let random = used(&[never.clone(), adam(), ("order", "random".into())]);
    // The order is a stream of its own.
    assert_eq!((random.rows_of_passes, random.rows), (450, 450 * 7 + 90));
    assert_eq!(random.entries, groups + search);
    let sparse = used(&[never, ("inducing", 7.into())]);
    let of_points = 7.0 * 97.0;
    assert_eq!(sparse.entries, groups + order + search + 6.0 * of_points + 7.0 * 90.0);
}

#[test]
fn shared_length_scales_stay_equal() {
    for settings in [with(&[]), with(&[("inducing", 7.into())]), with(&[adam()])] {
        let host = host().shared_length_scale();
        let mut run = host.begin::<Vecchia>(&settings).unwrap();
        run.fit().unwrap();
        let scales = scales(&run);
        assert_eq!(scales[2], scales[3]);
        assert_ne!(scales[2], 1.0);
    }
}

#[test]
fn small_and_degenerate_sets() {
    let few_points = ("inducing", ParamValue::Int(2));
    for settings in [vec![], vec![adam()], vec![few_points], vec![("neighbours", ParamValue::Int(0))]] {
        for n in [1, 2, 3] {
            let host = FitHost::wave(n).passes(3.0);
            let mut run = host.begin::<Vecchia>(&settings).unwrap();
            assert!(run.fit().unwrap().steps > 0, "{settings:?}, {n}");
            assert!(run.predict(host.x()).unwrap().1.iter().all(|&v| v > 0.0));
        }
        let y = host().y().slice(s![..30]).to_owned();
        let equal = FitHost::new(&Array2::zeros((30, 2)), &y).passes(3.0);
        let mut run = equal.begin::<Vecchia>(&settings).unwrap();
        run.fit().unwrap();
        assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()), "{settings:?}");
    }
}

#[test]
fn numbers_are_reported() {
    let host = host();
    let mut run =
        host.begin::<Vecchia>(&with(&[("inducing", 7.into()), ("noise_floor", 0.5.into())])).unwrap();
    let report = run.fit().unwrap();
    assert_eq!((report.number("inducing_points"), report.number("noise_at_floor")), (7.0, 1.0));
    assert!(report.number("neighbour_searches") >= 2.0);
    // Half of the start's noise variance, which is less than half of the variance of the targets.
    assert!((report.number("noise_floor").powi(2) - 0.045).abs() < 1e-12);
}

#[test]
fn a_rate_that_is_too_large_diverges() {
    let host = host();
    let settings = with(&[adam(), ("learning_rate", 1e5.into()), ("transform", "scale".into())]);
    assert_eq!(host.begin::<Vecchia>(&settings).unwrap().fit().unwrap().reason, Reason::Diverged);
}

#[test]
fn minibatches_with_inducing_points_are_refused() {
    let error = host().begin::<Vecchia>(&with(&[adam(), ("inducing", 5.into())])).err().unwrap().to_string();
    assert!(error.contains("`inducing` needs `optimiser = \"lbfgs\"`"), "{error}");
}
