//! State of a fit: steps of Adam on the scales and on the entries of sparse actions.

use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2};
use gpbench_sdk::optimise::{Hyperparameters, Method, Optimiser};
use gpbench_sdk::{Covariance, Error, Fit, Purpose, Result, Scales, Stream, Work, Workers};
use rand_distr::{Distribution, StandardNormal};

use crate::{
    ActionMatrix, ActionPolicy, CagpParams, Directions, NoisyKernel, ProjectedProcess, SparseActions,
    covariances, gradient, residual_directions,
};

/// The stream that shares the rows out to the actions: the same permutation always.
const SHARES: Stream = Stream::new(1).same_each_pass();

/// Training rows and what never changes.
#[derive(Debug)]
pub(crate) struct Data {
    family: Covariance,
    /// Inputs, row-major.
    x: Array2<f64>,
    y: Array1<f64>,
    /// Actions, at most.
    count: usize,
}

/// State of a fit. Between steps, the process is that of the present scales and actions.
#[derive(Debug)]
pub(crate) struct State {
    data: Data,
    pub(crate) hyperparameters: Hyperparameters,
    pub(crate) actions: ActionMatrix,
    pub(crate) projected: ProjectedProcess,
    pub(crate) optimiser: Optimiser,
    /// Steps taken, each of which is a pass.
    pub(crate) steps: u64,
}

impl Data {
    pub(crate) fn new(fit: &Fit<'_>, params: &CagpParams) -> Result<Data> {
        if fit.family() == Covariance::Linear {
            return Err(Error::Unsupported("cagp needs a stationary kernel, not a linear one".into()));
        }
        let mut x = Array2::zeros((fit.n(), fit.d()));
        x.assign(&fit.x());
        Ok(Data { family: fit.family(), x, y: fit.y().to_owned(), count: params.count(fit.n()) })
    }

    fn at(&self, hyperparameters: &Hyperparameters) -> NoisyKernel {
        NoisyKernel {
            kernel: hyperparameters.kernel(self.family),
            noise_scale: hyperparameters.noise_scale(),
        }
    }

    /// Targets less the prior mean.
    fn residual(&self, hyperparameters: &Hyperparameters) -> Array1<f64> {
        &self.y - hyperparameters.mean()
    }

    /// The process at some scales, with these actions, or with those of conjugate gradients if there are none; and
    /// the kernel entries that it took.
    fn project(
        &self,
        hyperparameters: &Hyperparameters,
        actions: Option<ActionMatrix>,
        workers: Workers<'_>,
    ) -> Result<(ActionMatrix, ProjectedProcess, usize)> {
        let (at, residual, x) = (self.at(hyperparameters), self.residual(hyperparameters), self.x.view());
        let (actions, products, passes) = match actions {
            Some(actions) => {
                let products = covariances(&at.kernel, x, x, &actions, workers);
                (actions, products, 1)
            }
            None => {
                let found = residual_directions(&at.kernel, x, residual.view(), self.count, workers);
                let Directions { actions, covariances } = found;
                let passes = actions.ncols();
                (ActionMatrix::Dense(actions), covariances, passes)
            }
        };
        let projected = ProjectedProcess::new(&at, residual.view(), &actions, products, workers)?;
        Ok((actions, projected, passes * self.y.len() * self.y.len()))
    }
}

/// Sparse actions to start from: rows are shared out at random in equal numbers, and entries are normal, scaled so
/// that an action has length 1 on average.
///
/// # Errors
/// Those of the host.
pub(crate) fn share_out(fit: &Fit<'_>, params: &CagpParams) -> Result<Option<ActionMatrix>> {
    if params.policy == ActionPolicy::ConjugateGradients {
        return Ok(None);
    }
    let (n, count) = (fit.n(), params.count(fit.n()));
    let mut action = vec![0; n];
    for (place, row) in fit.batch(SHARES, n)?.into_iter().enumerate() {
        action[row] = place * count / n;
    }
    let mut rng = Purpose::Sketch.generator(fit.seed(), 0);
    let scale = (count as f64 / n as f64).sqrt();
    let entry = Array1::from_shape_simple_fn(n, || {
        let normal: f64 = StandardNormal.sample(&mut rng);
        scale * normal
    });
    Ok(Some(ActionMatrix::Sparse(SparseActions::new(action, entry))))
}

