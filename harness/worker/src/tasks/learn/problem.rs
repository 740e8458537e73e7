//! The problem that a learner receives: rows, kernel, initial values, inducing points.

use gpbench_host::FitProblem;
use gpbench_record::{Capability, Kernel, Learning, SolverInfo};
use ndarray::Array2;

use crate::failure::{CaseError, invalid};
use crate::setup::Setup;
use crate::system;

/// The parts of a problem that are computed for it.
pub(super) struct Parts {
    length_scale: Vec<f64>,
    basis: Option<Array2<f64>>,
}

impl Parts {
    /// The parts of a case's problem. Inducing points are drawn from the same stream as for solvers.
    pub(super) fn new(setup: &Setup, task: &Learning) -> Result<Parts, CaseError> {
        let (kernel, rows) = (&setup.kernel, &setup.rows);
        let inputs = kernel.network.as_ref().map_or(rows.d(), |network| network.outputs());
        let length_scale = match kernel.length_scale.as_slice() {
            [shared] => vec![*shared; inputs],
            each if each.len() == inputs => each.to_vec(),
            each => {
                let what = format!("{} length scales for {inputs} inputs", each.len());
                return Err(invalid(format!("kernel `{}`: {what}", kernel.name)));
            }
        };
        let streams = rows.streams(kernel.family);
        let select =
            |inducing| setup.pool.install(|| system::select(inducing, rows.split.x_train.view(), &streams));
        let basis = task.inducing.map(select).transpose().map_err(invalid)?;
        Ok(Parts { length_scale, basis })
    }

    /// The problem itself.
    pub(super) fn problem<'p>(&'p self, setup: &'p Setup, task: &Learning) -> FitProblem<'p> {
        let (kernel, split) = (&setup.kernel, &setup.rows.split);
        let network = kernel.network.as_ref();
        FitProblem {
            x: split.x_train.view(),
            y: split.y_train.view(),
            basis: self.basis.as_ref().map(|basis| basis.view()),
            covariance: kernel.family,
            signal_scale: kernel.signal_scale,
            noise_scale: kernel.noise_scale,
            length_scale: &self.length_scale,
            shared_length_scale: task.shared_length_scale || network.is_some(),
            mean: kernel.mean.unwrap_or_default(),
            trained_mean: kernel.mean.is_some(),
            network,
        }
    }
}

/// Checks that a learner supports the kernel and the inducing points of a case, and that the case has the inducing
/// points that the learner requires.
pub(super) fn check(info: &SolverInfo, kernel: &Kernel, task: &Learning) -> Result<(), CaseError> {
    let Kernel { family, network, .. } = kernel;
    let refused = |what: &str| Err(invalid(format!("learner `{}` {what}", info.id)));
    if network.is_some() && !info.can(Capability::Network) {
        return refused("does not take a network");
    }
    let is_stationary = family.stationary().is_some();
    // Without a network the learner's own parameters determine the number of random features.
    let has_features = network.as_ref().is_none_or(|network| network.random.is_some());
    let takes_features = info.can(Capability::Finite) && has_features;
    if is_stationary && !info.can(Capability::Kernel) && !takes_features {
        return refused("takes kernels of finite dimension alone: a linear one, or one by random features");
    }
    if kernel.mean.is_some() && !info.can(Capability::Mean) {
        return refused("does not train a constant mean");
    }
    if info.needs_inducing() && task.inducing.is_none() {
        return refused("needs inducing points");
    }
    Ok(())
}
