//! The parts of pathwise right-hand sides.

use std::ffi::c_void;

use gpbench_abi as abi;
use ndarray::Array2;

use super::{answer, by_columns, mat};
use crate::testing::DenseProblem;
use crate::testing::mock_problem::MockProblem;

impl DenseProblem {
    /// Sets the parts of the probes, each n x (number of probes); that they sum to the probes is not
    /// checked.
    #[must_use]
    pub fn pathwise(mut self, f: &Array2<f64>, noise: &Array2<f64>) -> Self {
        self.parts = Some([by_columns(f), by_columns(noise)]);
        self
    }
}

/// The table, if the problem has such parts.
pub(in crate::testing) fn table(problem: &DenseProblem) -> Option<abi::Targets> {
    problem.parts.as_ref().map(|[f, noise]| abi::Targets {
        size: size_of::<abi::Targets>() as u32,
        reserved: 0,
        f: mat(f),
        noise: mat(noise),
    })
}

pub(super) fn find(problem: &MockProblem<'_>) -> *const c_void {
    answer(problem.targets.as_ref())
}
