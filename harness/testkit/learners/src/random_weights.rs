//! Random features of an RBF kernel on the inputs, without a network: descent on the squares of minibatches.

use gpbench_sdk::finite::{Options, Process};
use gpbench_sdk::ndarray::{Array1, ArrayView2};
use gpbench_sdk::optimise::{Method, Optimiser};
use gpbench_sdk::{Capabilities, Fit, Learner, Model, Result, Saved, Stream, Work, Workers, params};

params! {
    /// Parameters of the learner.
    pub struct RandomWeightsParams {
        /// Rows of a minibatch; all of them if there are fewer.
        pub batch: usize = 32, in 1..;
        /// Learning rate.
        pub learning_rate: f64 = 0.01, in 0.0..=1e6;
        /// Random features, sines and cosines together.
        pub features: usize = 60, in 2..=1000;
    }
}

/// Descends on the part of the likelihood that is a sum over rows. Predictions are those of the best weights.
pub struct RandomWeights {
    params: RandomWeightsParams,
}

/// State of a fit.
pub struct State {
    process: Process,
    optimiser: Optimiser,
}

impl Learner for RandomWeights {
    type Params = RandomWeightsParams;
    const ID: &'static str = "random-weights";
    const DOC: &'static str = "Random features without a network, for tests of the harness";
    const CAPABILITIES: Capabilities = Capabilities::FINITE.and(Capabilities::RANDOMIZED);
    type State = State;

    fn new(params: RandomWeightsParams) -> Result<Self> {
        Ok(RandomWeights { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        let options = Options { features: self.params.features, has_weights: true, noise_floor: 1e-4 };
        let process = Process::new(fit, options)?;
        let optimiser = Optimiser::new(Method::Adam, process.n_parameters());
        Ok(State { process, optimiser })
    }

    fn step(&self, state: &mut State, fit: &Fit<'_>) -> Result<f64> {
        let State { process, optimiser } = state;
        let rows = fit.batch(Stream::MAIN, self.params.batch)?;
        let batch = process.batch(&rows, fit.workers());
        fit.charge(Work::features(rows.len()))?;
        let objective = process.objective(&batch);
        let is_sound =
            process.descend(&batch, &objective, optimiser, self.params.learning_rate, fit.workers());
        Ok(if is_sound { objective.value } else { f64::NAN })
    }

    fn predict(
        &self,
        state: &State,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        state.process.predict(&x, workers)
    }

    fn model(&self, state: &State) -> Result<Model> {
        Ok(state.process.model())
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        state.process.save(saved);
        saved.put_all(state.optimiser.save("optimiser"));
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let mut state = self.begin(fit)?;
        state.process.load(saved)?;
        state.optimiser.load("optimiser", |name| saved.find(name))?;
        Ok(state)
    }
}
