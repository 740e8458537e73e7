//! Seconds as bars of two parts: prepare and solve, or for training the solver and the rest.

use gpbench_record::names;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::figure::{Drawn, Figure, series};
use super::legend::{Entry, Sample, legend};
use super::series::Series;
use super::sheet::sheet;
use super::style::{INK, MUTED, RULE, fitted, font, heading, text_width, write};
use crate::aggregate::{Group, Problem};
use crate::number::short;
use crate::results::Results;

const WIDTH: u32 = 760;
const BAR: i32 = 16;
const LINE: i32 = 26;
const GAP: i32 = 36;

/// Largest width of the names to the left of the bars.
const NAMES: i32 = 280;

/// A bar of two parts, with the colour of each.
struct Bar {
    name: String,
    first: f64,
    total: f64,
    colours: [RGBColor; 2],
    series: Series,
}

/// Bars under a heading, with a scale of their own and their values beside them.
struct Section {
    title: String,
    bars: Vec<Bar>,
}

/// Prepare and solve of each solver, grouped by problem.
pub(crate) fn figure(results: &Results<'_>) -> Drawn {
    let bar = |group: &Group| {
        Some(Bar {
            name: group.solver.clone(),
            first: group.mean(names::SECONDS_PREPARE).unwrap_or(0.0),
            total: group.mean(names::SECONDS)?,
            colours: [MUTED, series(results, &group.solver).look.colour],
            series: series(results, &group.solver),
        })
    };
    let section = |problem: &&Problem| Section {
        title: results.problem_title(problem),
        bars: results.of_problem(problem).filter_map(bar).collect(),
    };
    bars(
        "Seconds of prepare and solve",
        ["prepare", "solve, in the solver's colour"],
        results.problems().iter().map(section).collect(),
        "Mean wall-clock seconds over seeds, without loading, verification and the evaluation of trace \
         points. Each problem has a scale of its own.",
    )
}

/// The steps of training by each solver and estimator, split into the solver's part and the rest (Lin et al. 2024,
/// Figure 1).
pub(crate) fn training_figure(results: &Results<'_>) -> Drawn {
    let bar = |group: &&Group| {
        let total = group.mean(names::SECONDS_TRAIN)?;
        Some(Bar {
            name: results.label(group),
            first: group.mean(names::SECONDS).unwrap_or(0.0).min(total),
            total,
            colours: [series(results, &group.solver).look.colour, MUTED],
            series: series(results, &group.solver),
        })
    };
    let section = |model| Section {
        title: results.model_title(model),
        bars: results.of_model(model).iter().filter_map(bar).collect(),
    };
    bars(
        "Seconds of training",
        ["prepare and solve, in the solver's colour", "right-hand sides and gradients"],
        results.models().into_iter().map(section).collect(),
        "Mean wall-clock seconds over seeds of all outer steps, without the final prediction and without trace \
         evaluations. Each data set has a scale of its own.",
    )
}

/// The figure of all bars; none where there are fewer than two.
fn bars(title: &str, parts: [&str; 2], mut sections: Vec<Section>, caption: &str) -> Drawn {
    sections.retain(|section| !section.bars.is_empty());
    let all = || sections.iter().flat_map(|section| &section.bars);
    let count = all().count();
    let Some(sample) = all().next().filter(|_| count > 1) else { return Ok(None) };
    let widest = all().map(|bar| text_width(&bar.name, 13.0)).max().unwrap_or_default();
    let left = 32 + widest.min(NAMES);
    let full = WIDTH as i32 - left - 150;
    let height = 76 + sections.len() as i32 * GAP + count as i32 * LINE;
    let svg = sheet((WIDTH, height as u32), |root| {
        heading(root, title)?;
        let entry = |i: usize| Entry::new(parts[i], Sample::Patch(sample.colours[i]));
        let mut y = legend(root, &[entry(0), entry(1)])? + 14;
        for Section { title, bars } in &sections {
            let heading = fitted(title, 14.0, WIDTH as i32 - 32);
            write(root, &heading, (16, y), font(14.0, INK), HPos::Left)?;
            root.draw(&PathElement::new([(16, y + 13), (WIDTH as i32 - 16, y + 13)], RULE))?;
            y += GAP - 6;
            let longest = bars.iter().map(|bar| bar.total).fold(f64::MIN_POSITIVE, f64::max);
            for bar in bars {
                let pixels = |seconds: f64| left + (f64::from(full) * seconds / longest).round() as i32;
                let paint = |from, to, colour: RGBColor| {
                    root.draw(&Rectangle::new([(from, y - BAR / 2), (to, y + BAR / 2)], colour.filled()))
                };
                let name = fitted(&bar.name, 13.0, left - 32);
                bar.series.draw(root, || {
                    write(root, &name, (left - 8, y), font(13.0, INK), HPos::Right)?;
                    paint(left, pixels(bar.first), bar.colours[0])?;
                    paint(pixels(bar.first), pixels(bar.total).max(left + 2), bar.colours[1])?;
                    write(root, &bar.value(), (pixels(bar.total) + 8, y), font(12.0, INK), HPos::Left)
                })?;
                y += LINE;
            }
            y += 6;
        }
        Ok(())
    })?;
    Ok(Some(Figure::new("seconds", "", title.to_owned(), caption, svg)))
}

impl Bar {
    /// Both parts in words, unless the first is too small to see.
    fn value(&self) -> String {
        match self.first {
            first if first >= 0.01 * self.total => {
                format!("{} + {} s", short(first), short(self.total - first))
            }
            _ => format!("{} s", short(self.total)),
        }
    }
}
