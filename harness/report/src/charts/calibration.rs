//! Calibration of predictions: coverage against the probability of intervals, and histograms of the probability integral
//! transform, each beside that of the exact process.

use std::collections::BTreeMap;

use gpbench_record::{CalibrationShares, RowShares};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::axes::{Axes, Labels};
use super::curve::{Curve, Mean, range};
use super::figure::{Drawn, Figure, other, series};
use super::legend::{Entry, Sample};
use super::marker::Marker;
use super::panel::{Line, Panel};
use super::scale::{Axis, Scale};
use super::series::{Look, Series};
use super::style::{Area, Drawing, INK, MUTED, RULE};
use crate::aggregate::Group;
use crate::calibration::{EXACT, with_sampling_note};
use crate::frame::CaseView;
use crate::results::{Results, once_each};

/// Height of a row of histograms.
const ROW: u32 = 220;

/// Height of the sheet of curves.
const HEIGHT: u32 = 380;

/// Share of a bin that the bars of a solver and of the exact process take, and the gap before them.
const OWN: f64 = 0.5;
const BESIDE: f64 = 0.34;
const GAP: f64 = 0.08;

/// The calibration of a group by seed.
struct Calibrated<'f> {
    series: Series,
    own: Vec<&'f RowShares>,
    /// That of the exact process, of the seeds where it is known.
    exact: Vec<&'f RowShares>,
}

/// The coverage of central intervals against their probability.
pub(crate) fn curve_figure(results: &Results<'_>, groups: &[&Group], what: &str) -> Drawn {
    let calibrated = calibrated(results, groups);
    if calibrated.is_empty() {
        return Ok(None);
    }
    let axis = |label: &str| Axis { label: label.to_owned(), log: false };
    let panel = |y: &str, less_probability: bool| Panel {
        x: axis("probability of the central interval"),
        y: axis(y),
        lines: lines(&calibrated, less_probability),
        ..Panel::default()
    };
    let diagonal = vec![(0.0, 0.0), (1.0, 1.0)];
    let panels = [
        Panel { backdrop: vec![diagonal], ..panel("coverage", false) },
        Panel { level: Some(0.0), ..panel("coverage less probability", true) },
    ];
    let mut entries: Vec<Entry> = calibrated.iter().map(|of| Entry::Series(of.series.clone())).collect();
    entries.extend(is_exact_known(&calibrated).then(|| Entry::new(EXACT, Sample::Line { dashed: true })));
    let title = format!("Calibration: {what}");
    let svg = results.form.panels(&title, &entries, &panels, 2, HEIGHT)?;
    let caption = "Left: share of the test rows within the central intervals of their predictive distributions, noise \
                   included; a calibrated predictor follows the diagonal. Right: that share less the probability; below 0 \
                   intervals are too narrow. Mean over seeds; the band spans the lowest to the highest seed. Dashed: the \
                   exact process on the same rows; what a solver adds is the difference to it.";
    Ok(Some(Figure::new("calibration", what, title, with_sampling_note(results, caption), svg)))
}

/// Histograms of the probability integral transform of the test rows, one a group.
pub(crate) fn pit_figure(results: &Results<'_>, groups: &[&Group], what: &str) -> Drawn {
    let calibrated = calibrated(results, groups);
    if calibrated.is_empty() {
        return Ok(None);
    }
    let bars = calibrated.iter().flat_map(|of| [over_seeds(&of.own, bins), over_seeds(&of.exact, bins)]);
    let highest = bars.flatten().map(|bar| bar.high).fold(0.0, f64::max);
    let columns = calibrated.len().min(2);
    let rows = calibrated.len().div_ceil(columns);
    let title = format!("Probability integral transform of the test rows: {what}");
    let mut entries = vec![Entry::new("calibrated", Sample::Dotted)];
    entries.extend(is_exact_known(&calibrated).then(|| Entry::new(EXACT, Sample::Patch(RULE))));
    let grid = results.form.grid(calibrated.len(), columns, ROW * rows as u32);
    let svg = results.form.sheet(&title, &entries, grid.height, |root, top| {
        let areas = root.margin(top, 4, 8, 4).split_evenly(grid.split);
        for (of_group, area) in calibrated.iter().zip(&areas) {
            of_group.draw_histogram(root, area, Scale::over(0.0, 1.08 * highest, false))?;
        }
        Ok(())
    })?;
    let caption = "Φ((y − mean) / deviation) of the test rows, noise included, in ten equal bins: mean share over seeds; a line \
                   spans the lowest to the highest seed. High bars at both ends show variances that are too small, high bars in \
                   the middle variances that are too large. Light bars: the exact process on the same rows. There is no band of \
                   chance, since test rows of one training set share its error.";
    Ok(Some(Figure::new("pit", what, title, with_sampling_note(results, caption), svg)))
}

