//! Curves over seeds.
//!
//! Each seed has values at its own times. Curves are put on one grid by carrying each seed's last value forward. Their
//! middle is the mean there; the band spans the lowest to the highest seed. A curve starts where every seed has a
//! value, and a seed that stopped keeps its last value.

use gpbench_record::metric::{Metric, Unit};
use gpbench_record::names;
use gpbench_statistics::geometric_mean;

use crate::clock::Clock;
use crate::frame::{CaseView, Cells};

/// Kind of mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mean {
    /// For positive values that span decades.
    Geometric,
    /// For values of either sign.
    Arithmetic,
}

impl Mean {
    /// The mean that suits a metric.
    pub(super) fn of_metric(metric: &Metric) -> Mean {
        if metric.unit == Unit::Nats { Mean::Arithmetic } else { Mean::Geometric }
    }

    /// The mean of some values; not a number where there are none.
    pub(super) fn of(self, values: &[f64]) -> f64 {
        match self {
            Mean::Geometric => drawn_mean(values),
            Mean::Arithmetic => values.iter().sum::<f64>() / values.len() as f64,
        }
    }
}

/// A curve on its grid.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Curve {
    /// Places on the clock.
    pub(super) at: Vec<f64>,
    /// Mean over seeds.
    pub(super) middle: Vec<f64>,
    /// Lowest seed.
    pub(super) low: Vec<f64>,
    /// Highest seed.
    pub(super) high: Vec<f64>,
}

impl Curve {
    /// Adds a place with the mean there, and the lowest and highest seed.
    pub(super) fn push(&mut self, at: f64, middle: f64, (low, high): (f64, f64)) {
        self.at.push(at);
        self.middle.push(middle);
        self.low.push(low);
        self.high.push(high);
    }
}

/// Points of one case, in the order of its clock.
pub(super) type Path = Vec<(f64, f64)>;

/// Number of grid places: a finer grid would not show.
const GRID: usize = 240;

/// Smallest value in a geometric mean: one zero would make the mean zero.
const TINY: f64 = 1e-300;

/// A metric along a case's clock: its trace points, then its verified final value.
pub(super) fn path(case: &CaseView<'_>, metric: &str, clock: Clock) -> Path {
    if !case.is_answer() {
        return Vec::new();
    }
    let along = |point: &Cells<'_>| match clock {
        Clock::Seconds => point.number(names::SECONDS),
        Clock::Epochs => point.number(names::EPOCHS),
        Clock::Iterations => Some(point.count("iteration")? as f64),
    };
    let mut path: Path =
        case.trace().filter_map(|point| Some((along(&point)?, point.number(metric)?))).collect();
    path.extend(case.metric(clock.metric().name).zip(case.metric(metric)));
    path.retain(|(at, value)| at.is_finite() && value.is_finite());
    path.sort_by(|a, b| a.0.total_cmp(&b.0));
    path
}

/// The curve of several cases; absent unless some case has two points.
pub(super) fn curve(paths: &[Path], log: bool, mean: Mean) -> Option<Curve> {
    let paths: Vec<Path> = paths.iter().map(|p| positive(p, log)).filter(|p| p.len() >= 2).collect();
    let start = paths.iter().filter_map(|p| p.first()).map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let end = paths.iter().filter_map(|p| p.last()).map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    if paths.is_empty() || end <= start {
        return None;
    }
    let mut curve = Curve::default();
    for at in grid(start, end, log) {
        let values: Vec<f64> = paths.iter().map(|p| carried_forward(p, at)).collect();
        curve.push(at, mean.of(&values), range(&values));
    }
    Some(curve)
}

/// A logarithmic clock has no place for 0.
fn positive(path: &Path, log: bool) -> Path {
    path.iter().copied().filter(|(at, _)| !log || *at > 0.0).collect()
}

fn grid(start: f64, end: f64, log: bool) -> Vec<f64> {
    let place = |i: usize| {
        let t = i as f64 / (GRID - 1) as f64;
        if log { start * (end / start).powf(t) } else { start + (end - start) * t }
    };
    // The ends are set, not computed, so that the last value is never missed by a rounding error.
    (0..GRID)
        .map(|i| {
            if i == 0 {
                start
            } else if i == GRID - 1 {
                end
            } else {
                place(i)
            }
        })
        .collect()
}

/// The last value at or before `at`; the path starts no later than `at`.
fn carried_forward(path: &[(f64, f64)], at: f64) -> f64 {
    let after = path.partition_point(|p| p.0 <= at);
    path[after.max(1) - 1].1
}

/// The geometric mean, in which values below [`TINY`] count as [`TINY`], since a chart shows every value, also 0.
pub(super) fn drawn_mean(values: &[f64]) -> f64 {
    geometric_mean(values.iter().map(|value| value.max(TINY)))
}

/// Smallest and largest value.
pub(super) fn range(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    (low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_is_carried_forward_and_never_looked_up_ahead() {
        let path = [(1.0, 8.0), (10.0, 2.0), (100.0, 1.0)];
        for (at, want) in [(1.0, 8.0), (9.99, 8.0), (10.0, 2.0), (99.0, 2.0), (100.0, 1.0), (1e6, 1.0)] {
            assert_eq!(carried_forward(&path, at), want, "at {at}");
        }
    }

    #[test]
    fn seeds_meet_on_one_grid() {
        let fast = vec![(1.0, 4.0), (10.0, 1.0)];
        let slow = vec![(2.0, 4.0), (100.0, 0.25)];
        let curve = curve(&[fast, slow], true, Mean::Geometric).unwrap();
        assert_eq!((curve.at[0], *curve.at.last().unwrap()), (2.0, 100.0));
        assert_eq!((curve.middle[0], curve.low[0], curve.high[0]), (4.0, 4.0, 4.0));
        // The fast seed keeps its 1.0 while the slow one continues to 0.25.
        assert!((curve.middle.last().unwrap() - 0.5).abs() < 1e-12);
        assert_eq!((*curve.low.last().unwrap(), *curve.high.last().unwrap()), (0.25, 1.0));
        let ratio = curve.at[1] / curve.at[0];
        assert!(curve.at.windows(2).all(|w| (w[1] / w[0] - ratio).abs() < 1e-9));
    }

    #[test]
    fn what_has_a_sign_is_averaged_as_it_is() {
        let paths = [vec![(1.0, -2.0), (10.0, -1.0)], vec![(1.0, 1.0), (10.0, 3.0)]];
        let curve = curve(&paths, true, Mean::Arithmetic).unwrap();
        assert_eq!((curve.middle[0], curve.middle[GRID - 1]), (-0.5, 1.0));
        assert_eq!((curve.low[0], curve.high[0]), (-2.0, 1.0));
    }

    #[test]
    fn one_point_makes_no_curve() {
        assert!(curve(&[vec![(1.0, 1.0)]], true, Mean::Geometric).is_none());
        assert!(curve(&[vec![(0.0, 1.0), (1.0, 0.5)]], true, Mean::Geometric).is_none());
        assert!(curve(&[], false, Mean::Arithmetic).is_none());
    }
}
