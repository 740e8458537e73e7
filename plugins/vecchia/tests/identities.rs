//! Cases in which the approximation is another method, and derivatives against differences.

use gpbench_plugin_vecchia::{
    Data, LogLikelihood, Predictor, Process, explain, log_likelihood, rest_likelihood, search, spread,
};
use gpbench_sdk::ndarray::{Array1, Array2, Axis};
use gpbench_sdk::neighbours::Earlier;
use gpbench_sdk::{Family, Scales, Workers, lapack, symmetric};
use gpbench_testing::scattered;
use gpbench_testkit::json::{number, vector};
use gpbench_testkit::{assert_close, assert_number, relative_error};

use crate::given::{FAMILIES, N, data, gradient, indices, oracle, params, process, test_rows};

fn found(at: &Process, data: &Data, m: usize) -> Earlier {
    search(at, data, m, Workers::new(1)).unwrap().0
}

fn of_all(at: &Process, data: &Data, neighbours: &Earlier) -> LogLikelihood {
    let all: Vec<usize> = (0..data.n()).collect();
    log_likelihood(at, data, neighbours, &all, Workers::new(1)).unwrap()
}

/// Two orders of the oracle's rows.
fn orders() -> [Vec<usize>; 2] {
    [(0..N).rev().collect(), indices(&oracle()["inputs"]["random_order"])]
}

#[test]
fn with_all_earlier_rows_it_is_the_exact_process_for_every_order_and_all_inducing_points() {
    let oracle = oracle();
    for (name, family) in FAMILIES {
        let exact = &oracle["kernels"][name]["exact"];
        let (lml, by) = (number(&exact["lml"]), vector(&exact["grad"]));
        for order in orders() {
            let data = data(&oracle, order);
            let (plain, sparse) = (process(&oracle, family, false), process(&oracle, family, true));
            let found_plain = of_all(&plain, &data, &found(&plain, &data, N - 1));
            let neighbours = found(&sparse, &data, N - 1);
            let found_sparse = rest_likelihood(&sparse, &data, &neighbours, Workers::new(1)).unwrap();
            for evaluated in [&found_plain, &found_sparse] {
                assert_number(evaluated.value, lml, 1e-9);
                assert_close(&gradient(&evaluated.by), &by, 1e-8);
            }
            let size = by.iter().fold(0.0_f64, |size, by| size.max(by.abs()));
            assert!(found_sparse.by_points.iter().all(|by| by.abs() < 1e-8 * size));

            let explanation = explain(&sparse, &data, &neighbours, Workers::new(1)).unwrap();
            for (at, explanation) in [(&plain, None), (&sparse, Some(explanation))] {
                let predictor = Predictor::new(at, &data, N, explanation, Workers::new(1)).unwrap();
                let (mean, variance) = predictor.predict(&test_rows(&oracle), Workers::new(1)).unwrap();
                assert_close(&mean, &vector(&exact["mean"]), 1e-9);
                let latent = variance - at.noise_scale().powi(2);
                assert_close(&latent, &vector(&exact["latent_variance"]), 1e-8);
            }
        }
    }
}

#[test]
fn without_neighbours_rows_are_independent() {
    let oracle = oracle();
    let at = process(&oracle, Family::Rbf, false);
    let data = data(&oracle, (0..N).collect());
    let evaluated = of_all(&at, &data, &found(&at, &data, 0));
    let variance = at.scales().signal_scale.powi(2) + at.noise_scale().powi(2);
    let density = |y: f64| -0.5 * ((std::f64::consts::TAU * variance).ln() + y * y / variance);
    assert_number(evaluated.value, data.y.mapv(density).sum(), 1e-13);
    assert_close(&evaluated.error, &data.y, 1e-15);
}

