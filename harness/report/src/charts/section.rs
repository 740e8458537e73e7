//! The starts of solves on the quadratic that they minimise (Lin et al. 2024, Figure 6, left and middle).

use std::f64::consts::TAU;

use gpbench_record::{Probes, names};

use super::figure::{Drawn, Figure, other};
use super::legend::Entry;
use super::panel::{Dot, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::aggregate::Group;
use crate::frame::Cells;
use crate::results::{Model, Results};

/// Titles of the panels: one for standard probes, one for pathwise targets.
const PANELS: [(bool, &str); 2] = [(false, "standard probes"), (true, "pathwise targets")];

/// Height of the sheet.
const HEIGHT: u32 = 380;

/// Number of contours of the quadratic; each is half as far out as the next.
const CONTOURS: i32 = 4;

/// Points of a contour.
const POINTS: usize = 121;

/// The plane of the steepest directions at the last step of a group for which it is known.
struct Section<'a> {
    estimator: &'a str,
    pathwise: bool,
    step: u64,
    curvatures: [f64; 2],
    start: [f64; 2],
}

/// The figure of a model: its first solver and seed.
pub(crate) fn figure(results: &Results<'_>, model: Model<'_>) -> Drawn {
    let groups = results.of_model(model);
    let Some(first) = groups.iter().find(|group| section(results, group).is_some()) else { return Ok(None) };
    let solver = &first.solver;
    let own = groups.iter().filter(|group| group.solver == *solver);
    let sections: Vec<Section<'_>> = own.filter_map(|group| section(results, group)).collect();
    let own = |i: usize, section: &Section<'_>| other(results, i, section.estimator);
    let mut panels = Vec::new();
    for (pathwise, title) in PANELS {
        let shown = sections.iter().enumerate().filter(|(_, section)| section.pathwise == pathwise);
        let shown: Vec<(Series, &Section<'_>)> =
            shown.map(|(i, section)| (own(i, section), section)).collect();
        if !shown.is_empty() {
            panels.push(panel(title, &shown));
        }
    }
    let entries = sections.iter().enumerate().map(|(i, section)| Entry::Series(own(i, section)));
    let entries: Vec<Entry> = entries.collect();
    let what = results.model_title(model);
    let title = format!("Where solves start in step {}: {what} · {solver}", sections[0].step + 1);
    let svg = results.form.panels(&title, &entries, &panels, panels.len(), HEIGHT)?;
    let caption = "The quadratic ½ vᵀHv − vᵀb of the first probe, in the plane of the two largest eigenvalues of H \
                   through its solution, which is the origin. Contours: each is twice as far out as the one inside it. \
                   Markers: where the solve started. Each panel has its own scales.";
    Ok(Some(Figure::new("section", &what, title, caption, svg)))
}

fn section<'a>(results: &Results<'_>, group: &'a Group) -> Option<Section<'a>> {
    let case = results.of(group).next()?;
    let pathwise = matches!(case.case().task.probes()?, Probes::Pathwise(_));
    let both =
        |step: &Cells<'_>, [first, second]: [&str; 2]| Some([step.number(first)?, step.number(second)?]);
    case.steps().rev().find_map(|step| {
        Some(Section {
            estimator: group.estimator(),
            pathwise,
            step: step.count("step")?,
            curvatures: both(&step, names::CURVATURES)?,
            start: both(&step, names::STARTS)?,
        })
    })
}

fn panel(title: &str, shown: &[(Series, &Section<'_>)]) -> Panel {
    let dot = |(series, section): &(Series, &Section<'_>)| {
        let [x, y] = section.start;
        Dot { series: series.clone(), at: (x, y), x_range: (x, x), y_range: (y, y), hollow: false }
    };
    let axis = |which: &str| Axis { label: format!("along the {which} direction"), log: false };
    Panel {
        title: Some(title.to_owned()),
        x: axis("steepest"),
        y: axis("second steepest"),
        dots: shown.iter().map(dot).collect(),
        backdrop: contours(shown),
        ..Panel::default()
    }
}

/// Ellipses at the height of the highest start, a quarter of that height, and so on.
fn contours(shown: &[(Series, &Section<'_>)]) -> Vec<Vec<(f64, f64)>> {
    let height = |section: &Section<'_>| {
        let parts = section.curvatures.iter().zip(section.start).map(|(c, start)| 0.5 * c * start * start);
        parts.sum::<f64>()
    };
    let highest = shown.iter().map(|(_, section)| height(section)).fold(0.0, f64::max);
    let [first, second] = shown[0].1.curvatures.map(|curvature| (2.0 * highest / curvature).sqrt());
    let contour = |i: i32| {
        let scale = 0.5f64.powi(i);
        let angles = (0..POINTS).map(|k| TAU * k as f64 / (POINTS - 1) as f64);
        angles.map(|angle| (scale * first * angle.cos(), scale * second * angle.sin())).collect()
    };
    (0..CONTOURS).map(contour).collect()
}
