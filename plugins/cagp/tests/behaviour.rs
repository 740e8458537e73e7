//! Fits through the tables of the interface.

use gpbench_plugin_cagp::Cagp;
use gpbench_sdk::ndarray::{Array1, Array2, s};
use gpbench_sdk::{Family, Model, ModelKind, ParamValue, Reason, Scales};
use gpbench_testing::{DenseModel, FitHost, FitReport, FitRun, scattered};

type Params = Vec<(&'static str, ParamValue)>;

fn host() -> FitHost {
    FitHost::wave(90).passes(12.0)
}

fn sparse() -> Params {
    vec![("actions", 15.into())]
}

fn conjugate_gradients() -> Params {
    vec![("policy", "cg".into()), ("actions", 5.into())]
}

fn both() -> [Params; 2] {
    [sparse(), conjugate_gradients()]
}

fn fitted<'h>(host: &'h FitHost, params: &Params) -> (FitRun<'h>, FitReport) {
    let mut run = host.begin::<Cagp>(params).unwrap();
    let report = run.fit().unwrap();
    (run, report)
}

fn scales(model: &Model) -> Scales {
    let list = |name: &str| model.array(name).unwrap().iter().copied().collect::<Vec<f64>>();
    Scales {
        signal_scale: list("signal_scale")[0],
        noise_scale: list("noise_scale")[0],
        length_scale: list("length_scale"),
        mean: list("mean")[0],
    }
}

fn near(a: &Array1<f64>, b: &Array1<f64>) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-8)
}

#[test]
fn it_learns() {
    let host = FitHost::wave(200).passes(120.0).trained_mean();
    for params in [vec![], vec![("policy", "cg".into()), ("actions", 20.into())]] {
        let (run, report) = fitted(&host, &params);
        assert_eq!((report.reason, report.steps), (Reason::Stopped, 120));
        let trace = run.trace();
        assert!(trace[119].1 < trace[0].1 - 0.3, "{} to {}", trace[0].1, trace[119].1);
        let test = Array2::from_shape_fn((50, 2), |(i, j)| 0.9 * scattered(i + 500, j));
        let (mean, _) = run.predict(&test).unwrap();
        let truth: Array1<f64> = test.outer_iter().map(|x| (2.0 * x[0]).sin() + x[0] * x[1]).collect();
        let rmse = (&mean - &truth).std(0.0);
        println!("{params:?}: objective {} to {}, error {rmse}", trace[0].1, trace[119].1);
        assert!(rmse < 0.15, "{params:?}: {rmse}");
    }
}

#[test]
fn models_predict_as_the_learner_does_and_have_its_objective() {
    let host = host().trained_mean();
    for params in both() {
        let mut run = host.begin::<Cagp>(&params).unwrap();
        run.steps(3).unwrap();
        let model = run.model().unwrap();
        assert_eq!(model.kind(), Some(ModelKind::Actions));
        let (dense, own) = (DenseModel::new(&host, model.clone()), run.predict(host.x()).unwrap());
        let (mean, variance) = dense.predict(host.x());
        assert!(near(&mean, &own.0) && near(&variance, &own.1), "{params:?}");
        run.steps(1).unwrap();
        let objective = run.trace().last().unwrap().1;
        assert!((objective - dense.objective()).abs() < 1e-9, "{objective}, {}", dense.objective());
        // The exact process at the same scales has a larger likelihood and smaller variances.
        let exact = DenseModel::new(&host, Model::gp(&scales(&model)));
        assert!(exact.nlml() <= dense.objective());
        let (_, least) = exact.predict(host.x());
        assert!(least.iter().zip(&own.1).all(|(least, found)| *least <= found + 1e-9));
    }
}

#[test]
fn each_row_is_in_one_action_of_equal_shares() {
    let host = host();
    let run = host.begin::<Cagp>(&sparse()).unwrap();
    let model = run.model().unwrap();
    let mut shares = [0; 15];
    model.array("action").unwrap().iter().for_each(|&action| shares[action as usize] += 1);
    assert_eq!(shares, [6; 15]);
    // On average an action has length 1.
    let squares: f64 = model.array("entry").unwrap().iter().map(|entry| entry * entry).sum();
    assert!((5.0..30.0).contains(&squares), "{squares}");
    let other = host.clone().seed(1);
    assert_ne!(other.begin::<Cagp>(&sparse()).unwrap().model().unwrap(), model);
}

#[test]
fn numbers_of_actions_have_defaults_and_limits() {
    for (n, params, count) in [
        (90, vec![], 22.0),
        (3, vec![], 1.0),
        (10, vec![("actions", ParamValue::Int(50))], 10.0),
        (90, vec![("policy", "cg".into())], 32.0),
    ] {
        // The kernel is rough, so that no Krylov space ends early.
        let host = FitHost::wave(n).family(Family::Matern12).passes(1.0);
        let (_, report) = fitted(&host, &params);
        assert_eq!(report.number("actions"), count, "{n}, {params:?}");
    }
}