/// The fully independent training conditional: the covariance that the points explain, and on its diagonal all of K.
#[test]
fn without_neighbours_inducing_points_give_fitc() {
    let oracle = oracle();
    for (_, family) in FAMILIES {
        let (at, workers) = (process(&oracle, family, true), Workers::new(1));
        let data = data(&oracle, orders()[1].clone());
        let kernel = at.kernel();
        let mut factor = kernel.gram(at.points(), at.points(), workers);
        lapack::cholesky(&mut factor).unwrap();
        let mut features = kernel.gram(at.points(), &data.x, workers);
        lapack::solve_lower(&factor, false, &mut features).unwrap();
        let mut covariance = symmetric::column_major(&features.t().dot(&features));
        covariance.diag_mut().fill(kernel.signal_scale.powi(2) + at.noise_scale().powi(2));
        lapack::cholesky(&mut covariance).unwrap();
        let mut white = data.y.clone().insert_axis(Axis(1));
        lapack::solve_lower(&covariance, false, &mut white).unwrap();
        let squares: f64 = white.iter().map(|entry| entry * entry).sum();
        let normal = N as f64 * std::f64::consts::TAU.ln();
        let expected = -0.5 * (normal + lapack::log_determinant(&covariance) + squares);

        let evaluated = rest_likelihood(&at, &data, &found(&at, &data, 0), workers).unwrap();
        assert_number(evaluated.value, expected, 1e-9);
    }
}

#[test]
fn without_inducing_points_the_rest_is_everything() {
    let oracle = oracle();
    for (_, family) in FAMILIES {
        let at = process(&oracle, family, false);
        let data = data(&oracle, (0..N).collect());
        for m in [0, 5, 12] {
            let neighbours = found(&at, &data, m);
            let (plain, rest) = (
                of_all(&at, &data, &neighbours),
                rest_likelihood(&at, &data, &neighbours, Workers::new(1)).unwrap(),
            );
            assert_number(rest.value, plain.value, 1e-12);
            assert_close(&gradient(&rest.by), &gradient(&plain.by), 1e-10);
            assert_number(rest.by.mean, plain.by.mean, 1e-10);
            assert_close(&rest.variance, &plain.variance, 1e-12);
            assert_close(&rest.error, &plain.error, 1e-11);
        }
    }
}

/// Scattered rows with a process whose mean is trained and whose noise has a floor.
fn toy(points: usize) -> (Process, Data) {
    let x = Array2::from_shape_fn((30, 2), |(i, j)| scattered(i, j));
    let y = Array1::from_shape_fn(30, |i| (3.0 * x[[i, 0]]).sin() + 0.3 * scattered(i, 8));
    let scales = Scales { signal_scale: 1.3, noise_scale: 0.4, length_scale: vec![0.6, 1.5], mean: 0.1 };
    let params = gpbench_plugin_vecchia::VecchiaParams { jitter: 1e-3, ..params() };
    let mut at = Process::start(&scales, Family::Matern32, 0.05, &params, (false, true)).unwrap();
    if points > 0 {
        // Off the rows, where the function of the points is smooth.
        at.set_points(Array2::from_shape_fn((points, 2), |(i, j)| scattered(i + 200, j)).view());
    }
    (at, Data::new(&x, &y, (0..30).rev().collect()).unwrap())
}

