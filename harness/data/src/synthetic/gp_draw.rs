//! A draw from a Gaussian process of known hyperparameters.

use gpbench_gp::{Frequencies, Kernel, RandomFeatures, blas, seed};
use gpbench_numerics::lapack;
use gpbench_record::{GpDraw, Objective};
use ndarray::{Array1, Array2, Axis, ShapeBuilder};
use rand::RngExt;
use rand_distr::StandardNormal;
use thiserror::Error;

use crate::split::Unscaled;

/// Most rows, training and test together, of an exact draw.
const EXACT_LIMIT: usize = 5_000;
/// Number of random features of a larger draw.
const DRAW_FEATURES: usize = 1 << 14;

/// A draw that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DrawError {
    /// Too few rows or inputs.
    #[error(
        "a GP draw needs at least 2 training rows, a test row and an input, not n = {n}, n_test = {n_test}, d = {d}"
    )]
    Sizes {
        /// Training rows asked for.
        n: usize,
        /// Test rows asked for.
        n_test: usize,
        /// Inputs asked for.
        d: usize,
    },
    /// More numbers than memory can address.
    #[error("a GP draw of {rows} rows and {d} inputs does not fit into any memory")]
    TooLarge {
        /// Training and test rows asked for.
        rows: usize,
        /// Inputs asked for.
        d: usize,
    },
    /// More points than an exact objective can have.
    #[error(
        "an exact objective was to be asked at {points} points; {} are the most",
        Objective::MOST_EXACT_POINTS
    )]
    TooManyPoints {
        /// Points asked for in all.
        points: usize,
    },
    /// A scale that is not finite or not positive.
    #[error("the {what} of a GP draw must be {rule}, not {value}")]
    Scale {
        /// Which scale.
        what: &'static str,
        /// Condition that it has to satisfy.
        rule: &'static str,
        /// Value given.
        value: String,
    },
}

/// Draws training and test rows of one function, with noise on both, at inputs uniform on the unit cube.
///
/// The scales of `draw` are those of the process before standardising. Since every input and the targets are then
/// divided by their standard deviations, a kernel that is to fit the draw exactly has to be scaled alike.
///
/// Up to 5000 rows the targets are exact draws from N(0, K + s_n^2 I), by a Cholesky factor. With more rows, the
/// function is a linear model of 2^14 random Fourier features: its covariances then have errors of at most
/// s_f^2 / sqrt(2^13), or 1.1 % (one standard deviation), but no n^2 memory is needed.
///
/// # Errors
/// If a size or a scale is impossible.
pub fn gp_draw(draw: &GpDraw, seed: u64) -> Result<Unscaled, DrawError> {
    check(draw)?;
    let GpDraw { n, n_test, d, .. } = *draw;
    let rows = n + n_test;
    let mut inputs = seed::stream(seed, &["gp-draw", "inputs"]);
    let x: Array2<f64> = Array2::from_shape_simple_fn((rows, d), || inputs.random());
    let kernel = Kernel::new(draw.kernel, draw.signal_scale, &[draw.length_scale], d);
    // One BLAS thread: the number of threads changes the last bits of a factorisation.
    let _single = blas::ThreadGuard::raise(1);
    let y = if rows <= EXACT_LIMIT {
        exact(&kernel, draw.noise_scale, &x, seed)
    } else {
        from_features(&kernel, draw.noise_scale, &x, seed)
    };
    let (x_train, x_test) = x.view().split_at(Axis(0), n);
    let (y_train, y_test) = y.view().split_at(Axis(0), n);
    Ok(Unscaled {
        x_train: x_train.to_owned(),
        y_train: y_train.to_owned(),
        x_test: x_test.to_owned(),
        y_test: y_test.to_owned(),
    })
}

/// Whether the sizes and scales of a draw are possible.
pub(super) fn check(draw: &GpDraw) -> Result<(), DrawError> {
    let GpDraw { n, n_test, d, signal_scale, noise_scale, length_scale, .. } = *draw;
    if n < 2 || n_test == 0 || d == 0 {
        return Err(DrawError::Sizes { n, n_test, d });
    }
    let rows = n.saturating_add(n_test);
    if rows.checked_mul(d).is_none_or(|numbers| numbers > isize::MAX as usize / size_of::<f64>()) {
        return Err(DrawError::TooLarge { rows, d });
    }
    let scale = |what, value: f64, may_be_zero: bool| {
        if value.is_finite() && (value > 0.0 || (may_be_zero && value == 0.0)) {
            return Ok(());
        }
        let rule = if may_be_zero { "finite and at least 0" } else { "finite and above 0" };
        Err(DrawError::Scale { what, rule, value: value.to_string() })
    };
    scale("signal scale", signal_scale, false)?;
    scale("noise scale", noise_scale, true)?;
    scale("length scale", length_scale, false)
}

/// L e with L L^T = K + s_n^2 I and e standard normal: an exact draw.
///
/// With little noise the matrix can be singular in double precision. Then the smallest sufficient jitter, a share of
/// the signal variance, is added to its diagonal.
fn exact(kernel: &Kernel, noise_scale: f64, x: &Array2<f64>, seed: u64) -> Array1<f64> {
    // Column-major, as the factorisation requires; the matrix is symmetric.
    let covariance = kernel.matrix(x.view(), x.view()).reversed_axes();
    let factor = [0.0, 1e-12, 1e-10, 1e-8, 1e-6]
        .into_iter()
        .find_map(|share| {
            let mut matrix = covariance.clone();
            matrix.diag_mut().mapv_inplace(|v| v + noise_scale * noise_scale + share * kernel.variance());
            lapack::cholesky(&mut matrix).is_ok().then_some(matrix)
        })
        .expect("a kernel matrix with 1e-6 of its diagonal added is positive definite");
    let mut draw = normals(seed, "values", x.nrows());
    lapack::multiply_lower(&factor, false, &mut draw).expect("shapes fit");
    draw.remove_axis(Axis(1))
}

