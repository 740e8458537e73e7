//! The bound and its gradient by hand, against dense algebra and central differences.

use crate::dense;
use gpbench_plugin_svgp::{BoundGradient, Minibatch, WhitenedDistribution};
use gpbench_sdk::Workers;
use gpbench_sdk::ndarray::{Array1, Array2, ShapeBuilder, s};
use gpbench_testing::scattered;

/// What a bound is evaluated from; fields may be moved to differentiate by them.
#[derive(Clone)]
struct Case {
    mean: Array1<f64>,
    root: Array2<f64>,
    inducing: Array2<f64>,
    cross: Array2<f64>,
    prior: Array1<f64>,
    y: Array1<f64>,
    noise_scale: f64,
    weight: f64,
}

impl Case {
    /// Some distribution on `m` inducing points, `b` rows of three times as many.
    fn new(m: usize, b: usize) -> Case {
        let (x, y) = dense::data(b, 3);
        let (z, _) = dense::data(2 * m, 3);
        let z = z.slice(s![m.., ..]);
        let length_scale = [0.7, 1.0, 1.5];
        let mut inducing = dense::gram(z, z, 1.3, &length_scale);
        inducing.diag_mut().mapv_inplace(|entry| entry + 1e-2);
        let root = Array2::from_shape_fn((m, m).f(), |(i, j)| match i.cmp(&j) {
            // Must not be read.
            std::cmp::Ordering::Less => f64::NAN,
            std::cmp::Ordering::Equal => 0.5 + scattered(i, 5),
            std::cmp::Ordering::Greater => (scattered(i, j) - 0.5) / (m as f64).sqrt(),
        });
        Case {
            mean: (0..m).map(|i| scattered(i, 3) - 0.5).collect(),
            root,
            inducing,
            cross: dense::gram(z, x.view(), 1.3, &length_scale),
            prior: Array1::from_elem(b, 1.69),
            y,
            noise_scale: 0.4,
            weight: 3.0,
        }
    }

    fn evaluate(&self, threads: usize) -> (f64, BoundGradient) {
        let mut gradient = BoundGradient::new(self.mean.len(), self.y.len() + 3);
        let bound = self.evaluate_into(&mut gradient, threads);
        (bound, gradient)
    }

    fn evaluate_into(&self, gradient: &mut BoundGradient, threads: usize) -> f64 {
        let factor = dense::cholesky(&self.inducing);
        let q = WhitenedDistribution { mean: self.mean.view(), root: self.root.view() };
        let batch = Minibatch {
            factor: factor.view(),
            cross: self.cross.view(),
            prior: self.prior.view(),
            y: self.y.view(),
            noise_scale: self.noise_scale,
            weight: self.weight,
        };
        gradient.evaluate(&q, &batch, Workers::new(threads)).unwrap()
    }

    /// Central difference along a change of the case, extrapolated once.
    fn difference(&self, change: impl Fn(&mut Case, f64)) -> f64 {
        let along = |step: f64| {
            let mut case = self.clone();
            change(&mut case, step);
            case.textbook()
        };
        let central = |h: f64| (along(h) - along(-h)) / (2.0 * h);
        (4.0 * central(5e-5) - central(1e-4)) / 3.0
    }

    /// The bound from the marginals of N(A^T m, K - A^T A + A^T S A), row after row.
    fn textbook(&self) -> f64 {
        let root = self.clean_root();
        let a = dense::forward(&dense::cholesky(&self.inducing), &self.cross);
        let covariance = root.dot(&root.t());
        let variance = self.noise_scale.powi(2);
        let mut sum = 0.0;
        for (i, a) in a.columns().into_iter().enumerate() {
            let mean = a.dot(&self.mean);
            let marginal = self.prior[i] - a.dot(&a) + a.dot(&covariance.dot(&a));
            let error = (self.y[i] - mean).powi(2) + marginal;
            sum -= 0.5 * (std::f64::consts::TAU * variance).ln() + error / (2.0 * variance);
        }
        let m = self.mean.len() as f64;
        let log_determinant = 2.0 * root.diag().mapv(|entry| entry.abs().ln()).sum();
        let divergence = 0.5 * (covariance.diag().sum() + self.mean.dot(&self.mean) - m - log_determinant);
        self.weight * sum - divergence
    }

    fn clean_root(&self) -> Array2<f64> {
        let mut root = self.root.clone();
        root.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, entry)| *entry = 0.0);
        root
    }
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-7 * expected.abs().max(1.0), "{what}: {found} against {expected}");
}

