//! Seconds of prepare and solve, as bars.

use gpbench_record::names;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::style::{
    Entry, INK, MUTED, RULE, Sample, fitted, font, heading, legend, sheet, text_width, write,
};
use super::{Drawn, Figure, Sheet};
use crate::aggregate::{Group, problems, title};
use crate::metric::{SECONDS, short};

const WIDTH: u32 = 760;
const BAR: i32 = 16;
const LINE: i32 = 26;
const GAP: i32 = 36;

/// One bar a solver, grouped by problem; each problem has its own scale, since the bars carry their values.
pub(super) fn figure(sheet_: &Sheet<'_>) -> Drawn {
    let timed: Vec<&Group> = sheet_.groups.iter().filter(|g| g.mean(SECONDS).is_some()).collect();
    if timed.len() < 2 {
        return Ok(None);
    }
    let all = problems(&sheet_.groups);
    let shown: Vec<_> = all.iter().filter(|p| timed.iter().any(|g| g.problem == ***p)).collect();
    let widest = timed.iter().map(|g| text_width(&g.solver, 13.0)).max().unwrap_or_default();
    let left = 24 + widest.min(220);
    let full = WIDTH as i32 - left - 150;
    let height = 76 + shown.len() as i32 * GAP + timed.len() as i32 * LINE;
    let heading_text = "Seconds of prepare and solve";
    let svg = sheet((WIDTH, height as u32), |root| {
        heading(root, heading_text)?;
        let entries = [
            Entry::new("prepare", Sample::Patch(MUTED)),
            Entry::new("solve, in the solver's colour", Sample::Patch(sheet_.look(&timed[0].solver).colour)),
        ];
        let mut y = legend(root, &entries)? + 14;
        for problem in &shown {
            let heading = fitted(&title(problem, &all), 14.0, WIDTH as i32 - 32);
            write(root, &heading, (16, y), font(14.0, INK), HPos::Left)?;
            root.draw(&PathElement::new([(16, y + 13), (WIDTH as i32 - 16, y + 13)], RULE))?;
            y += GAP - 6;
            let of_problem = || timed.iter().filter(|g| g.problem == ***problem);
            let longest = of_problem().filter_map(|g| g.mean(SECONDS)).fold(f64::MIN_POSITIVE, f64::max);
            for group in of_problem() {
                let part = |name| group.mean(name).unwrap_or(0.0);
                let (prepare, total) = (part(names::SECONDS_PREPARE), part(SECONDS));
                let pixels = |seconds: f64| left + (f64::from(full) * seconds / longest).round() as i32;
                let paint = |from, to, colour: RGBColor| {
                    root.draw(&Rectangle::new([(from, y - BAR / 2), (to, y + BAR / 2)], colour.filled()))
                };
                let name = fitted(&group.solver, 13.0, left - 32);
                write(root, &name, (left - 8, y), font(13.0, INK), HPos::Right)?;
                paint(left, pixels(prepare), MUTED)?;
                paint(pixels(prepare), pixels(total).max(left + 2), sheet_.look(&group.solver).colour)?;
                let value = match prepare {
                    p if p >= 0.01 * total => format!("{} + {} s", short(p), short(total - p)),
                    _ => format!("{} s", short(total)),
                };
                write(root, &value, (pixels(total) + 8, y), font(12.0, INK), HPos::Left)?;
                y += LINE;
            }
            y += 6;
        }
        Ok(())
    })?;
    Ok(Some(Figure {
        file: "seconds.svg".to_owned(),
        title: heading_text.to_owned(),
        caption:
            "Mean wall-clock seconds over seeds, without loading, verification and the evaluation of trace \
                  points. Each problem has a scale of its own."
                .to_owned(),
        svg,
    }))
}
