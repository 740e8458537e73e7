//! Fits through the tables of the interface.

use gpbench_plugin_sgpr::Sgpr;
use gpbench_sdk::ndarray::{Array1, Array2, s};
use gpbench_sdk::{ParamValue, Reason, Scales};
use gpbench_testing::{FitHost, FitReport, FitRun, scattered};

type Params = Vec<(&'static str, ParamValue)>;

fn with(points: i64, select: &'static str) -> Params {
    vec![("points", points.into()), ("select", select.into())]
}

fn host() -> FitHost {
    FitHost::wave(90).passes(400.0)
}

fn fitted<'h>(host: &'h FitHost, params: &Params) -> (FitRun<'h>, FitReport) {
    let mut run = host.begin::<Sgpr>(params).unwrap();
    let report = run.fit().unwrap();
    (run, report)
}

#[test]
fn it_learns_and_the_bound_never_falls() {
    let host = FitHost::wave(200).passes(400.0).trained_mean();
    for select in ["greedy", "joint"] {
        let (run, report) = fitted(&host, &with(30, select));
        assert_eq!(report.reason, Reason::Converged, "{select}");
        let trace = run.trace();
        assert!(trace.windows(2).all(|pair| pair[1].1 <= pair[0].1), "{select}");
        let test = Array2::from_shape_fn((50, 2), |(i, j)| 0.9 * scattered(i + 500, j));
        let (mean, variance) = run.predict(&test).unwrap();
        let truth: Array1<f64> = test.outer_iter().map(|x| (2.0 * x[0]).sin() + x[0] * x[1]).collect();
        let errors = &mean - &truth;
        let rmse = errors.std(0.0);
        assert!(rmse < 0.06, "{select}: {rmse}");
        assert!(variance.iter().all(|&variance| variance > 0.0));
        let (lower, upper) = (report.number("lower_bound"), report.number("upper_bound"));
        assert!(lower <= upper, "{select}: {lower} and {upper}");
        let noise = run.model().unwrap().array("noise_scale").unwrap()[[0, 0]];
        // The noise of the wave is uniform in (-0.1, 0.1).
        assert!((0.03..0.12).contains(&noise), "{select}: {noise}");
        println!("{select}: {} steps, {} rounds", report.steps, report.number("rounds"));
    }
}

#[test]
fn points_that_move_reach_a_larger_bound_where_they_are_few() {
    let host = host();
    let lower = |select| fitted(&host, &with(5, select)).1.number("lower_bound");
    let (greedy, joint) = (lower("greedy"), lower("joint"));
    assert!(joint > greedy, "{joint} and {greedy}");
}

#[test]
fn points_are_chosen_anew_only_where_that_raises_the_bound() {
    let host = host();
    let (run, report) = fitted(&host, &with(8, "greedy"));
    assert_eq!(report.reason, Reason::Converged);
    let start = host.begin::<Sgpr>(&with(8, "greedy")).unwrap();
    let points = |run: &FitRun<'_>| run.model().unwrap().array("z").unwrap().to_owned();
    assert_eq!(points(&start).dim(), (8, 2));
    // Each is a training row.
    for point in points(&run).outer_iter() {
        assert!(host.x().outer_iter().any(|row| row == point));
    }
    println!("{} rounds", report.number("rounds"));
    assert_eq!(report.number("rounds") > 1.0, points(&run) != points(&start));
}

#[test]
fn points_of_the_spec_stay_or_move_and_no_others_are_chosen() {
    let points = host().x().slice(s![..7, ..]).to_owned();
    let host = host().basis(&points);
    for select in ["greedy", "joint"] {
        let params = with(30, select);
        let (run, report) = fitted(&host, &params);
        assert_ne!(report.reason, Reason::Diverged, "{select}");
        assert_eq!((report.number("inducing_points"), report.number("rounds")), (7.0, 1.0), "{select}");
        let z = run.model().unwrap().array("z").unwrap().to_owned();
        assert_eq!(z == points, select == "greedy");
        assert_eq!(run.used().entries, report.steps as f64 * 7.0 * (7.0 + 90.0), "{select}");
    }
    let params = with(30, "greedy");
    let (whole, report) = fitted(&host, &params);
    assert_eq!(report.reason, Reason::Converged);
    let mut half = host.begin::<Sgpr>(&params).unwrap();
    half.steps(5).unwrap();
    let mut resumed = host.resume::<Sgpr>(&params, &half.save().unwrap()).unwrap();
    resumed.fit().unwrap();
    assert_eq!(resumed.model().unwrap(), whole.model().unwrap());
}