/// The groups that have a calibration.
fn calibrated<'f>(results: &Results<'f>, groups: &[&Group]) -> Vec<Calibrated<'f>> {
    let solvers = once_each(groups.iter().map(|group| &group.solver));
    let of_group = |(i, group): (usize, &&Group)| {
        // A solver with several estimators has several groups, of which each needs a look of its own.
        let series = match solvers.len() == groups.len() {
            true => series(results, &group.solver),
            false => other(results, i, &results.label(group)),
        };
        let of_seeds = of_seeds(results, group);
        let exact =
            of_seeds.iter().filter_map(|of| of.exact.as_ref()).filter(|rows| rows.is_complete()).collect();
        Calibrated { series, own: of_seeds.iter().map(|of| &of.own).collect(), exact }
    };
    groups.iter().enumerate().map(of_group).filter(|of| !of.own.is_empty()).collect()
}

/// The calibration of each seed of a group, by its first timing repeat that has one.
fn of_seeds<'f>(results: &Results<'f>, group: &Group) -> Vec<&'f CalibrationShares> {
    let mut of_seed: BTreeMap<u64, &CalibrationShares> = BTreeMap::new();
    for case in results.of(group).filter(CaseView::is_answer) {
        if let Some(shares) = case.output().calibration().filter(|shares| shares.own.is_complete()) {
            of_seed.entry(case.seed()).or_insert(shares);
        }
    }
    of_seed.into_values().collect()
}

