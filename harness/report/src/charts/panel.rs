//! One pair of axes with curves and points.

use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axes::{Axes, Labels};
use super::curve::Curve;
use super::field::Field;
use super::form::ChartForm;
use super::labels::Free;
use super::legend::Entry;
use super::marker::{Marker, peak};
use super::scale::{Axis, Scale};
use super::series::Series;
use super::sheet::HEAD;
use super::style::{Area, Drawing, INK, MUTED, font, text_width, write};
use crate::number::scientific;
use crate::results::once_each;

/// A curve of one series.
pub(super) struct Line {
    pub(super) series: Series,
    pub(super) curve: Curve,
    pub(super) dashed: bool,
}

/// A point of one series, with the range over its seeds.
pub(super) struct Dot {
    pub(super) series: Series,
    pub(super) at: (f64, f64),
    pub(super) x_range: (f64, f64),
    pub(super) y_range: (f64, f64),
    pub(super) hollow: bool,
}

/// Content of a pair of axes.
#[derive(Default)]
pub(super) struct Panel {
    pub(super) title: Option<String>,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    pub(super) dots: Vec<Dot>,
    /// Crosses of series, such as the places where curves end in a failure.
    pub(super) crosses: Vec<(Series, (f64, f64))>,
    /// Paths behind the curves, such as a frontier.
    pub(super) backdrop: Vec<Vec<(f64, f64)>>,
    /// Whether the vertical axis may end below the highest values, so that these do not flatten most curves.
    pub(super) cut_high: bool,
    /// A level that a dotted line marks.
    pub(super) level: Option<f64>,
    /// Labels of the horizontal axis, where it has few values.
    pub(super) stops: Vec<f64>,
    /// Labels of 1, 2 and so on along the horizontal axis, where that has names instead of numbers.
    pub(super) names: Vec<String>,
    /// A quantity over the plane, behind everything else.
    pub(super) field: Option<Field>,
}

impl ChartForm {
    /// A sheet with panels, row by row. On a page, these stand in `columns`, and the sheet has `height` pixels under a title
    /// and a legend of one line.
    pub(super) fn panels(
        self,
        title: &str,
        entries: &[Entry],
        panels: &[Panel],
        columns: usize,
        height: u32,
    ) -> Result<String, Box<dyn std::error::Error>> {
        let grid = self.grid(panels.len(), columns, height.saturating_sub(HEAD));
        let fields = || panels.iter().filter_map(|panel| panel.field.as_ref());
        let below = fields().map(|field| field.key_height(self.pixels() as i32)).sum::<i32>();
        // On a page, the key takes its pixels from the panels.
        let height = if self.width.is_some() { grid.height + below as u32 } else { grid.height };
        self.sheet(title, entries, height, |root, mut top| {
            for field in fields() {
                top = field.key(root, top)?;
            }
            let areas = root.margin(top, 4, 8, 4).split_evenly(grid.split);
            panels.iter().zip(&areas).try_for_each(|(panel, area)| panel.draw(root, area))
        })
    }
}

/// Points this much below the highest are marked at the lower edge. An exact answer is so far below an iterative one
/// that an axis for both would flatten everything else.
const DEPTH: f64 = 1e-7;

/// Most series that are named at the ends of their curves, and the narrowest panel in which they are.
const FEW: usize = 6;
const WIDE: i32 = 500;

/// Share of the horizontal axis after which the name of a curve that ends there may stand beside the axes.
const NEAR_EDGE: f64 = 0.85;

/// Size of the text beside points.
const LABEL: f64 = 12.0;

