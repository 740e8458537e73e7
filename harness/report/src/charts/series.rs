//! Series: owners of curves, points and entries of a legend, such as a solver.
//!
//! Each is drawn in a group of the SVG, `<g class="series" data-series="NAME">`, or `class="entry"` in a legend. A page hides and
//! shows a series by its groups.

use std::{io, iter};

use gpbench_record::text;
use plotters::element::{Drawable, PointCollection};
use plotters::style::RGBColor;
use plotters_backend::{BackendCoord, DrawingErrorKind};

use super::marker::{MARKERS, Marker};
use super::palette::PALETTE;
use super::style::{Area, Drawing};
use super::svg::Svg;

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

/// Owner of curves and points: usually a solver.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    /// Name in the legend; unique on a sheet.
    pub(super) name: String,
    pub(super) look: Look,
}

impl Series {
    pub(super) fn new(name: &str, look: Look) -> Series {
        Series { name: name.to_owned(), look }
    }

    /// Draws elements of the series.
    pub(super) fn draw(&self, root: &Area<'_>, draw: impl FnOnce() -> Drawing) -> Drawing {
        self.group(root, "series", draw)
    }

    /// Draws the series's entry of a legend.
    pub(super) fn draw_entry(&self, root: &Area<'_>, draw: impl FnOnce() -> Drawing) -> Drawing {
        self.group(root, "entry", draw)
    }

    fn group(&self, root: &Area<'_>, class: &'static str, draw: impl FnOnce() -> Drawing) -> Drawing {
        let name = text::line(&self.name);
        root.draw(&Border::Begin { class, series: &text::cut(&name, text::NAME) })?;
        draw()?;
        Ok(root.draw(&Border::End)?)
    }
}

/// Where a group begins, with its class and the name of its series, or ends.
enum Border<'s> {
    Begin { class: &'static str, series: &'s str },
    End,
}

impl<'a> PointCollection<'a, BackendCoord> for &'a Border<'_> {
    type Point = BackendCoord;
    type IntoIter = iter::Empty<BackendCoord>;

    fn point_iter(self) -> Self::IntoIter {
        iter::empty()
    }
}

impl<'s> Drawable<Svg<'s>> for Border<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        _: I,
        svg: &mut Svg<'s>,
        _: (u32, u32),
    ) -> Result<(), DrawingErrorKind<io::Error>> {
        match self {
            Border::Begin { class, series } => svg.open(class, series),
            Border::End => svg.close(),
        }
        Ok(())
    }
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
