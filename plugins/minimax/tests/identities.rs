//! The method's identities, against dense matrices and central differences.

use gpbench_plugin_minimax::{Penalty, Saddle, norm};
use gpbench_sdk::finite::Objective;
use gpbench_sdk::ndarray::{Array1, Array2, Axis, ShapeBuilder};
use gpbench_sdk::optimise::AdaDelta;
use gpbench_sdk::{Workers, lapack, symmetric};
use gpbench_testing::scattered;

const NOISE_VARIANCE: f64 = 0.4;
const MU: f64 = 1.7;
const STEP: f64 = 1e-5;

fn features(n: usize, dimension: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, dimension), |(i, j)| scattered(i, j))
}

/// An irregular symmetric matrix, column-major.
fn irregular(order: usize, column: usize) -> Array2<f64> {
    let mut matrix = Array2::from_shape_fn((order, order).f(), |(i, j)| scattered(i, j + column));
    lapack::mirror_lower(&mut matrix);
    matrix
}

/// F of all features.
fn f(features: &Array2<f64>, noise_variance: f64) -> Array2<f64> {
    let order = features.ncols();
    let mut matrix = Array2::zeros((order, order).f());
    symmetric::add_gram(1.0, features, 0.0, &mut matrix).unwrap();
    symmetric::add_diagonal(noise_variance, &mut matrix);
    lapack::mirror_lower(&mut matrix);
    matrix
}

fn inverse(matrix: &Array2<f64>) -> Array2<f64> {
    let mut inverse = symmetric::shifted_factor(matrix, 0.0).unwrap();
    lapack::cholesky_inverse(&mut inverse).unwrap();
    inverse
}

fn log_determinant(matrix: &Array2<f64>) -> f64 {
    lapack::log_determinant(&symmetric::shifted_factor(matrix, 0.0).unwrap())
}

/// kappa(A) = |A| |A^-1|.
fn condition(matrix: &Array2<f64>) -> f64 {
    norm(matrix) * norm(&inverse(matrix))
}

/// max over |B| <= 1 of log|A| + mu <B, A - F> / |A|.
fn largest(a: &Array2<f64>, f: &Array2<f64>, mu: f64) -> f64 {
    log_determinant(a) + mu * norm(&(a - f)) / norm(a)
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} against {b}");
}

fn near(a: &Array2<f64>, b: &Array2<f64>, tolerance: f64) {
    assert!((a - b).iter().all(|gap| gap.abs() <= tolerance), "{a} against {b}");
}

/// A saddle at no special point.
fn somewhere(dimension: usize) -> Saddle {
    let mut a = f(&features(3 * dimension, dimension), 0.9);
    a += &(irregular(dimension, 20) * 0.1);
    Saddle { a, b: irregular(dimension, 40) * 0.2 }
}

fn penalty(saddle: &Saddle, n: usize, features: &Array2<f64>) -> Penalty {
    saddle.penalty(n, features, NOISE_VARIANCE, MU, Workers::new(1)).unwrap()
}

#[test]
fn every_gradient_is_that_of_central_differences() {
    let (n, b, dimension) = (15, 6, 4);
    let (saddle, batch) = (somewhere(dimension), features(b, dimension));
    let at = penalty(&saddle, n, &batch);
    let by_b = saddle.against_b(n, &batch, NOISE_VARIANCE, MU).unwrap() * -1.0;
    let difference = |value: &dyn Fn(f64) -> f64| (value(STEP) - value(-STEP)) / (2.0 * STEP);
    let workers = Workers::new(1);
    let by_noise = |h: f64| saddle.penalty(n, &batch, NOISE_VARIANCE + h, MU, workers).unwrap().value;
    close(at.by_noise_variance, difference(&by_noise), 1e-8);
    for i in 0..b {
        for j in 0..dimension {
            let moved = |h: f64| {
                let mut batch = batch.clone();
                batch[[i, j]] += h;
                penalty(&saddle, n, &batch).value
            };
            close(at.by_features[[i, j]], difference(&moved), 1e-8);
        }
    }
    for i in 0..dimension {
        for j in 0..=i {
            // Symmetric moves: off the diagonal both entries count.
            let both = if i == j { 1.0 } else { 2.0 };
            let moved = |in_a: bool, h: f64| {
                let mut saddle = saddle.clone();
                let matrix = if in_a { &mut saddle.a } else { &mut saddle.b };
                matrix[[i, j]] += h;
                matrix[[j, i]] = matrix[[i, j]];
                penalty(&saddle, n, &batch).value
            };
            close(both * at.by_a[[i, j]], difference(&|h| moved(true, h)), 1e-8);
            close(both * by_b[[i, j]], difference(&|h| moved(false, h)), 1e-8);
            assert_eq!((at.by_a[[i, j]], by_b[[i, j]]), (at.by_a[[j, i]], by_b[[j, i]]));
        }
    }
}

