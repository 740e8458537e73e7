//! Colours and text of all charts.

use gpbench_record::text;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::svg::Svg;

/// A part of a sheet to draw on.
pub(super) type Area<'a> = DrawingArea<Svg<'a>, Shift>;
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
