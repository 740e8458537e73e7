//! How samples choose their points, on objectives with one input (Lin et al. 2023, Figure 7).

use gpbench_record::{IllustratedSample, Illustration, TaskOutput};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::axes::{Axes, Labels};
use super::figure::{Drawn, Figure, series};
use super::legend::{Entry, Sample};
use super::marker::peak;
use super::scale::Scale;
use super::series::Series;
use super::style::{Area, Drawing, INK, MUTED};
use crate::aggregate::Group;
use crate::problem::GroupProblem;
use crate::results::Results;

/// Height of a row of panels.
const ROW: u32 = 240;

/// Height of a candidate's tick in pixels.
const TICK: i32 = 7;

/// One figure a solver: its first seed that has an illustration.
pub(crate) fn figures(results: &Results<'_>, problem: &GroupProblem) -> Vec<Drawn> {
    results.of_problem(problem).map(|group| figure(results, group)).collect()
}

fn figure(results: &Results<'_>, group: &Group) -> Drawn {
    let found = results.of(group).find_map(|case| Some((case.seed(), illustration(case.output())?)));
    let Some((seed, drawn)) = found else {
        return Ok(None);
    };
    let what = format!("{} · {}", results.problem_title(&group.problem), group.solver);
    let title = format!("How samples choose points: {what}");
    let heights = Scale::fit(heights(drawn), false);
    let series = series(results, &group.solver);
    let grid = results.form.grid(drawn.samples.len(), 1, ROW * drawn.samples.len() as u32);
    let svg = results.form.sheet(&title, &entries(&series), grid.height, |root, top| {
        let areas = root.margin(top, 4, 8, 4).split_evenly(grid.split);
        for (i, (sample, area)) in drawn.samples.iter().zip(&areas).enumerate() {
            panel(root, area, &series, &format!("sample {}", i + 1), drawn, sample, heights.clone())?;
        }
        Ok(())
    })?;
    let caption = format!(
        "The first step of seed {seed}, one panel a posterior sample. Ticks: candidates of the first round. Lines from hollow \
         markers: gradient ascents of the sample, from the best candidate of each round. Star: the point that the sample \
         chose."
    );
    Ok(Some(Figure::new("acquisition", &what, title, caption, svg)))
}

/// The illustration of a case, if it is complete.
fn illustration(output: &TaskOutput) -> Option<&Illustration> {
    let found = output.thompson()?.illustration.as_deref()?;
    let is_whole = found.x.len() > 1
        && found.objective.len() == found.x.len()
        && !found.samples.is_empty()
        && found.samples.iter().all(|sample| sample.values.len() == found.x.len());
    is_whole.then_some(found)
}

fn entries(series: &Series) -> [Entry; 5] {
    [
        Entry::new("objective", Sample::Line { dashed: true }),
        Entry::new("training rows", Sample::Point),
        Entry::new("posterior sample", Sample::Patch(series.look.colour)),
        Entry::new("starts of ascents", Sample::Hollow),
        Entry::new("chosen point", Sample::Peak),
    ]
}

/// All heights that the panels show.
fn heights(drawn: &Illustration) -> impl Iterator<Item = f64> {
    let samples =
        drawn.samples.iter().flat_map(|sample| sample.values.iter().copied().chain([sample.chosen[1]]));
    drawn.objective.iter().copied().chain(drawn.data.iter().map(|row| row[1])).chain(samples)
}

fn panel(
    root: &Area<'_>,
    area: &Area<'_>,
    series: &Series,
    title: &str,
    drawn: &Illustration,
    sample: &IllustratedSample,
    heights: Scale,
) -> Drawing {
    let labels = Labels { title: Some(title), x: "x", y: "value" };
    let x = &drawn.x;
    let across = Scale::over(x[0], x[x.len() - 1], false);
    let bottom = heights.lo;
    let axes = Axes::draw(area, labels, across, heights)?;
    let along = |values: &[f64]| axes.path(x.iter().copied().zip(values.iter().copied()));
    for candidate in &drawn.candidates {
        let (px, py) = axes.pixel((*candidate, bottom));
        root.draw(&PathElement::new([(px, py), (px, py - TICK)], MUTED.mix(0.7).stroke_width(1)))?;
    }
    root.draw(&DashedPathElement::new(along(&drawn.objective), 6, 4, MUTED.stroke_width(2)))?;
    let colour = series.look.colour;
    root.draw(&PathElement::new(along(&sample.values), colour.stroke_width(2)))?;
    for &[x, y] in &drawn.data {
        root.draw(&Circle::new(axes.pixel((x, y)), 3, INK.filled()))?;
    }
    for ascent in &sample.ascents {
        let points = axes.path(ascent.iter().map(|&[x, y]| (x, y)));
        let Some(start) = points.first().copied() else { continue };
        root.draw(&PathElement::new(points, INK.stroke_width(2)))?;
        root.draw(&Circle::new(start, 4, INK.stroke_width(1)))?;
    }
    peak(root, axes.pixel((sample.chosen[0], sample.chosen[1])))
}
