//! Kernel matrices against ground truth, and properties that every kernel has.

use gpbench_gp::{Family, Kernel, KernelMatrix, KernelOperator};
use gpbench_testkit::assert_close;
use gpbench_testkit::json::{self, Value, matrix, number, vector};
use ndarray::{Array2, ArrayView2};
use proptest::prelude::*;

fn oracle() -> Value {
    json::parse(include_str!("data/kernels.json"))
}

fn kernels() -> impl Iterator<Item = (Kernel, Value)> {
    let sets = oracle()["sets"].as_object().unwrap().clone();
    sets.into_iter().flat_map(|(_, set)| {
        let lengths = vector(&set["length_scale"]).to_vec();
        Family::ALL.into_iter().map(move |family| {
            let kernel = Kernel::new(family, number(&set["signal_scale"]), &lengths, lengths.len());
            (kernel, set["families"][family.to_string()].clone())
        })
    })
}

#[test]
fn matrices_agree_with_the_truth() {
    let file = oracle();
    let (x, z) = (matrix(&file["X"]), matrix(&file["Z"]));
    for (kernel, truth) in kernels() {
        assert_close(&kernel.matrix(x.view(), z.view()), &matrix(&truth["K_xz"]), 1e-13);
        let k_xx = kernel.matrix(x.view(), x.view());
        assert_close(&k_xx.diag(), &vector(&truth["K_xx"]["diag"]), 1e-13);
        assert_close(&k_xx.row(0), &vector(&truth["K_xx"]["row_0"]), 1e-13);
        assert_close(&k_xx.row(3), &vector(&truth["K_xx"]["row_3"]), 1e-13);
    }
}

#[test]
fn derivatives_agree_with_the_truth() {
    let file = oracle();
    let (x, z) = (matrix(&file["X"]), matrix(&file["Z"]));
    for (kernel, truth) in kernels() {
        let by_signal = kernel.matrix_by_signal_scale(x.view(), z.view());
        assert_close(&by_signal, &matrix(&truth["dK_dsignal_scale"]), 1e-13);
        let by_length = truth["dK_dlength_scale"].as_array().unwrap();
        assert_eq!(by_length.len(), kernel.d());
        for (k, truth) in by_length.iter().enumerate() {
            assert_close(&kernel.matrix_by_length_scale(k, x.view(), z.view()), &matrix(truth), 1e-13);
        }
    }
}

/// Rows of `x` with further constant inputs, so that the operator has enough inputs to compute distances by products.
fn padded(x: ArrayView2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), 12), |(i, k)| x.get((i, k)).copied().unwrap_or(0.7))
}

#[test]
fn distances_by_products_agree_with_the_truth() {
    let file = oracle();
    let (x, z) = (padded(matrix(&file["X"]).view()), padded(matrix(&file["Z"]).view()));
    for (mut kernel, truth) in kernels() {
        kernel.length_scale.resize(12, 1.0);
        let op = KernelOperator::new(&kernel, 0.0, z.view(), 1);
        let identity = Array2::eye(z.nrows());
        assert_close(&op.cross(x.view(), identity.view()), &matrix(&truth["K_xz"]), 1e-12);
    }
}

#[test]
fn a_single_length_scale_is_shared() {
    assert_eq!(Kernel::new(Family::Rbf, 1.0, &[2.0], 3).length_scale, [2.0; 3]);
}

fn points() -> impl Strategy<Value = Array2<f64>> {
    (1..9usize, 1..5usize).prop_flat_map(|(n, d)| {
        prop::collection::vec(-50.0..50.0, n * d)
            .prop_map(move |values| Array2::from_shape_vec((n, d), values).unwrap())
    })
}

proptest! {
    #![proptest_config(gpbench_testkit::proptest_config!(256))]

    #[test]
    fn matrices_are_symmetric_with_the_variance_on_the_diagonal(x in points(), signal in 0.01..10.0) {
        for family in Family::ALL {
            let kernel = Kernel::new(family, signal, &[3.0], x.ncols());
            let k = kernel.matrix(x.view(), x.view());
            prop_assert_eq!(&k, &k.t());
            prop_assert!(k.diag().iter().all(|&v| v == signal * signal && v > 0.0));
            prop_assert!(k.iter().all(|&v| (0.0..=signal * signal).contains(&v)));
        }
    }

    #[test]
    fn correlations_do_not_increase_with_distance(near in 0.0..1e4, step in 1e-3..1e4) {
        for family in Family::ALL {
            let kernel = Kernel::new(family, 1.0, &[1.0], 1);
            prop_assert!(kernel.correlation(near) >= kernel.correlation(near + step));
        }
    }
}
