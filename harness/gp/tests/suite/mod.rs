//! What every kernel matrix has to satisfy, against the same matrix stored densely.

use gpbench_gp::KernelMatrix;
use gpbench_gp::seed::Streams;
use gpbench_testkit::assert_close;
use gpbench_testkit::fixtures::zeros;
use ndarray::{Array2, ArrayViewMut2, Axis};

/// Relative error of sums in double precision.
const TOLERANCE: f64 = 1e-12;

/// Standard normal points (n x d), row-major.
pub fn points(streams: &Streams, name: &str, n: usize, d: usize) -> Array2<f64> {
    streams.normals(name, n, d).as_standard_layout().to_owned()
}

/// Some of `n` indices in no order, one of them twice.
pub fn some_indices(n: usize) -> Vec<usize> {
    (0..n.div_ceil(2) + 1).map(|i| (i * 31 + 5) % n).collect()
}

/// Every product of `op` with `columns` right-hand sides agrees with `dense`, the same matrix.
pub fn every_product_agrees(op: &dyn KernelMatrix, dense: &Array2<f64>, columns: usize) {
    let (n, m) = dense.dim();
    assert_eq!((op.shape(), op.n()), ((n, m), n));
    let streams = Streams::new(5, &["suite"]);
    let (v, start) = (streams.normals("v", m, columns), streams.normals("start", m, columns));
    let (rows, cols) = (some_indices(n), some_indices(m));
    let dense_rows = dense.select(Axis(0), &rows);

    let mut product = zeros(n, columns);
    op.apply(v.view(), product.view_mut());
    assert_close(&product, &dense.dot(&v), TOLERANCE);
    assert!(op.evaluated_by_apply() <= (n * m) as f64);

    let mut part = zeros(rows.len(), columns);
    op.rows(&rows, v.view(), part.view_mut());
    assert_close(&part, &dense_rows.dot(&v), TOLERANCE);

    let (mut sums, mut seen) = (start.clone(), zeros(rows.len(), columns));
    let mut transform = |mut u: ArrayViewMut2<f64>| {
        seen.assign(&u);
        u *= -0.5;
    };
    op.rows_and_back(&rows, v.view(), &mut transform, sums.view_mut());
    assert_close(&seen, &dense_rows.dot(&v), TOLERANCE);
    assert_close(&sums, &(&start - &(dense_rows.t().dot(&seen) * 0.5)), TOLERANCE);

    let u = streams.normals("u", cols.len(), columns);
    let mut sums = Array2::ones((n, columns));
    op.columns(&cols, u.view(), sums.view_mut());
    assert_close(&sums, &(dense.select(Axis(1), &cols).dot(&u) + 1.0), TOLERANCE);

    let mut block = Array2::zeros((rows.len(), cols.len()));
    op.block(&rows, &cols, block.view_mut());
    assert_close(&block, &dense_rows.select(Axis(1), &cols), TOLERANCE);

    if let Some(diagonal) = op.diagonal() {
        let mut entry = zeros(1, 1);
        for (i, expected) in diagonal.iter().enumerate() {
            op.block(&[i], &[i], entry.view_mut());
            assert_eq!(entry[(0, 0)], *expected, "the diagonal has the bits of the entries");
        }
        assert_close(&diagonal, &dense.diag(), TOLERANCE);
    }
}