#[test]
fn a_rate_of_zero_changes_nothing() {
    let host = host();
    for mut params in both() {
        params.push(("learning_rate", 0.0.into()));
        let before = host.begin::<Cagp>(&params).unwrap().model().unwrap();
        let (run, _) = fitted(&host, &params);
        assert_eq!(run.model().unwrap(), before);
        assert!(run.trace().windows(2).all(|pair| pair[0].1 == pair[1].1));
    }
}

#[test]
fn work_is_charged() {
    let host = FitHost::wave(90).passes(5.0);
    let used = |params: &Params| fitted(&host, params).0.used();
    let epoch = 90.0 * 90.0;
    // The rows that are shared out are a batch of their own.
    let sparse = used(&sparse());
    assert_eq!((sparse.rows_of_passes, sparse.rows), (450, 540));
    assert_eq!(sparse.entries, epoch + 5.0 * 2.0 * epoch);
    let directions = used(&conjugate_gradients());
    assert_eq!((directions.rows_of_passes, directions.rows), (450, 450));
    assert_eq!(directions.entries, 5.0 * epoch + 5.0 * 6.0 * epoch);
}

#[test]
fn pauses_states_and_threads_change_no_bit() {
    let (one, three) = (host().threads(1).trained_mean(), host().threads(3).trained_mean());
    for params in both() {
        let (whole, end) = fitted(&one, &params);
        let mut resumed = three.begin::<Cagp>(&params).unwrap();
        let mut trace = Vec::new();
        loop {
            let saved = resumed.save().unwrap();
            resumed = three.resume::<Cagp>(&params, &saved).unwrap();
            assert_eq!(resumed.save().unwrap(), saved);
            let report = resumed.steps(5).unwrap();
            trace.extend(resumed.trace());
            if report.steps == end.steps {
                break;
            }
        }
        assert_eq!(trace, whole.trace(), "{params:?}");
        assert_eq!(resumed.model().unwrap(), whole.model().unwrap());
        assert_eq!(resumed.predict(one.x()).unwrap(), whole.predict(one.x()).unwrap());
    }
}

#[test]
fn a_state_of_other_actions_is_refused() {
    let host = host();
    let mut run = host.begin::<Cagp>(&sparse()).unwrap();
    run.steps(2).unwrap();
    let saved = run.save().unwrap();
    let fewer = vec![("actions", 7.into())];
    assert!(host.resume::<Cagp>(&fewer, &saved).is_err());
}

#[test]
fn a_row_is_predicted_alone() {
    let host = host();
    for params in both() {
        let (run, _) = fitted(&host, &params);
        let (means, variances) = run.predict(host.x()).unwrap();
        let part = run.predict(&host.x().slice(s![20..30, ..]).to_owned()).unwrap();
        assert!(near(&part.0, &means.slice(s![20..30]).to_owned()));
        assert!(near(&part.1, &variances.slice(s![20..30]).to_owned()));
    }
}

#[test]
fn shared_length_scales_stay_equal() {
    let host = host().shared_length_scale();
    for params in both() {
        let length_scale = scales(&fitted(&host, &params).0.model().unwrap()).length_scale;
        assert_eq!(length_scale[0], length_scale[1]);
        assert_ne!(length_scale[0], 1.0);
    }
}

#[test]
fn small_and_degenerate_sets() {
    for params in both() {
        for n in [1, 2, 3] {
            let host = FitHost::wave(n).passes(3.0);
            let (run, report) = fitted(&host, &params);
            assert_eq!((report.reason, report.steps), (Reason::Stopped, 3), "{params:?}, {n}");
            assert!(run.predict(host.x()).unwrap().1.iter().all(|&variance| variance > 0.0));
        }
        let y = host().y().slice(s![..30]).to_owned();
        let equal = FitHost::new(&Array2::zeros((30, 2)), &y).passes(3.0);
        let (run, report) = fitted(&equal, &params);
        assert_eq!(report.reason, Reason::Stopped, "{params:?}");
        assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()));
    }
}

#[test]
fn a_fit_that_diverges_leaves_its_last_model() {
    let is_finite = |run: &FitRun<'_>| {
        let model = run.model().unwrap();
        ["noise_scale", "signal_scale", "entry"]
            .iter()
            .all(|name| model.array(name).unwrap().iter().all(|entry| entry.is_finite()))
    };
    let wave = host();
    let mut y = wave.y();
    y[3] = f64::NAN;
    let lost = FitHost::new(wave.x(), &y);
    let (run, report) = fitted(&lost, &sparse());
    assert_eq!((report.reason, is_finite(&run)), (Reason::Diverged, true));
    assert_eq!(fitted(&lost, &conjugate_gradients()).1.reason, Reason::Diverged);
    let fast: Params = vec![("learning_rate", 1e6.into())];
    let (run, report) = fitted(&wave, &fast);
    assert_eq!((report.reason, is_finite(&run)), (Reason::Diverged, true));
    assert!(run.predict(wave.x()).unwrap().1.iter().all(|&variance| variance > 0.0));
}
