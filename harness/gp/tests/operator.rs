//! The tiled operator against the dense matrix, and the same bits on any number of threads.

use crate::suite;
use gpbench_gp::seed::Streams;
use gpbench_gp::{Arithmetic, Family, Gradient, Kernel, KernelMatrix, KernelOperator, SystemMatrix};
use gpbench_numerics::LinearOperator;
use gpbench_testkit::assert_close;
use gpbench_testkit::fixtures::zeros;
use ndarray::{Array2, Axis, s};

const NOISE: f64 = 0.3;

struct Problem {
    kernel: Kernel,
    x: Array2<f64>,
    v: Array2<f64>,
    dense: Array2<f64>,
}

/// Inputs with some repeated rows, far from the origin, and the dense H over them.
fn problem(family: Family, n: usize, d: usize, columns: usize) -> Problem {
    let streams = Streams::new(1, &["operator"]);
    let mut x = suite::points(&streams, "x", n, d);
    x += 3.0;
    if n > 9 {
        let copy = x.row(2).to_owned();
        x.row_mut(n - 3).assign(&copy);
    }
    let lengths: Vec<f64> = (0..d).map(|k| 1.0 + 0.3 * k as f64).collect();
    let kernel = Kernel::new(family, 1.4, &lengths, d);
    let dense = kernel.matrix(x.view(), x.view()) + Array2::<f64>::eye(n) * (NOISE * NOISE);
    Problem { kernel, v: streams.normals("v", n, columns), x, dense }
}

fn cases() -> Vec<Problem> {
    // Odd sizes around tiles of 256 rows, few and many inputs, thin and wide blocks.
    let sizes = [(1, 1, 1), (7, 3, 2), (255, 9, 1), (257, 2, 5), (600, 9, 4), (771, 13, 3)];
    let each = Family::ALL.into_iter().flat_map(|family| sizes.map(|(n, d, s)| problem(family, n, d, s)));
    each.collect()
}

#[test]
fn products_agree_with_the_dense_matrix() {
    for p in cases() {
        let op = KernelOperator::new(&p.kernel, NOISE, p.x.view(), 2);
        suite::every_product_agrees(&op, &p.dense, p.v.ncols());
        assert_eq!(op.diagonal().unwrap(), p.dense.diag());
    }
}

#[test]
fn large_fused_products_evaluate_twice_and_agree() {
    // 4200 x 4200 entries are more than a fused product stores.
    let p = {
        let streams = Streams::new(2, &[]);
        let x = suite::points(&streams, "x", 4200, 2);
        (Kernel::new(Family::Rbf, 1.0, &[2.0], 2), x, streams.normals("v", 4200, 1))
    };
    let op = KernelOperator::new(&p.0, NOISE, p.1.view(), 2);
    let idx: Vec<usize> = (0..4200).collect();
    let mut z = zeros(4200, 1);
    op.rows_and_back(&idx, p.2.view(), &mut |_| (), z.view_mut());
    let (mut once, mut twice) = (zeros(4200, 1), zeros(4200, 1));
    op.apply(p.2.view(), once.view_mut());
    op.apply(once.view(), twice.view_mut());
    assert_close(&z, &twice, 1e-12);
}

#[test]
fn cross_products_have_no_noise() {
    for p in cases() {
        let op = KernelOperator::new(&p.kernel, NOISE, p.x.view(), 1);
        let x_star = &p.x.slice(s![..p.x.nrows().min(300), ..]) + 0.25;
        let expected = p.kernel.matrix(x_star.view(), p.x.view()).dot(&p.v);
        assert_close(&op.cross(x_star.view(), p.v.view()), &expected, 1e-12);
    }
}

#[test]
fn a_row_meets_itself_at_distance_zero() {
    // Far from the origin, distances by products are nowhere near exact.
    let mut x = suite::points(&Streams::new(1, &[]), "x", 40, 9);
    x[(0, 0)] = 1e9;
    let kernel = Kernel::new(Family::Matern32, 1.5, &[1e-3], 9);
    let op = KernelOperator::new(&kernel, 0.5, x.view(), 1);
    let mut block = Array2::zeros((2, 2));
    op.block(&[7, 3], &[3, 7], block.view_mut());
    assert_eq!((block[(0, 1)], block[(1, 0)]), (2.5, 2.5));
}

