//! Gaussian processes with finitely many features against dense matrices of all rows.

#![cfg(feature = "blas")]
use gpbench_sdk::finite::{Moments, Objective, Posterior};
use gpbench_sdk::ndarray::{Array1, Array2, Axis, ShapeBuilder, s};
use gpbench_sdk::{Workers, lapack, symmetric};
use gpbench_testing::scattered;

/// A small process: more rows than features, or fewer.
struct Toy {
    features: Array2<f64>,
    targets: Array1<f64>,
    noise_variance: f64,
}

impl Toy {
    fn new(n: usize, dimension: usize) -> Toy {
        Toy {
            features: Array2::from_shape_fn((n, dimension), |(i, j)| scattered(i, j)),
            targets: Array1::from_shape_fn(n, |i| scattered(i, 77)),
            noise_variance: 0.3,
        }
    }

    /// r^T H^-1 r, log|H| and H^-1, from H itself.
    fn dense(&self) -> (f64, f64, Array2<f64>) {
        let mut factor = self.features.dot(&self.features.t()).reversed_axes();
        symmetric::add_diagonal(self.noise_variance, &mut factor);
        lapack::cholesky(&mut factor).unwrap();
        let log_determinant = lapack::log_determinant(&factor);
        lapack::cholesky_inverse(&mut factor).unwrap();
        (self.targets.dot(&factor.dot(&self.targets)), log_determinant, factor)
    }

    fn moments(&self, threads: usize) -> Moments {
        let features = |rows| self.features.slice(s![rows, ..]).to_owned();
        Moments::new(&self.targets, self.features.ncols(), features, Workers::new(threads))
    }

    fn posterior(&self) -> Posterior {
        Posterior::new(&self.moments(1), self.noise_variance).unwrap()
    }

    /// The data term of some rows.
    fn term(&self, rows: &[usize], weights: &Array1<f64>) -> Objective {
        let (features, targets) = (self.features.select(Axis(0), rows), self.targets.select(Axis(0), rows));
        Objective::of_rows(self.targets.len(), &features, &targets, weights, self.noise_variance)
    }
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} against {b}");
}

#[test]
fn the_likelihood_of_all_rows_needs_nothing_of_their_number() {
    for (n, dimension) in [(30, 4), (5, 9), (1, 1)] {
        let toy = Toy::new(n, dimension);
        let (quadratic, log_determinant, _) = toy.dense();
        let posterior = toy.posterior();
        let all: Vec<usize> = (0..n).collect();
        let term = toy.term(&all, posterior.weights());
        let factor = symmetric::shifted_factor(&toy.moments(1).gram, toy.noise_variance).unwrap();
        let exact = quadratic + log_determinant;
        close(term.value + lapack::log_determinant(&factor), exact, 1e-13);
        // The posterior mean is the minimum.
        assert!(term.by_weights.iter().all(|by| by.abs() < 1e-11), "{}", term.by_weights);
        let aside = posterior.weights() + 0.01;
        assert!(toy.term(&all, &aside).value > term.value);
    }
}

#[test]
fn the_data_term_has_the_gradient_of_central_differences() {
    let toy = Toy::new(12, 5);
    let (rows, n, step) = ([3, 8, 1, 11], 12, 1e-5);
    let weights = Array1::from_shape_fn(5, |j| scattered(j, 3));
    let features = toy.features.select(Axis(0), &rows);
    let targets = toy.targets.select(Axis(0), &rows);
    let term = toy.term(&rows, &weights);
    let difference = |value: &dyn Fn(f64) -> f64| (value(step) - value(-step)) / (2.0 * step);
    for j in 0..5 {
        let moved = |h: f64| {
            let mut weights = weights.clone();
            weights[j] += h;
            Objective::of_rows(n, &features, &targets, &weights, toy.noise_variance).value
        };
        close(term.by_weights[j], difference(&moved), 1e-8);
        for i in 0..rows.len() {
            let moved = |h: f64| {
                let mut features = features.clone();
                features[[i, j]] += h;
                Objective::of_rows(n, &features, &targets, &weights, toy.noise_variance).value
            };
            close(term.by_features[[i, j]], difference(&moved), 1e-8);
        }
    }
    let by_noise =
        |h: f64| Objective::of_rows(n, &features, &targets, &weights, toy.noise_variance + h).value;
    close(term.by_noise_variance, difference(&by_noise), 1e-8);
    let by_mean =
        |h: f64| Objective::of_rows(n, &features, &(&targets - h), &weights, toy.noise_variance).value;
    close(term.by_mean, difference(&by_mean), 1e-8);
}

#[test]
fn the_mean_over_all_minibatches_is_the_whole() {
    let toy = Toy::new(6, 3);
    let weights = Array1::from_shape_fn(3, |j| scattered(j, 3));
    let whole = toy.term(&[0, 1, 2, 3, 4, 5], &weights);
    let pairs: Vec<[usize; 2]> = (0..6).flat_map(|i| (i + 1..6).map(move |j| [i, j])).collect();
    let mean = |of: &dyn Fn(&Objective, &[usize; 2]) -> f64| {
        pairs.iter().map(|pair| of(&toy.term(pair, &weights), pair)).sum::<f64>() / pairs.len() as f64
    };
    close(mean(&|term, _| term.value), whole.value, 1e-13);
    close(mean(&|term, _| term.by_noise_variance), whole.by_noise_variance, 1e-13);
    close(mean(&|term, _| term.by_mean), whole.by_mean, 1e-13);
    close(mean(&|term, _| term.by_weights[1]), whole.by_weights[1], 1e-13);
    let of_row = |term: &Objective, pair: &[usize; 2]| {
        pair.iter().position(|&row| row == 4).map_or(0.0, |at| term.by_features[[at, 2]])
    };
    close(mean(&of_row), whole.by_features[[4, 2]], 1e-13);
}

#[test]
fn predictions_are_those_of_the_exact_process() {
    let toy = Toy::new(40, 6);
    let (_, _, inverse) = toy.dense();
    let test = Array2::from_shape_fn((7, 6), |(i, j)| scattered(i + 100, j));
    let cross = test.dot(&toy.features.t());
    let (mean, variance) = toy.posterior().predict(&test).unwrap();
    let expected = cross.dot(&inverse).dot(&toy.targets);
    for i in 0..7 {
        close(mean[i], expected[i], 1e-12);
        let row = cross.row(i);
        let latent = test.row(i).dot(&test.row(i)) - row.dot(&inverse.dot(&row));
        close(variance[i], latent + toy.noise_variance, 1e-12);
    }
    // A row's prediction does not depend on its neighbours.
    let (alone, _) = toy.posterior().predict(&test.slice(s![3..4, ..])).unwrap();
    assert_eq!(alone[0], mean[3]);
}

#[test]
fn moments_do_not_depend_on_threads() {
    let toy = Toy::new(5000, 70);
    let (one, many) = (toy.moments(1), toy.moments(3));
    assert_eq!(one.targets, many.targets);
    assert_eq!(one.matrix(0.5), many.matrix(0.5));
    let mut expected = toy.features.t().dot(&toy.features);
    symmetric::add_diagonal(0.5, &mut expected);
    let mut columns = Array2::zeros((70, 70).f());
    columns.assign(&expected);
    assert!((one.matrix(0.5) - columns).iter().all(|gap| gap.abs() < 1e-9));
}
