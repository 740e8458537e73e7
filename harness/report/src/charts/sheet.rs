//! The sheet that a chart is drawn on: an SVG text whose elements may stand in groups.
//!
//! The backend of the drawing library writes one element after another and has no groups. [`Sheet`] lets it write each element
//! into a document of its own and keeps the element, so that groups can begin and end between two elements.

use std::fmt::Write as _;
use std::io;

use gpbench_record::text;
use maud::Escaper;
use plotters::prelude::*;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind};

use super::style::{Area, Drawing, PAPER};

/// Draws to an SVG text.
pub(super) fn sheet(
    size: (u32, u32),
    draw: impl for<'a> FnOnce(&Area<'a>) -> Drawing,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut svg = String::new();
    {
        let root = Sheet::new(&mut svg, size).into_drawing_area();
        root.fill(&PAPER)?;
        draw(&root)?;
        root.present()?;
    }
    // XML forbids control characters.
    Ok(text::plain(&svg).into_owned())
}

/// End of a document.
const END: &str = "</svg>\n";

/// A backend of the drawing library that writes an SVG text with groups.
pub(super) struct Sheet<'a> {
    svg: &'a mut String,
    size: (u32, u32),
    /// Bytes of a document before its first element.
    head: usize,
}

/// The outcome of writing an element.
type Written = Result<(), DrawingErrorKind<io::Error>>;

impl<'a> Sheet<'a> {
    fn new(svg: &'a mut String, size: (u32, u32)) -> Sheet<'a> {
        // The backend writes the end when it is dropped.
        drop(SVGBackend::with_string(svg, size));
        svg.truncate(svg.len() - END.len());
        let head = svg.len();
        Sheet { svg, size, head }
    }

    /// Begins a group.
    pub(super) fn open(&mut self, class: &str, series: &str) {
        self.svg.push_str(&format!("<g class=\"{class}\" data-series=\""));
        let _ = Escaper::new(self.svg).write_str(series);
        self.svg.push_str("\">\n");
    }

    /// Ends the last group that began.
    pub(super) fn close(&mut self) {
        self.svg.push_str("</g>\n");
    }

    fn element(&mut self, draw: impl FnOnce(&mut SVGBackend<'_>) -> Written) -> Written {
        let mut document = String::new();
        draw(&mut SVGBackend::with_string(&mut document, self.size))?;
        self.svg.push_str(&document[self.head..document.len() - END.len()]);
        Ok(())
    }
}

impl DrawingBackend for Sheet<'_> {
    type ErrorType = io::Error;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Written {
        Ok(())
    }

    fn present(&mut self) -> Written {
        self.svg.push_str(END);
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Written {
        self.element(|svg| svg.draw_pixel(at, colour))
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Written {
        self.element(|svg| svg.draw_line(from, to, style))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Written {
        self.element(|svg| svg.draw_rect(upper_left, bottom_right, style, fill))
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Written {
        self.element(|svg| svg.draw_path(path, style))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Written {
        self.element(|svg| svg.draw_circle(centre, radius, style, fill))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Written {
        self.element(|svg| svg.fill_polygon(corners, style))
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Written {
        self.element(|svg| svg.draw_text(text, style, at))
    }
}

#[cfg(test)]
mod tests {
    use plotters::style::text_anchor::HPos;

    use super::super::series::{Look, Series};
    use super::super::style::{INK, font, write};
    use super::*;

    #[test]
    fn elements_of_a_series_stand_in_its_group() {
        let series = Series::new("<a> & \"b\"\n</g>", Look::nth(0));
        let svg = sheet((100, 100), |root| {
            series.draw_entry(root, || write(root, "entry", (9, 9), font(9.0, INK), HPos::Left))?;
            write(root, "between", (9, 29), font(9.0, INK), HPos::Left)?;
            series.draw(root, || series.look.marker.draw(root, (9, 9), series.look.colour, false))
        });
        let svg = svg.unwrap();
        let name = "&lt;a&gt; &amp; &quot;b&quot; &lt;/g&gt;";
        let place = |what: &str| svg.find(what).unwrap_or_else(|| panic!("no {what} in {svg}"));
        let entry = place(&format!("<g class=\"entry\" data-series=\"{name}\">\n<text"));
        let own = place(&format!("<g class=\"series\" data-series=\"{name}\">\n<circle"));
        assert!(entry < place("between") && place("between") < own);
        assert_eq!((svg.matches("<g ").count(), svg.matches("</g>").count()), (2, 2));
        assert_eq!((svg.matches("<svg ").count(), svg.matches("</svg>").count()), (1, 1));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