#[test]
fn not_a_number_is_not_hidden() {
    for (family, d) in [(Family::Rbf, 9), (Family::Matern12, 2)] {
        let mut p = problem(family, 20, d, 4);
        p.x[(3, 1)] = f64::NAN;
        let op = KernelOperator::new(&p.kernel, NOISE, p.x.view(), 1);
        let mut out = zeros(20, 4);
        op.apply(p.v.view(), out.view_mut());
        assert!(out[(3, 0)].is_nan());
    }
}

#[test]
fn results_are_the_same_bits_on_one_and_two_and_five_threads() {
    for p in cases().into_iter().filter(|p| p.x.nrows() > 500) {
        let (n, columns) = p.v.dim();
        let idx = suite::some_indices(n);
        let everything = |threads: usize| {
            let op = KernelOperator::new(&p.kernel, NOISE, p.x.view(), threads);
            let (mut out, mut rows) = (zeros(n, columns), zeros(idx.len(), columns));
            op.apply(p.v.view(), out.view_mut());
            op.rows(&idx, p.v.view(), rows.view_mut());
            let mut fused = zeros(n, columns);
            op.rows_and_back(&idx, p.v.view(), &mut |_| (), fused.view_mut());
            let mut sums = zeros(n, columns);
            op.columns(&idx, rows.view(), sums.view_mut());
            [out, rows, fused, sums, op.cross(p.x.slice(s![..50, ..]), p.v.view())]
        };
        let one = everything(1);
        assert_eq!(one, everything(2), "{}", p.kernel.family);
        assert_eq!(one, everything(5), "{}", p.kernel.family);
    }
}

/// The error of a product in mixed precision is about 1e-6 of the product of absolute values.
#[test]
fn mixed_precision_leaves_a_relative_error_of_1e_6() {
    for p in cases() {
        let (n, columns) = p.v.dim();
        let op = KernelOperator::new(&p.kernel, NOISE, p.x.view(), 2);
        let mixed = op.mixed().expect("the square operator has a mixed form");
        let scale = |matrix: &Array2<f64>, v: &Array2<f64>| matrix.mapv(f64::abs).dot(&v.mapv(f64::abs));
        let close = |found: &Array2<f64>, expected: &Array2<f64>, scale: &Array2<f64>| {
            for ((found, expected), scale) in found.iter().zip(expected).zip(scale) {
                assert!((found - expected).abs() <= 2e-6 * scale, "{found} {expected} {scale}");
            }
        };
        let mut out = zeros(n, columns);
        mixed.apply(p.v.view(), out.view_mut());
        close(&out, &p.dense.dot(&p.v), &scale(&p.dense, &p.v));

        let idx = suite::some_indices(n);
        let rows = p.dense.select(Axis(0), &idx);
        let mut u = zeros(idx.len(), columns);
        mixed.rows(&idx, p.v.view(), u.view_mut());
        close(&u, &rows.dot(&p.v), &scale(&rows, &p.v));

        let mut z = zeros(n, columns);
        mixed.rows_and_back(&idx, p.v.view(), &mut |_| (), z.view_mut());
        let reach = scale(&rows.t().to_owned(), &scale(&rows, &p.v));
        close(&z, &rows.t().dot(&rows.dot(&p.v)), &reach);

        let mut y = zeros(n, columns);
        mixed.columns(&idx, u.view(), y.view_mut());
        close(&y, &rows.t().dot(&u), &scale(&rows.t().to_owned(), &u));
    }
}

