//! One pair of axes with curves and points.

use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axes::{Axes, Labels};
use super::curve::Curve;
use super::field::Field;
use super::scale::{Axis, Scale};
use super::style::{
    Area, Drawing, Entry, INK, Look, MUTED, Marker, font, heading, legend, mark, peak, sheet, write,
};
use crate::number::scientific;

/// A curve of one solver.
pub(super) struct Line {
    pub(super) look: Look,
    pub(super) curve: Curve,
    pub(super) dashed: bool,
}

/// A point of one solver, with the range over its seeds.
pub(super) struct Dot {
    pub(super) look: Look,
    pub(super) at: (f64, f64),
    pub(super) x_range: (f64, f64),
    pub(super) y_range: (f64, f64),
    pub(super) hollow: bool,
}

/// What to draw.
#[derive(Default)]
pub(super) struct Panel {
    pub(super) title: Option<String>,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    pub(super) dots: Vec<Dot>,
    /// Paths behind the curves, such as a frontier.
    pub(super) backdrop: Vec<Vec<(f64, f64)>>,
    /// Whether the vertical axis may end below the highest values, so that these do not flatten most curves.
    pub(super) cut_high: bool,
    /// A level that a dotted line marks.
    pub(super) level: Option<f64>,
    /// Labels of the horizontal axis, where it has few values.
    pub(super) stops: Vec<f64>,
    /// A quantity over the plane, behind everything else.
    pub(super) field: Option<Field>,
}

/// Width of a sheet.
const WIDTH: u32 = 760;

/// A sheet with panels, row by row, under a heading and a legend.
pub(super) fn panels_sheet(
    title: &str,
    entries: &[Entry],
    panels: &[Panel],
    columns: usize,
    height: u32,
) -> Result<String, Box<dyn std::error::Error>> {
    sheet((WIDTH, height), |root| {
        heading(root, title)?;
        let mut top = legend(root, entries)?;
        for field in panels.iter().filter_map(|panel| panel.field.as_ref()) {
            top = field.key(root, top)?;
        }
        let areas = root.margin(top, 4, 8, 4).split_evenly((panels.len().div_ceil(columns), columns));
        for (panel, area) in panels.iter().zip(&areas) {
            panel.draw(root, area)?;
        }
        Ok(())
    })
}

/// Points this much below the highest are marked at the lower edge. An exact answer is so far below an iterative one
/// that an axis for both would flatten everything else.
const DEPTH: f64 = 1e-7;

/// Longest logarithmic horizontal axis, in decades.
const DECADES: f64 = 4.0;

impl Panel {
    fn x_scale(&self) -> Scale {
        let lines = self.lines.iter().flat_map(|l| l.curve.at.iter().copied());
        let dots = || {
            let behind = self.backdrop.iter().flatten().map(|point| point.0);
            self.dots.iter().flat_map(|d| [d.at.0, d.x_range.0, d.x_range.1]).chain(behind)
        };
        if let Some(field) = &self.field {
            return over_field(lines.chain(dots()), field.x_ends(), self.x.log);
        }
        let scale = Scale::fit(lines.chain(dots()), self.x.log);
        if !self.stops.is_empty() {
            return scale.labelled(&self.stops);
        }
        // A first point after a microsecond would waste half of the axis.
        let cut = dots().fold(10f64.powf(scale.hi - DECADES), f64::min).max(1e-300).log10();
        if self.x.log && scale.lo < cut { Scale::over(cut, scale.hi, true) } else { scale }
    }

    fn y_scale(&self) -> Scale {
        let lines = || self.lines.iter().flat_map(|l| l.curve.low.iter().chain(&l.curve.high)).copied();
        let dots = || {
            let behind = self.backdrop.iter().flatten().map(|point| point.1);
            self.dots.iter().flat_map(|d| [d.at.1, d.y_range.0, d.y_range.1]).chain(behind)
        };
        let top = lines().chain(dots()).fold(0.0, f64::max);
        let shallow = dots().filter(|v| !self.y.log || *v > DEPTH * top);
        if let Some(field) = &self.field {
            return over_field(lines().chain(shallow), field.y_ends(), self.y.log);
        }
        let end = if self.cut_high { end_for_most(&self.lines) } else { f64::INFINITY };
        let scale = Scale::fit(lines().chain(shallow).chain(self.level).map(|v| v.min(end)), self.y.log);
        // Room below the curves for the markers of values below the axis.
        match self.y.log && dots().any(|v| scale.is_below(v)) {
            true => Scale::over(scale.lo - 0.08 * (scale.hi - scale.lo), scale.hi, true),
            false => scale,
        }
    }

