//! The limit of the processor: products of square matrices by BLAS.

use std::hint::black_box;

use gpbench_gp::blas::ThreadGuard;
use gpbench_gp::seed::Streams;
use gpbench_record::BenchRequest;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, LinalgScalar, ShapeBuilder};

/// A number that BLAS multiplies.
pub(super) trait Number: LinalgScalar {
    fn of(value: f64) -> Self;
}

impl Number for f64 {
    fn of(value: f64) -> f64 {
        value
    }
}

impl Number for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }
}

/// A product of square matrices by BLAS, on the threads of BLAS: dgemm or sgemm.
pub(super) fn product<E: Number>(request: &BenchRequest, streams: &Streams) -> impl FnMut() + use<E> {
    let order = request.dgemm_order;
    let [a, b] = ["a", "b"].map(|name| streams.normals(name, order, order).mapv(E::of));
    let mut c = Array2::zeros((order, order).f());
    let threads = request.threads;
    move || {
        let _guard = ThreadGuard::raise(threads);
        general_mat_mul(E::one(), &a, &b, E::zero(), &mut c);
        black_box(&c);
    }
}

/// Speed of [`product`] in 10^9 operations per second, from the seconds that one product takes.
pub(super) fn gflops(request: &BenchRequest, seconds: f64) -> f64 {
    2.0 * (request.dgemm_order as f64).powi(3) / seconds / 1e9
}
