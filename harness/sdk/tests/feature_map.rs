//! Feature maps against central differences.

#![cfg(feature = "blas")]
use gpbench_sdk::finite::FeatureMap;
use gpbench_sdk::ndarray::Array2;
use gpbench_sdk::network::Mlp;
use gpbench_sdk::random_features::RandomFeatures;
use gpbench_sdk::{Error, Workers};
use gpbench_testing::scattered;

const INPUTS: usize = 3;

/// Every kind of map, with the number of its length scales.
fn maps() -> Vec<(FeatureMap, usize)> {
    let network = || Some(Mlp::new(INPUTS, &[6, 5]).unwrap());
    let random = |inputs| Some(RandomFeatures::new(inputs, 8, 3).unwrap());
    let map = |network, random, shared| FeatureMap::new(INPUTS, network, random, shared).unwrap();
    vec![
        (map(None, None, false), 0),
        (map(network(), None, false), 0),
        (map(network(), random(5), false), 1),
        (map(None, random(INPUTS), true), 1),
        (map(None, random(INPUTS), false), INPUTS),
    ]
}

fn x() -> Array2<f64> {
    Array2::from_shape_fn((7, INPUTS), |(i, j)| 2.0 * scattered(i, j))
}

#[test]
fn pull_backs_are_central_differences() {
    let (x, workers, step) = (x(), Workers::new(1), 1e-6);
    for (map, lengths) in maps() {
        let width = map.network().map_or(INPUTS, Mlp::outputs);
        let parameters = map.start(5, 1.4, &vec![0.8; width]);
        assert_eq!(parameters.len(), map.n_parameters());
        let evaluated = map.evaluate(&parameters, &x, workers);
        assert_eq!(evaluated.features().dim(), (7, map.dimension()));
        assert_eq!(evaluated.features(), map.features(&parameters, &x, workers));
        let cotangent = Array2::from_shape_fn((7, map.dimension()), |(i, j)| scattered(i + 9, j));
        // Derivatives are added.
        let mut gradient = vec![0.25; parameters.len()];
        map.pull_back(&parameters, &evaluated, &cotangent, &mut gradient, workers);
        for (index, by) in gradient.iter().enumerate() {
            let value = |h: f64| {
                let mut parameters = parameters.clone();
                parameters[index] += h;
                (map.features(&parameters, &x, workers) * &cotangent).sum()
            };
            let expected = (value(step) - value(-step)) / (2.0 * step);
            assert!(
                (by - 0.25 - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                "{index}: {by}, {expected}"
            );
        }
        let scales = map.scales(&parameters);
        assert_eq!(scales.as_ref().map_or(0, |(_, lengths)| lengths.len()), lengths);
        if let Some((signal_scale, lengths)) = scales {
            assert!((signal_scale - 1.4).abs() < 1e-12);
            assert!(lengths.iter().all(|length| (length - 0.8).abs() < 1e-12));
        }
    }
}

#[test]
fn features_without_a_network_are_the_inputs() {
    let (map, _) = maps().swap_remove(0);
    assert_eq!(map.features(&[], &x(), Workers::new(1)), x());
    assert_eq!((map.dimension(), map.n_parameters()), (INPUTS, 0));
}

#[test]
fn parts_of_other_widths_are_refused() {
    let network = Mlp::new(INPUTS + 1, &[4]).unwrap();
    let refused = FeatureMap::new(INPUTS, Some(network), None, false).unwrap_err();
    assert!(matches!(refused, Error::InvalidArgument(_)), "{refused}");
    let random = RandomFeatures::new(INPUTS + 1, 4, 0).unwrap();
    assert!(FeatureMap::new(INPUTS, None, Some(random), false).is_err());
}
