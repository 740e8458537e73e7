//! Posteriors of data sets with one input, and their distance to the exact one along it
//! (Lin et al. 2023, Figures 1, 4 and 10).

use gpbench_record::Curve;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::axes::{Axes, Labels};
use super::figure::{Drawn, Figure, series, solvers};
use super::legend::{Entry, Sample};
use super::scale::Scale;
use super::series::Series;
use super::style::{Area, Drawing, INK, MUTED, RULE};
use crate::frame::CaseView;
use crate::problem::GroupProblem;
use crate::results::Results;

/// Height of a row of panels, and of the chart of distances.
const ROW: u32 = 250;
const ALONG: u32 = 318;

/// Standard deviations on either side of a mean.
const BAND: f64 = 2.0;

/// Ratio between the largest distances of two solvers from which distances are drawn logarithmic.
const WIDE: f64 = 20.0;

/// Decades of a logarithmic axis of distances.
const DECADES: f64 = 4.0;

/// The posterior of each solver beside the exact one, one panel a solver.
pub(crate) fn figure(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Drawn {
    let drawn = drawn(results, problem);
    let Some((first, _)) = drawn.first() else { return Ok(None) };
    let seed = first.seed();
    let columns = drawn.len().min(2);
    let rows = drawn.len().div_ceil(columns);
    let title = format!("Posterior along the input: {what}");
    let grid = results.form.grid(drawn.len(), columns, ROW * rows as u32);
    let svg = results.form.sheet(&title, &kinds(&drawn), grid.height, |root, top| {
        let areas = root.margin(top, 4, 8, 4).split_evenly(grid.split);
        let heights = Scale::fit(heights(&drawn).into_iter(), false);
        for ((case, curve), area) in drawn.iter().zip(&areas) {
            panel(root, area, &series(results, case.solver()), curve, heights.clone())?;
        }
        Ok(())
    })?;
    let caption = format!(
        "Seed {seed}, standardised data. Solid line and band: the solver's mean, and {BAND} standard deviations of the \
         latent function on either side, from its samples. Fine lines: samples. Dashed: mean and {BAND} standard \
         deviations of the exact Gaussian process. Dots: some of the training rows; shaded: their range. Values \
         outside the axes are drawn at the edge."
    );
    Ok(Some(Figure::new("posterior", what, title, caption, svg)))
}

/// The 2-Wasserstein distance to the exact marginals along the input, one curve a solver.
pub(crate) fn distance_figure(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Drawn {
    let mut drawn = drawn(results, problem);
    drawn.retain(|(_, curve)| curve.w2.len() == curve.x.len());
    let Some((_, first)) = drawn.first() else { return Ok(None) };
    let largest: Vec<f64> = drawn.iter().map(|(_, c)| c.w2.iter().copied().fold(0.0, f64::max)).collect();
    let (low, high) = super::curve::range(&largest);
    let log = high > WIDE * low;
    let all = drawn.iter().flat_map(|(_, curve)| curve.w2.iter().copied());
    let floor = if log { high * 10f64.powf(-DECADES) } else { 0.0 };
    let heights = Scale::fit(all.map(|w2| w2.max(floor)), log);
    let title = format!("Distance to the exact posterior along the input: {what}");
    let mut entries = solvers(results, |s| drawn.iter().any(|(case, _)| case.solver() == s));
    entries.push(Entry::new("range of the training inputs", Sample::Patch(RULE)));
    let grid = results.form.grid(1, 1, ALONG);
    let svg = results.form.sheet(&title, &entries, grid.height, |root, top| {
        let labels = Labels { title: None, x: "x (standardised)", y: "2-Wasserstein distance" };
        let axes = Axes::draw(&root.margin(top, 4, 8, 4), labels, across(first), heights)?;
        axes.shade(root, first.range, RULE.mix(0.5).filled())?;
        for (case, curve) in &drawn {
            let series = series(results, case.solver());
            let colour = series.look.colour;
            let path = axes.path(zip(&curve.x, &curve.w2));
            series.draw(root, || {
                root.draw(&PathElement::new(path.clone(), colour.stroke_width(2)))?;
                let mut places = path.iter().skip(path.len() / 16).step_by(path.len() / 8);
                places.try_for_each(|place| series.look.marker.draw(root, *place, colour, false))
            })?;
        }
        Ok(())
    })?;
    let caption = format!(
        "2-Wasserstein distance between the solver's and the exact Gaussian process's marginals of the latent function, \
         seed {}. The solver's deviation is that of its samples, so the distance includes their noise. SGD has its \
         errors at the edges of the data, not among the data and not far away (Lin et al. 2023, Figure 4).",
        drawn[0].0.seed()
    );
    Ok(Some(Figure::new("distance-along", what, title, caption, svg)))
}

/// The first seed's case of each solver that has a curve, in the order of the spec.
pub(super) fn drawn<'f>(results: &Results<'f>, problem: &GroupProblem) -> Vec<(CaseView<'f>, &'f Curve)> {
    let cases = results.cases_of(problem);
    let mut drawn: Vec<(CaseView<'_>, &Curve)> = Vec::new();
    for (case, curve) in cases.filter_map(|case| Some((case, case.output().curve()?))) {
        let is_first = drawn.iter().all(|(other, _)| other.solver() != case.solver());
        if is_first && !curve.x.is_empty() && curve.mean.len() == curve.x.len() {
            drawn.push((case, curve));
        }
    }
    drawn
}

fn kinds(drawn: &[(CaseView<'_>, &Curve)]) -> Vec<Entry> {
    let mut kinds = vec![Entry::new("the solver's mean", Sample::Line { dashed: false })];
    if drawn.iter().any(|(_, curve)| !curve.exact_mean.is_empty()) {
        kinds.push(Entry::new("exact", Sample::Line { dashed: true }));
    }
    kinds.push(Entry::new("training rows", Sample::Point));
    kinds.push(Entry::new("their range", Sample::Patch(RULE)));
    kinds
}

/// Values that all panels show: the exact posterior and the data, or else the solvers' means.
fn heights(drawn: &[(CaseView<'_>, &Curve)]) -> Vec<f64> {
    let exact = |c: &Curve| band(&c.x, &c.exact_mean, &c.exact_deviation, 1.4 * BAND);
    let mut shown: Vec<f64> = drawn.iter().flat_map(|(_, c)| exact(c)).map(|(_, y)| y).collect();
    if shown.is_empty() {
        let own = |c: &Curve| band(&c.x, &c.mean, &c.deviation, BAND);
        shown = drawn.iter().flat_map(|(_, c)| own(c)).map(|(_, y)| y).collect();
    }
    shown.extend(drawn.iter().flat_map(|(_, curve)| curve.rows.iter().map(|row| row[1])));
    shown
}

fn panel(root: &Area<'_>, area: &Area<'_>, series: &Series, curve: &Curve, heights: Scale) -> Drawing {
    let labels = Labels { title: Some(&series.name), x: "x (standardised)", y: "f(x)" };
    let colour = series.look.colour;
    let axes = Axes::draw(area, labels, across(curve), heights)?;
    axes.shade(root, curve.range, RULE.mix(0.5).filled())?;
    for &[x, y] in &curve.rows {
        root.draw(&Circle::new(axes.pixel((x, y)), 1, MUTED.mix(0.5).filled()))?;
    }
    let own = axes.path(band(&curve.x, &curve.mean, &curve.deviation, BAND));
    root.draw(&Polygon::new(own, colour.mix(0.22).filled()))?;
    for sample in &curve.samples {
        root.draw(&PathElement::new(axes.path(zip(&curve.x, sample)), colour.mix(0.55).stroke_width(1)))?;
    }
    root.draw(&PathElement::new(axes.path(zip(&curve.x, &curve.mean)), colour.stroke_width(2)))?;
    let dashed = |points: Vec<(i32, i32)>, width: u32| {
        root.draw(&DashedPathElement::new(points, 5, 4, INK.stroke_width(width)))
    };
    for times in [-BAND, BAND] {
        let edge = curve.exact_mean.iter().zip(&curve.exact_deviation).map(|(m, d)| m + times * d);
        dashed(axes.path(curve.x.iter().copied().zip(edge)), 1)?;
    }
    dashed(axes.path(zip(&curve.x, &curve.exact_mean)), 2)?;
    Ok(())
}

/// The axis of a curve's inputs.
pub(super) fn across(curve: &Curve) -> Scale {
    Scale::over(curve.x[0], curve.x[curve.x.len() - 1], false)
}

/// The outline of mean plus and minus some deviations: first the upper edge, then the lower one backwards.
fn band(x: &[f64], mean: &[f64], deviation: &[f64], times: f64) -> Vec<(f64, f64)> {
    let edge = |sign: f64| {
        let heights = mean.iter().zip(deviation).map(move |(m, d)| m + sign * times * d);
        x.iter().copied().zip(heights).collect::<Vec<_>>()
    };
    edge(1.0).into_iter().chain(edge(-1.0).into_iter().rev()).collect()
}

fn zip<'a>(x: &'a [f64], y: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    x.iter().copied().zip(y.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_its_upper_edge_then_its_lower_one_backwards() {
        let outline = band(&[0.0, 1.0], &[1.0, 2.0], &[0.5, 0.25], 2.0);
        assert_eq!(outline, [(0.0, 2.0), (1.0, 2.5), (1.0, 1.5), (0.0, 0.0)]);
        assert!(band(&[0.0], &[1.0], &[], 2.0).is_empty());
    }
}