/// phi(x) w + noise with random features phi: an approximate draw.
fn from_features(kernel: &Kernel, noise_scale: f64, x: &Array2<f64>, seed: u64) -> Array1<f64> {
    let mut frequencies = seed::stream(seed, &["gp-draw", "frequencies"]);
    let features = RandomFeatures::draw(kernel, Frequencies::MultivariateT, DRAW_FEATURES, &mut frequencies);
    let function = features.apply(x.view(), normals(seed, "weights", DRAW_FEATURES).view());
    (function + noise_scale * normals(seed, "noise", x.nrows())).remove_axis(Axis(1))
}

/// A column of standard normal numbers.
fn normals(seed: u64, purpose: &str, n: usize) -> Array2<f64> {
    let mut rng = seed::stream(seed, &["gp-draw", purpose]);
    Array2::from_shape_simple_fn((n, 1).f(), || rng.sample(StandardNormal))
}

#[cfg(test)]
mod tests {
    use gpbench_gp::Family;

    use super::*;

    const DRAW: GpDraw = GpDraw {
        n: 300,
        n_test: 30,
        d: 2,
        kernel: Family::Matern32,
        signal_scale: 2.0,
        noise_scale: 0.1,
        length_scale: 0.5,
    };

    /// Under N(0, K + s_n^2 I), y^T (K + s_n^2 I)^-1 y has a chi-square distribution with N degrees of freedom. A
    /// wrong signal, length or noise scale moves the sum far outside of four standard deviations.
    #[test]
    fn an_exact_draw_has_the_covariance_of_the_process() {
        let x = Array2::from_shape_simple_fn((330, 2), {
            let mut rng = seed::stream(1, &["test"]);
            move || rng.random::<f64>()
        });
        let kernel = Kernel::new(DRAW.kernel, DRAW.signal_scale, &[DRAW.length_scale], 2);
        let mut matrix = kernel.matrix(x.view(), x.view()).reversed_axes();
        matrix.diag_mut().mapv_inplace(|v| v + DRAW.noise_scale * DRAW.noise_scale);
        lapack::cholesky(&mut matrix).unwrap();
        let draws = 40;
        let mut sum = 0.0;
        for seed in 0..draws {
            let mut y = exact(&kernel, DRAW.noise_scale, &x, seed).insert_axis(Axis(1));
            lapack::solve_lower(&matrix, false, &mut y).unwrap();
            sum += y.iter().map(|v| v * v).sum::<f64>();
        }
        let degrees = 330.0 * draws as f64;
        assert!((sum - degrees).abs() < 4.0 * (2.0 * degrees).sqrt(), "{sum} against {degrees}");
    }

    #[test]
    fn a_draw_of_features_has_approximately_that_covariance() {
        let kernel = Kernel::new(DRAW.kernel, DRAW.signal_scale, &[DRAW.length_scale], 1);
        let x = ndarray::array![[0.0], [0.2], [0.9]];
        let draws = 400;
        let mut second = Array2::<f64>::zeros((3, 3));
        for seed in 0..draws {
            let y = from_features(&kernel, DRAW.noise_scale, &x, seed).insert_axis(Axis(1));
            second += &(y.dot(&y.t()) / draws as f64);
        }
        let mut expected = kernel.matrix(x.view(), x.view());
        expected.diag_mut().mapv_inplace(|v| v + DRAW.noise_scale * DRAW.noise_scale);
        // A second moment of 400 draws has a standard error of at most sqrt(2 / 400) 4 = 0.28.
        assert!((&second - &expected).iter().all(|e| e.abs() < 4.0 * 0.28), "{second}\n{expected}");
    }

    #[test]
    fn a_singular_covariance_is_drawn_with_jitter() {
        let smooth = GpDraw { kernel: Family::Rbf, noise_scale: 0.0, length_scale: 5.0, ..DRAW };
        let split = gp_draw(&smooth, 0).unwrap().standardise();
        assert!(split.y_train.iter().chain(&split.y_test).all(|y| y.is_finite()));
    }

    #[test]
    fn shapes_seeds_and_impossible_requests() {
        let split = gp_draw(&DRAW, 3).unwrap().standardise();
        assert_eq!((split.x_train.dim(), split.x_test.dim()), ((300, 2), (30, 2)));
        assert_eq!(split, gp_draw(&DRAW, 3).unwrap().standardise());
        assert_ne!(split.y_train, gp_draw(&DRAW, 4).unwrap().standardise().y_train);
        assert!(matches!(gp_draw(&GpDraw { n: 1, ..DRAW }, 0), Err(DrawError::Sizes { .. })));
        let error = gp_draw(&GpDraw { length_scale: -1.0, ..DRAW }, 0).unwrap_err();
        assert_eq!(error.to_string(), "the length scale of a GP draw must be finite and above 0, not -1");
    }
}
