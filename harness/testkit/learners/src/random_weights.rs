//! Random features of an RBF kernel on the inputs, without a network: descent on the squares of minibatches.

use gpbench_sdk::finite::{Options, Process};
use gpbench_sdk::ndarray::{Array1, ArrayView2};
use gpbench_sdk::optimise::{Method, Optimiser};
use gpbench_sdk::{Capabilities, Error, Fit, Learner, Model, Result, Saved, Stream, Work, Workers, params};

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
    state: Option<(Process, Optimiser)>,
}

impl RandomWeights {
    fn start(&self, fit: &Fit<'_>) -> Result<(Process, Optimiser)> {
        let options = Options { features: self.params.features, has_weights: true, noise_floor: 1e-4 };
        let process = Process::new(fit, options)?;
        let optimiser = Optimiser::new(Method::Adam, process.n_parameters());
        Ok((process, optimiser))
    }

    fn state(&self) -> Result<&(Process, Optimiser)> {
        self.state.as_ref().ok_or_else(|| Error::new("no fit has begun"))
    }
}

impl Learner for RandomWeights {
    type Params = RandomWeightsParams;
    const ID: &'static str = "random-weights";
    const DOC: &'static str = "Random features without a network, for tests of the harness";
    const CAPABILITIES: Capabilities = Capabilities::FINITE.and(Capabilities::RANDOMIZED);

    fn new(params: RandomWeightsParams) -> Result<Self> {
        Ok(RandomWeights { params, state: None })
    }

    fn begin(&mut self, fit: &Fit<'_>) -> Result<()> {
        self.state = Some(self.start(fit)?);
        Ok(())
    }

    fn step(&mut self, fit: &Fit<'_>) -> Result<f64> {
        let Some((process, optimiser)) = &mut self.state else { return Err(Error::new("no fit has begun")) };
        let rows = fit.batch(Stream::MAIN, self.params.batch)?;
        let batch = process.batch(&rows, fit.workers());
        fit.charge(Work::features(rows.len()))?;
        let objective = process.objective(&batch);
        let is_sound =
            process.descend(&batch, &objective, optimiser, self.params.learning_rate, fit.workers());
        Ok(if is_sound { objective.value } else { f64::NAN })
    }

    fn predict(&self, x: ArrayView2<'_, f64>, workers: Workers<'_>) -> Result<(Array1<f64>, Array1<f64>)> {
        self.state()?.0.predict(&x, workers)
    }

    fn model(&self) -> Result<Model> {
        Ok(self.state()?.0.model())
    }

    fn save(&self, saved: &mut Saved) -> Result<()> {
        let (process, optimiser) = self.state()?;
        process.save(saved);
        saved.put_all(optimiser.save("optimiser"));
        Ok(())
    }

    fn load(&mut self, fit: &Fit<'_>, saved: &Saved) -> Result<()> {
        let (mut process, mut optimiser) = self.start(fit)?;
        process.load(saved)?;
        optimiser.load("optimiser", |name| saved.find(name))?;
        self.state = Some((process, optimiser));
        Ok(())
    }
}
