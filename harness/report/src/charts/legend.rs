//! The legend of a sheet.

use std::borrow::Cow;

use gpbench_record::text;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::marker::{Marker, peak};
use super::series::Series;
use super::style::{Area, Drawing, INK, MUTED, fitted, font, text_width, write};

/// The sample before the words of a legend entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sample {
    /// A marker.
    Marker(Marker),
    /// A line, dashed or not.
    Line { dashed: bool },
    /// A fine dotted line.
    Dotted,
    /// A small dot.
    Point,
    /// A hollow circle.
    Hollow,
    /// A filled box.
    Patch(RGBColor),
    /// A star.
    Peak,
}

/// An entry of a legend.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Entry {
    /// A series: its marker on a line, and its name.
    Series(Series),
    /// An explanation of something else.
    Other { text: String, sample: Sample },
}

impl Entry {
    pub(super) fn new(text: impl Into<String>, sample: Sample) -> Entry {
        Entry::Other { text: text.into(), sample }
    }

    fn text(&self) -> Cow<'_, str> {
        let text = match self {
            Entry::Series(series) => &series.name,
            Entry::Other { text, .. } => text,
        };
        text::cut(text, text::NAME)
    }

    /// Draws the entry at a place with `room` pixels to the right.
    fn draw(&self, root: &Area<'_>, (x, y): (i32, i32), room: i32) -> Drawing {
        let text = fitted(&self.text(), SIZE, room - SAMPLE - 8);
        let words = || write(root, &text, (x + SAMPLE + 8, y), font(SIZE, INK), HPos::Left);
        match self {
            Entry::Series(series) => series.draw_entry(root, || {
                let line = [(x, y), (x + SAMPLE, y)];
                root.draw(&PathElement::new(line, series.look.colour.stroke_width(2)))?;
                series.look.marker.draw(root, (x + SAMPLE / 2, y), series.look.colour, false)?;
                words()
            }),
            Entry::Other { sample, .. } => {
                draw_sample(root, (x, y), *sample)?;
                words()
            }
        }
    }
}

/// Size of the words, and height of a line of the legend.
const SIZE: f64 = 13.0;
const LEGEND_LINE: i32 = 20;
/// Length of a line sample.
const SAMPLE: i32 = 26;

/// Pixels on the left of a legend.
const LEFT: i32 = 16;

/// Draws a legend from the row of pixels `first` on, wrapped at the sheet's width.
pub(super) fn legend(root: &Area<'_>, entries: &[Entry], first: i32) -> Drawing {
    let width = root.dim_in_pixel().0 as i32;
    let places = places(entries, first, width);
    entries.iter().zip(places).try_for_each(|(entry, place)| entry.draw(root, place, width - place.0))
}

/// The first free row of pixels below a legend on a sheet of so many pixels.
pub(super) fn end(entries: &[Entry], first: i32, width: i32) -> i32 {
    // Without entries, only the title is above.
    places(entries, first, width).last().map_or(first - 8, |(_, y)| y + LEGEND_LINE / 2 + 4)
}

/// Where the entries of a legend stand.
fn places(entries: &[Entry], first: i32, width: i32) -> Vec<(i32, i32)> {
    let (mut x, mut y) = (LEFT, first);
    let place = |entry: &Entry| {
        let needed = SAMPLE + 8 + text_width(&entry.text(), SIZE) + 18;
        if x > LEFT && x + needed > width - 8 {
            (x, y) = (LEFT, y + LEGEND_LINE);
        }
        x += needed;
        (x - needed, y)
    };
    entries.iter().map(place).collect()
}

fn draw_sample(root: &Area<'_>, (x, y): (i32, i32), sample: Sample) -> Drawing {
    let line = |style: ShapeStyle| root.draw(&PathElement::new([(x, y), (x + SAMPLE, y)], style));
    match sample {
        Sample::Marker(marker) => marker.draw(root, (x + SAMPLE / 2, y), MUTED, false),
        Sample::Line { dashed: false } => Ok(line(MUTED.stroke_width(2))?),
        Sample::Line { dashed: true } => {
            let ends = [(x, y), (x + SAMPLE, y)];
            Ok(root.draw(&DashedPathElement::new(ends, 6, 4, MUTED.stroke_width(2)))?)
        }
        Sample::Dotted => {
            let ends = [(x, y), (x + SAMPLE, y)];
            Ok(root.draw(&DashedPathElement::new(ends, 2, 4, INK.stroke_width(1)))?)
        }
        Sample::Point => Ok(root.draw(&Circle::new((x + SAMPLE / 2, y), 2, MUTED.filled()))?),
        Sample::Hollow => Marker::Circle.draw(root, (x + SAMPLE / 2, y), MUTED, true),
        Sample::Peak => peak(root, (x + SAMPLE / 2, y)),
        Sample::Patch(colour) => {
            Ok(root.draw(&Rectangle::new([(x + 6, y - 6), (x + SAMPLE, y + 6)], colour.filled()))?)
        }
    }
}