/// Against the derivatives entry by entry.
#[test]
fn gradients_are_those_of_the_dense_derivatives() {
    for p in cases() {
        let (n, d) = p.x.dim();
        let op = KernelOperator::new(&p.kernel, NOISE, p.x.view(), 2);
        let (u, w) = (&p.v, &(p.v.mapv(|v| v * v) - 0.4));
        let found = op.gradient(u.view(), w.view(), Arithmetic::F64);
        let weights = u.dot(&w.t());
        let sum = |derivative: Array2<f64>| (&weights * &derivative).sum();
        // What rounding of the larger sums may cost.
        let reach = weights.mapv(f64::abs).sum();
        let close = |found: f64, expected: f64, what: &str| {
            let error = (found - expected).abs() / reach;
            assert!(error < 1e-11, "{what} of {}, {n} x {d}: {found} {expected}", p.kernel.family);
        };
        close(found.noise_scale, 2.0 * NOISE * weights.diag().sum(), "noise");
        let k = &p.kernel;
        close(found.signal_scale, sum(k.matrix_by_signal_scale(p.x.view(), p.x.view())), "signal");
        for (input, &found) in found.length_scale.iter().enumerate() {
            let expected = sum(k.matrix_by_length_scale(input, p.x.view(), p.x.view()));
            close(found, expected, &format!("length {input}"));
        }
        let single = op.gradient(u.view(), w.view(), Arithmetic::Mixed);
        for (double, single) in scales(&found).zip(scales(&single)) {
            let error = (double - single).abs() / reach;
            assert!(error < 1e-6, "{} in single precision, {n} x {d}: {double} {single}", p.kernel.family);
        }
        let alone = KernelOperator::new(&p.kernel, NOISE, p.x.view(), 1);
        for (precision, found) in [(Arithmetic::F64, found), (Arithmetic::Mixed, single)] {
            assert_eq!(found, alone.gradient(u.view(), w.view(), precision), "whatever the threads");
        }
    }
}

/// The derivatives by all scales.
fn scales(gradient: &Gradient) -> impl Iterator<Item = f64> + '_ {
    [gradient.noise_scale, gradient.signal_scale].into_iter().chain(gradient.length_scale.iter().copied())
}

/// A cache of all entries, of some or of none gives the same bits, evaluates fewer entries, and takes no more memory
/// than allowed.
#[test]
fn cached_entries_change_no_bit() {
    let p = problem(Family::Matern32, 600, 9, 4);
    let mut op = KernelOperator::new(&p.kernel, NOISE, p.x.view(), 2);
    let all_bytes = 15 * 128 * 128 * size_of::<f64>();
    for mixed in [false, true] {
        let product = |op: &KernelOperator| product(op, mixed, &p.v);
        op.cache_entries(0);
        let (expected, found) = product(&op);
        assert_eq!(found, 0.0, "nothing is stored");
        for allowed in [1, 400_000, all_bytes] {
            op.cache_entries(allowed);
            assert_eq!(product(&op), (expected.clone(), 0.0), "{allowed} bytes");
            let (again, found) = product(&op);
            assert_eq!(again, expected, "{allowed} bytes");
            assert!(op.cached_bytes() <= allowed);
            assert_eq!(found > 0.0, allowed > 200_000);
            assert_eq!(found == op.evaluated_by_apply(), allowed == all_bytes);
        }
    }
}

/// `H v` in double or mixed precision, and how many entries it found stored.
fn product(op: &KernelOperator, mixed: bool, v: &Array2<f64>) -> (Array2<f64>, f64) {
    let matrix: &dyn LinearOperator = if mixed { op.mixed().expect("a mixed form") } else { op };
    let before = matrix.entries_found();
    let mut out = zeros(v.nrows(), v.ncols());
    matrix.apply(v.view(), out.view_mut());
    (out, matrix.entries_found() - before)
}

/// Products as refinement takes them: a residual in double precision, and corrections in single precision.
#[test]
fn entries_in_single_precision_displace_those_in_double() {
    let p = problem(Family::Matern32, 300, 9, 4);
    let mut op = KernelOperator::new(&p.kernel, NOISE, p.x.view(), 2);
    let singles = 6 * 128 * 128 * size_of::<f32>();
    op.cache_entries(2 * singles);
    let all = op.evaluated_by_apply();
    let found = |mixed| product(&op, mixed, &p.v).1;
    assert_eq!([false, true, true].map(found), [0.0, 0.0, all]);
    assert_eq!(op.cached_bytes(), singles);
    assert_eq!([false, false, true].map(found), [0.0, 0.0, all]);
    op.cache_entries(2 * singles);
    let found = |mixed| product(&op, mixed, &p.v).1;
    assert_eq!([false, false].map(found), [0.0, all]);
    assert_eq!(op.cached_bytes(), 2 * singles);
    assert_eq!([true, false, true, false].map(found), [0.0, 0.0, all, 0.0]);
    assert_eq!(op.cached_bytes(), singles);
}
