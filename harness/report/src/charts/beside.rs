//! A metric of a run and of archived ones.

use gpbench_record::metric::Metric;

use super::figure::{Figure, other, series};
use super::form::ChartForm;
use super::history::{problem_title, sheet};
use super::panel::{Dot, Panel};
use super::scale::Axis;
use super::series::{Look, Series};
use crate::beside::BesideArchive;
use crate::compare::Compared;
use crate::error::Result;
use crate::problem::GroupProblem;
use crate::results::{Results, once_each};

/// A run beside archived ones as SVG: one panel for each problem, one marker for each solver of each run; the run itself is
/// on the left.
///
/// # Errors
/// If it cannot be drawn.
pub fn beside_chart(beside: &BesideArchive, metric: &Metric, form: ChartForm) -> Result<String> {
    drawn(beside, metric, form, &|place, solver| Series::new(solver, Look::nth(place)))
}

/// The chart of a report: a solver looks as in the other charts, if it is in them. `is_archived`: whether archived
/// runs alone have a solver.
///
/// # Errors
/// If it cannot be drawn.
pub(crate) fn figure(
    results: &Results<'_>,
    beside: &BesideArchive,
    metric: &Metric,
    is_archived: &dyn Fn(&str) -> bool,
) -> Result<Figure> {
    let cases = &results.cases;
    // The points of a grid are not.
    let is_of_others = |solver: &str| cases.axis.contains(&solver) || cases.solvers().contains(&solver);
    let look = |place: usize, solver: &str| match is_archived(solver) {
        true => other(results, place, &format!("{solver} (archive)")),
        false if is_of_others(solver) => series(results, solver),
        false => other(results, place, solver),
    };
    let svg = drawn(beside, metric, results.form, &look)?;
    let caption = "The run on the left, and archived runs beside it: means over the seeds that all of them have. A \
                   marker is a solver on the problem of its panel.";
    Ok(Figure::new("archive", metric.name, title(metric), caption, svg))
}

fn title(metric: &Metric) -> String {
    format!("{} beside the archive", metric.title)
}

/// The chart; `look` is the series of a solver, which is at a place among all solvers of the chart.
fn drawn(
    beside: &BesideArchive,
    metric: &Metric,
    form: ChartForm,
    look: &dyn Fn(usize, &str) -> Series,
) -> Result<String> {
    let rows: Vec<&Compared> = beside.rows.iter().filter(|row| row.metric.name == metric.name).collect();
    let solvers: Vec<&str> = once_each(rows.iter().map(|row| row.solver.as_str()));
    let all: Vec<Series> = solvers.iter().enumerate().map(|(place, solver)| look(place, solver)).collect();
    let problems: Vec<&GroupProblem> = once_each(rows.iter().map(|row| &row.problem));
    let panels = problems.iter().map(|problem| {
        let own: Vec<(&Compared, &Series)> = rows
            .iter()
            .filter(|row| row.problem == **problem)
            .filter_map(|row| {
                let place = solvers.iter().position(|solver| *solver == row.solver)?;
                Some((*row, &all[place]))
            })
            .collect();
        panel(beside, metric, problem, &own)
    });
    sheet(&title(metric), &all, &panels.collect::<Vec<_>>(), form)
}

fn panel(
    beside: &BesideArchive,
    metric: &Metric,
    problem: &GroupProblem,
    rows: &[(&Compared, &Series)],
) -> Panel {
    let y = Axis::of(metric);
    let is_positive = rows.iter().flat_map(|(row, _)| row.means.iter().flatten()).all(|mean| *mean > 0.0);
    let dots = rows.iter().flat_map(|(row, series)| {
        let places =
            row.means.iter().enumerate().filter_map(|(run, mean)| Some((run as f64 + 1.0, (*mean)?)));
        places.map(move |(x, mean)| {
            let (x_range, y_range) = ((x, x), (mean, mean));
            Dot { series: (*series).clone(), at: (x, mean), x_range, y_range, hollow: false }
        })
    });
    Panel {
        title: Some(problem_title(problem)),
        x: Axis { label: "run".to_owned(), log: false },
        y: Axis { log: y.log && is_positive, ..y },
        names: beside.runs.clone(),
        dots: dots.collect(),
        ..Panel::default()
    }
}