fn is_exact_known(calibrated: &[Calibrated<'_>]) -> bool {
    calibrated.iter().any(|of| !of.exact.is_empty())
}

/// Coverage by the probability of the interval, less that probability if asked for: a line a group, and a dashed one for the
/// exact process, or for each where these differ.
fn lines(calibrated: &[Calibrated<'_>], less_probability: bool) -> Vec<Line> {
    let line = |series: &Series, rows: &[&RowShares], dashed: bool| {
        let mut curve = Curve::default();
        for (probability, Share { mean, low, high }) in RowShares::nominal().zip(over_seeds(rows, coverage)) {
            let less = if less_probability { probability } else { 0.0 };
            let band = if dashed { (mean, mean) } else { (low, high) };
            curve.push(probability, mean - less, (band.0 - less, band.1 - less));
        }
        Line { series: series.clone(), curve, dashed }
    };
    let mut lines: Vec<Line> = calibrated.iter().map(|of| line(&of.series, &of.own, false)).collect();
    let with_exact: Vec<&Calibrated<'_>> = calibrated.iter().filter(|of| !of.exact.is_empty()).collect();
    match with_exact.as_slice() {
        [] => {}
        [first, rest @ ..] if rest.iter().all(|of| of.exact == first.exact) => {
            let series = Series::new(EXACT, Look { colour: MUTED, marker: Marker::Plus });
            lines.push(line(&series, &first.exact, true));
        }
        all => lines.extend(all.iter().map(|of| line(&of.series, &of.exact, true))),
    }
    lines
}

/// A share of the test rows: mean over seeds, and the lowest and highest seed.
struct Share {
    mean: f64,
    low: f64,
    high: f64,
}

/// Shares over seeds, bin by bin or interval by interval; none without seeds.
fn over_seeds(rows: &[&RowShares], of: fn(&RowShares) -> &[f64]) -> Vec<Share> {
    let count = rows.first().map_or(0, |first| of(first).len());
    let share = |i: usize| {
        let values: Vec<f64> = rows.iter().map(|row| of(row)[i]).collect();
        let (low, high) = range(&values);
        Share { mean: Mean::Arithmetic.of(&values), low, high }
    };
    (0..count).map(share).collect()
}

fn bins(shares: &RowShares) -> &[f64] {
    &shares.pit
}

fn coverage(shares: &RowShares) -> &[f64] {
    &shares.coverage
}

impl Calibrated<'_> {
    fn draw_histogram(&self, root: &Area<'_>, area: &Area<'_>, heights: Scale) -> Drawing {
        let labels = Labels {
            title: Some(&self.series.name),
            x: "Φ((y − mean) / deviation)",
            y: "share of the test rows",
        };
        let axes = Axes::draw(area, labels, Scale::over(0.0, 1.0, false), heights)?;
        let bin = 1.0 / RowShares::BINS as f64;
        let at = |i: usize, place: f64| (i as f64 + place) * bin;
        let bar = |[from, to]: [f64; 2], share: f64, style: ShapeStyle| {
            root.draw(&Rectangle::new([axes.pixel((from, share)), axes.pixel((to, 0.0))], style))
        };
        let width = if self.exact.is_empty() { OWN + BESIDE } else { OWN };
        self.series.draw(root, || {
            for (i, Share { mean, low, high }) in over_seeds(&self.own, bins).into_iter().enumerate() {
                bar([at(i, GAP), at(i, GAP + width)], mean, self.series.look.colour.filled())?;
                let middle = at(i, GAP + 0.5 * width);
                let span = axes.path([(middle, low), (middle, high)]);
                root.draw(&PathElement::new(span, INK.stroke_width(1)))?;
            }
            Ok(())
        })?;
        for (i, Share { mean, .. }) in over_seeds(&self.exact, bins).into_iter().enumerate() {
            let beside = [at(i, GAP + OWN), at(i, GAP + OWN + BESIDE)];
            bar(beside, mean, RULE.filled())?;
            bar(beside, mean, MUTED.stroke_width(1))?;
        }
        let level = axes.path([(0.0, bin), (1.0, bin)]);
        Ok(root.draw(&DashedPathElement::new(level, 2, 4, INK.stroke_width(1)))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(first: f64) -> RowShares {
        let mut pit = vec![(1.0 - first) / 9.0; RowShares::BINS];
        pit[0] = first;
        RowShares { pit, coverage: RowShares::nominal().map(|q| q * first).collect() }
    }

    #[test]
    fn lines_are_means_over_seeds_and_the_exact_one_is_drawn_once_where_it_is_the_same() {
        let (a, b, exact) = (rows(0.5), rows(1.0), rows(0.1));
        let calibrated = |name: &str, exact: Vec<_>| Calibrated {
            series: Series::new(name, Look::nth(0)),
            own: vec![&a, &b],
            exact,
        };
        let same = [calibrated("cg", vec![&exact]), calibrated("ap", vec![&exact])];
        let drawn = lines(&same, false);
        assert_eq!(drawn.iter().filter(|line| line.dashed).count(), 1);
        assert!((drawn[0].curve.middle[9] - 0.375).abs() < 1e-12, "the mean of 0.25 and 0.5");
        assert_eq!((drawn[0].curve.low[9], drawn[0].curve.high[9]), (0.25, 0.5));
        assert!((lines(&same, true)[0].curve.middle[9] + 0.125).abs() < 1e-12);

        let others = [calibrated("cg", vec![&exact]), calibrated("ap", vec![&a])];
        assert_eq!(lines(&others, false).iter().filter(|line| line.dashed).count(), 2);
        let none = [calibrated("cg", Vec::new())];
        assert!(!is_exact_known(&none) && lines(&none, false).iter().all(|line| !line.dashed));
    }
}