impl State {
    /// The state with these scales and actions; none for those of conjugate gradients. Also the kernel entries that
    /// it took.
    pub(crate) fn new(
        data: Data,
        hyperparameters: Hyperparameters,
        actions: Option<ActionMatrix>,
        workers: Workers<'_>,
    ) -> Result<(State, usize)> {
        let (actions, projected, entries) = data.project(&hyperparameters, actions, workers)?;
        let parameters = hyperparameters.free.len() + actions.trained().len();
        let optimiser = Optimiser::new(Method::Adam, parameters);
        Ok((State { data, hyperparameters, actions, projected, optimiser, steps: 0 }, entries))
    }

    /// Takes a step from the bound at the present place. Returns minus that bound, per row.
    pub(crate) fn step(&mut self, fit: &Fit<'_>, params: &CagpParams) -> Result<f64> {
        let (n, workers) = (fit.n(), fit.workers());
        fit.batch(Stream::MAIN, n)?;
        let objective = -self.projected.bound / n as f64;
        if !objective.is_finite() {
            return Ok(f64::NAN);
        }
        let gradient = self.gradient(workers)?;
        fit.charge(Work::entries(n * n))?;
        let schedule = params.milestones.schedule(params.factor, fit.passes());
        let rate = params.learning_rate * schedule.at(self.steps as f64);
        let mut parameters = [self.hyperparameters.free.as_slice(), self.actions.trained()].concat();
        self.optimiser.descend_shared(&mut parameters, &gradient, rate, workers);

        let mut hyperparameters = self.hyperparameters.clone();
        let (free, entries) = parameters.split_at(hyperparameters.free.len());
        hyperparameters.free.copy_from_slice(free);
        // Scales that vanish or overflow have no bound: the fit has diverged, and the last place is left.
        if !hyperparameters.is_sound() {
            return Ok(f64::NAN);
        }
        let actions = (params.policy == ActionPolicy::Sparse).then(|| self.actions.with_entries(entries));
        let (actions, projected, entries) = self.data.project(&hyperparameters, actions, workers)?;
        fit.charge(Work::entries(entries))?;
        (self.hyperparameters, self.actions, self.projected) = (hyperparameters, actions, projected);
        self.steps += 1;
        Ok(objective)
    }

    /// Derivatives of minus the bound, per row, by the free parameters and the entries. The directions of conjugate
    /// gradients are held.
    fn gradient(&self, workers: Workers<'_>) -> Result<Vec<f64>> {
        let State { data, hyperparameters, actions, projected, .. } = self;
        let residual = data.residual(hyperparameters);
        let at = data.at(hyperparameters);
        let by = gradient(&at, data.x.view(), residual.view(), actions, projected, workers)?;
        let by_scales = Scales {
            signal_scale: by.signal_scale,
            noise_scale: by.noise_scale,
            length_scale: by.length_scale.to_vec(),
            mean: by.mean,
        };
        let scale = -1.0 / data.y.len() as f64;
        let all = hyperparameters.chain(&by_scales).into_iter().chain(by.entries);
        Ok(all.map(|by| scale * by).collect())
    }

    /// Means and variances of y, noise included, at the rows of `x`.
    pub(crate) fn predict(
        &self,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        let at = self.data.at(&self.hyperparameters);
        let (means, variances) =
            self.projected.predict(&at, x, self.data.x.view(), &self.actions, workers)?;
        Ok((means + self.hyperparameters.mean(), variances + at.noise_scale.powi(2)))
    }
}
