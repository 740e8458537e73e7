//! State of a fit: steps of L-BFGS on all rows, or of Adam on minibatches, between searches for neighbours.

use gpbench_sdk::ndarray::Array1;
use gpbench_sdk::neighbours::Earlier;
use gpbench_sdk::optimise::{Finish, Lbfgs, LbfgsOptions, Method, Optimiser, Progress};
use gpbench_sdk::{Error, Fit, Reason, Result, Stream, Work, Workers};

use crate::{Data, Explanation, LogLikelihood, Maximiser, Process, VecchiaParams, likelihood, search, vif};

/// Most searches at ends of L-BFGS after which it goes on.
const ROUNDS: u64 = 20;

/// State of a fit.
#[derive(Debug)]
pub struct State {
    pub(crate) process: Process,
    pub(crate) data: Data,
    pub(crate) found: Found,
    pub(crate) progress: Ascent,
}

/// Neighbours that were found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) neighbours: Earlier,
    /// Free parameters of the search.
    pub(crate) at: Vec<f64>,
    /// Searches so far.
    pub(crate) searches: u64,
}

/// The optimiser and its counts.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a fit has one")]
pub(crate) enum Ascent {
    Lbfgs {
        lbfgs: Lbfgs,
        /// Evaluations since the last search.
        evaluations: u64,
        /// Times that L-BFGS ended and went on with other neighbours.
        rounds: u64,
        /// Value at the last end.
        ended_at: Option<f64>,
        reason: Option<Reason>,
    },
    Adam {
        optimiser: Optimiser,
        /// Rows of all minibatches.
        drawn: u64,
    },
}

impl State {
    /// The state before the first step, with the neighbours at these parameters; and what the search has charged.
    pub(crate) fn new(
        process: Process,
        data: Data,
        params: &VecchiaParams,
        workers: Workers<'_>,
    ) -> Result<(State, usize)> {
        let (neighbours, entries) = search(&process, &data, params.neighbours, workers)?;
        let at = process.parameters();
        let progress = Ascent::new(&at, params);
        Ok((State { process, data, found: Found { neighbours, at, searches: 1 }, progress }, entries))
    }

    pub(crate) fn step(&mut self, fit: &Fit<'_>, params: &VecchiaParams) -> Result<f64> {
        match params.optimiser {
            Maximiser::Lbfgs => self.evaluate(fit, params),
            Maximiser::Adam => self.descend(fit, params),
        }
    }

    /// Evaluates the likelihood of all rows once, for L-BFGS. Returns the best one before it, per row and negative; at the
    /// first evaluation, which there is none before, its own.
    fn evaluate(&mut self, fit: &Fit<'_>, params: &VecchiaParams) -> Result<f64> {
        let n = self.data.n();
        fit.batch(Stream::MAIN, n)?;
        let Ascent::Lbfgs { lbfgs, evaluations, .. } = &mut self.progress else {
            unreachable!("by `params`")
        };
        self.process.set(lbfgs.point());
        let all: Vec<usize> = (0..n).collect();
        let found = log_likelihood(&self.process, &self.data, &self.found.neighbours, &all, fit.workers());
        fit.charge(work(&self.process, &self.found.neighbours, n))?;
        let (value, gradient) = match found {
            Ok(found) if self.process.is_sound() => per_row(&self.process, &found, n),
            Ok(_) | Err(Error::NotPositiveDefinite { .. }) => (f64::NAN, vec![0.0; lbfgs.point().len()]),
            Err(other) => return Err(other),
        };
        let before = lbfgs.best_value();
        let progress = lbfgs.tell(value, &gradient);
        *evaluations += 1;
        let is_due = *evaluations >= params.neighbours_every as u64;
        let best = lbfgs.best_value();
        self.process.set(lbfgs.best());
        match progress {
            Progress::Accepted if is_due => self.go_on_with_new_neighbours(fit, params)?,
            Progress::Finished(finish) => self.end(finish, best, fit, params)?,
            Progress::Accepted | Progress::Trial => {}
        }
        Ok(if before.is_finite() { before } else { value })
    }

    /// Finds the neighbours at the best parameters. Where they are others, L-BFGS begins again, since the likelihood
    /// is another function. Returns whether it did.
    fn renew(&mut self, fit: &Fit<'_>, params: &VecchiaParams) -> Result<bool> {
        let (neighbours, entries) = search(&self.process, &self.data, params.neighbours, fit.workers())?;
        fit.charge(Work::entries(entries))?;
        let at = self.process.parameters();
        let is_other = !neighbours.is_same(&self.found.neighbours);
        self.found = Found { neighbours, at, searches: self.found.searches + 1 };
        Ok(is_other)
    }

    fn go_on_with_new_neighbours(&mut self, fit: &Fit<'_>, params: &VecchiaParams) -> Result<()> {
        let is_other = self.renew(fit, params)?;
        if let Ascent::Lbfgs { lbfgs, evaluations, .. } = &mut self.progress {
            *evaluations = 0;
            if is_other {
                *lbfgs = Lbfgs::new(&self.found.at, LbfgsOptions::default());
            }
        }
        Ok(())
    }

