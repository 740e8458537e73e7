//! The sheet, its text, and the legend.

use std::borrow::Cow;

use gpbench_record::text;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::marker::{Marker, peak};
use super::series::{Series, grouped};

/// Anything that can be drawn on.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The outcome of drawing.
pub(super) type Drawing = Result<(), Box<dyn std::error::Error>>;

/// Background; pages in dark mode repaint this colour and the three below.
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(31, 35, 40);
/// Text of less weight.
pub(super) const MUTED: RGBColor = RGBColor(89, 99, 110);
/// Grid lines.
pub(super) const RULE: RGBColor = RGBColor(222, 226, 231);

/// Draws to an SVG text.
pub(super) fn sheet(
    size: (u32, u32),
    draw: impl for<'a> FnOnce(&Area<'a>) -> Drawing,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&PAPER)?;
        draw(&root)?;
        root.present()?;
    }
    // XML forbids control characters.
    Ok(text::plain(&grouped(&svg)).into_owned())
}

/// A font of `size` pixels: the library divides by 1.24.
pub(super) fn font(size: f64, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size * 1.24).into_font().color(&colour)
}

/// Writes a line of text.
pub(super) fn write(root: &Area<'_>, text: &str, at: (i32, i32), style: TextStyle<'_>, h: HPos) -> Drawing {
    let text = text::cut(text, text::NAME);
    Ok(root.draw_text(&text, &style.pos(Pos::new(h, VPos::Center)), at)?)
}

/// Writes the title of a figure in its upper left corner.
pub(super) fn heading(root: &Area<'_>, text: &str) -> Drawing {
    let style = ("sans-serif", 16.0 * 1.24, FontStyle::Bold).into_font().color(&INK);
    // Bold letters are a tenth wider.
    let text = fitted(text, 1.1 * 16.0, root.dim_in_pixel().0 as i32 - 24);
    write(root, &text, (16, 22), style, HPos::Left)
}

/// The text, shortened in the middle where it is wider than `width` pixels.
pub(super) fn fitted(text: &str, size: f64, width: i32) -> String {
    let text = text::cut(text, text::NAME);
    let letters: Vec<char> = text.chars().collect();
    let mut kept = letters.len();
    let mut shown = text.into_owned();
    while text_width(&shown, size) > width && kept > 2 {
        kept -= 1;
        let head: String = letters[..kept.div_ceil(2)].iter().collect();
        let tail: String = letters[letters.len() - kept / 2..].iter().collect();
        shown = format!("{}…{}", head.trim_end(), tail.trim_start());
    }
    shown
}

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
    /// What something else means.
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

    fn draw(&self, root: &Area<'_>, (x, y): (i32, i32)) -> Drawing {
        let words = || write(root, &self.text(), (x + SAMPLE + 8, y), font(13.0, INK), HPos::Left);
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

/// Height of a line of the legend.
const LEGEND_LINE: i32 = 20;
/// Length of a line sample.
const SAMPLE: i32 = 26;

/// Draws a legend below the heading, wrapped at the sheet's width; returns the first free row of pixels.
pub(super) fn legend(root: &Area<'_>, entries: &[Entry]) -> Result<i32, Box<dyn std::error::Error>> {
    let width = root.dim_in_pixel().0 as i32;
    let (mut x, mut y) = (16, 48);
    for entry in entries {
        let needed = SAMPLE + 8 + text_width(&entry.text(), 13.0) + 18;
        if x > 16 && x + needed > width - 8 {
            (x, y) = (16, y + LEGEND_LINE);
        }
        entry.draw(root, (x, y))?;
        x += needed;
    }
    Ok(y + LEGEND_LINE / 2 + 4)
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

/// Width of a text in pixels: a generous estimate, since the viewer's font is unknown.
pub(super) fn text_width(text: &str, size: f64) -> i32 {
    (text.chars().count() as f64 * size * 0.54).ceil() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_wide_keeps_both_ends() {
        assert_eq!(fitted("short", 10.0, 100), "short");
        let cut = fitted("a-data-set-with-a-long-name · matern32", 10.0, 100);
        assert!(text_width(&cut, 10.0) <= 100, "{cut}");
        assert!(cut.starts_with("a-data") && cut.contains('…') && cut.ends_with("matern32"), "{cut}");
    }
}
