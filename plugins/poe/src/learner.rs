//! The learner: cuts the rows into subsets, and trains the experts in turn.

use gpbench_sdk::ndarray::{Array1, ArrayView2, Axis};
use gpbench_sdk::optimise::{Hyperparameters, Optimiser};
use gpbench_sdk::{
    Capabilities, Combine, Error, Facts, Fit, Learner, Model, Result, Saved, Stream, Work, Workers,
};

use crate::{Combination, ExactExpert, ExpertProduct, PoeParams};

/// Experts that take a step together, on the host's threads.
const TOGETHER: usize = 4;

/// The stream of the partition into subsets.
const PARTITION: Stream = Stream::new(1).same_each_pass();

/// A product of experts.
#[derive(Debug)]
pub struct Poe {
    params: PoeParams,
}

/// State of a fit.
#[derive(Debug)]
pub struct State {
    experts: Vec<ExactExpert>,
    /// Rows of each expert.
    rows: Vec<Vec<usize>>,
    /// Steps taken, each by a group of experts.
    steps: usize,
}

impl Learner for Poe {
    type Params = PoeParams;
    const ID: &'static str = "poe";
    const DOC: &'static str = "Generalised product of exact Gaussian processes on disjoint subsets";
    const SOURCE: &'static str = "Y. Cao, D. J. Fleet. Generalized Product of Experts for Automatic and Principled \
        Fusion of Gaussian Process Predictions. Modern Nonparametrics 3: Automating the Learning Pipeline, NIPS \
        workshop, 2014.";
    const FACTS: Facts = Facts {
        step: "p^2 entries, p^3 operations for an expert of p rows",
        memory: "12 p^2",
        guarantees: "likelihoods of the experts are exact; with one expert of all rows the exact Gaussian \
            process",
        advice: "a cheap and robust baseline; poor where p rows are too few for the function",
    };
    const CAPABILITIES: Capabilities =
        Capabilities::KERNEL.and(Capabilities::MEAN).and(Capabilities::RANDOMIZED);
    type State = State;

