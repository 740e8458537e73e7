//! The values of a grid: the number that decides the choice against the parameter.

use std::collections::BTreeMap;

use gpbench_record::names;

use super::curve::{Curve, Mean, range};
use super::figure::{Drawn, Figure, series, solvers};
use super::panel::{Dot, Line, Panel};
use super::scale::Axis;
use crate::frame::CaseView;
use crate::grid::point;
use crate::problem::GroupProblem;
use crate::results::Results;

/// Height of the sheet.
const HEIGHT: u32 = 380;

/// The figure of a problem whose learners have a grid of one number.
pub(crate) fn figure(results: &Results<'_>, problem: &GroupProblem, what: &str) -> Drawn {
    let mut panel = Panel::default();
    let mut parameter = None;
    for group in results.of_problem(problem) {
        let series = series(results, &group.solver);
        let is_own = |case: &CaseView<'_>| {
            case.is_of(problem)
                && point(case).is_some_and(|grid| grid.entry == group.solver)
                && case.is_answer()
        };
        let own = results.whole.iter().filter(is_own);
        let mut of_value: BTreeMap<u64, (f64, Vec<f64>)> = BTreeMap::new();
        for (name, value, nlml) in own.filter_map(|case| value(&case)) {
            parameter.get_or_insert(name);
            // Positive numbers are in the order of their bits.
            of_value.entry(value.to_bits()).or_insert((value, Vec::new())).1.push(nlml);
        }
        let mut curve = Curve::default();
        for (value, nlml) in of_value.values() {
            curve.push(*value, Mean::Arithmetic.of(nlml), range(nlml));
        }
        if curve.at.len() > 1 {
            panel.lines.push(Line { series: series.clone(), curve, dashed: false });
            let chosen = results.of(group).filter(CaseView::is_answer).filter_map(|case| value(&case));
            panel.dots.extend(chosen.map(|(_, value, nlml)| Dot {
                series: series.clone(),
                at: (value, nlml),
                x_range: (value, value),
                y_range: (nlml, nlml),
                hollow: true,
            }));
        }
    }
    let Some(parameter) = parameter.filter(|_| !panel.lines.is_empty()) else { return Ok(None) };
    panel.x = Axis { label: parameter.replace('_', " "), log: true };
    panel.y = Axis { label: "NLML per row".to_owned(), log: false };
    let entries = solvers(results, |solver| panel.has_line_of(solver));
    let title = format!("The grid: {what}");
    let svg = results.form.panels(&title, &entries, &[panel], 1, HEIGHT)?;
    let caption = "Each value of the grid: mean over the seeds that have an answer; the band spans the lowest to the highest \
                   seed. Hollow markers: the chosen value of each seed. The negative log marginal likelihood is the \
                   exact one, or the bound where that alone is known.";
    Ok(Some(Figure::new("grid", what, title, caption, svg)))
}

/// Name and value of the one positive number that a case's grid varies, and the likelihood there.
fn value<'f>(case: &CaseView<'f>) -> Option<(&'f str, f64, f64)> {
    let mut params = point(case)?.params.iter();
    let (name, value) = params.next().filter(|_| params.next().is_none())?;
    let value = value.number()?;
    let nlml = case.metric(names::NLML).or_else(|| case.metric(names::BOUND))?;
    (value > 0.0 && nlml.is_finite()).then_some((name, value, nlml))
}