    /// Draws the panel into `area`, a part of `root`.
    pub(super) fn draw(&self, root: &Area<'_>, area: &Area<'_>) -> Drawing {
        let (x, y) = (self.x_scale(), self.y_scale());
        let labels = Labels { title: self.title.as_deref(), x: &self.x.label, y: &self.y.label };
        let axes = Axes::draw(area, labels, x.clone(), y.clone())?;
        if let Some(field) = &self.field {
            field.paint(root, &axes)?;
        }
        let path = |points: Vec<(f64, f64)>| axes.path(points);
        for line in &self.lines {
            let c = &line.curve;
            let up = c.at.iter().copied().zip(c.high.iter().copied());
            let down = c.at.iter().copied().zip(c.low.iter().copied()).rev();
            root.draw(&Polygon::new(path(up.chain(down).collect()), line.look.colour.mix(0.16).filled()))?;
        }
        if let Some(level) = self.level {
            let ends = [x.lo, x.hi].map(|end| if self.x.log { 10f64.powf(end) } else { end });
            let across = axes.path(ends.map(|end| (end, level)));
            root.draw(&DashedPathElement::new(across, 2, 4, INK.stroke_width(1)))?;
        }
        for points in &self.backdrop {
            root.draw(&PathElement::new(path(points.clone()), MUTED.mix(0.6).stroke_width(1)))?;
        }
        for line in &self.lines {
            let points = path(line.curve.at.iter().copied().zip(line.curve.middle.iter().copied()).collect());
            let style = line.look.colour.stroke_width(2);
            if line.dashed {
                root.draw(&DashedPathElement::new(points.clone(), 6, 4, style))?;
            } else {
                root.draw(&PathElement::new(points.clone(), style))?;
            }
            for i in marked(points.len()) {
                mark(root, points[i], line.look, false)?;
            }
        }
        for dot in &self.dots {
            let whisker = dot.look.colour.stroke_width(1);
            root.draw(&PathElement::new(
                path(vec![(dot.x_range.0, dot.at.1), (dot.x_range.1, dot.at.1)]),
                whisker,
            ))?;
            let (px, py) = axes.pixel(dot.at);
            if self.y.log && axes.is_below(dot.at.1) {
                let below = Look { marker: Marker::Below, ..dot.look };
                mark(root, (px, py - 7), below, false)?;
                let right_half = 2.0 * (x.place(dot.at.0) - x.lo) > x.hi - x.lo;
                let (shift, side) = if right_half { (-12, HPos::Right) } else { (12, HPos::Left) };
                write(root, &scientific(dot.at.1), (px + shift, py - 8), font(12.0, dot.look.colour), side)?;
                continue;
            }
            root.draw(&PathElement::new(
                path(vec![(dot.at.0, dot.y_range.0), (dot.at.0, dot.y_range.1)]),
                whisker,
            ))?;
            mark(root, (px, py), dot.look, dot.hollow)?;
        }
        if let Some(field) = &self.field {
            peak(root, axes.pixel(field.peak()))?;
        }
        Ok(())
    }
}

/// The upper end of an axis on whose lower half most curves stay from a tenth of their way on.
fn end_for_most(lines: &[Line]) -> f64 {
    let lowest = lines.iter().flat_map(|line| &line.curve.low).copied().fold(f64::INFINITY, f64::min);
    let highest = |Line { curve, .. }: &Line| {
        let last = curve.at.last()?;
        let later = curve.at.iter().zip(&curve.middle).filter(|(at, _)| 10.0 * **at >= *last);
        later.map(|(_, value)| *value).reduce(f64::max)
    };
    let mut values: Vec<f64> = lines.iter().filter_map(highest).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).map_or(f64::INFINITY, |middle| middle + (middle - lowest))
}

/// The scale from end to end of a field, or farther where values lie outside it.
fn over_field(values: impl Iterator<Item = f64>, [low, high]: [f64; 2], log: bool) -> Scale {
    let values: Vec<f64> = values.collect();
    let place = |end: f64| if log { end.log10() } else { end };
    match values.iter().all(|value| (low..=high).contains(value)) {
        true => Scale::over(place(low), place(high), log),
        false => Scale::fit(values.into_iter().chain([low, high]), log),
    }
}

/// Which points of a curve have a marker: six of them, without the first.
fn marked(points: usize) -> Vec<usize> {
    let last = points.saturating_sub(1);
    (1..=6).map(|k| k * last / 6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_high_curve_does_not_flatten_the_others() {
        let line = |middle: [f64; 4]| {
            let mut curve = Curve::default();
            for (at, value) in [1.0, 10.0, 50.0, 100.0].into_iter().zip(middle) {
                curve.push(at, value, (value, value));
            }
            let look = Look { colour: RGBColor(0, 0, 0), marker: Marker::Below };
            Line { look, curve, dashed: false }
        };
        let good = || line([30.0, 2.0, 1.0, 1.0]);
        let panel = Panel {
            lines: vec![good(), line([30.0, 50.0, 80.0, 90.0]), good()],
            cut_high: true,
            ..Panel::default()
        };
        let scale = panel.y_scale();
        assert!(scale.hi < 4.0 && scale.place(90.0) == scale.hi, "{scale:?}");
        assert!(Panel { cut_high: false, ..panel }.y_scale().hi > 90.0);
        // A curve alone is seen whole from a tenth of its way on.
        let alone = Panel { lines: vec![line([30.0, 2.0, 9.0, 5.0])], cut_high: true, ..Panel::default() };
        assert!(alone.y_scale().hi > 9.0);
    }
}
