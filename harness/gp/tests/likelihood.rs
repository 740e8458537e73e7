//! Estimates of the marginal likelihood against dense matrices, and their means.

use gpbench_gp::exact::ExactGp;
use gpbench_gp::likelihood::{self, Likelihood, Truncation, of_features};
use gpbench_gp::seed::Streams;
use gpbench_gp::{Family, Frequencies, Kernel, KernelOperator, RandomFeatures, lanczos};
use gpbench_numerics::lapack;
use gpbench_testkit::assert_number;
use ndarray::{Array1, Array2, Axis};

const N: usize = 30;
const NOISE_SCALE: f64 = 0.3;

fn system() -> (Array2<f64>, Array1<f64>) {
    let streams = Streams::new(2, &["likelihood"]);
    (streams.normals("x", N, 2), streams.normals("y", N, 1).remove_axis(Axis(1)))
}

fn frequencies() -> Array2<f64> {
    Streams::new(3, &[]).normals("omega", 2, 5)
}

/// The terms under features of the same frequencies and other scales.
fn under(noise_scale: f64, signal_scale: f64, lengths: [f64; 2]) -> Likelihood {
    let (x, y) = system();
    let kernel = Kernel::new(Family::Rbf, signal_scale, &lengths, 2);
    of_features(&RandomFeatures::from_omega(&kernel, frequencies()), noise_scale, x.view(), y.view()).unwrap()
}

#[test]
fn the_terms_of_features_are_those_of_their_dense_matrix() {
    let (x, y) = system();
    let kernel = Kernel::new(Family::Rbf, 1.3, &[0.7, 2.0], 2);
    let phi = RandomFeatures::from_omega(&kernel, frequencies()).matrix(x.view());
    let h = phi.dot(&phi.t()) + Array2::<f64>::eye(N) * NOISE_SCALE.powi(2);
    let mut factor = Array2::zeros(ndarray::ShapeBuilder::f((N, N)));
    factor.assign(&h);
    lapack::cholesky(&mut factor).unwrap();
    let mut v = y.clone().insert_axis(Axis(1));
    lapack::cholesky_solve(&factor, &mut v).unwrap();
    let found = under(NOISE_SCALE, 1.3, [0.7, 2.0]);
    assert_number(found.quadratic, y.dot(&v.column(0)), 1e-12);
    assert_number(found.by_mean, v.column(0).sum(), 1e-12);
    assert_number(found.log_det, 2.0 * factor.diag().iter().map(|l| l.ln()).sum::<f64>(), 1e-12);
}

#[test]
fn the_gradient_of_features_agrees_with_differences() {
    let found = under(NOISE_SCALE, 1.3, [0.7, 2.0]);
    let value = |noise, signal, lengths| under(noise, signal, lengths).log_marginal_likelihood(N);
    let difference = |at: &dyn Fn(f64) -> f64| (at(1e-5) - at(-1e-5)) / 2e-5;
    let gradient = &found.gradient;
    for (derivative, expected) in [
        (gradient.noise_scale, difference(&|h| value(NOISE_SCALE + h, 1.3, [0.7, 2.0]))),
        (gradient.signal_scale, difference(&|h| value(NOISE_SCALE, 1.3 + h, [0.7, 2.0]))),
        (gradient.length_scale[0], difference(&|h| value(NOISE_SCALE, 1.3, [0.7 + h, 2.0]))),
        (gradient.length_scale[1], difference(&|h| value(NOISE_SCALE, 1.3, [0.7, 2.0 + h]))),
    ] {
        assert_number(derivative, expected, 1e-7);
    }
}

#[test]
fn with_many_more_features_than_rows_the_likelihood_is_nearly_exact() {
    let (x, y) = system();
    let kernel = Kernel::new(Family::Matern52, 1.3, &[0.7, 2.0], 2);
    let rng = &mut Streams::new(1, &[]).stream("frequencies");
    let features = RandomFeatures::draw(&kernel, Frequencies::MultivariateT, 2000, rng);
    let exact = ExactGp::fit(&kernel, NOISE_SCALE, x.view(), y.view(), 1).unwrap();
    let exact = Likelihood::exact(&exact, x.view());
    let few = of_features(&features, NOISE_SCALE, x.view(), y.view()).unwrap();
    assert_number(few.log_det, exact.log_det, 0.1);
    assert_number(few.quadratic, exact.quadratic, 0.2);
    assert_number(few.gradient.noise_scale, exact.gradient.noise_scale, 0.2);
}

/// Standard errors within which a mean has to be. A normal variable exceeds them with probability 7e-6; the seeds are
/// fixed, so the test does not fail by chance.
const STANDARD_ERRORS: f64 = 4.5;

#[test]
fn a_random_number_of_nodes_has_no_bias() {
    let (x, _) = system();
    let kernel = Kernel::new(Family::Rbf, 1.3, &[0.7, 2.0], 2);
    let op = KernelOperator::new(&kernel, NOISE_SCALE, x.view(), 1);
    let z = Streams::new(4, &[]).normals("probe", N, 1);
    let all = lanczos::log_det(&op, z.view(), N)[0].unwrap();
    let fixed = |terms| likelihood::log_det(&op, z.view(), &Truncation::Fixed { terms }).unwrap();
    assert_number(fixed(N), all, 1e-12);
    assert!(fixed(2) > fixed(4) && fixed(4) > all, "a truncated quadrature is an upper bound");

    let draws: Array1<f64> = (0..2000)
        .map(|seed| {
            let truncation = Truncation::Random { min: 2, rate: 0.3, seed };
            likelihood::log_det(&op, z.view(), &truncation).unwrap()
        })
        .collect();
    let error = draws.std(1.0) / (draws.len() as f64).sqrt();
    let mean = draws.sum() / draws.len() as f64;
    assert!((mean - all).abs() <= STANDARD_ERRORS * error, "{mean} {all} {error}");
    assert!((fixed(3) - all).abs() > 10.0 * error, "a fixed truncation at a similar cost is biased");
}