/// Pixels from the edge of the axes up to the marker of a value below them.
const ABOVE_EDGE: i32 = 7;

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
        if !self.names.is_empty() {
            return Scale::named(&self.names);
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
        let of_lines = || self.lines.iter().flat_map(|l| l.curve.low.iter().chain(&l.curve.high)).copied();
        let dots = || {
            let behind = self.backdrop.iter().flatten().map(|point| point.1);
            self.dots.iter().flat_map(|d| [d.at.1, d.y_range.0, d.y_range.1]).chain(behind)
        };
        let top = of_lines().chain(dots()).fold(0.0, f64::max);
        let shallow = || dots().filter(|v| !self.y.log || *v > DEPTH * top);
        let floor = if self.y.log { self.floor(DEPTH * top) } else { f64::NEG_INFINITY };
        let lines = || of_lines().filter(|value| *value >= floor);
        if let Some(field) = &self.field {
            return over_field(lines().chain(shallow()), field.y_ends(), self.y.log);
        }
        let end = if self.cut_high { end_for_most(&self.lines) } else { f64::INFINITY };
        let scale = Scale::fit(lines().chain(shallow()).chain(self.level).map(|v| v.min(end)), self.y.log);
        // Room below the curves for the markers of values below the axis.
        match self.y.log && dots().chain(of_lines()).any(|v| scale.is_below(v)) {
            true => Scale::over(scale.lo - 0.08 * (scale.hi - scale.lo), scale.hi, true),
            false => scale,
        }
    }

    /// The value below which curves are cut: the lowest of all but those that descend below `deep`. Nothing is cut where
    /// these are half of all or more, since then the axis is theirs.
    fn floor(&self, deep: f64) -> f64 {
        let ends = self.lines.iter().map(|line| line.curve.low.iter().copied().fold(f64::INFINITY, f64::min));
        let (deep_lines, others): (Vec<f64>, Vec<f64>) = ends.partition(|end| *end < deep);
        let others = others.into_iter().chain(self.dots.iter().map(|dot| dot.at.1).filter(|y| *y >= deep));
        let others: Vec<f64> = others.collect();
        match deep_lines.len() < others.len() {
            true => others.into_iter().chain(self.level).fold(f64::INFINITY, f64::min),
            false => f64::NEG_INFINITY,
        }
    }

    /// Whether a curve belongs to the series of this name.
    pub(super) fn has_line_of(&self, name: &str) -> bool {
        self.lines.iter().any(|line| line.series.name == name)
    }

    /// Whether a curve or a point belongs to the series of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.has_line_of(name) || self.dots.iter().any(|dot| dot.series.name == name)
    }

    /// The series to name at the ends of their curves, where these are few and the panel is wide.
    fn named(&self, width: i32) -> Vec<&str> {
        let names = once_each(self.lines.iter().map(|line| line.series.name.as_str()));
        let are_few = (2..=FEW).contains(&names.len()) && width >= WIDE && self.field.is_none();
        if are_few { names } else { Vec::new() }
    }

    /// Pixels beside the axes for the names of curves that end near the right edge.
    fn width_beside(&self, named: &[&str], x: &Scale) -> i32 {
        let is_near = |line: &&Line| {
            let end = line.curve.at.last().map_or(x.lo, |at| x.place(*at));
            end > x.lo + NEAR_EDGE * (x.hi - x.lo) && named.contains(&line.series.name.as_str())
        };
        let near = self.lines.iter().filter(is_near);
        near.map(|line| text_width(&line.series.name, LABEL)).max().unwrap_or_default()
    }

    /// Draws the panel into `area`, a part of `root`.
    pub(super) fn draw(&self, root: &Area<'_>, area: &Area<'_>) -> Drawing {
        let width = area.dim_in_pixel().0 as i32;
        let named = self.named(width);
        let (x, y) = (self.x_scale(), self.y_scale());
        let beside = self.width_beside(&named, &x).min(width / 4);
        let (plot, _) = area.split_horizontally(width - beside);
        let labels = Labels { title: self.title.as_deref(), x: &self.x.label, y: &self.y.label };
        let axes = Axes::draw(&plot, labels, x.clone(), y)?;
        if let Some(field) = &self.field {
            field.paint(root, &axes)?;
        }
        let mut free = Free::within(axes.frame(beside));
        self.draw_bands(root, &axes)?;
        if let Some(level) = self.level {
            let ends = [x.lo, x.hi].map(|end| if self.x.log { 10f64.powf(end) } else { end });
            let across = axes.path(ends.map(|end| (end, level)));
            free.keep_path(&across);
            root.draw(&DashedPathElement::new(across, 2, 4, INK.stroke_width(1)))?;
        }
        for points in &self.backdrop {
            root.draw(&PathElement::new(axes.path(points.clone()), MUTED.mix(0.6).stroke_width(1)))?;
        }
        // Text is placed when it is known what it must not cover.
        let mut notes: Vec<Note<'_>> = Vec::new();
        for line in &self.lines {
            let note = self.draw_line(root, &axes, line, &mut free)?;
            notes.extend(note.filter(|_| {
                !self.dots.iter().any(|dot| dot.series == line.series && axes.is_below(dot.at.1))
            }));
        }
        for dot in &self.dots {
            notes.extend(self.draw_dot(root, &axes, dot, &mut free)?);
        }
        for (series, at) in &self.crosses {
            let place = axes.pixel(*at);
            free.keep_marker(place);
            series.draw(root, || Marker::Cross.draw(root, place, series.look.colour, true))?;
        }
        for name in named {
            let ends = self.lines.iter().filter(|line| line.series.name == name);
            notes.extend(
                ends.filter_map(|line| {
                    let at = axes.pixel((*line.curve.at.last()?, *line.curve.middle.last()?));
                    Some(Note { series: &line.series, at, text: name.to_owned() })
                })
                .next_back(),
            );
        }
        for Note { series, at, text } in notes {
            if let Some(place) = free.beside(at, &text, LABEL) {
                let style = font(LABEL, series.look.colour);
                series.draw(root, || write(root, &text, place, style, HPos::Left))?;
            }
        }
        if let Some(field) = &self.field {
            peak(root, axes.pixel(field.peak()))?;
        }
        Ok(())
    }

    /// The ranges of the curves over their seeds.
    fn draw_bands(&self, root: &Area<'_>, axes: &Axes) -> Drawing {
        self.lines.iter().try_for_each(|Line { series, curve, .. }| {
            let up = curve.at.iter().copied().zip(curve.high.iter().copied());
            let down = curve.at.iter().copied().zip(curve.low.iter().copied()).rev();
            let outline = axes.path(up.chain(down));
            let style = series.look.colour.mix(0.16).filled();
            series.draw(root, || Ok(root.draw(&Polygon::new(outline, style))?))
        })
    }

    /// A curve with its markers. One that ends below the axis ends in a marker where it leaves it; the note says its last
    /// value.
    fn draw_line<'a>(
        &self,
        root: &Area<'_>,
        axes: &Axes,
        Line { series, curve, dashed }: &'a Line,
        free: &mut Free,
    ) -> Result<Option<Note<'a>>, Box<dyn std::error::Error>> {
        let last = curve.middle.last().copied().filter(|last| self.y.log && axes.is_below(*last));
        let inside = curve.middle.iter().rposition(|value| !axes.is_below(*value)).unwrap_or_default();
        let kept = if last.is_some() { (inside + 2).min(curve.at.len()) } else { curve.at.len() };
        let points = curve.at.iter().copied().zip(curve.middle.iter().copied()).take(kept);
        let points = axes.path(points);
        let colour = series.look.colour;
        free.keep_path(&points);
        series.draw(root, || {
            let style = colour.stroke_width(2);
            if *dashed {
                root.draw(&DashedPathElement::new(points.clone(), 6, 4, style))?;
            } else {
                root.draw(&PathElement::new(points.clone(), style))?;
            }
            let marks = if last.is_some() { marked(inside + 1) } else { marked(points.len()) };
            marks.into_iter().try_for_each(|i| series.look.marker.draw(root, points[i], colour, false))
        })?;
        let Some(last) = last else {
            points.last().into_iter().for_each(|end| free.keep_marker(*end));
            return Ok(None);
        };
        let at = points.last().map_or((0, 0), |(x, y)| (*x, y - ABOVE_EDGE));
        free.keep_marker(at);
        series.draw(root, || Marker::Below.draw(root, at, colour, false))?;
        Ok(Some(Note { series, at, text: scientific(last) }))
    }

    /// A point with its range. One below the axis is a marker at the edge, and a note of its value.
    fn draw_dot<'a>(
        &self,
        root: &Area<'_>,
        axes: &Axes,
        Dot { series, at, x_range, y_range, hollow }: &'a Dot,
        free: &mut Free,
    ) -> Result<Option<Note<'a>>, Box<dyn std::error::Error>> {
        let colour = series.look.colour;
        let whisker = |ends: [(f64, f64); 2]| -> Drawing {
            Ok(root.draw(&PathElement::new(axes.path(ends), colour.stroke_width(1)))?)
        };
        let across = [(x_range.0, at.1), (x_range.1, at.1)];
        let (px, py) = axes.pixel(*at);
        if self.y.log && axes.is_below(at.1) {
            let place = (px, py - ABOVE_EDGE);
            free.keep_marker(place);
            series.draw(root, || {
                whisker(across)?;
                Marker::Below.draw(root, place, colour, *hollow)
            })?;
            return Ok(Some(Note { series, at: place, text: scientific(at.1) }));
        }
        free.keep_marker((px, py));
        series.draw(root, || {
            whisker(across)?;
            whisker([(at.0, y_range.0), (at.0, y_range.1)])?;
            series.look.marker.draw(root, (px, py), colour, *hollow)
        })?;
        Ok(None)
    }
}