/// Unbiased in every argument: the mean over all minibatches is the whole.
#[test]
fn the_mean_over_all_minibatches_is_the_whole() {
    let (n, dimension) = (6, 3);
    let (saddle, phi) = (somewhere(dimension), features(n, dimension));
    let (whole, whole_b) =
        (penalty(&saddle, n, &phi), saddle.against_b(n, &phi, NOISE_VARIANCE, MU).unwrap());
    let pairs: Vec<[usize; 2]> = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j])).collect();
    let (mut value, mut by_noise) = (0.0, 0.0);
    let mut by_features = Array2::zeros(phi.dim());
    let [mut by_a, mut by_b] = [Array2::zeros((3, 3).f()), Array2::zeros((3, 3).f())];
    let weight = 1.0 / pairs.len() as f64;
    for pair in &pairs {
        let batch = phi.select(Axis(0), pair);
        let part = penalty(&saddle, n, &batch);
        value += weight * part.value;
        by_noise += weight * part.by_noise_variance;
        by_a.scaled_add(weight, &part.by_a);
        by_b.scaled_add(weight, &saddle.against_b(n, &batch, NOISE_VARIANCE, MU).unwrap());
        for (&row, by) in pair.iter().zip(part.by_features.rows()) {
            by_features.row_mut(row).scaled_add(weight, &by);
        }
    }
    close(value, whole.value, 1e-13);
    close(by_noise, whole.by_noise_variance, 1e-13);
    near(&by_features, &whole.by_features, 1e-13);
    near(&by_a, &whole.by_a, 1e-13);
    near(&by_b, &whole_b, 1e-13);
}

/// At A = F and B = -(|F| / mu) F^-1: Psi = l, no gradient by A and B, and that of l by all else, for every mu.
#[test]
fn the_stationary_point_has_the_gradient_of_the_likelihood() {
    let (n, dimension) = (11, 4);
    let phi = features(n, dimension);
    let targets = Array1::from_shape_fn(n, |i| scattered(i, 50));
    let weights = Array1::from_shape_fn(dimension, |j| scattered(j, 60));
    let l = |phi: &Array2<f64>, noise_variance: f64| {
        let data = Objective::of_rows(n, phi, &targets, &weights, noise_variance);
        data.value + log_determinant(&f(phi, noise_variance))
    };
    let whole = f(&phi, NOISE_VARIANCE);
    for mu in [0.1, 1.0, 300.0] {
        let saddle = Saddle { a: whole.clone(), b: inverse(&whole) * (-norm(&whole) / mu) };
        close(norm(&saddle.b), condition(&whole) / mu, 1e-12);
        let at = saddle.penalty(n, &phi, NOISE_VARIANCE, mu, Workers::new(1)).unwrap();
        let data = Objective::of_rows(n, &phi, &targets, &weights, NOISE_VARIANCE);
        close(data.value + at.value, l(&phi, NOISE_VARIANCE), 1e-12);
        near(&at.by_a, &Array2::zeros((dimension, dimension)), 1e-12);
        let by_b = saddle.against_b(n, &phi, NOISE_VARIANCE, mu).unwrap();
        near(&by_b, &Array2::zeros((dimension, dimension)), 1e-12 * mu);
        let by_noise = (l(&phi, NOISE_VARIANCE + STEP) - l(&phi, NOISE_VARIANCE - STEP)) / (2.0 * STEP);
        close(data.by_noise_variance + at.by_noise_variance, by_noise, 1e-8);
        for i in 0..n {
            for j in 0..dimension {
                let moved = |h: f64| {
                    let mut phi = phi.clone();
                    phi[[i, j]] += h;
                    l(&phi, NOISE_VARIANCE)
                };
                let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
                close(data.by_features[[i, j]] + at.by_features[[i, j]], expected, 1e-8);
            }
        }
    }
}

