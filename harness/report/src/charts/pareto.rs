//! Quality against time, one panel a problem.

use gpbench_record::names;

use super::panel::{Dot, Panel, panels_sheet};
use super::scale::Axis;
use super::{Drawn, Figure, Sheet};
use crate::aggregate::{Estimate, Group, problems, title};
use crate::metric::{self, SECONDS};

/// Height of a row of panels.
const ROW: u32 = 300;

/// One point a solver: total seconds against the distance to the exact prediction.
pub(super) fn figure(sheet_: &Sheet<'_>) -> Drawn {
    let name = [names::RMSE_TO_EXACT, names::TEST_RMSE, names::RESIDUAL_Y];
    let Some(quality) = name.into_iter().find(|m| sheet_.groups.iter().any(|g| g.mean(m).is_some())) else {
        return Ok(None);
    };
    let all = problems(&sheet_.groups);
    let mut panels = Vec::new();
    for problem in &all {
        let dots: Vec<Dot> = sheet_.of(problem).filter_map(|g| dot(sheet_, g, quality)).collect();
        if dots.len() >= 2 {
            panels.push(panel(title(problem, &all), dots, quality));
        }
    }
    if panels.is_empty() {
        return Ok(None);
    }
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns);
    let height = 70 + ROW * rows as u32 + if rows == 1 { 70 } else { 0 };
    let heading_text = "Quality against time";
    let svg = panels_sheet(heading_text, &sheet_.legend(|_| true), &panels, columns, height)?;
    Ok(Some(Figure {
        file: "quality-time.svg".to_owned(),
        title: heading_text.to_owned(),
        caption: "Mean over seeds with its standard error; lower left is better. The thin line joins the solvers \
                  that no other one beats in both. A marker that points down lies below the axis, at the value \
                  beside it."
            .to_owned(),
        svg,
    }))
}

fn panel(title: String, dots: Vec<Dot>, quality: &str) -> Panel {
    let label = metric::find(quality).map_or(quality, |m| m.axis);
    Panel {
        title: Some(title),
        x: Axis { label: "seconds (prepare + solve)".to_owned(), log: true },
        y: Axis { label: label.to_owned(), log: true },
        backdrop: vec![frontier(&dots)],
        dots,
        ..Panel::default()
    }
}

fn dot(sheet: &Sheet<'_>, group: &Group, quality: &str) -> Option<Dot> {
    let (x, y) = (group.metrics.get(SECONDS)?, group.metrics.get(quality)?);
    let spread = |e: &Estimate| {
        let error = e.stderr.unwrap_or(0.0);
        // On a logarithmic axis a whisker must not reach zero.
        ((e.mean - error).max(0.1 * e.mean), e.mean + error)
    };
    let look = sheet.look(&group.solver);
    Some(Dot { look, at: (x.mean, y.mean), x_range: spread(x), y_range: spread(y), hollow: false })
}

/// Corners of the staircase of points that are not beaten in both coordinates.
fn frontier(dots: &[Dot]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = dots.iter().map(|d| d.at).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for point in points {
        match steps.last() {
            Some(last) if point.1 >= last.1 => {}
            Some(last) => steps.extend([(point.0, last.1), point]),
            None => steps.push(point),
        }
    }
    steps
}