    /// Goes on with the neighbours at the end, or ends where these are the same, or where the last round gained
    /// nothing.
    fn end(&mut self, finish: Finish, best: f64, fit: &Fit<'_>, params: &VecchiaParams) -> Result<()> {
        let is_other = best.is_finite() && self.renew(fit, params)?;
        let Ascent::Lbfgs { lbfgs, evaluations, rounds, ended_at, reason } = &mut self.progress else {
            unreachable!("by `params`")
        };
        let gain = ended_at.map_or(f64::INFINITY, |before| before - best);
        let has_gained = gain > LbfgsOptions::default().relative_gain * best.abs();
        if is_other && has_gained && *rounds < ROUNDS {
            *lbfgs = Lbfgs::new(&self.found.at, LbfgsOptions::default());
            (*evaluations, *rounds, *ended_at) = (0, *rounds + 1, Some(best));
        } else {
            let is_stuck = finish == Finish::NoDescent;
            *reason = Some(if is_stuck { Reason::Stagnated } else { Reason::Converged });
        }
        Ok(())
    }

    /// Takes a step of Adam on a minibatch. Returns its negative log likelihood per row.
    fn descend(&mut self, fit: &Fit<'_>, params: &VecchiaParams) -> Result<f64> {
        let rows = fit.batch(Stream::MAIN, params.batch)?;
        let n = self.data.n() as u64;
        let Ascent::Adam { drawn, .. } = &self.progress else { unreachable!("by `params`") };
        let passes = *drawn / n;
        let is_due =
            drawn.is_multiple_of(n) && passes > 0 && passes.is_multiple_of(params.neighbours_every as u64);
        if is_due {
            self.renew(fit, params)?;
        }
        let positions: Vec<usize> = rows.iter().map(|&row| self.data.positions[row]).collect();
        let neighbours = &self.found.neighbours;
        let found = log_likelihood(&self.process, &self.data, neighbours, &positions, fit.workers())?;
        fit.charge(work(&self.process, neighbours, rows.len()))?;
        let (value, gradient) = per_row(&self.process, &found, rows.len());
        let Ascent::Adam { optimiser, drawn } = &mut self.progress else { unreachable!("by `params`") };
        let schedule = params.milestones.schedule(params.factor, fit.passes());
        let rate = params.learning_rate * schedule.at(*drawn as f64 / n as f64);
        let mut parameters = self.process.parameters();
        optimiser.descend(&mut parameters, &gradient, rate);
        *drawn += rows.len() as u64;
        self.process.set(&parameters);
        // Scales that vanish or overflow have no likelihood: the fit has diverged.
        Ok(if self.process.is_sound() { value } else { f64::NAN })
    }

    /// Why L-BFGS has ended.
    pub(crate) fn reason(&self) -> Option<Reason> {
        match &self.progress {
            Ascent::Lbfgs { reason, .. } => *reason,
            Ascent::Adam { .. } => None,
        }
    }

    /// The function at the inducing points, if there are any.
    pub(crate) fn explanation(&self, workers: Workers<'_>) -> Result<Option<Explanation>> {
        if !self.process.has_points() {
            return Ok(None);
        }
        vif::explain(&self.process, &self.data, &self.found.neighbours, workers).map(Some)
    }
}

impl Ascent {
    pub(crate) fn new(parameters: &[f64], params: &VecchiaParams) -> Ascent {
        match params.optimiser {
            Maximiser::Lbfgs => Ascent::Lbfgs {
                lbfgs: Lbfgs::new(parameters, LbfgsOptions::default()),
                evaluations: 0,
                rounds: 0,
                ended_at: None,
                reason: None,
            },
            Maximiser::Adam => {
                Ascent::Adam { optimiser: Optimiser::new(Method::Adam, parameters.len()), drawn: 0 }
            }
        }
    }
}

/// The log likelihood of the rows at `positions`, which with inducing points are all.
fn log_likelihood(
    at: &Process,
    data: &Data,
    neighbours: &Earlier,
    positions: &[usize],
    workers: Workers<'_>,
) -> Result<LogLikelihood> {
    match at.has_points() {
        true => vif::log_likelihood(at, data, neighbours, workers),
        false => likelihood::log_likelihood(at, data, neighbours, positions, workers),
    }
}

/// The negative log likelihood per row, and its derivatives by the free parameters.
fn per_row(at: &Process, found: &LogLikelihood, rows: usize) -> (f64, Vec<f64>) {
    let scale = -1.0 / rows as f64;
    let gradient: Array1<f64> = at.chain(found).into();
    (scale * found.value, (scale * gradient).to_vec())
}

/// The work of a likelihood of so many rows: the entries of their groups, and those of the inducing points with all
/// rows.
fn work(at: &Process, neighbours: &Earlier, rows: usize) -> Work {
    let (m, points) = (neighbours.most(), at.points().nrows());
    let of_points = points * (points + neighbours.len());
    Work {
        rows: rows * m,
        ..Work::entries(rows * (m + 1) * (m + 1) + if points > 0 { of_points } else { 0 })
    }
}
