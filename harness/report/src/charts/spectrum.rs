//! Kernel eigenvalues and spectral basis functions of data sets with one input
//! (Lin et al. 2023, Figure 4, bottom).

use gpbench_record::{Curve, SpectralBasis};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axes::{Axes, Labels};
use super::figure::{Drawn, Figure};
use super::legend::{Entry, Sample};
use super::marker::Marker;
use super::palette::PALETTE;
use super::posterior::{across, drawn};
use super::scale::Scale;
use super::style::{Area, Drawing, INK, MUTED, RULE, font, write};
use crate::problem::GroupProblem;
use crate::results::Results;

/// Colour of the curves.
const COLOUR: RGBColor = PALETTE[0];

/// Height of the panels.
const HEIGHT: u32 = 358;

/// Eigenvalues to the left, one strip a basis function to the right.
pub(crate) fn figure(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Drawn {
    let drawn = drawn(results, problem);
    let with_spectrum = drawn.iter().find_map(|(_, curve)| Some((*curve, curve.spectrum.as_ref()?)));
    let Some((curve, spectrum)) = with_spectrum else { return Ok(None) };
    let title = format!("Kernel eigenvalues and spectral basis functions: {what}");
    let entries = [
        Entry::new("indices whose functions are drawn", Sample::Marker(Marker::Circle)),
        Entry::new("range of the training inputs", Sample::Patch(RULE)),
    ];
    let grid = results.form.grid(2, 2, HEIGHT);
    let svg = results.form.sheet(&title, &entries, grid.height, |root, top| {
        let areas = root.margin(top, 4, 8, 4).split_evenly(grid.split);
        eigenvalues(root, &areas[0], spectrum)?;
        functions(root, &areas[1], curve, spectrum)
    })?;
    let caption = "Left: eigenvalues of the kernel matrix (without noise) by index, as far as they exceed rounding \
                   error. Right: spectral basis functions by index, each with a scale of its own. Functions of low \
                   index lie among the data, where SGD converges quickly. Those of higher index lie at the edges of \
                   the data, where its error remains (Lin et al. 2023, section 3.4).";
    Ok(Some(Figure::new("spectrum", what, title, caption, svg)))
}

fn eigenvalues(root: &Area<'_>, area: &Area<'_>, spectrum: &SpectralBasis) -> Drawing {
    let points = || spectrum.eigenvalues.iter().map(|&(index, value)| (index as f64, value));
    let across = Scale::fit(points().map(|p| p.0), true);
    let heights = Scale::fit(points().map(|p| p.1), true);
    let labels = Labels { title: Some("eigenvalues"), x: "index", y: "eigenvalue" };
    let axes = Axes::draw(area, labels, across, heights)?;
    root.draw(&PathElement::new(axes.path(points()), COLOUR.stroke_width(2)))?;
    for (index, value) in &spectrum.eigenvalues {
        if spectrum.functions.iter().any(|(shown, _)| shown == index) {
            Marker::Circle.draw(root, axes.pixel((*index as f64, *value)), MUTED, false)?;
        }
    }
    Ok(())
}

/// Strips from top to bottom: strip i spans the heights -i - 1/2 to -i + 1/2.
fn functions(root: &Area<'_>, area: &Area<'_>, curve: &Curve, spectrum: &SpectralBasis) -> Drawing {
    let count = spectrum.functions.len();
    let mut heights = Scale::over(0.45 - count as f64, 0.6, false);
    heights.ticks =
        spectrum.functions.iter().enumerate().map(|(i, (k, _))| (-(i as f64), k.to_string())).collect();
    let labels = Labels { title: Some("basis functions"), x: "x (standardised)", y: "index" };
    let axes = Axes::draw(area, labels, across(curve), heights)?;
    axes.shade(root, curve.range, RULE.mix(0.5).filled())?;
    for (i, (_, function)) in spectrum.functions.iter().enumerate() {
        let base = -(i as f64);
        let most = function.iter().map(|v| v.abs()).fold(f64::MIN_POSITIVE, f64::max);
        let heights = function.iter().map(|v| base + 0.44 * v / most);
        let line = axes.path(curve.x.iter().copied().zip(heights));
        let floor = axes.path([axes.x_ends()[0], axes.x_ends()[1]].map(|x| (x, base)));
        let outline = [vec![floor[0]], line.clone(), vec![floor[1]]].concat();
        root.draw(&Polygon::new(outline, COLOUR.mix(0.22).filled()))?;
        root.draw(&PathElement::new(floor, MUTED.mix(0.6).stroke_width(1)))?;
        root.draw(&PathElement::new(line, COLOUR.stroke_width(2)))?;
    }
    if count == 0 {
        write(root, "none above rounding error", axes.pixel((curve.x[0], 0.0)), font(12.0, INK), HPos::Left)?;
    }
    Ok(())
}