    fn new(params: PoeParams) -> Result<Self> {
        Ok(Poe { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        // One expert would fail, and the others would hide it.
        if !fit.y().iter().chain(&fit.x()).all(|value| value.is_finite()) {
            return Err(Error::InvalidArgument("inputs or targets are not finite".into()));
        }
        let mut order = Vec::with_capacity(fit.n());
        while order.len() < fit.n() {
            order.extend(fit.batch(PARTITION, self.params.points)?);
        }
        State::new(fit, &self.params, &order)
    }

    fn step(&self, state: &mut State, fit: &Fit<'_>) -> Result<f64> {
        // The rows of the batch are not used: the experts have as many of their own.
        fit.batch(Stream::MAIN, TOGETHER.saturating_mul(self.params.points))?;
        let groups = state.experts.len().div_ceil(TOGETHER);
        let (group, passes) = (state.steps % groups, state.steps / groups);
        let schedule = self.params.milestones.schedule(self.params.factor, fit.passes());
        let rate = self.params.learning_rate * schedule.at(passes as f64);
        let experts = state.experts.chunks_mut(TOGETHER).nth(group).expect("the group is one of them");
        let entries = experts.iter().map(|expert| expert.y.len().pow(2)).sum();
        let mut outcomes = vec![Ok(()); experts.len()];
        fit.workers().for_each(experts.iter_mut().zip(&mut outcomes), |(expert, outcome)| {
            *outcome = expert.step(rate, Workers::new(1));
        });
        fit.charge(Work::entries(entries))?;
        state.steps += 1;
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(state.objective())
    }

    fn predict(
        &self,
        state: &State,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        let mut product = ExpertProduct::new(self.params.combine, x.nrows());
        for (expert, weight) in state.experts.iter().zip(state.weights()?) {
            if weight > 0.0 {
                let (mean, latent) = expert.posterior(workers)?.predict(&x, workers);
                product.add(weight, &mean, &latent, expert.hyperparameters.noise_scale().powi(2));
            }
        }
        Ok(product.predict())
    }

    fn model(&self, state: &State) -> Result<Model> {
        let weights = state.weights()?;
        let experts = state.experts.iter().zip(&state.rows).zip(weights);
        let experts: Vec<_> = experts
            .map(|((expert, rows), weight)| gpbench_sdk::Expert {
                scales: expert.hyperparameters.scales(),
                rows,
                weight,
            })
            .collect();
        let combine = match self.params.combine {
            Combination::Observed => Combine::Observed,
            Combination::Latent => Combine::Latent,
        };
        Model::experts(&experts, combine)
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        saved.put_integers("steps", [state.steps as u64]);
        // The last subset repeats rows of the first, and they come after all others.
        saved.put_integers("order", state.rows.iter().flatten().map(|&row| row as u64));
        for (e, expert) in state.experts.iter().enumerate() {
            saved.put_list(&format!("free_{e}"), &expert.hyperparameters.free);
            saved.put_list(&format!("before_{e}"), &expert.before);
            if let Some(nlml) = expert.nlml {
                saved.put_number(&format!("nlml_{e}"), nlml);
            }
            saved.put_number(&format!("failed_{e}"), f64::from(u8::from(expert.has_failed)));
            saved.put_all(expert.optimiser.save(&format!("optimiser_{e}")));
        }
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let bad = |what: &str| Error::InvalidArgument(format!("the saved `{what}` is of another fit"));
        let order: Vec<usize> = saved.get_integers("order")?.into_iter().map(|row| row as usize).collect();
        if order.len() < fit.n() || order.iter().any(|&row| row >= fit.n()) {
            return Err(bad("order"));
        }
        let mut state = State::new(fit, &self.params, &order[..fit.n()])?;
        let [steps] = saved.get_integers("steps")?[..] else { return Err(bad("steps")) };
        state.steps = steps as usize;
        for (e, expert) in state.experts.iter_mut().enumerate() {
            let shape = (expert.before.len(), 1);
            expert.hyperparameters.free =
                saved.get_shaped(&format!("free_{e}"), shape)?.into_iter().collect();
            expert.before = saved.get_shaped(&format!("before_{e}"), shape)?.into_iter().collect();
            expert.nlml = saved.get_number(&format!("nlml_{e}")).ok();
            expert.has_failed = saved.get_number(&format!("failed_{e}"))? != 0.0;
            expert.optimiser.load(&format!("optimiser_{e}"), |name| saved.find(name))?;
        }
        Ok(state)
    }

    fn numbers(&self, state: &State) -> Vec<(&'static str, f64)> {
        let failed = state.experts.iter().filter(|expert| expert.has_failed).count();
        vec![("experts", state.experts.len() as f64), ("failed_experts", failed as f64)]
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        let points = self.params.points.min(n) as f64;
        // The data, and for each expert of a step its covariance, the inverse and the derivatives.
        8.0 * (n as f64 * (d + 3) as f64 + 3.0 * TOGETHER as f64 * points * points)
    }
}

impl State {
    /// The state before the first step, with experts on consecutive parts of `order`, a permutation of all rows. The last
    /// part is filled up with rows of the first.
    fn new(fit: &Fit<'_>, params: &PoeParams, order: &[usize]) -> Result<State> {
        let points = params.points.min(fit.n());
        let start = Hyperparameters::of(fit, params.transform)?;
        let optimiser = Optimiser::new(params.optimiser, start.free.len());
        let subset = |part: &[usize]| part.iter().chain(order).take(points).copied().collect();
        let rows: Vec<Vec<usize>> = order.chunks(points).map(subset).collect();
        let expert = |rows: &Vec<usize>| {
            let (x, y) = (fit.x().select(Axis(0), rows), fit.y().select(Axis(0), rows));
            ExactExpert::new(fit.family(), x, y, start.clone(), optimiser.clone())
        };
        Ok(State { experts: rows.iter().map(expert).collect(), rows, steps: 0 })
    }

    /// Weights of the experts: equal for those that have not failed, with sum 1.
    fn weights(&self) -> Result<Vec<f64>> {
        let usable = self.experts.iter().filter(|expert| !expert.has_failed).count();
        if usable == 0 {
            return Err(Error::new("no expert has a likelihood: all have diverged"));
        }
        let weight = |expert: &ExactExpert| if expert.has_failed { 0.0 } else { 1.0 / usable as f64 };
        Ok(self.experts.iter().map(weight).collect())
    }

    /// The mean of the experts' latest likelihoods; not a number if no expert that was tried has one.
    fn objective(&self) -> f64 {
        let usable = self.experts.iter().filter(|expert| !expert.has_failed);
        let likelihoods: Vec<f64> = usable.filter_map(|expert| expert.nlml).collect();
        likelihoods.iter().sum::<f64>() / likelihoods.len() as f64
    }
}