#[test]
fn the_gradient_is_that_of_the_textbook_bound() {
    // Several triangles, so that halves are halved; a batch of less and of more than the points.
    for (m, b) in [(1, 1), (5, 9), (40, 7), (70, 90)] {
        let case = Case::new(m, b);
        let (bound, gradient) = case.evaluate(2);
        assert_near(bound, case.textbook(), "bound");
        let points = [(0, 0), (m / 2, m / 3), (m - 1, 0), (m - 1, m - 1), (m - 1, m / 2)];
        for (i, j) in points {
            let by_root = case.difference(|case, h| case.root[[i, j]] += h);
            assert_near(gradient.root[[i, j]], by_root, "root");
            let by_inducing = case.difference(|case, h| {
                case.inducing[[i, j]] += h / 2.0;
                case.inducing[[j, i]] += h / 2.0;
            });
            assert_near(gradient.inducing[[i, j]], by_inducing, "inducing");
            assert_eq!(gradient.inducing[[i, j]], gradient.inducing[[j, i]]);
            let row = (i + j) % b;
            let by_cross = case.difference(|case, h| case.cross[[i, row]] += h);
            assert_near(gradient.cross()[[i, row]], by_cross, "cross");
            assert_near(gradient.mean[i], case.difference(|case, h| case.mean[i] += h), "mean");
        }
        assert_near(gradient.noise_scale, case.difference(|case, h| case.noise_scale += h), "noise");
        assert_near(gradient.prior_mean, case.difference(|case, h| case.y -= h), "prior mean");
        assert_near(gradient.prior, case.difference(|case, h| case.prior[b / 2] += h), "prior");
        assert_eq!(gradient.cross().dim(), (m, b));
    }
}

#[test]
fn bits_depend_neither_on_threads_nor_on_what_was_evaluated_before() {
    let case = Case::new(150, 700);
    let (bound, first) = case.evaluate(1);
    let mut used = BoundGradient::new(150, 700);
    Case::new(150, 650).evaluate_into(&mut used, 2);
    for threads in [2, 3, 8] {
        assert_eq!(case.evaluate_into(&mut used, threads).to_bits(), bound.to_bits());
        assert_eq!((&used.root, &used.inducing, &used.mean), (&first.root, &first.inducing, &first.mean));
        assert_eq!(used.cross(), first.cross());
    }
}

#[test]
fn the_optimal_distribution_gives_the_collapsed_bound() {
    // Titsias 2009: log N(y; 0, Q + s^2 I) - tr(K - Q) / (2 s^2), Q = A^T A.
    let mut case = Case::new(12, 50);
    case.weight = 1.0;
    let a = dense::forward(&dense::cholesky(&case.inducing), &case.cross);
    (case.mean, case.root) = dense::optimum(&a, case.y.view(), case.noise_scale);
    let variance = case.noise_scale.powi(2);
    let q = a.t().dot(&a);
    let covariance = &q + Array2::<f64>::eye(50) * variance;
    let collapsed = dense::log_density(case.y.view(), &covariance)
        - (case.prior.sum() - q.diag().sum()) / (2.0 * variance);
    let (bound, gradient) = case.evaluate(1);
    assert!((bound - collapsed).abs() < 1e-10 * collapsed.abs(), "{bound} against {collapsed}");
    // It is the optimum.
    assert!(gradient.mean.iter().chain(&gradient.root).all(|entry| entry.abs() < 1e-9));
}

#[test]
fn the_sign_of_a_column_of_the_root_does_not_matter() {
    let case = Case::new(20, 30);
    let mut flipped = case.clone();
    flipped.root.column_mut(7).mapv_inplace(|entry| -entry);
    let ((bound, gradient), (other, mut mirrored)) = (case.evaluate(1), flipped.evaluate(1));
    assert!((bound - other).abs() < 1e-12 * bound.abs());
    mirrored.root.column_mut(7).mapv_inplace(|entry| -entry);
    let near = |a: &Array2<f64>, b: &Array2<f64>| (a - b).iter().all(|entry| entry.abs() < 1e-10);
    assert!(near(&gradient.root, &mirrored.root) && near(&gradient.inducing, &mirrored.inducing));
}

#[test]
fn the_minibatches_of_a_partition_have_the_gradient_of_all_rows_on_average() {
    let mut all = Case::new(15, 60);
    all.weight = 1.0;
    let (bound, gradient) = all.evaluate(1);
    let parts: Vec<_> = (0..4)
        .map(|part| {
            let rows = s![15 * part..15 * (part + 1)];
            let mut case = all.clone();
            case.y = all.y.slice(rows).to_owned();
            case.prior = all.prior.slice(rows).to_owned();
            let columns = s![.., 15 * part..15 * (part + 1)];
            let mut cross = Array2::zeros((15, 15).f());
            cross.assign(&all.cross.slice(columns));
            (case.cross, case.weight) = (cross, 4.0);
            case.evaluate(1)
        })
        .collect();
    let average = |of: &dyn Fn(&(f64, BoundGradient)) -> f64| parts.iter().map(of).sum::<f64>() / 4.0;
    assert_near(average(&|(bound, _)| *bound), bound, "bound");
    assert_near(average(&|(_, gradient)| gradient.noise_scale), gradient.noise_scale, "noise");
    for (i, j) in [(0, 0), (9, 4), (14, 14)] {
        assert_near(average(&|(_, gradient)| gradient.root[[i, j]]), gradient.root[[i, j]], "root");
        assert_near(average(&|(_, part)| part.inducing[[i, j]]), gradient.inducing[[i, j]], "inducing");
    }
}
