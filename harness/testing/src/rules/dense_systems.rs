//! Systems for the rules, with stored matrices.

use gpbench_host::{DenseFeatures, DenseInputs, DenseSystem, LinearSystem};
use gpbench_terms::Family;
use ndarray::{Array2, ShapeBuilder, s};

use super::{MakeSystem, SolveRequest};

/// Constant added to the diagonal of a kernel matrix, so that a singular one has a Cholesky factor.
const JITTER: f64 = 1e-10;

/// Serves systems by stored matrices, with inputs and random features.
pub(super) struct DenseSystems;

impl MakeSystem for DenseSystems {
    fn make(&self, request: &SolveRequest) -> Box<dyn LinearSystem + '_> {
        Box::new(dense_system(request))
    }
}

/// The system of a request.
pub(super) fn dense_system(request: &SolveRequest) -> DenseSystem {
    let system = &request.system;
    let ((n, s), margin) = (request.rhs.dim(), request.margin);
    let mut rhs = Array2::zeros((n + margin, s).f()).slice_move(s![..n, ..]);
    rhs.assign(&request.rhs);
    let inputs = DenseInputs {
        family: Family::Matern32,
        x: system.x.clone(),
        basis: None,
        signal_scale: 1.0,
        noise_scale: system.noise_scale,
        length_scale: system.length_scale.clone(),
    };
    let mut kernel = system.matrix();
    kernel.diag_mut().fill(1.0 + JITTER);
    DenseSystem {
        rhs,
        inputs: Some(inputs),
        features: Some(DenseFeatures::Drawn(super::kernel_system::cholesky(kernel))),
        ..DenseSystem::new(system.matrix(), request.rhs.view())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::KernelSystem;

    #[test]
    fn columns_are_as_far_apart_as_the_request_asks() {
        let request = SolveRequest { margin: 3, ..SolveRequest::new(KernelSystem::new(7, 1), 2) };
        let system = dense_system(&request);
        assert_eq!(system.rhs().strides(), [1, 10]);
        assert_eq!(system.rhs(), request.rhs);
        assert_eq!(system.operator().shape(), (7, 7));
    }
}