/// A text beside a point of a series.
struct Note<'a> {
    series: &'a Series,
    at: (i32, i32),
    text: String,
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
    use crate::charts::series::Look;
    use crate::charts::sheet::sheet;

    #[test]
    fn one_high_curve_does_not_flatten_the_others() {
        let line = |middle: [f64; 4]| {
            let mut curve = Curve::default();
            for (at, value) in [1.0, 10.0, 50.0, 100.0].into_iter().zip(middle) {
                curve.push(at, value, (value, value));
            }
            Line { series: Series::new("solver", Look::nth(0)), curve, dashed: false }
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

    /// A curve on a logarithmic axis, from 1 down to `end`.
    fn falling(name: &str, end: f64) -> Line {
        let mut curve = Curve::default();
        for i in 0..=20 {
            let value = end.powf(f64::from(i) / 20.0);
            curve.push(f64::from(i), value, (value, value));
        }
        Line { series: Series::new(name, Look::nth(0)), curve, dashed: false }
    }

    #[test]
    fn one_exact_curve_does_not_squeeze_the_others() {
        let y = || Axis { label: String::new(), log: true };
        let panel = |ends: &[f64]| Panel {
            y: y(),
            lines: ends.iter().map(|end| falling("solver", *end)).collect(),
            ..Panel::default()
        };
        let cut = panel(&[1e-2, 1e-3, 1e-15]);
        let scale = cut.y_scale();
        assert!((-4.0..-3.0).contains(&scale.lo), "{scale:?}");
        let svg = sheet((760, 400), |root| cut.draw(root, root)).unwrap();
        assert!(svg.contains("1.0e-15"), "the value below the axis is written");
        // Where most curves are exact, the axis is theirs.
        assert!(panel(&[1e-2, 1e-14, 1e-15]).y_scale().lo < -15.0);
        // A curve alone is seen whole, and so is one that is less deep.
        assert!(panel(&[1e-15]).y_scale().lo < -15.0);
        assert!(panel(&[1e-2, 1e-3, 1e-6]).y_scale().lo < -6.0);
    }

    #[test]
    fn few_curves_are_named_at_their_ends_and_many_are_not() {
        let drawn = |count: usize| {
            let lines = (0..count).map(|i| falling(&format!("solver {i}."), 1e-2)).collect();
            let panel = Panel { y: Axis { label: String::new(), log: true }, lines, ..Panel::default() };
            sheet((760, 400), |root| panel.draw(root, root)).unwrap()
        };
        // Curves that end at the same point too.
        let few = drawn(FEW);
        assert!((0..FEW).all(|i| few.contains(&format!("\nsolver {i}.\n"))), "{few}");
        assert!(!drawn(FEW + 1).contains("\nsolver 0.\n"));
    }
}
