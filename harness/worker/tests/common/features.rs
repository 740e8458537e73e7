//! A solver that works with random features.

use gpbench_sdk::{Problem, Reason, Report};
use ndarray::{Array2, ShapeBuilder};

solver! {
    /// Leaves Phi w as its iterate.
    pub(crate) Features = "features";

    fn solve(&self, (): &mut (), problem: &mut Problem<'_>) -> gpbench_sdk::Result<Report> {
        let (op, s) = (problem.operator(), problem.rhs().ncols());
        let w = Array2::from_shape_fn((200, s).f(), |(i, j)| ((i + j) as f64).sin());
        let mut phi_w = Array2::zeros((op.m(), s).f());
        op.features(5, &w, &mut phi_w)?;
        let mut back = Array2::zeros((200, s).f());
        op.features_transposed(5, &phi_w, &mut back)?;
        let (left, right) = ((&phi_w * &phi_w).sum(), (&w * &back).sum());
        assert!((left - right).abs() < 1e-9 * left, "{left} {right}");
        problem.x_mut().assign(&phi_w);
        Ok(Report::new(Reason::Iterations, 1))
    }
}
