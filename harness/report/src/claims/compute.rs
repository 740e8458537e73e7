//! The numbers that evidence states: of pairs of the same seed, or looked up in summaries and computed of two sides.

use std::collections::BTreeMap;

use gpbench_record::metric::{self, Unit};
use gpbench_statistics::{Estimate, Interval};
use toml::Spanned;

use super::faults::Faults;
use super::list::{Compute, Evidence, Side};
use super::rule::{Bound, Equality};
use super::seeds;
use super::summaries::{Ambiguous, Summaries, Summary, Wanted};
use crate::frame::Frame;

/// The published runs that claims name.
pub(super) struct Sources<'f> {
    /// The means of all.
    pub(super) summaries: Summaries,
    /// The cases of those that keep them, by name.
    pub(super) frames: &'f BTreeMap<&'f str, Frame<'f>>,
}

/// A number with what it is of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Computed {
    /// Data set, and solver and run where they tell numbers apart.
    pub(super) label: String,
    pub(super) value: f64,
    pub(super) spread: Spread,
    /// Number of pairs, or the fewest seeds of its sides.
    pub(super) seeds: usize,
    pub(super) bound: Bound,
    /// Which numbers count as equality; `None` where no tolerance tells.
    pub(super) equality: Option<Equality>,
}

/// What is known of a number's error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Spread {
    /// Nothing: there are too few seeds.
    Unknown,
    /// The t interval over seeds, of pairs where two sides are compared.
    Interval(Interval),
    /// A standard error, over the seeds of one side or over repetitions within a case.
    StandardError(f64),
    /// Standard errors of two sides over their seeds, combined as if the sides were independent.
    Unpaired(f64),
}

/// A side's metric on one data set.
struct Measured<'f> {
    mean: f64,
    error: Option<f64>,
    /// Whether that error is over repetitions within a case.
    is_within: bool,
    seeds: usize,
    /// Whether it is a cost that the budget ended.
    is_limited: bool,
    /// Its cases; none where they are not published.
    side: seeds::Side<'f>,
}

/// The side of some evidence that one number is computed of, with the solver and the metric.
#[derive(Clone, Copy)]
struct Chosen<'c> {
    side: &'c Spanned<Side>,
    solver: &'c str,
    metric: &'c Spanned<String>,
}

/// All numbers of some evidence.
pub(super) fn computed(evidence: &Evidence, sources: &Sources<'_>, faults: &mut Faults) -> Vec<Computed> {
    let before = faults.count();
    let sides = [Some(&evidence.of), evidence.to.as_ref()];
    let of_sides = sides.iter().flatten().flat_map(|side| &side.get_ref().runs);
    let is_absent = |run: &&Spanned<String>| sources.summaries.get(run.get_ref()).is_none();
    for run in evidence.runs.iter().chain(of_sides).filter(is_absent) {
        faults.add(run, format!("no published folder `{}` with a summary.json", run.get_ref()));
    }
    let Some(pairs) = pairs(evidence, faults) else { return Vec::new() };
    let mut all = Vec::new();
    for dataset in &evidence.datasets {
        for (of, to) in &pairs {
            let found = of_pair(evidence, [Some(*of), *to], dataset.get_ref(), sources, faults);
            if found.is_empty() && faults.count() == before {
                let (metric, solvers) = (of.metric.get_ref(), words(*of, *to));
                faults
                    .add(dataset, format!("no run has `{metric}` for {solvers} on `{}`", dataset.get_ref()));
            }
            let several = [pairs.len() > 1, found.len() > 1];
            let label = |(place, number)| labelled(number, dataset.get_ref(), of.solver, place, several);
            all.extend(found.into_iter().map(label));
        }
    }
    all
}

/// The number with its label, which has the solver and the 0-based place of the run where several have numbers.
fn labelled(
    number: Computed,
    dataset: &str,
    solver: &str,
    place: usize,
    [solvers, runs]: [bool; 2],
) -> Computed {
    let mut label = dataset.to_owned();
    if solvers {
        label = format!("{label} {solver}");
    }
    if runs {
        label = format!("{label} (run {})", place + 1);
    }
    Computed { label, ..number }
}

fn words(of: Chosen<'_>, to: Option<Chosen<'_>>) -> String {
    match to {
        Some(to) if to.solver != of.solver => format!("`{}` and `{}`", of.solver, to.solver),
        _ => format!("`{}`", of.solver),
    }
}