#[test]
fn all_rows_are_a_single_choice() {
    let host = FitHost::wave(40).passes(400.0);
    let (_, report) = fitted(&host, &with(100, "greedy"));
    assert_eq!((report.reason, report.number("inducing_points")), (Reason::Converged, 40.0));
    assert_eq!(report.number("rounds"), 1.0);
    // With all rows the bounds meet, but for the jitter.
    let gap = report.number("upper_bound") - report.number("lower_bound");
    assert!((0.0..2.0).contains(&gap), "{gap}");
}

#[test]
fn work_is_counted() {
    for select in ["greedy", "joint"] {
        let host = FitHost::wave(90).passes(3.0);
        let (run, report) = fitted(&host, &with(10, select));
        assert_eq!((report.reason, report.steps), (Reason::Stopped, 3));
        // The selection, and three evaluations.
        assert_eq!(run.used().entries, (10 * 90 + 3 * 10 * (10 + 90)) as f64);
        assert_eq!((run.used().rows_of_passes, run.used().rows), (270, 360));
    }
}

#[test]
fn a_choice_is_a_pass_and_counts_its_columns() {
    let host = host();
    let (run, report) = fitted(&host, &with(8, "greedy"));
    let (steps, entries) = (report.steps as f64, run.used().entries);
    let evaluation = 8.0 * (8.0 + 90.0);
    // The last choice may find the same rows, whose bound is known.
    let choices = [0.0, 1.0].map(|known| (entries - (steps - known) * evaluation) / (8.0 * 90.0));
    let rounds = report.number("rounds");
    assert!(choices.contains(&(rounds + 1.0)), "{choices:?} choices in {rounds} rounds");
    assert_eq!(run.used().rows_of_passes, 90 * report.steps as u64);
}

#[test]
fn pauses_states_and_threads_change_no_bit() {
    let (one, three) = (host().threads(1).trained_mean(), host().threads(3).trained_mean());
    for select in ["greedy", "joint"] {
        let params = with(12, select);
        let (whole, report) = fitted(&one, &params);
        assert_eq!(report.reason, Reason::Converged);
        let mut resumed = three.begin::<Sgpr>(&params).unwrap();
        // Before the first evaluation.
        let saved = resumed.save().unwrap();
        resumed = three.resume::<Sgpr>(&params, &saved).unwrap();
        let mut trace = Vec::new();
        // States are saved after any step: inside of line searches, and before and after choices.
        loop {
            let reason = resumed.steps(1).unwrap().reason;
            trace.extend(resumed.trace());
            let saved = resumed.save().unwrap();
            resumed = three.resume::<Sgpr>(&params, &saved).unwrap();
            assert_eq!(resumed.save().unwrap(), saved);
            if reason == Reason::Converged {
                break;
            }
        }
        assert_eq!(trace, whole.trace(), "{select}");
        assert_eq!(resumed.model().unwrap(), whole.model().unwrap());
        assert_eq!(resumed.predict(one.x()).unwrap(), whole.predict(one.x()).unwrap());
    }
}

#[test]
fn a_damaged_state_is_refused() {
    let host = host();
    let params = with(12, "joint");
    let mut run = host.begin::<Sgpr>(&params).unwrap();
    run.steps(3).unwrap();
    let saved = run.save().unwrap();
    let other = with(12, "greedy");
    assert!(host.resume::<Sgpr>(&other, &saved).is_err());
}