#[test]
fn derivatives_agree_with_differences() {
    for points in [0, 5] {
        let (at, data) = toy(points);
        let neighbours = found(&at, &data, 6);
        let evaluate = |at: &Process| match points {
            0 => of_all(at, &data, &neighbours),
            _ => rest_likelihood(at, &data, &neighbours, Workers::new(1)).unwrap(),
        };
        let parameters = at.parameters();
        assert_eq!(parameters.len(), 5 + 2 * points);
        for (i, by) in at.chain(&evaluate(&at)).into_iter().enumerate() {
            let moved = |h: f64| {
                let (mut moved, mut parameters) = (at.clone(), parameters.clone());
                parameters[i] += h;
                moved.set(&parameters);
                evaluate(&moved).value
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((by - difference).abs() < 1e-6, "{points} points, {i}: {by} against {difference}");
        }
    }
}

#[test]
fn minibatches_are_unbiased() {
    let (at, data) = toy(0);
    let neighbours = found(&at, &data, 6);
    let whole = of_all(&at, &data, &neighbours);
    let of =
        |positions: &[usize]| log_likelihood(&at, &data, &neighbours, positions, Workers::new(1)).unwrap();
    let parts: Vec<LogLikelihood> = [vec![3, 29, 0, 11], (4..11).collect(), vec![1, 2], (12..29).collect()]
        .iter()
        .map(|positions: &Vec<usize>| of(positions))
        .collect();
    assert_number(parts.iter().map(|part| part.value).sum(), whole.value, 1e-13);
    let by = parts.iter().fold(Array1::zeros(4), |sum: Array1<f64>, part| sum + gradient(&part.by));
    assert_close(&by, &gradient(&whole.by), 1e-12);
    assert_eq!(parts[0].error[1], whole.error[29]);
}

#[test]
fn the_start_and_its_floor() {
    let (at, _) = toy(0);
    assert_number(at.scales().noise_scale, 0.4, 1e-14);
    assert_number(at.noise_floor().powi(2), 0.05, 1e-14);
    assert!(!at.is_at_floor());
    let mut at_floor = at.clone();
    let mut parameters = at.parameters();
    parameters[1] = -50.0;
    at_floor.set(&parameters);
    assert_number(at_floor.noise_scale().powi(2), 0.05, 1e-12);
    assert!(at_floor.is_at_floor() && at_floor.is_sound());
    // A start below the floor lowers it.
    let low = Scales { noise_scale: 0.2, ..at.scales() };
    let low = Process::start(&low, Family::Rbf, 0.05, &params(), (false, true)).unwrap();
    assert_number(low.noise_scale(), 0.2, 1e-14);
    assert_number(low.noise_floor().powi(2), 0.02, 1e-14);
    // Targets that are no numbers have no variance.
    let unknown = Process::start(&at.scales(), Family::Rbf, f64::NAN, &params(), (false, true)).unwrap();
    assert!(unknown.noise_scale().is_finite());
}

#[test]
fn threads_change_no_bit() {
    let x = Array2::from_shape_fn((300, 3), |(i, j)| scattered(i, j));
    let y = Array1::from_shape_fn(300, |i| (3.0 * x[[i, 0]]).sin() + 0.3 * scattered(i, 8));
    let scales = Scales { signal_scale: 1.0, noise_scale: 0.3, length_scale: vec![0.7; 3], mean: 0.0 };
    let data = Data::new(&x, &y, (0..300).collect()).unwrap();
    for points in [0, 9] {
        let mut at = Process::start(&scales, Family::Matern52, 0.0, &params(), (false, true)).unwrap();
        if points > 0 {
            let rows = spread(&x, points, 3, Workers::new(1));
            at.set_points(x.select(Axis(0), &rows).view());
        }
        let of = |threads| {
            let workers = Workers::new(threads);
            let (neighbours, entries) = search(&at, &data, 10, workers).unwrap();
            let all: Vec<usize> = (0..300).collect();
            let (evaluated, explanation) = match points {
                0 => (log_likelihood(&at, &data, &neighbours, &all, workers).unwrap(), None),
                _ => (
                    rest_likelihood(&at, &data, &neighbours, workers).unwrap(),
                    Some(explain(&at, &data, &neighbours, workers).unwrap()),
                ),
            };
            let predictor = Predictor::new(&at, &data, 20, explanation, workers).unwrap();
            (entries, evaluated, predictor.predict(&x, workers).unwrap())
        };
        assert_eq!(of(1), of(3), "{points} points");
    }
}

#[test]
fn points_in_rows_and_repeated_rows_do_no_harm() {
    let x = Array2::from_shape_fn((60, 2), |(i, j)| scattered(i / 3, j));
    let y = Array1::from_shape_fn(60, |i| (3.0 * x[[i, 0]]).sin() + 0.3 * scattered(i, 8));
    let scales = Scales { signal_scale: 1.0, noise_scale: 0.3, length_scale: vec![0.7; 2], mean: 0.0 };
    let data = Data::new(&x, &y, (0..60).collect()).unwrap();
    let plain = Process::start(&scales, Family::Rbf, 0.0, &params(), (false, false)).unwrap();
    let mut at = Process::start(
        &scales,
        Family::Rbf,
        0.0,
        &gpbench_plugin_vecchia::VecchiaParams { jitter: 1e-6, ..params() },
        (false, false),
    )
    .unwrap();
    at.set_points(x.select(Axis(0), &[0, 9, 21, 33, 45]).view());
    let sparse = rest_likelihood(&at, &data, &found(&at, &data, 59), Workers::new(1)).unwrap();
    let exact = of_all(&plain, &data, &found(&plain, &data, 59));
    assert!((sparse.value - exact.value).abs() < 1e-6 * exact.value.abs(), "{sparse:?}");
    assert!(relative_error(&gradient(&sparse.by), &gradient(&exact.by)) < 1e-5);
}
