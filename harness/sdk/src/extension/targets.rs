//! The parts of pathwise right-hand sides, `gpbench.targets/1`.

use gpbench_abi as abi;
use ndarray::ArrayView2;

use crate::Problem;
use crate::error::{Error, Result};
use crate::matrix::view;

/// The parts of pathwise right-hand sides: probe j is f_j + noise_j.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a> {
    /// Prior draws at the inputs, times the scales where [`crate::Inputs`] has such; n x (number of probes).
    pub f: ArrayView2<'a, f64>,
    /// Their noise, of standard deviation `noise_scale`, n x (number of probes).
    pub noise: ArrayView2<'a, f64>,
}

impl<'a> Problem<'a> {
    /// The parts of a pathwise target, if the probes are such.
    pub fn targets(&self) -> Result<Option<Targets<'a>>> {
        if self.is_correction() {
            // The right-hand side of a correction is a residual, which has no such parts.
            return Ok(None);
        }
        let Some(targets) = self.extension::<abi::Targets>(abi::id::TARGETS) else { return Ok(None) };
        // SAFETY: the extension and what it points to live as long as the problem, unchanged.
        let (f, noise) = unsafe { (view(&targets.f, "prior draws")?, view(&targets.noise, "their noise")?) };
        let expected = (self.rhs().nrows(), self.rhs().ncols() - self.n_targets());
        if f.dim() != expected || noise.dim() != expected {
            let text =
                format!("targets of shapes {:?} and {:?}, expected {expected:?}", f.dim(), noise.dim());
            return Err(Error::InvalidArgument(text));
        }
        Ok(Some(Targets { f, noise }))
    }
}
