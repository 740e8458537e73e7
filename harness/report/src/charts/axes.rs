//! A pair of axes, and the pixels of values on them.

use std::ops::Range;

use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;

use super::labels::Frame;
use super::scale::Scale;
use super::style::{Area, Drawing, INK, MUTED, RULE, fitted, font, text_width};

/// Pixels of the labels and the title on the left of the axes, and below them.
const LEFT: i32 = 74;
const BELOW: i32 = 46;
/// Pixels of the margins on the right and under all.
const RIGHT: i32 = 18;
const UNDER: i32 = 4;
/// Pixels of a title above the axes.
const TITLE: i32 = 30;
/// Size of the labels, and pixels between two of them.
const LABEL: f64 = 12.0;
const GAP: i32 = 6;

/// Titles of the axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Labels<'a> {
    pub(super) title: Option<&'a str>,
    pub(super) x: &'a str,
    pub(super) y: &'a str,
}

/// Axes that have been drawn.
pub(super) struct Axes {
    x: Scale,
    y: Scale,
    pixels: (Range<i32>, Range<i32>),
}

impl Axes {
    /// Draws the axes, with their grid, into `area`.
    pub(super) fn draw(
        area: &Area<'_>,
        labels: Labels<'_>,
        x: Scale,
        y: Scale,
    ) -> Result<Axes, Box<dyn std::error::Error>> {
        let (width, height) = area.dim_in_pixel();
        let title = if labels.title.is_some() { TITLE } else { 0 };
        let x = x.thinned(width as i32 - LEFT - RIGHT, |label| text_width(label, LABEL) + GAP);
        let y = y.thinned(height as i32 - BELOW - UNDER - title, |_| LABEL as i32 + GAP);
        let mut builder = ChartBuilder::on(area);
        builder.x_label_area_size(BELOW).y_label_area_size(LEFT).margin_right(RIGHT).margin_bottom(UNDER);
        if let Some(title) = labels.title {
            let width = width as i32 - 24;
            builder.caption(fitted(title, 14.0, width), font(14.0, INK));
        }
        let mut chart = builder.build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RULE)
            .axis_style(MUTED)
            .label_style(font(LABEL, INK))
            .axis_desc_style(font(13.0, INK))
            // These stand in the middle of the axes, and end within the area.
            .x_desc(fitted(labels.x, 13.0, width as i32 - LEFT + RIGHT))
            .y_desc(fitted(labels.y, 13.0, height as i32 - BELOW - UNDER + title))
            .draw()?;
        Ok(Axes { x, y, pixels: chart.plotting_area().get_pixel_range() })
    }

    /// The pixel of a point; one outside the axes is moved to their edge.
    pub(super) fn pixel(&self, (x, y): (f64, f64)) -> (i32, i32) {
        let (across, down) = &self.pixels;
        let across = self.x.map(&self.x.place(x), (across.start, across.end));
        (across, self.y.map(&self.y.place(y), (down.end, down.start)))
    }

    /// The pixels of a path.
    pub(super) fn path(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(i32, i32)> {
        points.into_iter().map(|point| self.pixel(point)).collect()
    }

    /// Shades the range between two values of x.
    pub(super) fn shade(&self, root: &Area<'_>, [low, high]: [f64; 2], style: ShapeStyle) -> Drawing {
        let (_, down) = &self.pixels;
        let [left, right] = [low, high].map(|x| self.pixel((x, 0.0)).0);
        Ok(root.draw(&Rectangle::new([(left, down.start), (right, down.end)], style))?)
    }

    /// The pixels of the axes, and `right` more to their right.
    pub(super) fn frame(&self, right: i32) -> Frame {
        let (across, down) = &self.pixels;
        Frame { left: across.start, top: down.start, right: across.end + RIGHT + right, bottom: down.end }
    }

    /// Ends of the horizontal axis, in its own coordinate.
    pub(super) fn x_ends(&self) -> [f64; 2] {
        [self.x.lo, self.x.hi]
    }

    /// Whether a value lies below the axis.
    pub(super) fn is_below(&self, y: f64) -> bool {
        self.y.is_below(y)
    }
}
