use ndarray::{Array2, ArrayRef2, ShapeBuilder, array, s};

use super::*;
use crate::Family;
use crate::differences::{assert_close, derivatives, uniform};
use crate::simd::tests::on_each;

/// Every covariance function; the stationary ones come first.
const FAMILIES: [Covariance; 5] = [
    Covariance::Stationary(Family::Rbf),
    Covariance::Stationary(Family::Matern12),
    Covariance::Stationary(Family::Matern32),
    Covariance::Stationary(Family::Matern52),
    Covariance::Linear,
];

fn kernel(family: Covariance, length_scale: &[f64]) -> Kernel {
    Kernel { family, signal_scale: 1.3, length_scale: length_scale.to_vec() }
}

fn correlation(family: Covariance, x: &[f64], z: &[f64]) -> f64 {
    let r = x.iter().zip(z).map(|(x, z)| (x - z).powi(2)).sum::<f64>().sqrt();
    match family {
        Covariance::Stationary(Family::Rbf) => (-r * r / 2.0).exp(),
        Covariance::Stationary(Family::Matern12) => (-r).exp(),
        Covariance::Stationary(Family::Matern32) => (1.0 + 3_f64.sqrt() * r) * (-3_f64.sqrt() * r).exp(),
        Covariance::Stationary(Family::Matern52) => {
            (1.0 + 5_f64.sqrt() * r + 5.0 / 3.0 * r * r) * (-5_f64.sqrt() * r).exp()
        }
        Covariance::Linear => x.iter().zip(z).map(|(x, z)| x * z).sum(),
    }
}

#[test]
fn entries_are_those_of_the_formulae() {
    let (x, z) = (3.0 * uniform(71, 3, 1), 3.0 * uniform(130, 3, 2));
    for family in FAMILIES {
        let kernel = kernel(family, &[0.7, 1.2, 2.0]);
        let expected = Array2::from_shape_fn((71, 130), |(i, j)| {
            let scaled = |row: ndarray::ArrayView1<f64>| (&row / &array![0.7, 1.2, 2.0]).to_vec();
            1.69 * correlation(family, &scaled(x.row(i)), &scaled(z.row(j)))
        });
        assert_close(&kernel.gram(&x, &z, Workers::new(1)), &expected, 1e-14);
        // The layout of the points does not matter.
        let transposed = x.t().as_standard_layout().into_owned();
        assert_eq!(kernel.gram(&transposed.t(), &z, Workers::new(1)), kernel.gram(&x, &z, Workers::new(1)));
        let square = kernel.gram(&x, &x, Workers::new(1));
        assert_close(&kernel.diagonal(&x), &square.diag().to_owned(), 1e-14);
    }
}

#[test]
fn a_stationary_matrix_is_symmetric_and_has_a_constant_diagonal() {
    let mut x = uniform(70, 5, 3);
    let copy = x.row(4).to_owned();
    x.row_mut(66).assign(&copy);
    for family in &FAMILIES[..4] {
        let kernel = kernel(*family, &[0.9]);
        let gram = kernel.gram(&x, &x, Workers::new(1));
        assert_eq!(gram, gram.t());
        assert!(gram.diag().iter().all(|&entry| entry == kernel.signal_scale * kernel.signal_scale));
        assert_eq!(gram[[4, 66]], gram[[4, 4]]);
    }
}

/// A function of a kernel and its points.
type Value<'a> = &'a dyn Fn(&Kernel, &Array2<f64>) -> f64;

/// A kernel of these scales: the signal, then the lengths.
fn scaled(family: Covariance, scales: &[f64]) -> Kernel {
    Kernel { family, signal_scale: scales[0], length_scale: scales[1..].to_vec() }
}

fn total(cotangent: &ArrayRef2<f64>, gram: &ArrayRef2<f64>) -> f64 {
    (cotangent * gram).sum()
}

