//! What training on truncated solves comes to, beside exact training (Potapczynski et al. 2021, Figures 6 and S1).

use gpbench_record::{EstimatorMethod, names};

use super::curve::{Curve, Mean, range};
use super::panel::{Dot, Line, Panel, panels_sheet};
use super::scale::Axis;
use super::style::{Entry, Look};
use super::{Drawn, Figure, Sheet, file_name};
use crate::aggregate::Group;
use crate::{distance, likelihood, training};

/// What is drawn: a metric, the title of its axis, and how it is averaged.
const METRICS: [(&str, &str, Mean); 2] =
    [(names::TEST_RMSE, "test RMSE", Mean::Geometric), (names::TEST_NLL, "test NLL", Mean::Arithmetic)];

/// Height of a row of panels.
const ROW: u32 = 290;

/// A way to train: a solver's plugin and an estimator, with its groups by their mean number of iterations.
struct Way<'a> {
    plugin: &'a str,
    estimator: &'a str,
    groups: Vec<(f64, &'a Group)>,
}

/// One figure for each data set and kernel with an exact run and others whose solves end by a number of
/// iterations.
pub(super) fn figures(sheet: &Sheet<'_>) -> Vec<Drawn> {
    training::models(&sheet.groups).into_iter().map(|model| figure(sheet, model)).collect()
}

fn figure(sheet: &Sheet<'_>, model: (&str, &str)) -> Drawn {
    let (ways, exact) = (ways(sheet, model), exact(sheet, model));
    let (Some(exact), false) = (exact, ways.is_empty()) else { return Ok(None) };
    let panels: Vec<Panel> = METRICS.iter().map(|metric| panel(sheet, &ways, exact, metric)).collect();
    let several = ways.iter().any(|way| way.estimator != ways[0].estimator);
    let entry = |(i, way): (usize, &Way<'_>)| match several {
        true => Entry::solver(&format!("{} · {}", way.plugin, way.estimator), Look::nth(i)),
        false => Entry::solver(way.plugin, Look::nth(i)),
    };
    let entries: Vec<Entry> = ways.iter().enumerate().map(entry).collect();
    let what = training::title(model, &sheet.groups);
    let title = format!("Training on truncated solves: {what}");
    Ok(Some(Figure {
        file: file_name("truncation", &what),
        svg: panels_sheet(&title, &entries, &panels, panels.len(), 90 + ROW)?,
        title,
        caption: "After training, by the mean number of iterations of a solve: geometric mean over seeds (arithmetic \
                  for the NLL), from the lowest to the highest seed. Dotted: exact training."
            .to_owned(),
    }))
}

fn panel(
    sheet: &Sheet<'_>,
    ways: &[Way<'_>],
    exact: &Group,
    (metric, label, mean): &(&str, &str, Mean),
) -> Panel {
    let mut panel = Panel {
        x: Axis { label: "iterations of a solve".to_owned(), log: false },
        y: Axis { label: (*label).to_owned(), log: *mean == Mean::Geometric },
        level: Some(mean.of(&sheet.of_seeds(exact, metric))).filter(|level| level.is_finite()),
        ..Panel::default()
    };
    for (i, way) in ways.iter().enumerate() {
        let look = Look::nth(i);
        let mut curve = Curve::default();
        for (at, group) in &way.groups {
            let values = sheet.of_seeds(group, metric);
            if values.is_empty() {
                continue;
            }
            let (x, y, ends) = (*at, mean.of(&values), range(&values));
            panel.dots.push(Dot { look, at: (x, y), x_range: (x, x), y_range: ends, hollow: false });
            curve.push(x, y, ends);
        }
        if curve.at.len() > 1 {
            panel.lines.push(Line { look, curve, dashed: false });
        }
    }
    panel
}

fn exact<'a>(sheet: &'a Sheet<'_>, model: (&str, &str)) -> Option<&'a Group> {
    let is_exact = |group: &&Group| likelihood::first(sheet.run, group).is_some_and(distance::is_exact);
    training::of(sheet.run, &sheet.groups, model).into_iter().find(is_exact)
}

/// The ways to train on solves that no tolerance ends.
fn ways<'a>(sheet: &'a Sheet<'_>, model: (&str, &str)) -> Vec<Way<'a>> {
    let mut all: Vec<Way<'_>> = Vec::new();
    for group in training::of(sheet.run, &sheet.groups, model) {
        let Some(case) = likelihood::first(sheet.run, group).map(|row| &row.case) else { continue };
        let solved = matches!(case.estimator.method, EstimatorMethod::Standard | EstimatorMethod::Pathwise);
        let Some(iterations) = training::iterations_of_a_solve(sheet.run, group) else { continue };
        if !solved || case.budget.tolerance.is_some() {
            continue;
        }
        let estimator = group.problem.estimator.as_str();
        let own = |way: &&mut Way<'_>| way.plugin == case.solver.plugin && way.estimator == estimator;
        match all.iter_mut().find(own) {
            Some(way) => way.groups.push((iterations, group)),
            None => {
                all.push(Way { plugin: &case.solver.plugin, estimator, groups: vec![(iterations, group)] })
            }
        }
    }
    for way in &mut all {
        way.groups.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}
