//! L-BFGS (Nocedal 1980) with a weak Wolfe line search by bisection (Lewis and Overton 2013).
//!
//! The caller evaluates the function, not the optimiser: [`Lbfgs::point`] says where, and [`Lbfgs::tell`] takes the
//! value and the gradient there. A learner can therefore take one evaluation a step, and be paused and saved between
//! two evaluations, also within a line search. An optimiser that calls a closure would own the loop.

mod line_search;
mod pairs;
mod state;
#[cfg(test)]
mod tests;

use line_search::LineSearch;
use pairs::Pairs;

use crate::dot;

/// A step has to decrease the function by this part of what the slope at its beginning promises.
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// A step has to reduce the slope along the direction to this part.
const CURVATURE: f64 = 0.9;
/// A gradient whose largest entry is below this part of the function's value, or of 1, is zero up to rounding.
const ZERO_GRADIENT: f64 = 1e-12;

/// Constants of [`Lbfgs`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LbfgsOptions {
    /// Number of pairs of steps and gradient changes that approximate the Hessian.
    pub pairs: usize,
    /// Evaluations of one line search. After them the pairs are dropped, and a search that began without pairs ends
    /// the optimisation.
    pub trials: usize,
    /// An accepted step that decreases the function by at most this part of its absolute value is the last.
    pub relative_gain: f64,
}

impl Default for LbfgsOptions {
    /// 10 pairs, 20 trials, a relative gain of 1e-6.
    fn default() -> LbfgsOptions {
        LbfgsOptions { pairs: 10, trials: 20, relative_gain: 1e-6 }
    }
}

/// What an evaluation led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The line search goes on with another trial.
    Trial,
    /// The point was accepted. The next point is the first trial of a new line search.
    Accepted,
    /// The optimisation is over, and [`Lbfgs::point`] is the best point.
    Finished(Finish),
}

/// Why an optimisation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The last accepted step gained too little, see [`LbfgsOptions::relative_gain`].
    Converged,
    /// No trial along the negative gradient decreased the function, or the start has no finite value.
    NoDescent,
    /// The gradient is zero up to rounding.
    Gradient,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The start is not evaluated yet.
    Start,
    Search,
    Finished(Finish),
}

/// The state of L-BFGS, which minimises a function of a flat vector.
///
/// A value or a gradient that is not finite counts as too high a value, so that line searches return from regions
/// where the function cannot be evaluated.
///
/// ```ignore
/// let mut lbfgs = Lbfgs::new(&start, LbfgsOptions::default());
/// loop {
///     let (value, gradient) = evaluate(lbfgs.point());
///     if let Progress::Finished(_) = lbfgs.tell(value, &gradient) {
///         break;
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Lbfgs {
    options: LbfgsOptions,
    phase: Phase,
    /// Where the function is to be evaluated.
    point: Vec<f64>,
    /// The evaluated point of the lowest value; the start before the first finite value.
    best: Vec<f64>,
    /// Infinity before the first finite value.
    best_value: f64,
    /// The last accepted point, from which the line search starts, and the function there.
    accepted: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// The direction of the line search, and the derivative along it at the accepted point.
    direction: Vec<f64>,
    slope: f64,
    search: LineSearch,
    pairs: Pairs,
}

impl Lbfgs {
    /// An optimiser whose first evaluation is at `start`.
    pub fn new(start: &[f64], options: LbfgsOptions) -> Lbfgs {
        Lbfgs {
            options,
            phase: Phase::Start,
            point: start.to_vec(),
            best: start.to_vec(),
            best_value: f64::INFINITY,
            accepted: start.to_vec(),
            value: 0.0,
            gradient: vec![0.0; start.len()],
            direction: vec![0.0; start.len()],
            slope: 0.0,
            search: LineSearch::new(0.0),
            pairs: Pairs::default(),
        }
    }

    /// Where to evaluate the function and its gradient next; at the end, the best point.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// The evaluated point of the lowest value: an accepted one or a trial.
    pub fn best(&self) -> &[f64] {
        &self.best
    }

    /// The value at [`best`](Self::best); infinity before the first finite value.
    pub fn best_value(&self) -> f64 {
        self.best_value
    }

    /// Whether [`point`](Self::point) is a trial of a line search that is not accepted yet. The start and the end
    /// are none.
    pub fn is_line_search(&self) -> bool {
        self.phase == Phase::Search
    }

