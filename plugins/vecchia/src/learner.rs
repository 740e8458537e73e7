//! The learner.

use gpbench_sdk::ndarray::{Array1, ArrayView2, Axis};
use gpbench_sdk::neighbours::scaled;
use gpbench_sdk::optimise::{Lbfgs, LbfgsOptions};
use gpbench_sdk::{
    Capabilities, Error, Facts, Fit, Learner, Model, Reason, Result, Saved, Stream, Work, Workers, exact,
};

use crate::fit::{Ascent, Found, State};
use crate::{
    Data, Maximiser, PredictFrom, Predictor, Process, RowOrder, VecchiaParams, max_min, search, spread,
};

/// The stream of the random order: the same permutation always.
const ORDER: Stream = Stream::new(1).same_each_pass();

/// Reasons as they are saved.
const REASONS: [Option<Reason>; 3] = [None, Some(Reason::Converged), Some(Reason::Stagnated)];

/// Vecchia's approximation of the likelihood, and predictions from neighbours.
#[derive(Debug)]
pub struct Vecchia {
    params: VecchiaParams,
}

impl Learner for Vecchia {
    type Params = VecchiaParams;
    const ID: &'static str = "vecchia";
    const DOC: &'static str = "Vecchia's approximation: rows given their nearest earlier rows, optionally beside inducing points (VIF)";
    const SOURCE: &'static str = "A. V. Vecchia. Estimation and Model Identification for Continuous Spatial \
        Processes. Journal of the Royal Statistical Society B, 1988.";
    const FACTS: Facts = Facts {
        step: "n (m + 1)^2 entries, n (m + 1)^3 / 3 operations for m neighbours, n M^2 more with M inducing \
            points; once n^2 distances for the order",
        memory: "4 n d + 3 n m; with M inducing points 6 n M more",
        guarantees: "the exact likelihood if all rows are neighbours; else no bound of it",
        advice: "few inputs and many rows: near the exact likelihood; poor with many inputs, or with few \
            neighbours",
    };
    const CAPABILITIES: Capabilities =
        Capabilities::KERNEL.and(Capabilities::MEAN).and(Capabilities::RANDOMIZED);
    type State = State;

