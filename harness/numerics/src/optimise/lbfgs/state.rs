//! The saved state: finite numbers only, so that every store of states can hold it.

use super::line_search::LineSearch;
use super::pairs::Pairs;
use super::{Finish, Lbfgs, LbfgsOptions, Phase};

/// Numbers before the vectors: the phase, the number of pairs, value, slope, whether there is a best value, the best
/// value, and four of the line search.
const HEAD: usize = 10;
/// Vectors before those of the pairs: point, best and accepted point, gradient, direction.
const VECTORS: usize = 5;

const PHASES: [Phase; 5] = [
    Phase::Start,
    Phase::Search,
    Phase::Finished(Finish::Converged),
    Phase::Finished(Finish::NoDescent),
    Phase::Finished(Finish::Gradient),
];

impl Lbfgs {
    /// The whole state as finite numbers, at any moment.
    pub fn save(&self) -> Vec<f64> {
        let phase = PHASES.iter().position(|phase| *phase == self.phase).expect("the list has every phase");
        let best = if self.best_value.is_finite() { [1.0, self.best_value] } else { [0.0, 0.0] };
        let vectors = [&self.point, &self.best, &self.accepted, &self.gradient, &self.direction];

        let mut state = vec![phase as f64, self.pairs.len() as f64, self.value, self.slope];
        state.extend(best);
        state.extend(self.search.save());
        vectors.iter().for_each(|vector| state.extend(vector.iter()));
        self.pairs.vectors().for_each(|vector| state.extend(vector));
        state
    }

    /// The optimiser that [`save`](Self::save) gave; with the same options it goes on with the same bits. None if the
    /// numbers are not the state of an optimiser of so many dimensions.
    pub fn load(state: &[f64], dimensions: usize, options: LbfgsOptions) -> Option<Lbfgs> {
        let (head, vectors) = state.split_at_checked(HEAD)?;
        let &[phase, pairs, value, slope, has_best, best_value, step, low, high, count] = head else {
            return None;
        };
        let phase = *PHASES.get(index(phase, PHASES.len())?)?;
        let pairs = index(pairs, options.pairs + 1)?;
        if vectors.len() != dimensions * (VECTORS + 2 * pairs) || !state.iter().all(|value| value.is_finite())
        {
            return None;
        }
        let (vectors, pairs) = vectors.split_at(dimensions * VECTORS);
        let vector = |i: usize| vectors[dimensions * i..dimensions * (i + 1)].to_vec();
        Some(Lbfgs {
            options,
            phase,
            point: vector(0),
            best: vector(1),
            best_value: if has_best == 1.0 { best_value } else { f64::INFINITY },
            accepted: vector(2),
            value,
            gradient: vector(3),
            direction: vector(4),
            slope,
            search: LineSearch::load([step, low, high, count]),
            pairs: Pairs::from_vectors(pairs, dimensions),
        })
    }
}

/// `number` as a whole number below `end`.
fn index(number: f64, end: usize) -> Option<usize> {
    let whole = number as usize;
    (whole as f64 == number && whole < end).then_some(whole)
}
