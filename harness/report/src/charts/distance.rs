//! Distance of training to exact training, as histograms (Lin et al. 2024, Figures 5 and 8).

use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axes::{Axes, Labels};
use super::figure::{Drawn, Figure, series};
use super::scale::Scale;
use super::style::{Area, Drawing, INK, font, write};
use crate::distance::{Spread, differences};
use crate::number::percent;
use crate::results::{Model, Results};

/// Height of a row of panels.
const ROW: u32 = 210;

/// Number of bars of a histogram: odd, so that one bar is centred at no difference.
const BARS: usize = 41;

/// Ends of the widest and of the narrowest axis: relative differences.
const WIDEST: f64 = 0.5;
const NARROWEST: f64 = 1e-4;

/// The differences of one solver and estimator.
struct Histogram {
    title: String,
    colour: RGBColor,
    differences: Vec<f64>,
    spread: Spread,
}

/// The figure of a model that was also trained exactly.
pub(crate) fn figure(results: &Results<'_>, model: Model<'_>) -> Drawn {
    let groups = results.of_model(model);
    let histograms = groups.iter().filter_map(|group| {
        let differences = differences(results, group);
        Some(Histogram {
            title: results.label(group),
            colour: series(results, &group.solver).look.colour,
            spread: Spread::of(&differences)?,
            differences,
        })
    });
    let histograms: Vec<Histogram> = histograms.collect();
    if histograms.is_empty() {
        return Ok(None);
    }
    let widest = histograms.iter().map(|h| h.spread.most).fold(0.0, f64::max);
    let end = widest.clamp(NARROWEST, WIDEST);
    let largest = histograms.iter().map(|h| h.differences.len()).max().unwrap_or(1);
    // From below one difference to above all of them, with room for a line of text.
    let heights = Scale::over((60.0 / largest as f64).min(1.0).log10(), 2.5, true);
    let what = results.model_title(model);
    let title = format!("Distance to exact training: {what}");
    let columns = histograms.len().min(2);
    let rows = histograms.len().div_ceil(columns);
    let grid = results.form.grid(histograms.len(), columns, ROW * rows as u32);
    let svg = results.form.sheet(&title, &[], grid.height, |root, top| {
        let areas = root.margin(top, 4, 8, 4).split_evenly(grid.split);
        for (histogram, area) in histograms.iter().zip(&areas) {
            histogram.draw(root, area, end, heights.clone())?;
        }
        Ok(())
    })?;
    let caption = "(θ − θ exact) / θ exact of every hyperparameter after every outer step, of all seeds, as a histogram \
                   with a logarithmic axis. The first and the last bar also count the differences beyond them. In words: \
                   the median of the absolute value, and its 95th percentile.";
    Ok(Some(Figure::new("training-distance", &what, title, caption, svg)))
}

impl Histogram {
    fn draw(&self, root: &Area<'_>, area: &Area<'_>, end: f64, heights: Scale) -> Drawing {
        let floor = 10f64.powf(heights.lo);
        let across = Scale::over(-100.0 * end, 100.0 * end, false);
        let labels =
            Labels { title: Some(&self.title), x: "difference to exact training [%]", y: "share [%]" };
        let axes = Axes::draw(area, labels, across, heights)?;
        let width = 200.0 * end / BARS as f64;
        for (i, count) in counts(&self.differences, end).into_iter().enumerate().filter(|bar| bar.1 > 0) {
            let left = width * i as f64 - 100.0 * end;
            let share = 100.0 * count as f64 / self.differences.len() as f64;
            let corners = [axes.pixel((left, share)), axes.pixel((left + width, floor))];
            root.draw(&Rectangle::new(corners, self.colour.filled()))?;
        }
        let middle = axes.path([(0.0, floor), (0.0, 100.0)]);
        root.draw(&DashedPathElement::new(middle, 2, 4, INK.stroke_width(1)))?;
        let (x, y) = axes.pixel((0.0, f64::MAX));
        let Spread { median, most, .. } = self.spread;
        let words = format!("median {}, 95 % below {}", percent(median), percent(most));
        write(root, &words, (x, y + 8), font(12.0, INK), HPos::Center)
    }
}

/// Number of differences in each bar from -`end` to `end`; the outermost bars also count those beyond.
fn counts(differences: &[f64], end: f64) -> [usize; BARS] {
    let mut counts = [0; BARS];
    for difference in differences {
        let place = (difference / end + 1.0) / 2.0 * BARS as f64;
        counts[(place.max(0.0) as usize).min(BARS - 1)] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_counted_once_and_no_difference_in_the_middle() {
        let counts = counts(&[0.0, 0.0, -0.1, 0.1, 7.0, -1.0], 0.1);
        assert_eq!((counts[BARS / 2], counts[0], counts[BARS - 1]), (2, 2, 2));
        assert_eq!(counts.iter().sum::<usize>(), 6);
    }
}
