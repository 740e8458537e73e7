//! Acquisition of the points of a step from posterior samples, and its cost.

use gpbench_gp::PosteriorSamples;
use gpbench_gp::thompson::{Ascended, ascend};
use gpbench_record::{Metrics, names};
use ndarray::{Array1, Array2, ArrayView2, Axis};

use crate::process;
use crate::system::System;

use super::posed::Tops;
use super::search::Search;

/// The points that the samples of a step choose.
pub(super) struct Acquisition {
    /// The points, one row per sample.
    pub(super) x: Array2<f64>,
    /// Each sample's own value at its point.
    pub(super) values: Array1<f64>,
    /// Costs of the acquisition, and properties of the points.
    pub(super) metrics: Metrics,
}

/// Points closer than this, in length scales, to an earlier one of their batch are not distinct.
const DISTINCT: f64 = 0.1;

impl Search<'_> {
    /// The points that the samples choose in step `step`: the best points of their ascents. `observe` receives the
    /// candidates of the first round, and the ascents, which are ordered by round and then by sample.
    pub(super) fn choose(
        &self,
        system: &System,
        samples: &PosteriorSamples<'_>,
        step: u64,
        observe: &mut dyn Observe,
    ) -> Acquisition {
        let began = process::now();
        let mut tops = Tops::new(system.d());
        for round in 0..self.task.candidates.rounds {
            let candidates = self.candidates(system, step, round);
            tops.add(samples, candidates.view());
            if round == 0 {
                observe.candidates(candidates.view());
            }
        }
        let ascending = process::now();
        let Tops { x, owner } = tops;
        let of_ascent = self.task.ascent;
        let ascended = ascend(samples, x, &owner, of_ascent, &mut |x, values| observe.ascent(x, values));
        let ended = process::now();

        let (x, values) = best_of_rounds(&ascended, samples.count());
        let mut metrics = Metrics::default();
        let evaluated = self.task.candidates.rounds * self.task.candidates.points
            + (of_ascent.steps as usize + 1) * owner.len();
        let on_boundary =
            share(x.rows().into_iter().map(|point| point.iter().any(|v| *v == 0.0 || *v == 1.0)));
        for (name, value) in [
            (names::SECONDS_CANDIDATES, ascending.wall - began.wall),
            (names::SECONDS_ASCENT, ended.wall - ascending.wall),
            (names::ENTRIES_ACQUIRE, evaluated as f64 * system.m() as f64),
            (names::DISTINCT, distinct(x.view(), &self.kernel.length_scale)),
            (names::ON_BOUNDARY, on_boundary),
        ] {
            metrics.insert(name, value);
        }
        Acquisition { x, values, metrics }
    }
}

/// Observer of an acquisition.
pub(super) trait Observe {
    /// Receives the candidates of the first round.
    fn candidates(&mut self, x: ArrayView2<f64>);

    /// Receives the points and values of all ascents. Call i, counted from 0, is made after i steps.
    fn ascent(&mut self, x: ArrayView2<f64>, values: &Array1<f64>);
}

impl Observe for () {
    fn candidates(&mut self, _: ArrayView2<f64>) {}

    fn ascent(&mut self, _: ArrayView2<f64>, _: &Array1<f64>) {}
}

/// For each of `count` samples, the point of the largest value, and this value; ties go to the first.
fn best_of_rounds(ascended: &Ascended, count: usize) -> (Array2<f64>, Array1<f64>) {
    let best: Vec<usize> = (0..count)
        .map(|sample| {
            let ends = (sample..ascended.values.len()).step_by(count);
            let better = |best: usize, end: usize| {
                if ascended.values[end] > ascended.values[best] { end } else { best }
            };
            ends.reduce(better).expect("there is a round")
        })
        .collect();
    (ascended.x.select(Axis(0), &best), ascended.values.select(Axis(0), &best))
}

/// Share of the points that are farther than [`DISTINCT`] from all points before them.
fn distinct(x: ArrayView2<f64>, length_scale: &[f64]) -> f64 {
    let is_near = |a: usize, b: usize| {
        let scaled =
            x.row(a).into_iter().zip(x.row(b)).zip(length_scale).map(|((a, b), l)| ((a - b) / l).powi(2));
        scaled.sum::<f64>() <= DISTINCT * DISTINCT
    };
    share((0..x.nrows()).map(|point| !(0..point).any(|before| is_near(point, before))))
}

/// The share of the truths that are true.
fn share(truths: impl ExactSizeIterator<Item = bool>) -> f64 {
    let all = truths.len() as f64;
    truths.filter(|truth| *truth).count() as f64 / all
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_first_of_the_best_ends_counts() {
        let ascended = Ascended {
            x: array![[0.1], [0.2], [0.3], [0.4], [0.5], [0.6]],
            values: array![1.0, 5.0, 3.0, 5.0, 3.0, 4.0],
        };
        let (x, values) = best_of_rounds(&ascended, 2);
        assert_eq!((x, values), (array![[0.3], [0.2]], array![3.0, 5.0]));
    }

    #[test]
    fn points_near_an_earlier_one_are_not_distinct() {
        let x = array![[0.0, 0.0], [0.005, 0.005], [0.5, 0.0], [0.5, 0.3], [0.5, 0.0]];
        assert_eq!(distinct(x.view(), &[0.1, 0.1]), 3.0 / 5.0);
        assert_eq!(distinct(x.view(), &[0.1, 100.0]), 2.0 / 5.0);
    }
}