#[test]
fn pull_backs_are_derivatives() {
    let (n, m, d) = (37, 5, 3);
    // Far from the origin, where products of coordinates lose digits.
    let (x, z) = (uniform(n, d, 4) + 20.0, uniform(m, d, 5) + 20.0);
    let cotangent = uniform(n, m, 6);
    let workers = Workers::new(1);
    let reshape = |numbers: &[f64], rows| Array2::from_shape_vec((rows, d), numbers.to_vec()).unwrap();
    for family in FAMILIES {
        for lengths in [vec![0.8], vec![0.5, 1.0, 1.7]] {
            let kernel = kernel(family, &lengths);
            let found = kernel.pull_back(&x, &z, &cotangent, Points::Both, workers);
            let scales = [vec![kernel.signal_scale], lengths].concat();
            let expected =
                derivatives(&scales, |s| total(&cotangent, &scaled(family, s).gram(&x, &z, workers)));
            assert_close([&found.signal_scale], &expected[..1], 1e-8);
            assert_close(&found.length_scale, &expected[1..], 1e-8);
            let at = x.as_slice().unwrap();
            let expected = derivatives(at, |x| total(&cotangent, &kernel.gram(&reshape(x, n), &z, workers)));
            assert_close(&found.rows, &expected, 1e-7);
            let at = z.as_slice().unwrap();
            let expected = derivatives(at, |z| total(&cotangent, &kernel.gram(&x, &reshape(z, m), workers)));
            assert_close(&found.columns, &expected, 1e-7);
        }
    }
}

#[test]
fn only_the_points_asked_for_are_moved() {
    let (x, z, cotangent) = (uniform(9, 2, 1), uniform(70, 2, 2), uniform(9, 70, 3));
    for family in FAMILIES {
        let kernel = kernel(family, &[0.8]);
        let pull = |points| kernel.pull_back(&x, &z, &cotangent, points, Workers::new(1));
        let both = pull(Points::Both);
        for points in [Points::Neither, Points::Rows, Points::Columns] {
            let found = pull(points);
            assert_eq!((found.signal_scale, &found.length_scale), (both.signal_scale, &both.length_scale));
            let expected =
                |wanted: bool, of: &Array2<f64>| if wanted { of.clone() } else { Array2::zeros((0, 0)) };
            assert_eq!(found.rows, expected(points == Points::Rows, &both.rows));
            assert_eq!(found.columns, expected(points == Points::Columns, &both.columns));
        }
    }
}

