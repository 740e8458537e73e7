//! The gradient by the free parameters, and the limits in which the bound is the likelihood.

use crate::dense;
use gpbench_plugin_svgp::{GradientMemory, SparseProcess, SvgpParams};
use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};
use gpbench_sdk::optimise::{Method, Optimiser, Transform};
use gpbench_sdk::{
    Activation, Capabilities, Covariance, Family, Fit, Learner, NetworkShape, NoParams, Result, Scales,
    Workers,
};
use gpbench_testing::{FitHost, scattered};
use gpbench_testkit::json::{self, number, vector};
use gpbench_testkit::{SmallSystem, assert_close, assert_number};

/// A learner whose start is a test, which so gets a [`Fit`].
struct Probe;

type Test = Box<dyn Fn(&Fit<'_>)>;

thread_local! {
    static TEST: std::cell::RefCell<Option<Test>> = const { std::cell::RefCell::new(None) };
}

impl Learner for Probe {
    type Params = NoParams;
    const ID: &'static str = "probe";
    const DOC: &'static str = "A test in a fit";
    const CAPABILITIES: Capabilities = Capabilities::KERNEL;
    type State = ();

    fn new(_: NoParams) -> Result<Self> {
        Ok(Probe)
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<()> {
        TEST.with_borrow(|test| test.as_ref().unwrap()(fit));
        Ok(())
    }

    fn step(&self, (): &mut (), _: &Fit<'_>) -> Result<f64> {
        unreachable!("the test is over")
    }

    fn predict(&self, (): &(), _: ArrayView2<'_, f64>, _: Workers<'_>) -> Result<(Array1<f64>, Array1<f64>)> {
        unreachable!("the test is over")
    }
}

fn within(host: &FitHost, test: impl Fn(&Fit<'_>) + 'static) {
    TEST.set(Some(Box::new(test)));
    if let Err(failure) = host.begin::<Probe>(&[]) {
        panic!("{failure}");
    }
}

fn host(n: usize, d: usize) -> FitHost {
    let (x, y) = dense::data(n, d);
    FitHost::new(&x, &y).scales(Scales {
        signal_scale: 1.2,
        noise_scale: 0.4,
        length_scale: (0..d).map(|k| 0.7 + 0.4 * k as f64).collect(),
        mean: 0.1,
    })
}

/// A process with a variational distribution of no special kind.
fn process(fit: &Fit<'_>, params: &SvgpParams, m: usize) -> SparseProcess {
    // Points beside those of the data, where a Matern-1/2 kernel has no derivative.
    let z = 0.9 * dense::data(2 * m, fit.d()).0;
    let mut process = SparseProcess::new(fit, params, z.slice(s![m.., ..])).unwrap();
    let scales = process.scales();
    let first = if fit.has_shared_length_scale() { 3 } else { 2 + scales.length_scale.len() };
    let first = first + usize::from(fit.trains_mean());
    for (i, entry) in process.parameters[first..first + m + m * m].iter_mut().enumerate() {
        *entry += 0.3 * (scattered(i, 8) - 0.5);
    }
    process.update();
    process
}

/// Compares the gradient with central differences in some coordinates of every kind.
fn assert_gradient(fit: &Fit<'_>, params: &SvgpParams) {
    let m = 7;
    let process = process(fit, params, m);
    let rows: Vec<usize> = (3..12).collect();
    let (x, y) = (fit.x().select(Axis(0), &rows), fit.y().select(Axis(0), &rows));
    let mut workspace = GradientMemory::new(&process, 9);
    let mut evaluate = |process: &SparseProcess| -> f64 {
        process.evaluate(&x, &y, fit.n(), &mut workspace, Workers::new(1)).unwrap().bound
    };
    let mut differences = Vec::new();
    for index in 0..process.parameters.len() {
        let mut along = |h: f64| {
            let mut moved = process.clone();
            moved.parameters[index] += h;
            moved.update();
            evaluate(&moved)
        };
        let mut central = |h: f64| (along(h) - along(-h)) / (2.0 * h);
        differences.push(-(4.0 * central(1e-4) - central(2e-4)) / 3.0);
    }
    evaluate(&process);
    assert_eq!(workspace.gradient.len(), process.parameters.len());
    let scales = process.parameters.len() - m - m * m - m * fit.d();
    let root = (scales + m..scales + m + m * m).filter(|_| fit.network().is_none());
    let above: Vec<usize> = root.filter(|i| (i - scales - m) % m < (i - scales - m) / m).collect();
    for (index, (found, expected)) in workspace.gradient.iter().zip(&differences).enumerate() {
        let tolerance = 1e-5 * expected.abs().max(1.0);
        assert!((found - expected).abs() < tolerance, "parameter {index}: {found} against {expected}");
    }
    assert!(above.iter().all(|&index| workspace.gradient[index] == 0.0));
}

#[test]
fn the_gradient_is_the_derivative_by_every_free_parameter() {
    for transform in [Transform::Scale, Transform::Variance, Transform::Logarithm] {
        for host in [host(20, 2), host(20, 2).trained_mean(), host(20, 2).shared_length_scale()] {
            let params = SvgpParams { transform, jitter: 1e-4, ..SvgpParams::default() };
            within(&host, move |fit| assert_gradient(fit, &params));
        }
    }
    for family in [Family::Matern12, Family::Matern32, Family::Matern52] {
        let params = SvgpParams { jitter: 1e-4, ..SvgpParams::default() };
        within(&host(20, 3).family(family), move |fit| assert_gradient(fit, &params));
    }
}

#[test]
fn the_gradient_goes_through_a_network() {
    let network = NetworkShape { activation: Activation::Relu, widths: vec![6, 5], random: None };
    for family in [Family::Rbf, Family::Matern52] {
        let host = host(20, 2).network(network.clone()).family(family).shared_length_scale().trained_mean();
        let params = SvgpParams { jitter: 1e-4, ..SvgpParams::default() };
        within(&host, move |fit| assert_gradient(fit, &params));
    }
}

#[test]
fn what_is_fixed_has_no_derivative() {
    let network = NetworkShape { activation: Activation::Relu, widths: vec![6], random: None };
    for host in [host(20, 2), host(20, 2).network(network)] {
        let host = host.family(Covariance::Linear);
        within(&host, |fit| {
            let params = SvgpParams { move_points: false, ..SvgpParams::default() };
            let process = process(fit, &params, 4);
            let mut workspace = GradientMemory::new(&process, fit.n());
            let (x, y) = (fit.x().to_owned(), fit.y().to_owned());
            process.evaluate(&x, &y, fit.n(), &mut workspace, Workers::new(1)).unwrap();
            let lengths = process.scales().length_scale.len();
            let gradient = &workspace.gradient;
            let after = 2 + lengths + 4 + 16;
            let points = &gradient[after..after + 4 * fit.d()];
            assert!(gradient[0] == 0.0 && gradient[1] != 0.0);
            assert!(gradient[2..2 + lengths].iter().chain(points).all(|&by| by == 0.0));
            assert!(gradient[after + 4 * fit.d()..].iter().any(|&by| by != 0.0) == fit.network().is_some());
        });
    }
}

/// Inputs of n rows, of which the Gram matrix is well conditioned, as inducing points; with the optimal distribution.
fn exact(fit: &Fit<'_>, jitter: f64) -> (SparseProcess, Array2<f64>) {
    let params = SvgpParams { jitter, noise_floor: 1e-12, ..SvgpParams::default() };
    let mut process = SparseProcess::new(fit, &params, fit.x()).unwrap();
    let scales = process.scales();
    let gram = dense::gram(fit.x(), fit.x(), scales.signal_scale, &scales.length_scale);
    let jittered = &gram + &(Array2::<f64>::eye(fit.n()) * jitter);
    let a = dense::forward(&dense::cholesky(&jittered), &gram);
    let y = &fit.y() - scales.mean;
    let (mean, root) = dense::optimum(&a, y.view(), scales.noise_scale);
    let first = 2 + scales.length_scale.len() + usize::from(fit.trains_mean());
    let n = fit.n();
    process.parameters[first..first + n].copy_from_slice(mean.as_slice().unwrap());
    let columns = root.as_slice_memory_order().unwrap();
    process.parameters[first + n..first + n + n * n].copy_from_slice(columns);
    (process, gram)
}

#[test]
fn with_all_rows_as_inducing_points_the_bound_is_the_likelihood() {
    let host = host(25, 3).trained_mean();
    within(&host, |fit| {
        let (process, gram) = exact(fit, 1e-10);
        let (x, y) = (fit.x().to_owned(), fit.y().to_owned());
        let mut workspace = GradientMemory::new(&process, 25);
        let found = process.evaluate(&x, &y, 25, &mut workspace, Workers::new(1)).unwrap();
        let likelihood = |process: &SparseProcess| {
            let scales = process.scales();
            let mut covariance = dense::gram(fit.x(), fit.x(), scales.signal_scale, &scales.length_scale);
            covariance.diag_mut().mapv_inplace(|entry| entry + scales.noise_scale.powi(2));
            dense::log_density((&y - scales.mean).view(), &covariance)
        };
        let expected = likelihood(&process);
        assert!((found.bound - expected).abs() < 1e-7 * expected.abs(), "{} {expected}", found.bound);
        // Signal, noise, three lengths and the mean.
        for index in 0..6 {
            let along = |h: f64| {
                let mut moved = process.clone();
                moved.parameters[index] += h;
                moved.update();
                likelihood(&moved)
            };
            let central = |h: f64| (along(h) - along(-h)) / (2.0 * h);
            let expected = -(4.0 * central(1e-3) - central(2e-3)) / 3.0;
            let found = workspace.gradient[index];
            assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{index}: {found} {expected}");
        }

        let (new, _) = dense::data(60, 3);
        let new = new.slice(s![25.., ..]);
        let (means, variances) = process.predict(&new, Workers::new(1)).unwrap();
        let scales = process.scales();
        let noise = scales.noise_scale.powi(2);
        let cross = dense::gram(new, fit.x(), scales.signal_scale, &scales.length_scale);
        let inverse = dense::inverse(&(&gram + &(Array2::<f64>::eye(25) * noise)));
        let expected = cross.dot(&inverse.dot(&(&y - scales.mean))) + scales.mean;
        assert!((&means - &expected).iter().all(|gap| gap.abs() < 1e-6));
        let explained = (&cross.dot(&inverse) * &cross).sum_axis(Axis(1));
        let expected = -(explained - scales.signal_scale.powi(2) - noise);
        assert!((&variances - &expected).iter().all(|gap| gap.abs() < 1e-6));
    });
}

#[test]
fn ascent_in_the_distribution_alone_reaches_the_collapsed_bound_from_below() {
    let host = host(40, 2);
    within(&host, |fit| {
        let params = SvgpParams::default();
        let (z, _) = dense::data(100, 2);
        let mut process = SparseProcess::new(fit, &params, z.slice(s![92.., ..])).unwrap();
        let scales = process.scales();
        let z = process.points().to_owned();
        let mut inducing = dense::gram(z.view(), z.view(), scales.signal_scale, &scales.length_scale);
        inducing.diag_mut().mapv_inplace(|entry| entry + 1e-6);
        let cross = dense::gram(z.view(), fit.x(), scales.signal_scale, &scales.length_scale);
        let a = dense::forward(&dense::cholesky(&inducing), &cross);
        let (variance, centred) = (scales.noise_scale.powi(2), &fit.y() - scales.mean);
        let explained = a.t().dot(&a);
        let covariance = &explained + Array2::<f64>::eye(40) * variance;
        let missing = 40.0 * scales.signal_scale.powi(2) - explained.diag().sum();
        let best = dense::log_density(centred.view(), &covariance) - missing / (2.0 * variance);

        let (x, y) = (fit.x().to_owned(), fit.y().to_owned());
        let mut workspace = GradientMemory::new(&process, 40);
        let mut optimiser = Optimiser::new(Method::Adam, process.parameters.len());
        // Scales, then m and R, then Z.
        let (first, last) = (4, 4 + 8 + 64);
        let mut bound = f64::NAN;
        for step in 0..4000 {
            bound = process.evaluate(&x, &y, 40, &mut workspace, Workers::new(1)).unwrap().bound;
            assert!(bound < best + 1e-9 * best.abs());
            workspace.gradient[..first].fill(0.0);
            workspace.gradient[last..].fill(0.0);
            let rate = 0.05 * 0.5_f64.powi(step / 400);
            optimiser.descend(&mut process.parameters, &workspace.gradient, rate);
        }
        assert!(best - bound < 1e-5 * best.abs(), "{bound} of {best}");
    });
}

#[test]
fn at_the_best_distribution_the_bound_has_no_derivative_by_it() {
    let network = NetworkShape { activation: Activation::Relu, widths: vec![6, 5], random: None };
    for host in [host(300, 2).trained_mean(), host(300, 2).network(network)] {
        within(&host, |fit| {
            let (x, y) = (fit.x().to_owned(), fit.y().to_owned());
            let results = [1, 2, 3].map(|threads| {
                let mut process = process(fit, &SvgpParams { jitter: 1e-4, ..SvgpParams::default() }, 140);
                let before = process.clone();
                let found = process.optimise_distribution(&x, &y, Workers::new(threads)).unwrap();
                (before, process, found.bound)
            });
            let (before, process, bound) = &results[0];
            assert!(
                results.iter().all(|other| (&other.1.parameters, other.2) == (&process.parameters, *bound))
            );

            let mut workspace = GradientMemory::new(process, 300);
            let seen = process.evaluate(&x, &y, 300, &mut workspace, Workers::new(1)).unwrap().bound;
            assert!((bound - seen).abs() < 1e-10 * bound.abs(), "{bound} {seen}");
            let first = process.scales().length_scale.len() + 2 + usize::from(fit.trains_mean());
            let distribution = first..first + 140 + 140 * 140;
            let steep = |gradient: &[f64]| {
                gradient[distribution.clone()].iter().fold(0.0, |most: f64, by| most.max(by.abs()))
            };
            let at_the_best = steep(&workspace.gradient);
            before.evaluate(&x, &y, 300, &mut workspace, Workers::new(1)).unwrap();
            assert!(at_the_best < 1e-9 * steep(&workspace.gradient), "{at_the_best:e}");
            for (index, (now, then)) in process.parameters.iter().zip(&before.parameters).enumerate() {
                assert!(distribution.contains(&index) || now == then);
            }
        });
    }
}

#[test]
fn the_best_distribution_is_that_of_the_truth() {
    let SmallSystem { x_train, y_train, x_test, settings, .. } = SmallSystem::load();
    let truth = json::parse(include_str!("data/titsias_small.json"));
    let rows: Vec<usize> = vector(&truth["inducing_rows"]).iter().map(|&row| row as usize).collect();
    for setting in settings {
        let truth = truth["titsias"][&setting.name].clone();
        let (z, x_test) = (x_train.select(Axis(0), &rows), x_test.clone());
        let family = if setting.kernel == "rbf" { Family::Rbf } else { Family::Matern32 };
        let noise_variance = setting.noise_scale.powi(2);
        let scales = Scales {
            signal_scale: setting.signal_scale,
            noise_scale: setting.noise_scale,
            length_scale: setting.length_scale,
            mean: 0.0,
        };
        let host = FitHost::new(&x_train, &y_train).scales(scales).family(family);
        within(&host, move |fit| {
            let params = SvgpParams { jitter: 1e-12, noise_floor: 1e-12, ..SvgpParams::default() };
            let mut process = SparseProcess::new(fit, &params, z.view()).unwrap();
            let (x, y) = (fit.x().to_owned(), fit.y().to_owned());
            let found = process.optimise_distribution(&x, &y, Workers::new(2)).unwrap();
            assert_number(found.bound, number(&truth["elbo"]), 1e-9);
            let (means, variances) = process.predict(&x_test, Workers::new(2)).unwrap();
            assert_close(&means, &vector(&truth["mean"]), 1e-9);
            assert_close(&(variances - noise_variance), &vector(&truth["latent_variance"]), 1e-9);
        });
    }
}

#[test]
fn the_noise_does_not_fall_below_its_floor() {
    within(&host(10, 1), |fit| {
        let params = SvgpParams { noise_floor: 0.25, ..SvgpParams::default() };
        let mut process = SparseProcess::new(fit, &params, fit.x()).unwrap();
        assert!((process.scales().noise_scale - 0.5).abs() < 1e-12);
        process.parameters[1] = -40.0;
        process.update();
        assert!((process.scales().noise_scale - 0.5).abs() < 1e-12);
        process.parameters[1] = f64::NAN;
        process.update();
        assert!(process.scales().noise_scale.is_nan());
    });
}

#[test]
fn a_point_is_predicted_alike_in_any_company() {
    within(&host(30, 2), |fit| {
        let process = process(fit, &SvgpParams::default(), 12);
        let (new, _) = dense::data(700, 2);
        let (means, variances) = process.predict(&new, Workers::new(3)).unwrap();
        for rows in [vec![0], vec![699, 3, 256], (100..400).collect()] {
            let some = new.select(Axis(0), &rows);
            let mut columns = Array2::zeros(some.dim().f());
            columns.assign(&some);
            let (of_some, variances_of_some) = process.predict(&columns, Workers::new(1)).unwrap();
            for (i, &row) in rows.iter().enumerate() {
                assert!((of_some[i] - means[row]).abs() < 1e-12);
                assert!((variances_of_some[i] - variances[row]).abs() < 1e-12 * variances[row]);
            }
        }
    });
}
