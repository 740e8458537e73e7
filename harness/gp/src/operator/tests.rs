//! Inputs whose squared distances are ill-conditioned, and extreme shapes.

use ndarray::{Array2, Axis, s};

use super::*;
use crate::seed::Streams;
use crate::{Family, metrics};

/// H entry by entry, with noise on the diagonal.
fn dense(kernel: &Kernel, noise_scale: f64, x: &Array2<f64>) -> Array2<f64> {
    let mut h = kernel.matrix(x.view(), x.view());
    h.diag_mut().iter_mut().for_each(|entry| *entry += noise_scale * noise_scale);
    h
}

/// Largest deviation of the operator from the dense matrix, in units of the noise variance.
fn deviation(kernel: &Kernel, noise_scale: f64, x: &Array2<f64>) -> f64 {
    let n = x.nrows();
    let op = KernelOperator::new(kernel, noise_scale, x.view(), 2);
    let all: Vec<usize> = (0..n).collect();
    let mut h = Array2::zeros((n, n).f());
    op.block(&all, &all, h.view_mut());
    let expected = dense(kernel, noise_scale, x);
    assert_eq!(h.diag(), op.diagonal().unwrap());
    let worst = (&h - &expected).fold(0.0, |worst: f64, e| worst.max(e.abs()));
    let mut applied = Array2::zeros((n, n).f());
    op.apply(Array2::eye(n).view(), applied.view_mut());
    let worst = (&applied - &expected).fold(worst, |worst, e| worst.max(e.abs()));
    worst / (noise_scale * noise_scale)
}

fn normal(n: usize, d: usize) -> Array2<f64> {
    Streams::new(11, &[]).normals("inputs", n, d)
}

#[test]
fn tight_clusters_far_apart_keep_their_distances() {
    for d in [1, 8, 30] {
        for family in Family::ALL {
            let kernel = Kernel::new(family, 1.0, &[1e-3], d);
            let mut x = normal(300, d) * 1e-5;
            // Three clusters, a thousand and more length scales apart, and duplicates in each.
            x.axis_iter_mut(Axis(0)).enumerate().for_each(|(i, mut row)| row += (i % 3) as f64 * 7.3);
            let (first, mut copies) = x.view_mut().split_at(Axis(0), 30);
            copies.slice_mut(s![..30, ..]).assign(&first);
            assert!(deviation(&kernel, 1e-3, &x) < 1e-3, "{family} in {d} inputs");
        }
    }
}

#[test]
fn a_large_offset_costs_no_accuracy() {
    for d in [2, 12] {
        let kernel = Kernel::new(Family::Matern32, 1.0, &[1e-3], d);
        let x = normal(280, d) * 1e-3 + 1e6;
        assert!(deviation(&kernel, 1e-3, &x) < 1e-6, "{d} inputs");
    }
}

#[test]
fn extreme_shapes() {
    for (n, d, columns) in [(1, 1, 1), (1, 500, 300), (2, 7, 1), (255, 500, 3), (257, 1, 300), (513, 9, 0)] {
        let kernel = Kernel::new(Family::Rbf, 1.3, &[(d as f64).sqrt()], d);
        let (x, v) = (normal(n, d), Streams::new(12, &[]).normals("block", n, columns));
        let op = KernelOperator::new(&kernel, 0.1, x.view(), 2);
        let h = dense(&kernel, 0.1, &x);
        let close = |a: &Array2<f64>, b: &Array2<f64>| (a - b).iter().all(|e| e.abs() < 1e-11 * n as f64);
        let mut product = Array2::zeros(v.dim().f());
        op.apply(v.view(), product.view_mut());
        assert!(close(&product, &h.dot(&v)), "{n} x {d}, {columns} columns");
        let idx = [n - 1, 0];
        let idx = &idx[..n.min(2)];
        let mut z = product.clone();
        op.rows_and_back(idx, v.view(), &mut |_| (), z.view_mut());
        let rows = h.select(Axis(0), idx);
        let expected = &product + &rows.t().dot(&rows.dot(&v));
        assert!(close(&z, &expected), "{n} x {d}, {columns} columns");
        let residuals = metrics::relative_residuals(&op, v.view(), product.view());
        assert!(residuals.iter().all(|residual| *residual == 0.0));
        assert!((n * n.div_ceil(2)) as f64 <= op.evaluated_by_apply());
        assert!(op.evaluated_by_apply() <= (n * n) as f64);
    }
}
