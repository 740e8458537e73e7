//! A backend of the drawing library that writes SVG with groups.
//!
//! The library's own backend writes one element after another and has no groups. [`Svg`] lets it write each element into a
//! document of its own and keeps the element, so that groups can begin and end between two elements.

use std::fmt::Write as _;
use std::io;

use maud::Escaper;
use plotters::prelude::*;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind};

/// End of a document.
const END: &str = "</svg>\n";

/// A backend of the drawing library that writes an SVG text with groups.
pub(super) struct Svg<'a> {
    svg: &'a mut String,
    size: (u32, u32),
    /// Bytes of a document before its first element.
    head: usize,
}

/// The outcome of writing an element.
type Written = Result<(), DrawingErrorKind<io::Error>>;

impl<'a> Svg<'a> {
    pub(super) fn new(svg: &'a mut String, size: (u32, u32)) -> Svg<'a> {
        // The backend writes the end when it is dropped.
        drop(SVGBackend::with_string(svg, size));
        svg.truncate(svg.len() - END.len());
        let head = svg.len();
        Svg { svg, size, head }
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

impl DrawingBackend for Svg<'_> {
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
