//! The sheet that a chart is drawn on: its title, its legend, and below them the chart.

use gpbench_record::text;
use plotters::prelude::*;

use super::form::ChartForm;
use super::legend::{self, Entry, legend};
use super::style::{Area, Drawing, PAPER, heading};
use super::svg::Svg;

/// Rows of pixels in which a legend begins below a title, and without one.
const FIRST: (i32, i32) = (48, 22);

/// Rows of pixels above a chart with a title and a legend of one line.
pub(super) const HEAD: u32 = 62;

impl ChartForm {
    /// Draws a chart as SVG text. `draw` fills the `height` pixels below title and legend; it gets the row of pixels in which
    /// they begin.
    pub(super) fn sheet(
        self,
        title: &str,
        entries: &[Entry],
        height: u32,
        draw: impl for<'a> FnOnce(&Area<'a>, i32) -> Drawing,
    ) -> Result<String, Box<dyn std::error::Error>> {
        let first = if self.titles { FIRST.0 } else { FIRST.1 };
        let width = self.pixels();
        let top = legend::end(entries, first, width as i32);
        let size = (width, top as u32 + height);
        let svg = sheet(size, |root| {
            if self.titles {
                heading(root, title)?;
            }
            legend(root, entries, first)?;
            draw(root, top)
        })?;
        Ok(self.sized(&svg, size))
    }
}

/// Draws to an SVG text.
pub(super) fn sheet(
    size: (u32, u32),
    draw: impl for<'a> FnOnce(&Area<'a>) -> Drawing,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut svg = String::new();
    {
        let root = Svg::new(&mut svg, size).into_drawing_area();
        root.fill(&PAPER)?;
        draw(&root)?;
        root.present()?;
    }
    // XML forbids control characters.
    Ok(text::plain(&svg).into_owned())
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
