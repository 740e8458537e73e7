//! Series: what a curve, a point or an entry of a legend belongs to, and groups of them in the SVG.
//!
//! The drawing library writes one element after another and has no groups. So texts outside the sheet mark where a group begins
//! and ends while a chart is drawn, and [`grouped`] replaces them. A page hides and shows a series by its groups.

use std::borrow::Cow;

use gpbench_record::text;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use super::marker::{MARKERS, Marker};
use super::palette::PALETTE;
use super::style::{Area, Drawing, INK, font, write};

/// Colour and marker of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub(super) colour: RGBColor,
    pub(super) marker: Marker,
}

impl Look {
    /// The `i`-th look: of 144, each with a colour and marker of its own, the first twelve differ in both.
    pub(super) fn nth(i: usize) -> Look {
        let marker = (i + i / PALETTE.len()) % MARKERS.len();
        Look { colour: PALETTE[i % PALETTE.len()], marker: MARKERS[marker] }
    }
}

/// What curves and points belong to: usually a solver.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    /// What the legend calls it; also what tells it from the others of a sheet.
    pub(super) name: String,
    pub(super) look: Look,
}

impl Series {
    pub(super) fn new(name: &str, look: Look) -> Series {
        Series { name: name.to_owned(), look }
    }

    /// Draws what belongs to the series.
    pub(super) fn draw(&self, root: &Area<'_>, draw: impl FnOnce() -> Drawing) -> Drawing {
        self.group(root, SERIES, draw)
    }

    /// Draws the series's entry of a legend.
    pub(super) fn draw_entry(&self, root: &Area<'_>, draw: impl FnOnce() -> Drawing) -> Drawing {
        self.group(root, ENTRY, draw)
    }

    fn group(&self, root: &Area<'_>, kind: i32, draw: impl FnOnce() -> Drawing) -> Drawing {
        let border = |row, name: &str| write(root, name, (OUTSIDE, row), font(1.0, INK), HPos::Left);
        border(kind, &text::line(&self.name))?;
        draw()?;
        border(END, "")
    }
}

/// Column of the texts that mark groups, far outside of any sheet; and their rows, which say what begins or ends there.
const OUTSIDE: i32 = -9999;
const SERIES: i32 = 1;
const ENTRY: i32 = 2;
const END: i32 = 3;

/// The drawing with groups where texts outside the sheet mark them: `<g class="series" data-series="NAME">`, and
/// `class="entry"` in a legend.
pub(super) fn grouped(svg: &str) -> Cow<'_, str> {
    let opening = format!("<text x=\"{OUTSIDE}\" y=\"");
    let mut parts = svg.split(opening.as_str());
    let Some(first) = parts.next().filter(|first| first.len() < svg.len()) else { return Cow::Borrowed(svg) };
    let mut out = first.to_owned();
    for part in parts {
        // The library escapes texts, so that a name has neither tags nor quotation marks.
        let (text, rest) = part.split_once("</text>\n").unwrap_or((part, ""));
        let (attributes, name) = text.split_once(">\n").unwrap_or((text, ""));
        let kind = attributes.split('"').next().and_then(|row| row.parse().ok());
        match kind {
            Some(SERIES) => out.push_str("<g class=\"series\" data-series=\""),
            Some(ENTRY) => out.push_str("<g class=\"entry\" data-series=\""),
            _ => out.push_str("</g>\n"),
        }
        if matches!(kind, Some(SERIES | ENTRY)) {
            out.push_str(name.trim_end_matches('\n'));
            out.push_str("\">\n");
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_repeat_late() {
        let looks: Vec<Look> = (0..144).map(Look::nth).collect();
        assert!((0..144).all(|i| !looks[..i].contains(&looks[i])));
        let first = &looks[..12];
        assert!((0..12).all(|i| first[..i].iter().all(|look| look.colour != first[i].colour)));
        assert!((0..12).all(|i| first[..i].iter().all(|look| look.marker != first[i].marker)));
    }
}
