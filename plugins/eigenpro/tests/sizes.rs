//! Sizes of the subset and of batches.

use gpbench_plugin_eigenpro::EigenProParams;

#[test]
fn a_subset_is_a_quarter_of_few_rows() {
    let size = |subset_size, n| EigenProParams { subset_size, ..EigenProParams::default() }.subset_size(n);
    assert_eq!((size(0, 1), size(0, 100), size(0, 100_000)), (1, 25, 2000));
    assert_eq!((size(500, 1000), size(500, 40)), (500, 40));
}

#[test]
fn a_batch_is_critical_or_a_tenth_or_given() {
    let size = |batch_size, n, critical| {
        EigenProParams { batch_size, ..EigenProParams::default() }.batch_size(n, critical)
    };
    assert_eq!((size(0, 1000, 31.9), size(0, 1000, 2e3), size(0, 1000, f64::INFINITY)), (31, 100, 100));
    assert_eq!((size(0, 5, 1.5), size(0, 5, 70.0)), (1, 1));
    assert_eq!((size(400, 1000, 31.9), size(400, 40, 2.0)), (400, 40));
}
