//! The system of a case in the form that plugins receive.

use gpbench_host::{FeatureProducts, LinearSystem, SystemInputs};
use gpbench_numerics::LinearOperator;
use ndarray::{ArrayView2, CowArray, Ix2};

use super::System;

impl LinearSystem for System {
    fn operator(&self) -> &dyn LinearOperator {
        self.view().matrix
    }

    fn rhs(&self) -> ArrayView2<'_, f64> {
        self.view().targets.rhs.view()
    }

    fn inputs(&self) -> Option<SystemInputs<'_>> {
        let (view, kernel) = (self.view(), self.operator.kernel());
        let scales = view.scales.map(|scales| scales.to_slice().expect("scales are one column"));
        Some(SystemInputs {
            family: kernel.family,
            x: view.inputs.view(),
            basis: view.basis.map(|basis| basis.view()),
            signal_scale: kernel.signal_scale,
            noise_scale: self.operator.noise_scale(),
            length_scale: &kernel.length_scale,
            scales,
        })
    }

    fn targets(&self) -> Option<[ArrayView2<'_, f64>; 2]> {
        let targets = self.view().targets;
        (targets.f_train.ncols() > 0).then(|| [targets.f_train.view(), targets.noise.view()])
    }

    fn features(&self) -> Option<&dyn FeatureProducts> {
        Some(self)
    }

    fn epoch_rows(&self) -> usize {
        self.n()
    }

    fn solver_tolerance(&self, tolerance: f64) -> f64 {
        self.collapse().map_or(tolerance, |collapse| collapse.tolerance(tolerance))
    }

    fn case_norms(&self, claimed: &[f64]) -> Vec<f64> {
        self.collapse().map_or_else(|| claimed.to_vec(), |collapse| collapse.norms(claimed))
    }

    fn case_weights<'x>(&self, x: CowArray<'x, f64, Ix2>) -> CowArray<'x, f64, Ix2> {
        self.weights(x)
    }
}
