//! Against numbers that other code has computed in extended precision, from the formulae as published.

use gpbench_plugin_vecchia::{
    Data, LogLikelihood, Predictor, Process, explain, log_likelihood, max_min, rest_likelihood, search,
};
use gpbench_sdk::Workers;
use gpbench_sdk::ndarray::s;
use gpbench_sdk::neighbours::{Earlier, scaled};
use gpbench_testkit::json::{Value, matrix, number, vector};
use gpbench_testkit::{assert_close, assert_number};

use crate::given::{FAMILIES, N, data, gradient, indices, lists, oracle, process, test_rows};

fn all() -> Vec<usize> {
    (0..N).collect()
}

fn found(at: &Process, data: &Data, m: usize) -> Earlier {
    search(at, data, m, Workers::new(1)).unwrap().0
}

/// Value and derivatives by the scales.
fn agrees(found: &LogLikelihood, expected: &Value, tolerance: f64) {
    assert_number(found.value, number(&expected["log_likelihood"]), tolerance);
    assert_close(&gradient(&found.by), &vector(&expected["grad"]), tolerance);
}

#[test]
fn orders_and_neighbours() {
    let oracle = oracle();
    for (name, family) in FAMILIES {
        let expected = &oracle["kernels"][name]["vecchia"];
        let at = process(&oracle, family, false);
        let points = scaled(&matrix(&oracle["inputs"]["X"]), &at.kernel().length_scale).unwrap();
        assert_eq!(max_min(&points, Workers::new(1)), indices(&expected["maxmin"]["order"]));
        for order in ["maxmin", "random"] {
            let rows = indices(&expected[order]["order"]);
            let neighbours = found(&at, &data(&oracle, rows), 3);
            let lists = lists(&expected[order]["neighbours_m_3"]);
            assert!(lists.iter().enumerate().all(|(i, list)| neighbours.of(i) == list), "{name}, {order}");
        }
    }
}

#[test]
fn likelihoods_and_their_derivatives() {
    let oracle = oracle();
    for (name, family) in FAMILIES {
        let at = process(&oracle, family, false);
        for order in ["maxmin", "random"] {
            let expected = &oracle["kernels"][name]["vecchia"][order];
            let data = data(&oracle, indices(&expected["order"]));
            for m in [0, 3, 10, 39] {
                let expected = &expected[&format!("m_{m}")];
                let neighbours = found(&at, &data, m);
                let evaluated = log_likelihood(&at, &data, &neighbours, &all(), Workers::new(2)).unwrap();
                agrees(&evaluated, expected, 1e-10);
                assert_close(&evaluated.variance, &vector(&expected["conditional_variance"]), 1e-11);
                assert_close(&evaluated.error, &vector(&expected["error"]), 1e-10);
            }
        }
    }
}

#[test]
fn predictions_from_neighbours() {
    let oracle = oracle();
    let x = test_rows(&oracle);
    for (name, family) in FAMILIES {
        let at = process(&oracle, family, false);
        let data = data(&oracle, indices(&oracle["inputs"]["random_order"]));
        for m in [3, 10, 40] {
            let expected = &oracle["kernels"][name]["vecchia"][&format!("predict_m_{m}")];
            let predictor = Predictor::new(&at, &data, m, None, Workers::new(1)).unwrap();
            let (mean, variance) = predictor.predict(&x, Workers::new(2)).unwrap();
            assert_close(&mean, &vector(&expected["mean"]), 1e-10);
            let latent = variance - at.noise_scale().powi(2);
            assert_close(&latent, &vector(&expected["latent_variance"]), 1e-10);
        }
    }
}

#[test]
fn neighbours_beside_inducing_points() {
    let oracle = oracle();
    let x = test_rows(&oracle);
    for (name, family) in FAMILIES {
        let at = process(&oracle, family, true);
        let expected = &oracle["kernels"][name]["vif"];
        let order = indices(&oracle["kernels"][name]["vecchia"]["maxmin"]["order"]);
        let data = data(&oracle, order.clone());
        for m in [0, 3, 39] {
            let neighbours = found(&at, &data, m);
            let evaluated = rest_likelihood(&at, &data, &neighbours, Workers::new(2)).unwrap();
            let of_m = &expected[&format!("m_{m}")];
            agrees(&evaluated, of_m, 1e-8);
            let by_points = matrix(&of_m["grad_Z"]);
            let size = gradient(&evaluated.by).iter().fold(0.0_f64, |size, by| size.max(by.abs()));
            assert!(
                (&evaluated.by_points - &by_points).iter().all(|gap| gap.abs() < 1e-8 * size),
                "{name}, {m}"
            );

            let explanation = explain(&at, &data, &neighbours, Workers::new(1)).unwrap();
            let count = if m == 39 { N } else { m };
            let predictor = Predictor::new(&at, &data, count, Some(explanation), Workers::new(1)).unwrap();
            let (mean, variance) = predictor.predict(&x, Workers::new(2)).unwrap();
            assert_close(&mean, &vector(&of_m["mean"]), 1e-9);
            assert_close(&variance, &vector(&of_m["variance_y"]), 1e-9);
            if m == 3 {
                let lists_of = lists(&expected["neighbours_m_3"]);
                assert!(lists_of.iter().enumerate().all(|(i, list)| neighbours.of(i) == list), "{name}");
                for (i, list) in lists(&expected["test_neighbours_m_3"]).iter().enumerate() {
                    let row = x.slice(s![i..=i, ..]);
                    let rows = predictor.neighbours_of(&row);
                    let mut positions: Vec<usize> = rows.iter().map(|&row| data.positions[row]).collect();
                    positions.sort_unstable();
                    assert_eq!(&positions, list, "{name}");
                }
            }
        }
    }
}
