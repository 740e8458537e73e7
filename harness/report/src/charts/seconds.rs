//! Seconds as bars of parts: prepare and solve, for training the solver and the rest, for Thompson sampling all of a step.

use gpbench_record::names;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::figure::{Drawn, Figure, series};
use super::form::ChartForm;
use super::legend::{Entry, Sample};
use super::series::Series;
use super::style::{INK, MUTED, RULE, fitted, font, text_width, write};
use crate::aggregate::Group;
use crate::number::short;
use crate::problem::GroupProblem;
use crate::results::Results;
use crate::search::PARTS;
use crate::search_pool::Pool;

const BAR: i32 = 16;
const LINE: i32 = 26;
const GAP: i32 = 36;

/// Largest share of the sheet for the names to the left of the bars.
const NAMES: f64 = 0.37;

/// A bar of parts, each with its seconds and its colour.
struct Bar {
    name: String,
    parts: Vec<(f64, RGBColor)>,
    series: Series,
    /// Number of cases that ended `ok`, and of all, where some did not: its seconds are not those to the tolerance.
    missed: Option<(usize, usize)>,
}

/// Sentence of a caption about bars of cases that did not end `ok`.
const MISSED: &str = "An open bar with a count, such as 3/5 ok, has cases that missed the tolerance or failed: it has the seconds of \
                      those that ended, not the seconds to the tolerance.";

/// The counts of a bar of some groups; none where all of their cases ended `ok`.
fn missed<'g>(groups: impl Iterator<Item = &'g Group>) -> Option<(usize, usize)> {
    let (ok, all) = groups.fold((0, 0), |(ok, all), group| (ok + group.n_ok, all + group.n));
    (ok < all).then_some((ok, all))
}

/// Colours of the parts after the solves of Thompson sampling.
const CANDIDATES: RGBColor = RGBColor(160, 168, 178);
const ASCENT: RGBColor = RULE;

/// Bars under a heading, with a scale of their own and their values beside them.
struct Section {
    title: String,
    bars: Vec<Bar>,
}

/// Prepare and solve of each solver, grouped by problem.
pub(crate) fn figure(results: &Results<'_>) -> Drawn {
    let bar = |group: &Group| {
        let prepare = group.mean(names::SECONDS_PREPARE).unwrap_or(0.0);
        let total = group.mean(names::SECONDS)?;
        let series = series(results, &group.solver);
        let parts = vec![(prepare, MUTED), (total - prepare, series.look.colour)];
        let name = format!("{}{}", group.solver, results.mark(group, names::SECONDS));
        Some(Bar { name, parts, series, missed: missed([group].into_iter()) })
    };
    let section = |problem: &&GroupProblem| Section {
        title: results.problem_title(problem),
        bars: results.of_problem(problem).filter_map(bar).collect(),
    };
    bars(
        results.form,
        "Seconds of prepare and solve",
        &["prepare", "solve, in the solver's colour"],
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
        let solver = group.mean(names::SECONDS).unwrap_or(0.0).min(total);
        let series = series(results, &group.solver);
        let parts = vec![(solver, series.look.colour), (total - solver, MUTED)];
        let name = results.label(group) + results.mark(group, names::SECONDS_TRAIN);
        Some(Bar { name, parts, series, missed: missed([*group].into_iter()) })
    };
    let section = |model| Section {
        title: results.model_title(model),
        bars: results.of_model(model).iter().filter_map(bar).collect(),
    };
    bars(
        results.form,
        "Seconds of training",
        &["prepare and solve, in the solver's colour", "right-hand sides and gradients"],
        results.models().into_iter().map(section).collect(),
        "Mean wall-clock seconds over seeds of all outer steps, without the final prediction and without trace \
         evaluations. Each data set has a scale of its own.",
    )
}

/// The parts of searches by Thompson sampling, of all data sets of a pool together.
pub(crate) fn search_figure(results: &Results<'_>, pool: &Pool<'_>) -> Drawn {
    let shared = pool.shared();
    let bar = |solver: &&str| {
        let series = series(results, solver);
        let colours = [MUTED, series.look.colour, CANDIDATES, ASCENT];
        let ends: Vec<[f64; PARTS.len()]> = shared.of(solver).map(|search| search.end().parts).collect();
        let mean = |i: usize| ends.iter().map(|parts| parts[i]).sum::<f64>() / ends.len() as f64;
        let parts = colours.into_iter().enumerate().map(|(i, colour)| (mean(i), colour)).collect();
        let groups = || results.groups.iter().filter(|group| group.solver == **solver);
        let mark = groups().map(|group| results.mark(group, names::SECONDS)).max().unwrap_or_default();
        Bar { name: format!("{solver}{mark}"), parts, series, missed: missed(groups()) }
    };
    let title = if pool.title.is_empty() { "all data sets" } else { &pool.title };
    let bars_of_all = shared.solvers.iter().map(bar).collect();
    bars(
        results.form,
        "Seconds of Thompson sampling",
        &["building systems", "prepare and solve, in the solver's colour", "candidates", "ascents"],
        vec![Section { title: title.to_owned(), bars: bars_of_all }],
        "Mean wall-clock seconds of all steps, over the objectives that all solvers shown have searched. Candidates and \
         ascents are the same work for every solver. Beside a bar: prepare and solve, then all parts.",
    )
}

