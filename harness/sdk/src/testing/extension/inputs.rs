//! What A is made of.

use std::ffi::c_void;

use gpbench_abi as abi;
use ndarray::Array2;

use super::{answer, by_columns, mat};
use crate::Family;
use crate::testing::DenseProblem;
use crate::testing::mock_problem::MockProblem;

/// What A is made of, as the test has set it. Matrices are column-major.
#[derive(Debug, Clone)]
pub(in crate::testing) struct Kernel {
    family: Family,
    x: Array2<f64>,
    signal_scale: f64,
    noise_scale: f64,
    length_scale: Vec<f64>,
}

impl DenseProblem {
    /// Sets what A is made of; A is not checked against it.
    #[must_use]
    pub fn kernel(
        mut self,
        family: Family,
        x: Array2<f64>,
        signal_scale: f64,
        noise_scale: f64,
        length_scale: Vec<f64>,
    ) -> Self {
        self.kernel = Some(Kernel { family, x: by_columns(&x), signal_scale, noise_scale, length_scale });
        self
    }

    /// Sets the basis points Z (m x d) of A = K(X, Z); for problems with a kernel.
    #[must_use]
    pub fn basis(mut self, z: &Array2<f64>) -> Self {
        self.basis = Some(by_columns(z));
        self
    }
}

/// The table, if the problem has a kernel.
pub(in crate::testing) fn table(problem: &DenseProblem) -> Option<abi::Inputs> {
    let none = abi::Mat { data: std::ptr::null_mut(), rows: 0, cols: 0, ld: 0 };
    problem.kernel.as_ref().map(|kernel| abi::Inputs {
        size: size_of::<abi::Inputs>() as u32,
        family: kernel.family.number(),
        x: mat(&kernel.x),
        basis: problem.basis.as_ref().map_or(none, mat),
        signal_scale: kernel.signal_scale,
        noise_scale: kernel.noise_scale,
        length_scale: kernel.length_scale.as_ptr(),
        scales: std::ptr::null(),
    })
}

pub(super) fn find(problem: &MockProblem<'_>) -> *const c_void {
    answer(problem.inputs.as_ref())
}