/// Matrices of a condition of at most mu: none has a smaller value than F.
#[test]
fn a_large_mu_keeps_the_minimum_at_f() {
    let dimension = 4;
    let whole = f(&features(11, dimension), NOISE_VARIANCE);
    let mu = 2.0 * condition(&whole);
    let mut tried = 0;
    for seed in 0..400 {
        let spread = 2.0_f64.powi(seed % 7 - 5);
        let mut a =
            &whole * 2.0_f64.powi(seed % 5 - 2) + irregular(dimension, 100 + 7 * seed as usize) * spread;
        lapack::mirror_lower(&mut a);
        if symmetric::shifted_factor(&a, 0.0).is_ok() && condition(&a) <= mu {
            assert!(largest(&a, &whole, mu) >= log_determinant(&whole) - 1e-12);
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
    // The published mu = 1 is far below: on the line A = a F the minimum is at a = mu / D, and lower than that of F.
    let small = 1.0;
    let on_line = |a: f64| largest(&(&whole * a), &whole, small) - log_determinant(&whole);
    let (order, best) = (dimension as f64, small / dimension as f64);
    close(on_line(best), order - small - order * (order / small).ln(), 1e-12);
    assert!(
        on_line(best) < 0.0 && on_line(best * 1.01) > on_line(best) && on_line(best * 0.99) > on_line(best)
    );
    // There B is (A - F) / |A - F| = -F / |F|, and the gradient by A vanishes along F.
    let saddle = Saddle { a: &whole * best, b: &whole * (-1.0 / norm(&whole)) };
    let phi = features(11, dimension);
    let at = saddle.penalty(11, &phi, NOISE_VARIANCE, small, Workers::new(1)).unwrap();
    let along: f64 = (&at.by_a * &whole).sum();
    assert!(along.abs() < 1e-10, "{along}");
}

/// With parameters and A fixed, gradient ascent leads B to (A - F) / |A - F|. AdaDelta, which scales each entry by itself,
/// leads elsewhere.
#[test]
fn ascent_leads_to_the_direction_of_the_gap() {
    let (n, dimension) = (11, 4);
    let phi = features(n, dimension);
    let ascend = |step: &mut dyn FnMut(&mut Array2<f64>, &Array2<f64>)| {
        let mut saddle = somewhere(dimension);
        saddle.b.fill(0.0);
        for _ in 0..2000 {
            let down = saddle.against_b(n, &phi, NOISE_VARIANCE, MU).unwrap();
            step(&mut saddle.b, &down);
            saddle.project_b();
        }
        assert_eq!(saddle.b, saddle.b.t());
        saddle.b
    };
    let gap = somewhere(dimension).a - f(&phi, NOISE_VARIANCE);
    let limit = &gap / norm(&gap);
    near(&ascend(&mut |b, down| b.scaled_add(-0.1, down)), &limit, 1e-10);
    let mut optimiser = AdaDelta::new(dimension * dimension);
    let by_entry = ascend(&mut |b, down| {
        let (b, down) = (b.as_slice_memory_order_mut().unwrap(), down.as_slice_memory_order().unwrap());
        optimiser.descend(b, down, 1.0);
    });
    assert!(norm(&(&by_entry - &limit)) > 0.2, "{by_entry}");
}

/// Without the penalty, gradient descent leads A to its bound.
#[test]
fn without_a_penalty_a_falls_to_its_bound() {
    let (n, dimension) = (11, 4);
    let phi = features(n, dimension);
    let mut saddle = Saddle::new(f(&phi, NOISE_VARIANCE));
    for _ in 0..3000 {
        let by_a = saddle.penalty(n, &phi, NOISE_VARIANCE, 0.0, Workers::new(1)).unwrap().by_a;
        saddle.a.scaled_add(-0.05, &by_a);
        saddle.project_a(NOISE_VARIANCE, Workers::new(1)).unwrap();
    }
    near(&saddle.a, &(Array2::eye(dimension) * NOISE_VARIANCE), 1e-10);
}

/// The projection by all eigenvectors, of which those below the bound are used.
fn projected(a: &Array2<f64>, least: f64) -> Array2<f64> {
    let mut vectors = a.clone();
    let values = lapack::symmetric_eigen(&mut vectors).unwrap();
    let lacking = values.mapv(|value| (least - value).max(0.0));
    a + &(&vectors * &lacking).dot(&vectors.t())
}

/// Eigenvalues below the bound are lifted to it, and nothing else changes, whichever side of the bound is used.
#[test]
fn projections_are_the_nearest_points() {
    let order = 6;
    let a = irregular(order, 3) * 2.0;
    let values = lapack::symmetric_eigen(&mut a.clone()).unwrap();
    for lifted in 1..=order {
        let least = match values.get(lifted) {
            Some(next) => (values[lifted - 1] + next) / 2.0,
            None => values[order - 1] + 1.0,
        };
        let mut saddle = Saddle::new(a.clone());
        assert_eq!(saddle.project_a(least, Workers::new(1)).unwrap(), lifted);
        near(&saddle.a, &projected(&a, least), 1e-12);
        assert_eq!(saddle.a, saddle.a.t());
        // A projection moves nothing that is feasible.
        saddle.project_a(least, Workers::new(1)).unwrap();
        near(&saddle.a, &projected(&a, least), 1e-12);
    }
    let mut inside = Saddle::new(f(&features(9, order), 1.0));
    let kept = inside.a.clone();
    assert_eq!(inside.project_a(0.7, Workers::new(1)).unwrap(), 0);
    assert_eq!(inside.a, kept);

    let mut saddle = Saddle { a, b: irregular(order, 5) };
    saddle.project_b();
    close(norm(&saddle.b), 1.0, 1e-14);
    let kept = &saddle.b * 0.5;
    saddle.b = kept.clone();
    saddle.project_b();
    assert_eq!(saddle.b, kept);
}

/// Matrices on which threads share the work.
#[test]
fn large_matrices_have_the_same_bits_on_any_number_of_threads() {
    let (n, order) = (900, 520);
    let batch = features(40, order);
    let mut a = f(&features(700, order), 0.5);
    a += &(irregular(order, 20) * 0.3);
    let saddle = Saddle { a, b: irregular(order, 40) * 1e-3 };
    let values = lapack::symmetric_eigen(&mut saddle.a.clone()).unwrap();
    // Few eigenvalues below the bound, then few above it.
    for index in [order / 8, 7 * order / 8] {
        let least = values[index].max(1.0);
        let of = |threads| {
            let (mut saddle, workers) = (saddle.clone(), Workers::new(threads));
            let lifted = saddle.project_a(least, workers).unwrap();
            let penalty = saddle.penalty(n, &batch, NOISE_VARIANCE, MU, workers).unwrap();
            (saddle, lifted, penalty.by_a, penalty.value)
        };
        let one = of(1);
        assert_eq!(one, of(2));
        assert_eq!(one, of(3));
        let below = values.iter().filter(|value| **value < least).count();
        assert!(below.abs_diff(one.1) <= 1 && (1..order).contains(&one.1), "{} of {below}", one.1);
        // What the projection adds to the trace is what the eigenvalues below lack.
        let lacking: f64 = values.iter().map(|value| (least - value).max(0.0)).sum();
        close((&one.0.a - &saddle.a).diag().sum(), lacking, 1e-10);
        assert_eq!(one.0.a, one.0.a.t());
    }
}
