//! Illustration, for plotting, of how the first step chooses its points, where there is one input only (Lin et al.
//! 2023, Figure 7).

use gpbench_gp::PosteriorSamples;
use gpbench_record::{IllustratedSample, Illustration};
use ndarray::{Array1, ArrayView2, Axis, s};

use crate::rounding::six_digits;

use super::acquisition::{Acquisition, Observe};
use super::search::Search;
use super::state::{Known, State};

/// Number of points of the grid.
const PLACES: usize = 401;
/// Largest numbers of samples, candidates and rows that are kept.
const SAMPLES: usize = 3;
const CANDIDATES: usize = 100;
const ROWS: usize = 300;

/// Observer that keeps what it receives, if the step is illustrated.
pub(super) struct Illustrator<'a, 's> {
    search: &'a Search<'s>,
    /// `None` where the step is not illustrated.
    seen: Option<Seen>,
}

#[derive(Default)]
struct Seen {
    candidates: Vec<f64>,
    /// Points and values of all ascents, after each step.
    ascents: Vec<(Vec<f64>, Vec<f64>)>,
}

impl<'a, 's> Illustrator<'a, 's> {
    pub(super) fn new(search: &'a Search<'s>, state: &State) -> Self {
        let is_illustrated = search.objective.d == 1 && state.taken() == 0;
        Illustrator { search, seen: is_illustrated.then(Seen::default) }
    }

    /// The illustration of the observed step; `None` for a step that is not illustrated, and for an objective that
    /// cannot be evaluated at this number of points.
    pub(super) fn draw(
        self,
        samples: &PosteriorSamples<'_>,
        known: &Known,
        chosen: &Acquisition,
    ) -> Option<Box<Illustration>> {
        let seen = self.seen?;
        let x = Array1::linspace(0.0, 1.0, PLACES);
        let grid = x.view().insert_axis(Axis(1));
        // An exact draw may not have enough memory for this number of points.
        let objective = self.search.judge(known, grid).ok()?;
        let values = samples.values(grid);
        let count = samples.count();
        let of_sample = |sample: usize| IllustratedSample {
            values: rounded(values.column(sample)),
            ascents: (0..self.search.task.candidates.rounds)
                .map(|round| seen.ascent(round * count + sample))
                .collect(),
            chosen: [chosen.x[(sample, 0)], chosen.values[sample]].map(six_digits),
        };
        Some(Box::new(Illustration {
            x: rounded(&x),
            objective: rounded(&objective),
            data: rows(known.x.view(), &known.observed),
            candidates: seen.candidates.clone(),
            samples: (0..count.min(SAMPLES)).map(of_sample).collect(),
        }))
    }
}

impl Observe for Illustrator<'_, '_> {
    fn candidates(&mut self, x: ArrayView2<f64>) {
        if let Some(seen) = &mut self.seen {
            seen.candidates = rounded(x.iter().step_by(x.nrows().div_ceil(CANDIDATES)));
        }
    }

    fn ascent(&mut self, x: ArrayView2<f64>, values: &Array1<f64>) {
        if let Some(seen) = &mut self.seen {
            seen.ascents.push((rounded(x.iter()), rounded(values)));
        }
    }
}

impl Seen {
    /// Points and values along one ascent.
    fn ascent(&self, start: usize) -> Vec<[f64; 2]> {
        self.ascents.iter().map(|(places, values)| [places[start], values[start]]).collect()
    }
}

/// Points and observed values of some evenly spaced rows, in order.
fn rows(x: ArrayView2<f64>, observed: &Array1<f64>) -> Vec<[f64; 2]> {
    let every = x.nrows().div_ceil(ROWS).max(1);
    let places = x.slice(s![..;every, 0]);
    places.iter().zip(observed.slice(s![..;every])).map(|(x, y)| [*x, *y].map(six_digits)).collect()
}

fn rounded<'v>(values: impl IntoIterator<Item = &'v f64>) -> Vec<f64> {
    values.into_iter().copied().map(six_digits).collect()
}