    /// Takes the function's value and gradient at [`point`](Self::point), and moves the point. After the end, nothing
    /// changes.
    ///
    /// # Panics
    /// If the gradient has another length than the start.
    pub fn tell(&mut self, value: f64, gradient: &[f64]) -> Progress {
        assert_eq!(gradient.len(), self.point.len(), "one derivative a parameter");
        let finite = value.is_finite() && gradient.iter().all(|derivative| derivative.is_finite());
        if finite && value < self.best_value && self.finish().is_none() {
            self.best_value = value;
            self.best.copy_from_slice(&self.point);
        }
        match self.phase {
            Phase::Finished(finish) => Progress::Finished(finish),
            Phase::Start if !finite => self.end(Finish::NoDescent),
            Phase::Start => self.begin(value, gradient),
            Phase::Search => self.try_step(value, gradient, finite),
        }
    }

    /// Why the optimisation is over; none before its end.
    pub fn finish(&self) -> Option<Finish> {
        match self.phase {
            Phase::Finished(finish) => Some(finish),
            Phase::Start | Phase::Search => None,
        }
    }

    fn begin(&mut self, value: f64, gradient: &[f64]) -> Progress {
        self.phase = Phase::Search;
        self.move_to(value, gradient);
        if self.gradient_is_zero() {
            return self.end(Finish::Gradient);
        }
        self.start_search();
        Progress::Accepted
    }

    /// Judges a trial by the weak Wolfe conditions. The last trial of a search need not fulfil the second one.
    fn try_step(&mut self, value: f64, gradient: &[f64], finite: bool) -> Progress {
        let last = self.search.count() >= self.options.trials;
        let promised = self.search.step() * self.slope;
        let too_high = !finite || value > self.value + SUFFICIENT_DECREASE * promised;
        let too_short = dot(gradient, &self.direction) < CURVATURE * self.slope;
        match (too_high, too_short, last) {
            (false, false, _) | (false, true, true) => return self.accept(value, gradient),
            (true, _, true) => return self.start_again(),
            (true, _, false) => self.search.shorten(),
            (false, true, false) => self.search.lengthen(),
        }
        self.set_trial();
        Progress::Trial
    }

    fn accept(&mut self, value: f64, gradient: &[f64]) -> Progress {
        let step = self.direction.iter().map(|entry| self.search.step() * entry).collect();
        let change = gradient.iter().zip(&self.gradient).map(|(new, old)| new - old).collect();
        self.pairs.push(step, change, self.options.pairs);
        let gain = self.value - value;
        self.move_to(value, gradient);
        if self.gradient_is_zero() {
            return self.end(Finish::Gradient);
        }
        if gain <= self.options.relative_gain * value.abs() {
            return self.end(Finish::Converged);
        }
        self.start_search();
        Progress::Accepted
    }

    /// After a search without an acceptable trial: another one along the negative gradient, unless this was one.
    fn start_again(&mut self) -> Progress {
        if self.pairs.is_empty() {
            return self.end(Finish::NoDescent);
        }
        self.pairs.clear();
        self.start_search();
        Progress::Trial
    }

    /// Makes the evaluated point the accepted one.
    fn move_to(&mut self, value: f64, gradient: &[f64]) {
        self.accepted.copy_from_slice(&self.point);
        self.value = value;
        self.gradient.copy_from_slice(gradient);
    }

    fn gradient_is_zero(&self) -> bool {
        let tolerance = ZERO_GRADIENT * self.value.abs().max(1.0);
        self.gradient.iter().all(|derivative| derivative.abs() <= tolerance)
    }

    /// Starts a line search at the accepted point. Without pairs, whose lengths scale the direction, the first trial
    /// is at most at distance 1.
    fn start_search(&mut self) {
        self.pairs.descent(&self.gradient, &mut self.direction);
        self.slope = dot(&self.gradient, &self.direction);
        if !(self.slope < 0.0) {
            self.pairs.clear();
            self.pairs.descent(&self.gradient, &mut self.direction);
            self.slope = dot(&self.gradient, &self.direction);
        }
        let length = dot(&self.direction, &self.direction).sqrt();
        self.search = LineSearch::new(if self.pairs.is_empty() { length.recip().min(1.0) } else { 1.0 });
        self.set_trial();
    }

    fn set_trial(&mut self) {
        let step = self.search.step();
        for ((point, start), entry) in self.point.iter_mut().zip(&self.accepted).zip(&self.direction) {
            *point = start + step * entry;
        }
    }

    fn end(&mut self, finish: Finish) -> Progress {
        self.phase = Phase::Finished(finish);
        self.point.copy_from_slice(&self.best);
        Progress::Finished(finish)
    }
}
