//! Several errors of a solve side by side, against seconds (Lin et al. 2023, Figures 3, 5 and 8), and
//! the solvers' own numbers against iterations (Figure 2).

use std::collections::BTreeSet;

use gpbench_record::{Row, names};

use super::curve::{Clock, Mean, curve, path};
use super::panel::{Line, Panel, panels_sheet};
use super::scale::Axis;
use super::{Drawn, Figure, Sheet, file_name};
use crate::aggregate::Problem;
use crate::tables::in_group;

/// Height of a row of panels.
const ROW: u32 = 270;

/// What is drawn: a metric, the title of its axis, and how it is averaged.
const ERRORS: [(&str, &str, Mean); 5] = [
    (names::TEST_RMSE, "test RMSE", Mean::Geometric),
    (names::TEST_NLL, "test NLL", Mean::Arithmetic),
    (names::RMSE_TO_EXACT, "RMSE to the exact mean", Mean::Geometric),
    (names::WEIGHT_ERROR, "weight error ||v − v*||₂", Mean::Geometric),
    (names::RKHS_ERROR, "RKHS error ||v − v*||_K", Mean::Geometric),
];

/// All errors that are traced, one panel each.
pub(super) fn errors_figure(sheet_: &Sheet<'_>, problem: &Problem, what: &str) -> Drawn {
    let panels: Vec<Panel> = ERRORS
        .iter()
        .filter_map(|(metric, label, mean)| panel(sheet_, problem, metric, label, Clock::Seconds, *mean))
        .collect();
    // One error alone has a chart of its own.
    if panels.len() < 2 {
        return Ok(None);
    }
    let title = format!("Convergence: {what}");
    let svg = panels_on_a_sheet(sheet_, &title, &panels)?;
    Ok(Some(Figure {
        file: file_name("convergence", what),
        title,
        caption: "Errors of the current iterate against seconds of prepare and solve: geometric mean over seeds \
                  (arithmetic for the NLL), each seed's last value carried forward; the band spans the lowest to the \
                  highest seed. ||e||_K² = eᵀKe is the distance of the posterior means in the kernel's Hilbert space."
            .to_owned(),
        svg,
    }))
}

/// What the solvers say of themselves along the way, one panel a number.
pub(super) fn own_numbers_figure(sheet_: &Sheet<'_>, problem: &Problem, what: &str) -> Drawn {
    let rows = sheet_.run.rows.iter().filter(|row| Problem::of(&row.labels) == *problem);
    let traced = rows.flat_map(|row| &row.trace).flat_map(|point| point.metrics.iter());
    let own: BTreeSet<&str> =
        traced.map(|(name, _)| name).filter(|name| name.starts_with(names::OF_SOLVER)).collect();
    let panels: Vec<Panel> = own
        .into_iter()
        .filter_map(|name| {
            let label = name.trim_start_matches(names::OF_SOLVER).replace('_', " ");
            panel(sheet_, problem, name, &label, Clock::Iterations, Mean::Geometric)
        })
        .collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let title = format!("The solvers' own numbers: {what}");
    let svg = panels_on_a_sheet(sheet_, &title, &panels)?;
    Ok(Some(Figure {
        file: file_name("own-numbers", what),
        title,
        caption: "Numbers that solvers report of themselves along the way, against their iterations; geometric mean \
                  over seeds, the band from the lowest to the highest. The harness does not check them."
            .to_owned(),
        svg,
    }))
}

/// A panel with one curve a solver; absent where none has two points.
fn panel(
    sheet: &Sheet<'_>,
    problem: &Problem,
    metric: &str,
    label: &str,
    clock: Clock,
    mean: Mean,
) -> Option<Panel> {
    let mut lines = Vec::new();
    for group in sheet.of(problem) {
        let rows: Vec<&Row> = sheet.run.rows.iter().filter(|row| in_group(row, group)).collect();
        // The end stands in a terminal row too, but a curve needs a trace.
        let traced = rows.iter().any(|row| row.trace.iter().any(|p| p.metrics.get(metric).is_some()));
        let paths: Vec<_> = rows.into_iter().filter(|_| traced).map(|row| path(row, metric, clock)).collect();
        if let Some(curve) = curve(&paths, true, mean) {
            lines.push(Line { look: sheet.look(&group.solver), curve, dashed: false });
        }
    }
    let x = Axis { label: clock.label().to_owned(), log: true };
    let y = Axis { label: label.to_owned(), log: mean == Mean::Geometric };
    let panel = Panel { x, y, lines, ..Panel::default() };
    (!panel.lines.is_empty()).then_some(panel)
}

fn panels_on_a_sheet(
    sheet_: &Sheet<'_>,
    title: &str,
    panels: &[Panel],
) -> Result<String, Box<dyn std::error::Error>> {
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns);
    let drawn = |solver: &str| {
        let look = sheet_.look(solver);
        panels.iter().any(|panel| panel.lines.iter().any(|line| line.look == look))
    };
    let height = 80 + ROW * rows as u32 + if rows == 1 { 70 } else { 0 };
    panels_sheet(title, &sheet_.legend(drawn), panels, columns, height)
}
