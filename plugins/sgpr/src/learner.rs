//! The learner: begin, step, and saved states.

use gpbench_sdk::ndarray::{Array1, ArrayView2};
use gpbench_sdk::optimise::{Hyperparameters, Lbfgs};
use gpbench_sdk::{
    Capabilities, Error, Facts, Fit, Learner, Model, Reason, Result, Saved, Workers, symmetric,
};

use crate::fitting::{self, Next, Place, State};
use crate::{CollapsedBound, OptimalDistribution, SgprParams};

/// Sparse Gaussian process regression.
#[derive(Debug)]
pub struct Sgpr {
    params: SgprParams,
}

/// State of a fit, which only this crate looks into.
#[derive(Debug)]
pub struct SgprState(State);

impl Learner for Sgpr {
    type Params = SgprParams;
    const ID: &'static str = "sgpr";
    const DOC: &'static str =
        "Sparse Gaussian process regression: the collapsed bound of all rows, trained by L-BFGS";
    const SOURCE: &'static str = "M. K. Titsias. Variational Learning of Inducing Variables in Sparse Gaussian Processes. AISTATS 2009.";
    const FACTS: Facts = Facts {
        step: "m n + m^2 entries, 4 m^2 n + 6 m^3 operations for m inducing points; a step is a pass over \
            all rows",
        memory: "m n + 9 m^2 + 3 n d",
        guarantees: "lower and upper bounds of the likelihood, without noise",
        advice: "smooth functions: no learning rate to tune; noise is overestimated where m points are too \
            few",
    };
    const CAPABILITIES: Capabilities =
        Capabilities::KERNEL.and(Capabilities::MEAN).and(Capabilities::INDUCING);
    type State = SgprState;

    fn new(params: SgprParams) -> Result<Self> {
        Ok(Sgpr { params })
    }

    fn begin(&self, fit: &Fit<'_>) -> Result<SgprState> {
        let hyperparameters = Hyperparameters::of(fit, self.params.transform)?;
        let (points, rows) = match fit.inputs().basis {
            Some(points) => (fitting::row_major(points), Vec::new()),
            None => fitting::choose(fit, &hyperparameters, &self.params)?,
        };
        Ok(SgprState(State::new(fit, &self.params, Place { hyperparameters, points }, rows)))
    }

    fn step(&self, state: &mut SgprState, fit: &Fit<'_>) -> Result<f64> {
        state.0.step(fit, &self.params)
    }

    fn finished(&self, state: &SgprState) -> Option<Reason> {
        match state.0.next {
            Next::Search | Next::Choose => None,
            Next::End(reason) => Some(reason),
        }
    }

    fn predict(
        &self,
        state: &SgprState,
        x: ArrayView2<'_, f64>,
        workers: Workers<'_>,
    ) -> Result<(Array1<f64>, Array1<f64>)> {
        state.0.predict(&x, &self.params, workers)
    }

    fn model(&self, state: &SgprState) -> Result<Model> {
        Ok(state.0.model(&self.params))
    }

    fn save(&self, state: &SgprState, saved: &mut Saved) -> Result<()> {
        let state = &state.0;
        saved.put("points", state.best.points.view());
        saved.put_list("scales", &state.best.hyperparameters.free);
        saved.put_list("optimiser", &state.optimiser.save());
        if !state.chosen.is_empty() {
            saved.put_integers("rows", state.chosen.iter().map(|&row| row as u64));
        }
        saved.put_integers("rounds", [state.rounds, put(state.next)]);
        if let Some(bound) = &state.bound {
            let CollapsedBound { lower, upper, log_determinant, quadratic, trace, distribution } = bound;
            saved.put_list("bound", &[*lower, *upper, *log_determinant, *quadratic, *trace]);
            saved.put_list("q_mean", &distribution.mean.to_vec());
            saved.put("q_root", distribution.root.view());
        }
        Ok(())
    }

    fn load(&self, fit: &Fit<'_>, saved: &Saved) -> Result<SgprState> {
        let invalid = |what: &str| Error::InvalidArgument(format!("the saved {what}"));
        let mut hyperparameters = Hyperparameters::of(fit, self.params.transform)?;
        let scales = saved.get_shaped("scales", (hyperparameters.free.len(), 1))?;
        hyperparameters.free = scales.into_iter().collect();
        let points = fitting::row_major(saved.get("points")?);
        if points.ncols() != fit.d() {
            return Err(invalid("`points` are of another number of inputs"));
        }
        let rows = match saved.find("rows") {
            Some(_) => saved.get_integers("rows")?.into_iter().map(|row| row as usize).collect(),
            None => Vec::new(),
        };

        let mut state = State::new(fit, &self.params, Place { hyperparameters, points }, rows);
        let dimensions = state.optimiser.point().len();
        let optimiser =
            Lbfgs::load(&saved.get_list("optimiser")?, dimensions, fitting::options(&self.params));
        state.optimiser = optimiser.ok_or_else(|| invalid("`optimiser` is none of these parameters"))?;
        let [rounds, next] = saved.get_integers("rounds")?[..] else {
            return Err(invalid("`rounds` are not two numbers"));
        };
        state.rounds = rounds;
        state.next = take(next).ok_or_else(|| invalid("`rounds` name no step"))?;
        state.bound = bound(saved, state.best.points.nrows())?;
        Ok(SgprState(state))
    }

    fn numbers(&self, state: &SgprState) -> Vec<(&'static str, f64)> {
        let state = &state.0;
        let mut numbers =
            vec![("inducing_points", state.best.points.nrows() as f64), ("rounds", state.rounds as f64)];
        if let Some(bound) = &state.bound {
            numbers.extend([("lower_bound", bound.lower), ("upper_bound", bound.upper)]);
        }
        numbers
    }

    fn estimate(&self, n: usize, d: usize) -> f64 {
        let (m, n, d) = (self.params.points.min(n) as f64, n as f64, d as f64);
        // A and its derivative in one place, or the factor of the selection; the inputs divided by their length scales
        // twice; factors, products and the distribution of the best place.
        8.0 * (m * n + 3.0 * n * d + 9.0 * m * m)
    }
}

/// The number of a next step in a saved state.
fn put(next: Next) -> u64 {
    match next {
        Next::Search => 0,
        Next::Choose => 1,
        Next::End(Reason::Stagnated) => 3,
        Next::End(_) => 2,
    }
}

/// The reverse of [`put`].
fn take(number: u64) -> Option<Next> {
    [Next::Search, Next::Choose, Next::End(Reason::Converged), Next::End(Reason::Stagnated)]
        .get(usize::try_from(number).ok()?)
        .copied()
}

/// The saved bound at the best place, of `m` points; none if nothing had been evaluated.
fn bound(saved: &Saved, m: usize) -> Result<Option<CollapsedBound>> {
    if saved.find("bound").is_none() {
        return Ok(None);
    }
    let [lower, upper, log_determinant, quadratic, trace] = saved.get_list("bound")?[..] else {
        return Err(Error::InvalidArgument("the saved `bound` has not five numbers".into()));
    };
    let mean = saved.get_shaped("q_mean", (m, 1))?.into_iter().collect();
    let root = symmetric::column_major(&saved.get_shaped("q_root", (m, m))?);
    let distribution = OptimalDistribution { mean, root };
    Ok(Some(CollapsedBound { lower, upper, log_determinant, quadratic, trace, distribution }))
}