/// The figure of all bars; none where there are fewer than two.
fn bars(form: ChartForm, title: &str, parts: &[&str], mut sections: Vec<Section>, caption: &str) -> Drawn {
    sections.retain(|section| !section.bars.is_empty());
    let all = || sections.iter().flat_map(|section| &section.bars);
    let count = all().count();
    let Some(sample) = all().next().filter(|_| count > 1) else { return Ok(None) };
    let width = form.pixels() as i32;
    let widest = all().map(|bar| text_width(&bar.name, 13.0)).max().unwrap_or_default();
    let left = 32 + widest.min((NAMES * f64::from(width)) as i32);
    let values = all().map(|bar| text_width(&bar.value(), 12.0)).max().unwrap_or_default();
    let full = width - left - values - 16;
    let height = 14 + sections.len() as i32 * GAP + count as i32 * LINE;
    let samples = parts.iter().zip(&sample.parts);
    let entries: Vec<Entry> =
        samples.map(|(part, (_, colour))| Entry::new(*part, Sample::Patch(*colour))).collect();
    let svg = form.sheet(title, &entries, height as u32, |root, top| {
        let mut y = top + 14;
        for Section { title, bars } in &sections {
            let heading = fitted(title, 14.0, width - 32);
            write(root, &heading, (16, y), font(14.0, INK), HPos::Left)?;
            root.draw(&PathElement::new([(16, y + 13), (width - 16, y + 13)], RULE))?;
            y += GAP - 6;
            let longest = bars.iter().map(Bar::total).fold(f64::MIN_POSITIVE, f64::max);
            for bar in bars {
                let pixels = |seconds: f64| left + (f64::from(full) * seconds / longest).round() as i32;
                let paint = |from, to, colour: RGBColor| {
                    let style = if bar.missed.is_some() { colour.stroke_width(2) } else { colour.filled() };
                    root.draw(&Rectangle::new([(from, y - BAR / 2), (to, y + BAR / 2)], style))
                };
                let name = fitted(&bar.name, 13.0, left - 32);
                bar.series.draw(root, || {
                    write(root, &name, (left - 8, y), font(13.0, INK), HPos::Right)?;
                    let mut done = 0.0;
                    for (i, (seconds, colour)) in bar.parts.iter().enumerate() {
                        let from = pixels(done);
                        done += seconds;
                        let is_last = i + 1 == bar.parts.len();
                        paint(from, pixels(done).max(if is_last { left + 2 } else { from }), *colour)?;
                    }
                    write(root, &bar.value(), (pixels(bar.total()) + 8, y), font(12.0, INK), HPos::Left)
                })?;
                y += LINE;
            }
            y += 6;
        }
        Ok(())
    })?;
    let has_missed = all().any(|bar| bar.missed.is_some());
    let caption = if has_missed { format!("{caption} {MISSED}") } else { caption.to_owned() };
    Ok(Some(Figure::new("seconds", "", title.to_owned(), caption, svg)))
}

impl Bar {
    fn total(&self) -> f64 {
        self.parts.iter().map(|(seconds, _)| seconds).sum()
    }

    /// The seconds, and the count of cases that ended `ok` where some did not.
    fn value(&self) -> String {
        let seconds = self.seconds();
        self.missed.map_or(seconds.clone(), |(ok, all)| format!("{seconds}, {ok}/{all} ok"))
    }

    /// Two parts in words, unless the first is too small to see; of more parts, the solver's and all.
    fn seconds(&self) -> String {
        let total = self.total();
        match self.parts[..] {
            [(first, _), (second, _)] if first >= 0.01 * total => {
                format!("{} + {} s", short(first), short(second))
            }
            [_, (solver, _), _, _] => format!("{} of {} s", short(solver), short(total)),
            _ => format!("{} s", short(total)),
        }
    }
}