#[test]
fn before_the_first_step_the_model_is_the_prior() {
    let host = host();
    let run = host.begin::<Sgpr>(&with(6, "greedy")).unwrap();
    let (mean, variance) = run.predict(&host.x().slice(s![..4, ..]).to_owned()).unwrap();
    assert!(mean.iter().all(|&mean| mean == 0.0));
    assert!(variance.iter().all(|&variance| (variance - 1.09).abs() < 1e-9), "{variance}");
}

#[test]
fn shared_length_scales_stay_equal() {
    let host = host().shared_length_scale();
    let (run, _) = fitted(&host, &with(10, "joint"));
    let lengths = run.model().unwrap().array("length_scale").unwrap().to_owned();
    assert_eq!(lengths[[0, 0]], lengths[[1, 0]]);
    assert_ne!(lengths[[0, 0]], 1.0);
}

#[test]
fn small_and_degenerate_sets() {
    for select in ["greedy", "joint"] {
        for n in [1, 2, 3] {
            let host = FitHost::wave(n).passes(20.0);
            let (run, report) = fitted(&host, &with(5, select));
            assert_ne!(report.reason, Reason::Diverged, "{select}, {n}");
            assert!(run.predict(host.x()).unwrap().1.iter().all(|&variance| variance > 0.0));
        }
        let y = host().y().slice(s![..30]).to_owned();
        let equal = FitHost::new(&Array2::zeros((30, 2)), &y).passes(30.0);
        let (run, report) = fitted(&equal, &with(5, select));
        assert_eq!(report.number("inducing_points"), 1.0);
        assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()));
    }
}

/// Targets without noise: the noise falls, to its cap where it has one, and no bound is lost on the way.
#[test]
fn large_scales_and_little_noise_lose_no_bound() {
    let x = FitHost::wave(60).x().to_owned();
    let y = x.map_axis(gpbench_sdk::ndarray::Axis(1), |row| 1e3 * (row[0] + row[1]));
    let host = FitHost::new(&x, &y).passes(300.0);
    for (select, transform) in ["greedy", "joint"]
        .into_iter()
        .flat_map(|select| ["logarithm", "capped"].map(|transform| (select, transform)))
    {
        let params = [with(20, select), vec![("transform", transform.into())]].concat();
        let (run, report) = fitted(&host, &params);
        assert_ne!(report.reason, Reason::Diverged, "{select} {transform}");
        assert!(run.trace().iter().all(|(_, objective)| objective.is_finite()), "{select} {transform}");
        let model = run.model().unwrap();
        let scale = |name: &str| model.array(name).unwrap()[[0, 0]];
        if transform == "capped" {
            assert!(scale("signal_scale") <= 31.7 && scale("noise_scale") >= 0.99e-4);
            assert!(model.array("length_scale").unwrap().iter().all(|&length| length <= 1000.1));
        } else {
            assert!(scale("signal_scale") > 31.7, "{}", scale("signal_scale"));
        }
    }
}

#[test]
fn a_start_beyond_the_caps_is_refused() {
    let scales = Scales { signal_scale: 40.0, noise_scale: 0.3, length_scale: vec![1.0; 2], mean: 0.0 };
    let host = FitHost::wave(20).scales(scales);
    let capped = [("transform", "capped".into())];
    let Err(refused) = host.begin::<Sgpr>(&capped) else { panic!("it begins") };
    assert!(refused.to_string().contains("below 31.6"), "{refused}");
    assert!(host.begin::<Sgpr>(&[]).is_ok(), "scales of the default have no caps");
}

#[test]
fn targets_that_are_no_numbers_diverge_and_leave_a_finite_model() {
    let wave = FitHost::wave(30);
    let mut y = wave.y();
    y[3] = f64::NAN;
    let host = FitHost::new(wave.x(), &y);
    let (run, report) = fitted(&host, &with(10, "greedy"));
    assert_eq!(report.reason, Reason::Diverged);
    assert!(run.model().unwrap().array("q_mean").unwrap().iter().all(|entry| entry.is_finite()));
}