/// The solvers of both sides, one by one; `None` after a fault.
fn pairs<'c>(evidence: &'c Evidence, faults: &mut Faults) -> Option<Vec<(Chosen<'c>, Option<Chosen<'c>>)>> {
    let is_of_two = *evidence.compute.get_ref() != Compute::Value;
    if is_of_two != evidence.to.is_some() {
        let reason = if is_of_two {
            "this is computed of two sides; add `to`"
        } else {
            "a value has one side; leave `to` out"
        };
        faults.add(&evidence.compute, reason);
        return None;
    }
    let of = chosen(evidence, &evidence.of, faults)?;
    let Some(side) = &evidence.to else { return Some(of.into_iter().map(|of| (of, None)).collect()) };
    let to = chosen(evidence, side, faults)?;
    match (of.len(), to.len()) {
        (m, n) if m == n => Some(of.into_iter().zip(to.into_iter().map(Some)).collect()),
        (_, 1) => Some(of.into_iter().map(|of| (of, Some(to[0]))).collect()),
        (m, n) => {
            faults.add(side, format!("`of` has {m} solvers and `to` {n}; give `to` one, or as many"));
            None
        }
    }
}

/// The solvers of a side with their metric; `None` after a fault.
fn chosen<'c>(
    evidence: &'c Evidence,
    side: &'c Spanned<Side>,
    faults: &mut Faults,
) -> Option<Vec<Chosen<'c>>> {
    let own = side.get_ref();
    let metric = own.metric.as_ref().unwrap_or(&evidence.metric);
    for name in [Some(metric), own.error.as_ref()].into_iter().flatten() {
        if metric::find(name.get_ref()).is_none() {
            faults
                .add(name, format!("unknown metric `{}`; `gpbench list metrics` names all", name.get_ref()));
            return None;
        }
    }
    if own.solvers.is_empty() {
        faults.add(side, "a side needs at least one solver");
        return None;
    }
    Some(own.solvers.iter().map(|solver| Chosen { side, solver, metric }).collect())
}

/// The numbers of a pair on a data set, with the places of their runs: one for each run that has both sides.
fn of_pair<'c>(
    evidence: &'c Evidence,
    [of, to]: [Option<Chosen<'c>>; 2],
    dataset: &str,
    sources: &Sources<'_>,
    faults: &mut Faults,
) -> Vec<(usize, Computed)> {
    let mut all = Vec::new();
    for (place, run) in evidence.runs.iter().enumerate() {
        let mut side = |chosen: Chosen<'c>| {
            let own = &chosen.side.get_ref().runs;
            let runs: &[Spanned<String>] = if own.is_empty() { std::slice::from_ref(run) } else { own };
            runs.iter().find_map(|run| measured(chosen, dataset, run, sources, faults))
        };
        let Some(first) = of.and_then(&mut side) else { continue };
        let number = match to {
            None => Some(alone(&first)),
            Some(to) => side(to).and_then(|second| of_two(*evidence.compute.get_ref(), &first, &second)),
        };
        all.extend(number.map(|number| (place, number)));
    }
    all
}

/// A side's metric in a run; `None` where the run does not have it.
fn measured<'f>(
    chosen: Chosen<'_>,
    dataset: &str,
    run: &Spanned<String>,
    sources: &Sources<'f>,
    faults: &mut Faults,
) -> Option<Measured<'f>> {
    let summary: &Summary = sources.summaries.get(run.get_ref())?;
    let side = chosen.side.get_ref();
    let wanted = Wanted {
        dataset,
        solver: chosen.solver,
        estimator: side.estimator.as_deref(),
        kernel: side.kernel.as_deref(),
    };
    let group = match summary.find(wanted) {
        Ok(found) => found?,
        Err(Ambiguous) => {
            let (run, solver) = (run.get_ref(), chosen.solver);
            let what = format!("`{run}` has several `{solver}` on `{dataset}`; add `estimator` or `kernel`");
            faults.add(chosen.side, what);
            return None;
        }
    };
    let metric = chosen.metric.get_ref();
    let known = metric::find(metric)?;
    if known.unit == Unit::Seconds && !summary.is_quiet {
        faults.add(
            chosen.metric,
            format!(
                "`{metric}` of `{}` cannot be evidence: other programs used the processors, or what they used is not \
                 known; take epochs, or a quiet run",
                run.get_ref()
            ),
        );
        return None;
    }
    let own = group.metrics.get(metric)?;
    let within = side.error.as_ref().and_then(|error| group.mean(error.get_ref()));
    let frame = sources.frames.get(run.get_ref().as_str());
    let cases = frame.map(|frame| seeds::cases(frame, &group.problem(), &group.solver)).unwrap_or_default();
    Some(Measured {
        mean: own.mean?,
        error: within.or(own.stderr),
        is_within: within.is_some(),
        seeds: own.seeds,
        is_limited: known.is_cost() && known.unit != Unit::Bytes && group.is_limited(),
        side: seeds::Side { cases, metric: known },
    })
}

/// The number of one side. A cost that the budget ended is a lower bound.
fn alone(of: &Measured<'_>) -> Computed {
    let bound = if of.is_limited { Bound::AtLeast } else { Bound::Exact };
    let of_seeds = seeds::alone(&of.side).filter(|_| !of.is_within);
    let (value, spread, seeds) = match of_seeds {
        Some(estimate) => by_seeds(&estimate),
        None => (of.mean, of.error.map_or(Spread::Unknown, Spread::StandardError), of.seeds),
    };
    Computed { label: String::new(), value, spread, seeds, bound, equality: None }
}

