//! The learner: draws centres, finds their groups, and takes steps.

use gpbench_sdk::ndarray::{Array1, Array2, ArrayView2, Axis};
use gpbench_sdk::neighbours;
use gpbench_sdk::optimise::{Hyperparameters, Optimiser};
use gpbench_sdk::{
    Capabilities, Covariance, Error, Facts, Fit, Learner, Model, Result, Saved, Stream, Work, Workers, exact,
};

use crate::objective::objective;
use crate::{Grouping, SgGpParams, uniform};

/// Name of the length scales of the last search in a saved state; missing if there was none.
const SEARCHED: &str = "searched_length_scale";

/// Descent on the likelihoods of groups of neighbours.
#[derive(Debug)]
pub struct SgGp {
    params: SgGpParams,
}

/// State of a fit.
#[derive(Debug)]
pub struct State {
    family: Covariance,
    x: Array2<f64>,
    y: Array1<f64>,
    hyperparameters: Hyperparameters,
    optimiser: Optimiser,
    /// Steps taken.
    steps: u64,
    /// Centres drawn, n in each pass.
    drawn: usize,
    found: Option<Found>,
}

/// Groups of nearest neighbours, n x k.
#[derive(Debug)]
struct Found {
    groups: Array2<usize>,
    /// Length scales of the search.
    length_scale: Vec<f64>,
}

impl Learner for SgGp {
    type Params = SgGpParams;
    const ID: &'static str = "sggp";
    const DOC: &'static str = "Minibatch likelihoods of groups of nearest neighbours; predicts exactly";
    const SOURCE: &'static str = "H. Chen, L. Zheng, R. Al Kontar, G. Raskutti. Stochastic Gradient Descent in \
        Correlated Settings: A Study on Gaussian Processes. NeurIPS 2020.";
    const FACTS: Facts = Facts {
        step: "b k^2 entries, b (k^3 + 2 d k^2) operations for b groups of k rows; neighbours are found anew \
            in each pass",
        memory: "2 n d + n k; n^2 for predictions",
        guarantees: "predictions are exact at the scales found; the gradient is biased",
        advice: "short distances that decide; not where predictions must not cost n^3",
    };
    const CAPABILITIES: Capabilities =
        Capabilities::KERNEL.and(Capabilities::MEAN).and(Capabilities::RANDOMIZED);
    type State = State;

    fn new(params: SgGpParams) -> Result<Self> {
        Ok(SgGp { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<State> {
        State::new(fit, &self.params)
    }

    fn step(&self, state: &mut State, fit: &Fit<'_>) -> Result<f64> {
        let centres = fit.batch(Stream::MAIN, self.params.batch)?;
        state.step(fit, &self.params, &centres)
    }

    fn predict(
        &self,
        state: &State,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        let at = &state.hyperparameters;
        let (kernel, noise_scale) = (at.kernel(state.family), at.noise_scale());
        let posterior =
            exact::Posterior::new(kernel, noise_scale, at.mean(), state.x.view(), &state.y, workers)?;
        let (mean, latent) = posterior.predict(&x, workers);
        Ok((mean, latent + noise_scale.powi(2)))
    }

    fn model(&self, state: &State) -> Result<Model> {
        Ok(Model::gp(&state.hyperparameters.scales()))
    }

    fn save(&self, state: &State, saved: &mut Saved) -> Result<()> {
        saved.put_list("free", &state.hyperparameters.free);
        saved.put_all(state.optimiser.save("optimiser"));
        saved.put_integers("counts", [state.steps, state.drawn as u64]);
        if let Some(found) = &state.found {
            saved.put_list(SEARCHED, &found.length_scale);
        }
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<State> {
        let mut state = State::new(fit, &self.params)?;
        let free = saved.get_shaped("free", (state.hyperparameters.free.len(), 1))?;
        state.hyperparameters.free = free.into_iter().collect();
        state.optimiser.load("optimiser", |name| saved.find(name))?;
        let counts = saved.get_integers("counts")?;
        let [steps, drawn] = counts[..] else {
            return Err(Error::InvalidArgument("the saved `counts` are not two".into()));
        };
        (state.steps, state.drawn) = (steps, drawn as usize);
        // The neighbours are found again: they depend on the length scales alone.
        if let Ok(searched) = saved.get_list(SEARCHED) {
            state.search(searched, self.params.neighbours, fit.workers())?;
        }
        Ok(state)
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        let (n, d, k) = (n as f64, d as f64, self.params.neighbours.min(n) as f64);
        // The data twice, once scaled; the groups, and a tree. For the prediction a matrix.
        let matrix = if n <= exact::MOST_ROWS as f64 { n * n } else { 0.0 };
        8.0 * (n * (2.0 * d + k + 8.0) + matrix)
    }
}

impl State {
    fn new(fit: &Fit<'_>, params: &SgGpParams) -> Result<State> {
        let hyperparameters = Hyperparameters::of(fit, params.transform)?;
        let optimiser = Optimiser::new(params.optimiser, hyperparameters.free.len());
        let mut x = Array2::zeros((fit.n(), fit.d()));
        x.assign(&fit.x());
        let (family, y) = (fit.family(), fit.y().to_owned());
        Ok(State { family, x, y, hyperparameters, optimiser, steps: 0, drawn: 0, found: None })
    }

    /// Takes a step on the groups of `centres`. Returns the mean of their likelihoods.
    fn step(&mut self, fit: &Fit<'_>, params: &SgGpParams, centres: &[usize]) -> Result<f64> {
        let (n, workers) = (self.y.len(), fit.workers());
        let groups = match params.grouping {
            Grouping::Uniform => uniform::draw(centres, params.neighbours, n, fit.seed(), self.steps),
            Grouping::Neighbours => {
                if self.is_search_due(params.neighbours_every) {
                    let length_scale = self.hyperparameters.kernel(self.family).length_scale;
                    let distances = self.search(length_scale, params.neighbours, workers)?;
                    fit.charge(Work::entries(distances))?;
                }
                let found = self.found.as_ref().expect("a search is due at the first step");
                found.groups.select(Axis(0), centres)
            }
        };
        let data = (&self.x, &self.y, &groups);
        let (nlml, gradient) =
            objective(&self.hyperparameters, self.family, data, params.signal_factor, workers)?;
        let k = groups.ncols();
        fit.charge(Work { rows: centres.len() * (k - 1), ..Work::entries(centres.len() * k * k) })?;
        let passes = self.drawn as f64 / n as f64;
        let schedule = params.milestones.schedule(params.factor, fit.passes());
        let rate = params.learning_rate * schedule.at(passes);
        self.optimiser.descend(&mut self.hyperparameters.free, &gradient, rate);
        self.steps += 1;
        self.drawn += centres.len();
        // Scales that vanish or overflow have no likelihood: the fit has diverged.
        Ok(if self.hyperparameters.is_sound() { nlml } else { f64::NAN })
    }

    /// Whether a pass begins for which neighbours are to be found anew.
    fn is_search_due(&self, every: usize) -> bool {
        let n = self.y.len();
        self.found.is_none() || (self.drawn.is_multiple_of(n) && (self.drawn / n).is_multiple_of(every))
    }

    /// Finds the groups of all rows. Returns the number of distances computed.
    fn search(&mut self, length_scale: Vec<f64>, k: usize, workers: Workers<'_>) -> Result<usize> {
        let found = neighbours::groups(&neighbours::scaled(&self.x, &length_scale)?, k, workers)?;
        self.found = Some(Found { groups: found.groups, length_scale });
        Ok(found.distances)
    }
}
