//! Systems of the rules, served by the harness's own operator.

use std::sync::Arc;

use gpbench_data::Split;
use gpbench_gp::pathwise::Targets;
use gpbench_gp::seed::Streams;
use gpbench_gp::{Family, Kernel, KernelOperator};
use gpbench_host::LinearSystem;
use gpbench_testing::rules::{MakeSystem, SolveRequest};
use ndarray::{Array2, Axis, ShapeBuilder, s};
use rayon::ThreadPool;

use crate::system::{DrawnFeatures, Formulation, System};

/// Threads that the products of systems run on.
pub(super) struct KernelSystems(pub(super) Arc<ThreadPool>);

impl MakeSystem for KernelSystems {
    fn make(&self, request: &SolveRequest) -> Box<dyn LinearSystem + '_> {
        let (system, pool) = (&request.system, &self.0);
        let (x, d) = (system.x.clone(), system.x.ncols());
        let kernel = Kernel::new(Family::Matern32, 1.0, &system.length_scale, d);
        let operator = KernelOperator::with_pool(&kernel, system.noise_scale, x.view(), pool.clone());
        let (n, s, margin) = (request.rhs.nrows(), request.rhs.ncols(), request.margin);
        let mut rhs = Array2::zeros((n + margin, s).f()).slice_move(s![..n, ..]);
        rhs.assign(&request.rhs);
        let streams = Streams::new(request.seed, &["conformance"]);
        let none = |rows: usize| Array2::zeros((rows, 0).f());
        Box::new(System {
            data: Arc::new(Split::raw(x, request.rhs.index_axis(Axis(1), 0).to_owned())),
            operator: Box::new(operator),
            targets: Targets { rhs, f_train: none(n), noise: none(n), f_test: none(0) },
            features: None,
            formulation: Formulation::Full,
            of_targets: streams.clone(),
            streams,
            drawn: DrawnFeatures::default(),
            pool: pool.clone(),
        })
    }
}
