//! The learner: begin, step, and saved states.

use gpbench_sdk::ndarray::{Array1, ArrayView2};
use gpbench_sdk::optimise::Hyperparameters;
use gpbench_sdk::{Capabilities, Error, Facts, Fit, Learner, Model, Result, Saved, Work, Workers};

use crate::fitting::{self, Data, State};
use crate::{ActionMatrix, ActionPolicy, CagpParams, SparseActions};

/// Numbers in the tiles of sixteen threads.
const TILES: f64 = 16.0 * 3.0 * 1024.0 * 128.0;

/// Computation-aware Gaussian processes.
#[derive(Debug)]
pub struct Cagp {
    params: CagpParams,
}

/// State of a fit, which only this crate looks into.
#[derive(Debug)]
pub struct CagpState(State);

impl Learner for Cagp {
    type Params = CagpParams;
    const ID: &'static str = "cagp";
    const DOC: &'static str =
        "Computation-aware Gaussian processes (CaGP): conditioned on projections of the targets alone";
    const SOURCE: &'static str = "J. Wenger, K. Wu, P. Hennig, J. R. Gardner, G. Pleiss, J. P. Cunningham. \
        Computation-Aware Gaussian Processes: Model Selection and Linear-Time Inference. NeurIPS 2024.";
    const FACTS: Facts = Facts {
        step: "2 n^2 entries, 4 n^2 + 8 n i^2 operations for i actions; with conjugate gradients (1 + i) n^2 \
            entries",
        memory: "4 n i + 10 i^2 + n (2 d + 8); with conjugate gradients 6 n i in place of 4",
        guarantees: "a lower bound of the likelihood; variances at least those of the exact process at its scales",
        advice: "honest intervals where computation is skipped; not as a cheap method, each action reads all of K",
    };
    const CAPABILITIES: Capabilities =
        Capabilities::KERNEL.and(Capabilities::MEAN).and(Capabilities::RANDOMIZED);
    type State = CagpState;

    fn new(params: CagpParams) -> Result<Self> {
        Ok(Cagp { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<CagpState> {
        let hyperparameters = Hyperparameters::of(fit, self.params.transform)?;
        let data = Data::new(fit, &self.params)?;
        let actions = fitting::share_out(fit, &self.params)?;
        let (state, entries) = State::new(data, hyperparameters, actions, fit.workers())?;
        fit.charge(Work::entries(entries))?;
        Ok(CagpState(state))
    }

    fn step(&self, state: &mut CagpState, fit: &Fit<'_>) -> Result<f64> {
        state.0.step(fit, &self.params)
    }

    fn predict(
        &self,
        state: &CagpState,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        state.0.predict(x, workers)
    }

    fn model(&self, state: &CagpState) -> Result<Model> {
        Ok(state.0.actions.model(&state.0.hyperparameters.scales()))
    }

    fn save(&self, state: &CagpState, saved: &mut Saved) -> Result<()> {
        let state = &state.0;
        saved.put_list("free", &state.hyperparameters.free);
        saved.put_all(state.optimiser.save("optimiser"));
        saved.put_integers("steps", [state.steps]);
        if let ActionMatrix::Sparse(sparse) = &state.actions {
            saved.put_integers("action", sparse.action.iter().map(|&action| action as u64));
            saved.put_list("entry", &sparse.entry.to_vec());
        }
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<CagpState> {
        let mut hyperparameters = Hyperparameters::of(fit, self.params.transform)?;
        let free = saved.get_shaped("free", (hyperparameters.free.len(), 1))?;
        hyperparameters.free = free.into_iter().collect();
        let data = Data::new(fit, &self.params)?;
        let actions = match self.params.policy {
            ActionPolicy::Sparse => Some(sparse(saved, fit.n(), self.params.count(fit.n()))?),
            // They depend on the scales alone.
            ActionPolicy::ConjugateGradients => None,
        };
        let (mut state, _) = State::new(data, hyperparameters, actions, fit.workers())?;
        state.optimiser.load("optimiser", |name| saved.find(name))?;
        let [steps] = saved.get_integers("steps")?[..] else {
            return Err(Error::InvalidArgument("the saved `steps` is not one number".into()));
        };
        state.steps = steps;
        Ok(CagpState(state))
    }

    fn numbers(&self, state: &CagpState) -> Vec<(&'static str, f64)> {
        let state = &state.0;
        vec![
            ("actions", state.actions.count() as f64),
            ("lower_bound", state.projected.bound),
            ("divergence", state.projected.divergence),
        ]
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        let count = self.params.count(n) as f64;
        let (n, d) = (n as f64, d as f64);
        // K S of two places, and what is as large beside them; with `cg` the actions of both too.
        let tall = if self.params.policy == ActionPolicy::Sparse { 4.0 } else { 6.0 };
        // The data, and the same divided by the length scales; entries, their derivatives and the moments of both.
        8.0 * (tall * n * count + n * (2.0 * d + 8.0) + 10.0 * count * count + TILES)
    }
}

/// The saved actions of n rows.
fn sparse(saved: &Saved, n: usize, count: usize) -> Result<ActionMatrix> {
    let action: Vec<usize> =
        saved.get_integers("action")?.into_iter().map(|action| action as usize).collect();
    let entry: Array1<f64> = saved.get_shaped("entry", (n, 1))?.into_iter().collect();
    if action.len() != n || action.iter().any(|&action| action >= count) {
        return Err(Error::InvalidArgument("the saved `action` is none of these rows".into()));
    }
    Ok(ActionMatrix::Sparse(SparseActions::new(action, entry)))
}
