//! Predictions by the program itself: their calibration, and posterior curves of one input.

use gpbench_record::metric::{METRICS, Metric, Shown};
use gpbench_record::{Case, Family, Message, Source, metric, names};

use crate::common;
use crate::common::worker::{cg, exact, job, solve, verified};

#[test]
fn predictions_have_a_calibration_beside_that_of_the_exact_process() {
    let (mut job, folder) = job(common::by("cholesky", common::case(300)), 2);
    let (trace, _) = solve(&job);
    let alone = verified(&job);
    exact(&mut job, &folder);
    let both = verified(&job);
    let value = |name: &str| both.metrics.get(name).unwrap_or_else(|| panic!("no {name}"));
    let measures: Vec<&Metric> =
        METRICS.iter().filter(|metric| metric.is_shown(Shown::Calibration)).collect();
    for metric in measures {
        let of_exact = metric::of_exact(metric).unwrap().name;
        assert!(value(of_exact).is_finite());
        assert_eq!(alone.metrics.get(metric.name), Some(value(metric.name)), "{}", metric.name);
        assert_eq!(alone.metrics.get(of_exact), None);
        let is_traced = |message: &Message| match message {
            Message::Trace(point) => point.metrics.get(metric.name).is_some(),
            other => panic!("{other:?}"),
        };
        assert!(!trace.iter().any(is_traced), "points of a trace have no calibration");
    }
    // The trivial model of the loss is that of the training targets, and Cholesky's mean is the exact one.
    let trivial = |nll: &str, msll: &str| value(nll) - value(msll);
    let [own, exact] =
        [trivial(names::TEST_NLL, names::MSLL), trivial(names::TEST_NLL_EXACT, names::MSLL_EXACT)];
    assert!((own - exact).abs() < 1e-10, "{own} {exact}");
    assert!((value(names::SMSE) - value(names::SMSE_EXACT)).abs() < 1e-10);
    // The variances of three samples are not.
    assert!((value(names::WIDTH_95) - value(names::WIDTH_95_EXACT)).abs() > 1e-3);

    let (shares, without) = (both.calibration.unwrap(), alone.calibration.unwrap());
    assert_eq!((&without.own, without.exact.as_ref()), (&shares.own, None));
    for rows in [&shares.own, shares.exact.as_ref().unwrap()] {
        assert!(rows.is_complete() && rows.coverage.is_sorted(), "{rows:?}");
        assert!((rows.pit.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{rows:?}");
    }
}

/// A draw on a line under a smooth kernel, of whose signal scale the square is 4.
fn on_a_line() -> Case {
    let mut case = common::case(200);
    let Source::GpDraw(draw) = &mut case.dataset.source else { panic!("not a draw") };
    draw.d = 1;
    case.kernel.family = Family::Rbf.into();
    case.kernel.signal_scale = 2.0;
    case.kernel.length_scale = vec![0.5];
    case.task = common::posterior(40, None);
    case
}

#[test]
fn one_input_has_a_posterior_curve_and_an_exact_one() {
    let (mut job, folder) = job(common::by("cholesky", on_a_line()), 2);
    solve(&job);
    let without = verified(&job).curve.unwrap();
    assert!(without.exact_mean.is_empty() && without.w2.is_empty() && without.spectrum.is_none());
    exact(&mut job, &folder);
    let mut curve = *verified(&job).curve.unwrap();
    let spectrum = curve.spectrum.take().unwrap();
    let (mean, w2) = (std::mem::take(&mut curve.exact_mean), std::mem::take(&mut curve.w2));
    let deviation = std::mem::take(&mut curve.exact_deviation);
    assert_eq!(curve, *without);

    let [low, high] = curve.range;
    assert!(curve.x.is_sorted() && curve.x[0] < low && *curve.x.last().unwrap() > high);
    assert!(curve.rows.len() == 200 && curve.rows[0][0] == low && curve.rows[199][0] == high);
    assert_eq!((curve.samples.len(), curve.samples[0].len()), (5, curve.x.len()));
    // The mean is exact; of the deviation, forty samples tell a ninth.
    assert!(curve.mean.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-5));
    let ratios = curve.deviation.iter().zip(&deviation).map(|(a, b)| a / b);
    assert!(ratios.clone().all(|ratio| (0.5..1.6).contains(&ratio)), "{ratios:?}");
    let distances = w2.iter().zip(curve.deviation.iter().zip(&deviation));
    assert!(distances.clone().all(|(w2, (a, b))| (w2 - (a - b).abs()).abs() < 1e-5));

    // The trace of K: n s^2.
    let trace: f64 = spectrum.eigenvalues.iter().map(|(_, value)| value).sum();
    assert!((trace / 800.0 - 1.0).abs() < 1e-5, "{trace}");
    // Functions of unit norm in the Hilbert space are at most s.
    assert!(spectrum.functions.len() >= 5 && spectrum.functions[0].0 == 1);
    for (index, function) in &spectrum.functions {
        let most = function.iter().copied().fold(0.0, f64::max);
        assert!((0.05..=2.0).contains(&most), "{index}: {most}");
    }
}

#[test]
fn several_inputs_and_bare_systems_have_no_curve() {
    let (several, _folder) = job(cg(1e-2), 1);
    solve(&several);
    assert_eq!(verified(&several).curve, None);
    let mut case = on_a_line();
    case.task = common::solving(common::pathwise(3));
    let (bare, _folder) = job(case, 1);
    solve(&bare);
    assert_eq!(verified(&bare).curve, None);
}