/// The number of two sides; `None` where it is not finite.
fn of_two(compute: Compute, of: &Measured<'_>, to: &Measured<'_>) -> Option<Computed> {
    let is_within = of.is_within || to.is_within;
    let paired = seeds::paired(compute, &of.side, &to.side).filter(|_| !is_within);
    let (value, spread, seeds) = match paired {
        Some(estimate) => by_seeds(&estimate),
        None => {
            let (value, error) = independent(compute, of, to)?;
            let of_error = if is_within { Spread::StandardError } else { Spread::Unpaired };
            (value, error.map_or(Spread::Unknown, of_error), of.seeds.min(to.seeds))
        }
    };
    let bound = match (of.is_limited, to.is_limited) {
        (false, false) => Bound::Exact,
        (true, false) => Bound::AtLeast,
        (false, true) => Bound::AtMost,
        (true, true) => Bound::Open,
    };
    let equality = Equality::new(compute, of.side.metric, to.mean);
    value.is_finite().then(|| Computed { label: String::new(), value, spread, seeds, bound, equality })
}

/// An estimate over seeds as a number, what is known of its error, and the number of seeds.
fn by_seeds(estimate: &Estimate) -> (f64, Spread, usize) {
    (estimate.mean, estimate.printed().map_or(Spread::Unknown, Spread::Interval), estimate.count)
}

/// The number of two means, with the standard error of independent sides; `None` where it needs an error that neither has.
fn independent(compute: Compute, of: &Measured<'_>, to: &Measured<'_>) -> Option<(f64, Option<f64>)> {
    let errors = of.error.map_or(to.error, |own| Some(own.hypot(to.error.unwrap_or_default())));
    let difference = of.mean - to.mean;
    Some(match compute {
        Compute::Value => (of.mean, of.error),
        Compute::Difference => (difference, errors),
        Compute::StandardErrors => (difference / errors?, None),
        Compute::Ratio => {
            let ratio = of.mean / to.mean;
            let relative = |side: &Measured<'_>| side.error.map(|error| error / side.mean);
            let error = relative(of).zip(relative(to)).map(|(a, b)| ratio.abs() * a.hypot(b));
            (ratio, error)
        }
    })
}

#[cfg(test)]
mod tests {
    use gpbench_record::names;

    use super::*;

    fn measured(mean: f64, error: Option<f64>, is_limited: bool) -> Measured<'static> {
        let side = seeds::Side { cases: Vec::new(), metric: metric::find(names::EPOCHS).unwrap() };
        Measured { mean, error, is_within: false, seeds: 3, is_limited, side }
    }

    fn number(compute: Compute, of: &Measured<'_>, to: &Measured<'_>) -> (f64, Spread, Bound) {
        let number = of_two(compute, of, to).unwrap();
        (number.value, number.spread, number.bound)
    }

    #[test]
    fn errors_of_both_sides_are_combined_and_marked() {
        let (of, to) = (measured(8.0, Some(3.0), false), measured(4.0, Some(4.0), false));
        assert_eq!(number(Compute::Difference, &of, &to), (4.0, Spread::Unpaired(5.0), Bound::Exact));
        assert_eq!(number(Compute::StandardErrors, &of, &to), (0.8, Spread::Unknown, Bound::Exact));
        let (ratio, spread, _) = number(Compute::Ratio, &of, &to);
        let Spread::Unpaired(error) = spread else { panic!("{spread:?}") };
        assert_eq!(ratio, 2.0);
        assert!((error - 2.0 * 0.375_f64.hypot(1.0)).abs() < 1e-12);
        let within = Measured { is_within: true, ..measured(8.0, Some(3.0), false) };
        assert_eq!(number(Compute::Difference, &within, &to).1, Spread::StandardError(5.0));
        // One seed has no error.
        assert_eq!(number(Compute::Ratio, &of, &measured(4.0, None, false)).1, Spread::Unknown);
        let none = || measured(1.0, None, false);
        assert_eq!(of_two(Compute::StandardErrors, &none(), &none()), None);
        assert_eq!(of_two(Compute::Ratio, &of, &measured(0.0, None, false)), None);
    }

    #[test]
    fn a_side_that_ended_at_its_limit_makes_a_bound() {
        let bound =
            |of: bool, to: bool| number(Compute::Ratio, &measured(8.0, None, of), &measured(4.0, None, to)).2;
        assert_eq!(bound(true, false), Bound::AtLeast);
        assert_eq!(bound(false, true), Bound::AtMost);
        assert_eq!(bound(true, true), Bound::Open);
        assert_eq!(alone(&measured(8.0, None, true)).bound, Bound::AtLeast);
    }
}
