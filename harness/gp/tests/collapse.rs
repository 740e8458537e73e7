//! Systems over unique inputs against dense ones over all rows.

use crate::suite;
use gpbench_gp::seed::Streams;
use gpbench_gp::{
    CollapsedOperator, Family, Kernel, KernelMatrix, KernelOperator, UniqueInputs, metrics, thread_pool,
};
use gpbench_numerics::{LinearOperator, lapack};
use gpbench_testkit::assert_close;
use gpbench_testkit::fixtures::zeros;
use ndarray::{Array2, ArrayView2, Axis, array, concatenate, s};

const NOISE_SCALE: f64 = 0.3;

/// n rows with `unique` different inputs, which repeat unevenly and in no order.
fn repeated(n: usize, unique: usize, d: usize) -> Array2<f64> {
    let points = suite::points(&Streams::new(8, &["unique"]), "x", unique, d);
    let rows: Vec<usize> = (0..n).map(|row| (row * row + 3 * row) % unique).collect();
    points.select(Axis(0), &rows)
}

fn kernel(family: Family, d: usize) -> Kernel {
    Kernel::new(family, 1.4, &[1.3], d)
}

fn collapsed(kernel: &Kernel, inputs: &UniqueInputs) -> CollapsedOperator {
    on_threads(kernel, inputs, 2)
}

fn on_threads(kernel: &Kernel, inputs: &UniqueInputs, threads: usize) -> CollapsedOperator {
    let pool = thread_pool(threads).unwrap();
    let unscaled = KernelOperator::with_pool(kernel, 0.0, inputs.x.view(), pool.clone());
    CollapsedOperator::new(Box::new(unscaled), NOISE_SCALE, inputs, pool)
}

/// C^1/2 K_u C^1/2 + noise^2 I, entry by entry.
fn dense(kernel: &Kernel, inputs: &UniqueInputs) -> Array2<f64> {
    let mut matrix = kernel.matrix(inputs.x.view(), inputs.x.view());
    for ((i, j), entry) in matrix.indexed_iter_mut() {
        *entry *= (inputs.counts[i] * inputs.counts[j]).sqrt();
        if i == j {
            *entry += NOISE_SCALE * NOISE_SCALE;
        }
    }
    matrix
}

/// The solution by a dense factor.
fn solved(matrix: &Array2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let (mut factor, mut x) = (zeros(matrix.nrows(), matrix.ncols()), zeros(b.nrows(), b.ncols()));
    factor.assign(matrix);
    x.assign(&b);
    lapack::cholesky(&mut factor).unwrap();
    lapack::cholesky_solve(&factor, &mut x).unwrap();
    x
}