#[test]
fn pull_backs_of_squares_and_diagonals_are_derivatives() {
    let (n, d) = (6, 2);
    let (x, cotangent, workers) = (uniform(n, d, 7), uniform(n, n, 8), Workers::new(1));
    let diagonal = cotangent.diag().to_owned();
    let reshape = |numbers: &[f64]| Array2::from_shape_vec((n, d), numbers.to_vec()).unwrap();
    for family in FAMILIES {
        let kernel = kernel(family, &[0.6, 1.4]);
        let on_diagonal = |kernel: &Kernel, x: &Array2<f64>| kernel.diagonal(x).dot(&diagonal);
        let whole = |kernel: &Kernel, x: &Array2<f64>| total(&cotangent, &kernel.gram(x, x, workers));
        let square = kernel.pull_back_square(&x, &cotangent, true, workers);
        let of_diagonal = kernel.pull_back_diagonal(&x, &diagonal, true);
        let values: [(_, Value<'_>); 2] = [(square, &whole), (of_diagonal, &on_diagonal)];
        for (found, value) in values {
            let expected = derivatives(&[1.3, 0.6, 1.4], |s| value(&scaled(family, s), &x));
            assert_close([&found.signal_scale], &expected[..1], 1e-8);
            assert_close([&found.signal_scale].into_iter().chain(&found.length_scale), &expected, 1e-8);
            let expected = derivatives(x.as_slice().unwrap(), |x| value(&kernel, &reshape(x)));
            let found = found.rows.into_raw_vec_and_offset().0;
            let size = expected.iter().fold(1.0_f64, |size, value| size.max(value.abs()));
            assert!(found.iter().zip(&expected).all(|(f, e)| (f - e).abs() < 1e-7 * size), "{family:?}");
        }
    }
}

#[test]
fn equal_points_do_not_move_each_other() {
    let x = array![[0.3, 0.4], [0.3, 0.4]];
    for family in &FAMILIES[..4] {
        let found = kernel(*family, &[0.8]).pull_back_square(
            &x,
            &array![[1.0, 2.0], [2.0, 1.0]],
            true,
            Workers::new(1),
        );
        assert!(found.rows.iter().chain(&found.length_scale).all(|value| value.abs() < 1e-12), "{family:?}");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let (x, z) = (uniform(150, 4, 9), uniform(1500, 4, 10));
    let cotangent = uniform(150, 1500, 11);
    for family in FAMILIES {
        let kernel = kernel(family, &[0.8]);
        let of = |threads| {
            let workers = Workers::new(threads);
            (kernel.gram(&x, &z, workers), kernel.pull_back(&x, &z, &cotangent, Points::Both, workers))
        };
        assert_eq!(of(1), of(3));
    }
}

#[test]
fn empty_sets_have_empty_matrices() {
    let (x, none) = (uniform(3, 2, 1), Array2::zeros((0, 2)));
    for family in FAMILIES {
        let kernel = kernel(family, &[0.8]);
        assert_eq!(kernel.gram(&x, &none, Workers::new(1)).dim(), (3, 0));
        assert_eq!(kernel.gram(&none, &x, Workers::new(1)).dim(), (0, 3));
        for (rows, columns) in [(&x, &none), (&none, &x)] {
            let cotangent = Array2::zeros((rows.nrows(), columns.nrows()));
            let found = kernel.pull_back(rows, columns, &cotangent, Points::Both, Workers::new(1));
            assert_eq!(found.signal_scale, 0.0);
            assert_eq!((found.rows.dim(), found.columns.dim()), (rows.dim(), columns.dim()));
        }
    }
}

#[test]
fn strips_of_a_view_are_those_of_its_copy() {
    let x = uniform(40, 6, 12);
    let part = x.slice(s![..;2, ..;3]);
    let kernel = Kernel::unit(Family::Matern32);
    let copy = part.to_owned();
    assert_eq!(kernel.gram(&part, &part, Workers::new(1)), kernel.gram(&copy, &copy, Workers::new(1)));
}

#[test]
fn every_instruction_set_gives_the_same_to_rounding() {
    let (x, z, cotangent) = (uniform(45, 3, 1), uniform(7, 3, 2), uniform(45, 7, 3));
    for family in FAMILIES {
        let kernel = kernel(family, &[0.8]);
        let results = on_each(|| {
            let workers = Workers::new(1);
            (kernel.gram(&x, &z, workers), kernel.pull_back(&x, &z, &cotangent, Points::Both, workers))
        });
        let (gram, gradient) = &results[0];
        for (other_gram, other) in &results[1..] {
            assert_close(other_gram, gram, 1e-14);
            assert_close([&other.signal_scale], [&gradient.signal_scale], 1e-12);
            assert_close(&other.length_scale, &gradient.length_scale, 1e-12);
            assert_close(&other.rows, &gradient.rows, 1e-12);
            assert_close(&other.columns, &gradient.columns, 1e-12);
        }
    }
}

#[test]
fn a_matrix_is_filled_where_it_stands() {
    let (x, z) = (uniform(40, 2, 1), uniform(5, 2, 2));
    for family in FAMILIES {
        let kernel = kernel(family, &[0.8]);
        // Columns that are not next to each other, with what was there before.
        let mut larger = Array2::from_elem((50, 5).f(), f64::NAN);
        kernel.gram_into(&x, &z, &mut larger.slice_mut(s![3..43, ..]), Workers::new(1));
        assert_eq!(larger.slice(s![3..43, ..]), kernel.gram(&x, &z, Workers::new(1)));
        assert!(
            larger.slice(s![..3, ..]).iter().chain(larger.slice(s![43.., ..])).all(|entry| entry.is_nan())
        );
    }
}
