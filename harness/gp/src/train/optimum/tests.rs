use rand::RngExt;

use super::*;
use crate::seed::Streams;
use crate::thread_pool;

/// Inputs, and targets with short and long structure along the first input.
fn data(n: usize, d: usize) -> (Array2<f64>, Array1<f64>) {
    let streams = Streams::new(3, &["optimum"]);
    let (x, noise) = (streams.normals("x", n, d), streams.normals("noise", n, 1));
    let signal = x.column(0).mapv(|x| (6.0 * x).sin() + 0.5 * x);
    (x, signal + &noise.column(0) * 0.2)
}

/// Random starts, log-uniform over three decades.
fn random_starts(count: usize, lengths: usize) -> Vec<Hyperparameters> {
    let mut rng = Streams::new(9, &[]).stream("starts");
    let mut scale = || 10_f64.powf(rng.random_range(-2.0..1.0));
    let mut start = |_| Hyperparameters {
        noise_scale: scale(),
        signal_scale: scale(),
        length_scale: (0..lengths).map(|_| scale()).collect(),
    };
    (0..count).map(&mut start).collect()
}

/// The search without a mean and without fixed scales.
fn search<'d>(
    (x, y): &'d (Array2<f64>, Array1<f64>),
    family: Family,
    pool: &'d Arc<ThreadPool>,
) -> OptimumSearch<'d> {
    OptimumSearch { family, x: x.view(), y: y.view(), with_mean: false, fixed: &[], pool }
}

fn spread((x, y): &(Array2<f64>, Array1<f64>), shared: bool) -> Vec<Hyperparameters> {
    spread_starts(x.view(), y.view(), shared)
}

#[test]
fn the_spread_starts_reach_what_the_best_of_many_random_starts_does() {
    let pool = thread_pool(2).unwrap();
    for (d, shared) in [(1, true), (2, false), (3, true)] {
        let data = data(60, d);
        for family in [Family::Matern32, Family::Rbf] {
            let search = search(&data, family, &pool);
            let found = search.from_starts(&spread(&data, shared)).unwrap();
            let lengths = if shared { 1 } else { d };
            assert_eq!(found.hyperparameters.length_scale.len(), lengths);
            let random = search.from_starts(&random_starts(30, lengths)).unwrap();
            let lost = (random.log_marginal_likelihood - found.log_marginal_likelihood) / 60.0;
            assert!(lost < 1e-4, "{d} {family:?}: {found:?} {random:?}");
        }
    }
}

#[test]
fn the_gradient_vanishes_at_the_optimum_and_the_likelihood_is_that_of_its_scales() {
    let (pool, data) = (thread_pool(1).unwrap(), data(80, 2));
    let search = search(&data, Family::Matern52, &pool);
    let found = search.from_starts(&spread(&data, false)).unwrap();
    let (scales, x) = (&found.hyperparameters, data.0.view());
    let kernel = scales.kernel(Family::Matern52, 2);
    let gp = ExactGp::fit(&kernel, scales.noise_scale, x, data.1.view(), 1).unwrap();
    assert_eq!(gp.log_marginal_likelihood, found.log_marginal_likelihood);
    let gradient = gp.gradient(x);
    let by_scales = [gradient.noise_scale, gradient.signal_scale].into_iter().chain(gradient.length_scale);
    for (derivative, scale) in by_scales.zip(scales.scales()) {
        assert!((derivative * scale).abs() < 0.05, "{derivative} {scale}");
    }
    assert_eq!(found.mean, None);
    assert!(found.evaluations > 50);
}

#[test]
fn fixed_scales_stay_and_a_mean_is_found() {
    let (pool, data) = (thread_pool(1).unwrap(), data(60, 1));
    let shifted = (data.0.clone(), &data.1 + 40.0);
    let plain = search(&shifted, Family::Matern32, &pool);
    let starts: Vec<Hyperparameters> = spread(&shifted, true)
        .into_iter()
        .map(|start| Hyperparameters { noise_scale: 0.5, ..start })
        .collect();
    let fixed = OptimumSearch { fixed: &[Scale::NoiseScale], with_mean: true, ..plain };
    let found = fixed.from_starts(&starts).unwrap();
    assert_eq!(found.hyperparameters.noise_scale, 0.5);
    assert!((found.mean.unwrap() - 40.0).abs() < 2.0, "{found:?}");
    // More freedom reaches more.
    let free = OptimumSearch { with_mean: true, ..plain }.from_starts(&starts).unwrap();
    assert!(free.log_marginal_likelihood > found.log_marginal_likelihood);
    assert!(free.log_marginal_likelihood > plain.from_starts(&starts).unwrap().log_marginal_likelihood);
}

#[test]
fn threads_change_no_bit_and_many_rows_are_searched_by_a_subset() {
    let data = data(SUBSET_ROWS + 100, 1);
    let of = |threads| {
        let pool = thread_pool(threads).unwrap();
        search(&data, Family::Matern32, &pool).from_starts(&spread(&data, true)[..4]).unwrap()
    };
    let (one, two) = (of(1), of(2));
    assert_eq!(one, two);
    assert!((0.15..0.25).contains(&one.hyperparameters.noise_scale), "{one:?}");
    assert!((0.1..1.0).contains(&one.hyperparameters.length_scale[0]), "{one:?}");
}

/// From a start whose length scale is long, the slow maximum explains all short structure as noise.
#[test]
fn a_bad_maximum_is_left_for_a_better_one() {
    let (pool, data) = (thread_pool(1).unwrap(), data(200, 1));
    let search = search(&data, Family::Rbf, &pool);
    let long = Hyperparameters { noise_scale: 1.0, signal_scale: 1.0, length_scale: vec![100.0] };
    let alone = search.from_starts(std::slice::from_ref(&long)).unwrap();
    let starts: Vec<Hyperparameters> = [long].into_iter().chain(spread(&data, true)).collect();
    let best = search.from_starts(&starts).unwrap();
    assert!(best.log_marginal_likelihood >= alone.log_marginal_likelihood);
    assert!((0.15..0.25).contains(&best.hyperparameters.noise_scale), "{best:?}");
}

#[test]
fn without_a_usable_start_there_is_no_optimum() {
    let pool = thread_pool(1).unwrap();
    // Rows that repeat, and hardly any noise.
    let x = Array2::from_elem((6, 1), 0.5);
    let y = Array1::from_elem(6, 1.0);
    let search = search_of(&x, &y, &pool);
    let start = Hyperparameters { noise_scale: 1e-12, signal_scale: 1.0, length_scale: vec![1.0] };
    assert_eq!(search.from_starts(&[start]), None);
    assert_eq!(search.from_starts(&[]), None);
}

/// A search with the noise scale fixed.
fn search_of<'d>(x: &'d Array2<f64>, y: &'d Array1<f64>, pool: &'d Arc<ThreadPool>) -> OptimumSearch<'d> {
    OptimumSearch {
        family: Family::Rbf,
        x: x.view(),
        y: y.view(),
        with_mean: false,
        fixed: &[Scale::NoiseScale],
        pool,
    }
}