#[test]
fn rows_with_equal_numbers_are_one_input() {
    let x = array![[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [0.0, 1.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1e-300]];
    let inputs = UniqueInputs::of(x.view());
    assert_eq!(inputs.x, array![[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1e-300]]);
    assert_eq!(inputs.of_row, [0, 1, 0, 2, 1, 0, 3]);
    assert_eq!((inputs.count(), inputs.counts.to_vec()), (4, vec![3.0, 2.0, 1.0, 1.0]));
    assert_eq!(UniqueInputs::of(x.slice(s![..0, ..])).count(), 0);
}

#[test]
fn columns_of_q_are_orthonormal() {
    let inputs = UniqueInputs::of(repeated(60, 23, 2).view());
    let q_transposed = inputs.project(Array2::eye(60).view());
    assert_close(&q_transposed.dot(&q_transposed.t()), &Array2::eye(inputs.count()), 1e-14);
}

#[test]
fn every_product_agrees_with_the_dense_matrix() {
    for family in Family::ALL {
        for (n, unique, d, columns) in [(1, 1, 1, 1), (9, 1, 2, 2), (40, 13, 3, 2), (900, 400, 9, 4)] {
            let inputs = UniqueInputs::of(repeated(n, unique, d).view());
            let (m, kernel) = (inputs.count(), kernel(family, d));
            let (dense, op) = (dense(&kernel, &inputs), collapsed(&kernel, &inputs));
            suite::every_product_agrees(&op, &dense, columns);

            let streams = Streams::new(5, &[]);
            let v = streams.normals("v", m, columns);
            let star = streams.normals("star", 5, d);
            let scaled = &v * &inputs.counts.sqrt().insert_axis(Axis(1));
            let cross = kernel.matrix(star.view(), inputs.x.view()).dot(&scaled);
            assert_close(&op.cross(star.view(), v.view()), &cross, 1e-12);
        }
    }
}

/// The solution by way of the unique inputs agrees with that of the dense system of all rows.
#[test]
fn weights_are_those_of_the_whole_system() {
    for (n, unique) in [(80, 30), (80, 1), (50, 4000)] {
        let x = repeated(n, unique, 2);
        let (inputs, kernel) = (UniqueInputs::of(x.view()), kernel(Family::Matern32, 2));
        let mut h = kernel.matrix(x.view(), x.view());
        h.diag_mut().mapv_inplace(|entry| entry + NOISE_SCALE * NOISE_SCALE);
        let b = Streams::new(6, &[]).normals("b", n, 4);
        let expected = solved(&h, b.view());
        let gamma = solved(&dense(&kernel, &inputs), inputs.project(b.view()).view());
        let weights = inputs.weights(gamma.view(), b.view(), NOISE_SCALE);
        assert_close(&weights, &expected, 1e-11);
        assert_close(&inputs.project(expected.view()), &gamma, 1e-11);
    }
}

/// For any gamma, not only the solution.
#[test]
fn residual_norms_agree() {
    let x = repeated(70, 20, 3);
    let (inputs, kernel) = (UniqueInputs::of(x.view()), kernel(Family::Matern52, 3));
    let (op, whole) = (collapsed(&kernel, &inputs), KernelOperator::new(&kernel, NOISE_SCALE, x.view(), 1));
    let b = Streams::new(6, &[]).normals("b", 70, 3);
    let gamma = Streams::new(7, &[]).normals("gamma", inputs.count(), 3);
    let residuals = |op: &dyn KernelMatrix, v: ArrayView2<f64>, b: ArrayView2<f64>| {
        let mut product = zeros(v.nrows(), v.ncols());
        op.apply(v, product.view_mut());
        let columns = product.columns().into_iter().zip(b.columns());
        columns.map(|(av, b)| metrics::norm((&b - &av).view())).collect::<Vec<_>>()
    };
    let own = residuals(&op, gamma.view(), inputs.project(b.view()).view());
    let weights = inputs.weights(gamma.view(), b.view(), NOISE_SCALE);
    for (own, full) in own.iter().zip(residuals(&whole, weights.view(), b.view())) {
        assert!((own - full).abs() < 1e-12 * full, "{own} {full}");
    }
}

#[test]
fn without_duplicates_nothing_changes() {
    let x = repeated(50, 4000, 2);
    let inputs = UniqueInputs::of(x.view());
    assert_eq!((inputs.x.view(), inputs.count()), (x.view(), 50));
    let b = Streams::new(6, &[]).normals("b", 50, 3);
    assert_eq!(inputs.project(b.view()), b);
    assert_eq!(inputs.weights(b.view(), Array2::ones((50, 3)).view(), 1e-3), b);
    let kernel = kernel(Family::Rbf, 2);
    let (op, whole) = (collapsed(&kernel, &inputs), KernelOperator::new(&kernel, NOISE_SCALE, x.view(), 1));
    let (mut one, mut other) = (zeros(50, 3), zeros(50, 3));
    op.apply(b.view(), one.view_mut());
    whole.apply(b.view(), other.view_mut());
    assert_close(&one, &other, 1e-14);
    assert_eq!(op.evaluated_by_apply(), whole.evaluated_by_apply());
}

#[test]
fn threads_change_no_bit() {
    let x = concatenate![Axis(0), repeated(700, 300, 4), repeated(500, 290, 4)];
    let (inputs, kernel) = (UniqueInputs::of(x.view()), kernel(Family::Matern32, 4));
    let v = Streams::new(5, &[]).normals("v", inputs.count(), 6);
    let products = |threads| {
        let op = on_threads(&kernel, &inputs, threads);
        let (mut product, mut sums) = (zeros(v.nrows(), 6), zeros(v.nrows(), 6));
        op.apply(v.view(), product.view_mut());
        op.rows_and_back(&[5, 1, 40], v.view(), &mut |_| (), sums.view_mut());
        (product, sums)
    };
    assert_eq!(products(1), products(3));
}