    fn new(params: VecchiaParams) -> Result<Self> {
        if params.inducing > 0 && params.optimiser == Maximiser::Adam {
            let text = "`inducing` needs `optimiser = \"lbfgs\"`: with inducing points the likelihood is no sum over \
                        rows, of which minibatches could be taken";
            return Err(Error::InvalidArgument(text.into()));
        }
        Ok(Vecchia { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        let (params, workers, n) = (&self.params, fit.workers(), fit.n());
        let mut process = Process::new(fit, params)?;
        let points = scaled(&fit.x(), &process.kernel().length_scale)?;
        let order = match params.order {
            RowOrder::MaxMin => {
                fit.charge(Work::entries(n * n))?;
                max_min(&points, workers)
            }
            RowOrder::Random => fit.batch(ORDER, n)?,
        };
        if params.inducing > 0 {
            let chosen = spread(&points, params.inducing, fit.seed(), workers);
            fit.charge(Work::entries(n * chosen.len()))?;
            process.set_points(fit.x().select(Axis(0), &chosen).view());
        }
        let data = Data::new(&fit.x(), &fit.y(), order)?;
        let (state, entries) = State::new(process, data, params, workers)?;
        fit.charge(Work::entries(entries))?;
        Ok(state)
    }

    fn step(&self, state: &mut State, fit: &Fit<'_>) -> Result<f64> {
        state.step(fit, &self.params)
    }

    fn finished(&self, state: &State) -> Option<Reason> {
        state.reason()
    }

    fn predict(
        &self,
        state: &State,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        let (at, data) = (&state.process, &state.data);
        if self.params.predict == PredictFrom::Neighbours {
            let explanation = state.explanation(workers)?;
            let count = self.params.predicted_from();
            return Predictor::new(at, data, count, explanation, workers)?.predict(&x, workers);
        }
        let (kernel, noise_scale) = (at.kernel(), at.noise_scale());
        let posterior =
            exact::Posterior::new(kernel, noise_scale, at.mean(), data.x.view(), &data.y, workers)?;
        let (mean, latent) = posterior.predict(&x, workers);
        Ok((mean, latent + noise_scale.powi(2)))
    }

    fn model(&self, state: &State) -> Result<Model> {
        let scales = state.process.scales();
        if self.params.predict == PredictFrom::Exact {
            return Ok(Model::gp(&scales));
        }
        let model = Model::neighbours(&scales, self.params.predicted_from());
        Ok(match state.explanation(Workers::new(1))? {
            None => model,
            Some(explanation) => model.on_inducing(
                state.process.points().view(),
                explanation.mean.view(),
                explanation.root.view(),
                state.process.jitter(),
            ),
        })
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        saved.put_list("parameters", &state.process.parameters());
        saved.put_list("searched", &state.found.at);
        if state.process.has_points() {
            saved.put("points", state.process.points().view());
        }
        saved.put_integers("order", state.data.order.iter().map(|&row| row as u64));
        match &state.progress {
            Ascent::Lbfgs { lbfgs, evaluations, rounds, ended_at, reason } => {
                saved.put_list("lbfgs", &lbfgs.save());
                if let Some(ended_at) = *ended_at {
                    saved.put_number("ended_at", ended_at);
                }
                let reason = REASONS.iter().position(|known| known == reason).expect("the list has all");
                saved.put_integers("counts", [state.found.searches, *evaluations, *rounds, reason as u64]);
            }
            Ascent::Adam { optimiser, drawn } => {
                saved.put_all(optimiser.save("optimiser"));
                saved.put_integers("counts", [state.found.searches, *drawn]);
            }
        }
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let params = &self.params;
        let mut process = Process::new(fit, params)?;
        if let Some(points) = saved.find("points") {
            process.set_points(points.view());
        }
        let order = saved.get_integers("order")?.into_iter().map(|row| row as usize).collect();
        let data = Data::new(&fit.x(), &fit.y(), order)?;
        let count = process.parameters().len();
        let list =
            |name: &str| saved.get_shaped(name, (count, 1)).map(|list| list.into_iter().collect::<Vec<_>>());
        let (parameters, at) = (list("parameters")?, list("searched")?);
        // The neighbours are found again: they depend on the parameters of the search alone.
        process.set(&at);
        let (neighbours, _) = search(&process, &data, params.neighbours, fit.workers())?;
        process.set(&parameters);
        let (progress, searches) = load_progress(&parameters, params, saved)?;
        Ok(State { process, data, found: Found { neighbours, at, searches }, progress })
    }

    fn numbers(&self, state: &State) -> Vec<(&'static str, f64)> {
        let at_floor = if state.process.is_at_floor() { 1.0 } else { 0.0 };
        vec![
            ("neighbour_searches", state.found.searches as f64),
            ("noise_floor", state.process.noise_floor()),
            ("noise_at_floor", at_floor),
            ("inducing_points", state.process.points().nrows() as f64),
        ]
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        let params = &self.params;
        let (m, points) = (params.neighbours.min(n) as f64, params.inducing.min(n) as f64);
        let predicts_exactly = params.predict == PredictFrom::Exact && n <= exact::MOST_ROWS;
        let (n, d) = (n as f64, d as f64);
        let matrix = if predicts_exactly { n * n } else { 0.0 };
        // The data in two orders, and scaled; neighbours, their groups and weights; a tree; A and what is as large as
        // it.
        8.0 * (n * (4.0 * d + 3.0 * m + 12.0) + 6.0 * n * points + 4.0 * points * points + matrix)
    }
}

/// The optimiser of a saved state, and the number of searches.
fn load_progress(parameters: &[f64], params: &VecchiaParams, saved: &Saved) -> Result<(Ascent, u64)> {
    let bad = |what: &str| Error::InvalidArgument(format!("the saved `{what}` are not those of a fit"));
    let counts = saved.get_integers("counts")?;
    match (Ascent::new(parameters, params), counts.as_slice()) {
        (Ascent::Lbfgs { .. }, &[searches, evaluations, rounds, reason]) => {
            let state = saved.get_list("lbfgs")?;
            let lbfgs = Lbfgs::load(&state, parameters.len(), LbfgsOptions::default());
            let lbfgs = lbfgs.ok_or_else(|| bad("lbfgs"))?;
            let ended_at = saved.find("ended_at").and_then(|list| list.first().copied());
            let reason = *REASONS.get(reason as usize).ok_or_else(|| bad("counts"))?;
            Ok((Ascent::Lbfgs { lbfgs, evaluations, rounds, ended_at, reason }, searches))
        }
        (Ascent::Adam { mut optimiser, .. }, &[searches, drawn]) => {
            optimiser.load("optimiser", |name| saved.find(name))?;
            Ok((Ascent::Adam { optimiser, drawn }, searches))
        }
        _ => Err(bad("counts")),
    }
}
