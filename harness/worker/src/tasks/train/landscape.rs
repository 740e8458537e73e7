//! The exact likelihood over the plane of length scale and noise scale (Potapczynski et al. 2021, Figure 3).

use gpbench_record::{Grid, Kernel, Landscape};

use crate::failure::CaseError;
use crate::rounding::six_digits;

use super::state::State;
use super::trainer::Trainer;

impl Trainer<'_> {
    /// The exact likelihood on the requested grid, at the final signal scale.
    pub(super) fn landscape(&self, state: &State) -> Result<Option<Box<Landscape>>, CaseError> {
        let Some(Grid { length_scale, noise_scale, points }) = self.task.landscape else { return Ok(None) };
        let ended = state.kernel(&self.setup.kernel);
        let (length_scale, noise_scale) = (spaced(length_scale, points), spaced(noise_scale, points));
        let along = |noise_scale: f64| {
            let at = |length: &f64| {
                let kernel = Kernel { noise_scale, length_scale: vec![*length], ..ended.clone() };
                Ok(self.exact_likelihood(&kernel)?.filter(|value| value.is_finite()).map(six_digits))
            };
            length_scale.iter().map(at).collect::<Result<Vec<Option<f64>>, CaseError>>()
        };
        let log_likelihood =
            noise_scale.iter().map(|noise_scale| along(*noise_scale)).collect::<Result<_, CaseError>>()?;
        Ok(Some(Box::new(Landscape { length_scale, noise_scale, log_likelihood })))
    }
}

/// Evenly spaced points on a logarithmic axis.
fn spaced([low, high]: [f64; 2], points: usize) -> Vec<f64> {
    let step = (high / low).ln() / (points.max(2) - 1) as f64;
    (0..points).map(|index| six_digits(low * (step * index as f64).exp())).collect()
}
