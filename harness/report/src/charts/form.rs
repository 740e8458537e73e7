//! The form of charts: as wide as those of a page, or as wide as a column of a paper.
//!
//! A chart for a paper is not a small copy of that of a page, whose letters would become unreadable. It is drawn anew on a sheet
//! with fewer pixels, so that letters have about 8 points on paper: panels that have no room side by side stand below
//! each other, and legends wrap earlier.

use std::str::FromStr;

/// The form in which the charts of a report are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChartForm {
    /// Width on paper; absent, that of a page.
    pub width: Option<PaperWidth>,
    /// Whether a chart begins with its title.
    pub titles: bool,
}

impl Default for ChartForm {
    /// The form of a page.
    fn default() -> ChartForm {
        ChartForm { width: None, titles: true }
    }
}

/// A width on paper, in inches.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct PaperWidth(f64);

/// The narrowest and the widest chart, in inches.
const INCHES: [f64; 2] = [2.0, 20.0];

/// The units of widths, and how many of each an inch has. A point is that of TeX, in which `\the\columnwidth` is printed.
const UNITS: [(&str, f64); 4] = [("in", 1.0), ("cm", 2.54), ("mm", 25.4), ("pt", 72.27)];

impl FromStr for PaperWidth {
    type Err = String;

    fn from_str(text: &str) -> Result<PaperWidth, String> {
        let [least, most] = INCHES;
        let typed = UNITS.iter().find_map(|(unit, per_inch)| {
            let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
            Some(number / per_inch)
        });
        match typed {
            Some(inches) if (least..=most).contains(&inches) => Ok(PaperWidth(inches)),
            Some(_) => Err(format!("expected a width from {least}in to {most}in")),
            None => Err("expected a number and a unit (in, cm, mm or pt), such as 3.25in".to_owned()),
        }
    }
}

/// Pixels of the width of a page's charts.
const PAGE: u32 = 760;

/// Pixels of an inch of paper: letters of 13 pixels then have 8 points.
const PER_INCH: f64 = 13.0 / 8.0 * 72.0;

/// Pixels of the narrowest panel, and of the lowest row of panels, on paper.
const LEAST: (u32, u32) = (250, 230);

/// An arrangement of panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    /// Number of rows and of panels in a row, as drawing areas are split.
    pub(super) split: (usize, usize),
    /// Pixels of all rows together.
    pub(super) height: u32,
}

impl ChartForm {
    /// Pixels of the width of a sheet.
    pub(super) fn pixels(self) -> u32 {
        self.width.map_or(PAGE, |PaperWidth(inches)| (inches * PER_INCH).round() as u32)
    }

    /// The arrangement of panels that have so many `columns` and pixels of `height` on a page. On paper, each keeps the
    /// proportions of its panel as far as labels allow.
    pub(super) fn grid(self, panels: usize, columns: usize, height: u32) -> Grid {
        let panels = panels.max(1);
        let row = height / panels.div_ceil(columns) as u32;
        if self.width.is_none() {
            return Grid { split: (panels.div_ceil(columns), columns), height };
        }
        let fitting = columns.min((self.pixels() / LEAST.0).max(1) as usize);
        let [page, own] = [PAGE / columns as u32, self.pixels() / fitting as u32];
        let row = (row * own / page).clamp(LEAST.1.min(row), row);
        let rows = panels.div_ceil(fitting);
        Grid { split: (rows, fitting), height: row * rows as u32 }
    }

    /// An SVG of so many pixels, with its size on paper.
    pub(super) fn sized(self, svg: &str, (width, height): (u32, u32)) -> String {
        let Some(PaperWidth(inches)) = self.width else { return svg.to_owned() };
        let pixels = format!("width=\"{width}\" height=\"{height}\"");
        let high = inches * f64::from(height) / f64::from(width);
        // The first element is the document's own.
        svg.replacen(&pixels, &format!("width=\"{inches:.4}in\" height=\"{high:.4}in\""), 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inches(text: &str) -> Result<f64, String> {
        text.parse().map(|PaperWidth(inches)| inches)
    }

    #[test]
    fn widths_have_a_unit() {
        assert_eq!(inches("3.25in"), Ok(3.25));
        for text in ["8.255cm", "82.55 mm", "234.8775pt"] {
            assert!((inches(text).unwrap() - 3.25).abs() < 1e-9, "{text}");
        }
        for text in ["3.25", "in", "3,25in", "-3in", "NaNin", "1in", "30in", "infcm", ""] {
            assert!(inches(text).unwrap_err().starts_with("expected a "), "{text}");
        }
    }

    #[test]
    fn panels_without_room_side_by_side_stand_below_each_other() {
        let of = |width: &str| ChartForm { width: Some(width.parse().unwrap()), titles: false };
        let page = ChartForm::default();
        assert_eq!(page.grid(3, 2, 600), Grid { split: (2, 2), height: 600 });
        assert_eq!(of("6.75in").grid(3, 2, 600), Grid { split: (2, 2), height: 600 });
        assert_eq!(of("3.25in").grid(3, 2, 600), Grid { split: (3, 1), height: 900 });
        // A panel as wide as the page becomes lower.
        assert_eq!(of("3.25in").grid(1, 1, 378), Grid { split: (1, 1), height: 230 });
        assert_eq!(of("6.5in").grid(1, 1, 378), Grid { split: (1, 1), height: 378 });
    }

    #[test]
    fn an_svg_for_paper_states_its_size_there() {
        let svg =
            "<svg width=\"380\" height=\"190\" viewBox=\"0 0 380 190\"><rect width=\"380\" height=\"190\"/>";
        let form = ChartForm { width: Some("3.25in".parse().unwrap()), titles: true };
        let sized = form.sized(svg, (380, 190));
        assert!(
            sized.starts_with("<svg width=\"3.2500in\" height=\"1.6250in\" viewBox=\"0 0 380 190\">"),
            "{sized}"
        );
        assert!(sized.ends_with("<rect width=\"380\" height=\"190\"/>"));
        assert_eq!(ChartForm::default().sized(svg, (380, 190)), svg);
    }
}
