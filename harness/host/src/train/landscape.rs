//! The exact likelihood over the plane of length scale and noise scale (Potapczynski et al. 2021, Figure 3).

use gpbench_gp::exact::ExactGp;
use gpbench_record::{Grid, Kernel, Landscape};

use super::{Trainer, kernel_at};
use crate::checkpoint::State;
use crate::line::six_digits;
use crate::system;

impl Trainer<'_> {
    /// The exact likelihood on the grid that is asked for, at the signal scale that the steps have ended with.
    pub(super) fn landscape(&self, state: &State) -> Option<Box<Landscape>> {
        let Grid { length_scale, noise_scale, points } = self.training.landscape?;
        let ended = kernel_at(&self.job.case.kernel, &state.parameters);
        let (length_scale, noise_scale) = (spaced(length_scale, points), spaced(noise_scale, points));
        let along = |noise_scale: f64| {
            let at = |length: &f64| self.log_likelihood(&ended, *length, noise_scale).map(six_digits);
            length_scale.iter().map(at).collect::<Vec<Option<f64>>>()
        };
        let log_likelihood = noise_scale.iter().map(|noise_scale| along(*noise_scale)).collect();
        Some(Box::new(Landscape { length_scale, noise_scale, log_likelihood }))
    }

    fn log_likelihood(&self, ended: &Kernel, length_scale: f64, noise_scale: f64) -> Option<f64> {
        let (x, y) = (self.data.x_train.view(), self.data.y_train.view());
        let moved = Kernel { length_scale: vec![length_scale], ..ended.clone() };
        let kernel = system::kernel(&moved, x.ncols()).ok()?;
        let gp = ExactGp::fit(&kernel, noise_scale, x, y, self.job.threads).ok()?;
        Some(gp.log_marginal_likelihood).filter(|value| value.is_finite())
    }
}

/// Points at even distances on a logarithmic axis.
fn spaced([low, high]: [f64; 2], points: usize) -> Vec<f64> {
    let step = (high / low).ln() / (points.max(2) - 1) as f64;
    (0..points).map(|index| six_digits(low * (step * index as f64).exp())).collect()
}
