//! What happens along the outer steps of training, one curve an estimator (Lin et al. 2024, Figures 3 and 5 to
//! 10): hyperparameters, distances to be gone, iterations, epochs, residuals, predictions.

use gpbench_record::{Row, Step, names};

use super::curve::{Curve, Mean, Path, range};
use super::panel::{Line, Panel, panels_sheet};
use super::scale::Axis;
use super::style::{Entry, Look};
use super::{Drawn, Figure, Sheet, file_name};
use crate::aggregate::Group;
use crate::tables::in_group;
use crate::training;

/// Height of a row of panels.
const ROW: u32 = 250;

/// What is drawn of a step: a number, the title of its axis, and whether it spans decades.
pub(super) type Quantity = (fn(&Step) -> Option<f64>, &'static str, bool);

const QUANTITIES: [Quantity; 11] = [
    (|step| step.hyperparameters.get("noise_scale").copied(), "noise scale", true),
    (|step| step.hyperparameters.get("signal_scale").copied(), "signal scale", true),
    (length_scale, "length scale, geometric mean", true),
    (|step| positive(step, names::INITIAL_DISTANCE), "initial distance |x₀ − x|_H", true),
    (|step| positive(step, names::ITERATIONS), "iterations of the step", true),
    (|step| positive(step, names::EPOCHS), "epochs of the step", true),
    (|step| step.metrics.get(names::RESIDUAL_Y), "residual of y", true),
    (|step| step.metrics.get(names::RESIDUAL_PROBES), "mean residual of the probes", true),
    (|step| step.metrics.get(names::TEST_RMSE), "test RMSE", true),
    (|step| step.metrics.get(names::TEST_NLL), "test NLL", false),
    (|step| step.metrics.get(names::LOG_MARGINAL_LIKELIHOOD), "exact log likelihood", false),
];

/// One figure for each solver on each data set and kernel.
pub(super) fn figures(sheet_: &Sheet<'_>) -> Vec<Drawn> {
    let models = training::models(&sheet_.groups);
    let of_model = |model: (&str, &str)| {
        let groups = training::of(sheet_.run, &sheet_.groups, model);
        let what = training::title(model, &sheet_.groups);
        let figure = |solver: &str| {
            let own: Vec<&Group> = groups.iter().copied().filter(|group| group.solver == solver).collect();
            figure(sheet_, &own, &format!("{what} · {solver}"))
        };
        sheet_.run.solvers().into_iter().map(figure).collect::<Vec<Drawn>>()
    };
    models.into_iter().flat_map(of_model).collect()
}

fn figure(sheet_: &Sheet<'_>, groups: &[&Group], what: &str) -> Drawn {
    let estimators = estimators(sheet_);
    let look =
        |group: &Group| Look::nth(estimators.iter().position(|e| *e == group.problem.estimator).unwrap_or(0));
    let panels: Vec<Panel> = QUANTITIES.iter().filter_map(|q| panel(sheet_, groups, *q, look)).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let entries: Vec<Entry> =
        groups.iter().map(|group| Entry::solver(&group.problem.estimator, look(group))).collect();
    let rows = panels.len().div_ceil(2);
    let title = format!("Training: {what}");
    let svg = panels_sheet(&title, &entries, &panels, 2, 90 + ROW * rows as u32)?;
    Ok(Some(Figure {
        file: file_name("training", what),
        title,
        caption: "Along the outer steps, by estimator: geometric mean over seeds (arithmetic for the NLL), the band \
                  from the lowest to the highest seed. The initial distance is from where a step's solve \
                  starts to where it ends, in the norm of H, root mean square over the probes. Residuals are recomputed \
                  in double precision from each step's solutions; predictions use those solutions as they are, and a \
                  likelihood needs pathwise samples."
            .to_owned(),
        svg,
    }))
}

/// Names of the estimators, in the order of the spec.
fn estimators(sheet: &Sheet<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for group in &sheet.groups {
        if !names.contains(&group.problem.estimator) {
            names.push(group.problem.estimator.clone());
        }
    }
    names
}

/// A quantity along the steps, one line a group; none where no group has it at two steps.
pub(super) fn panel(
    sheet: &Sheet<'_>,
    groups: &[&Group],
    (number, label, log): Quantity,
    look: impl Fn(&Group) -> Look,
) -> Option<Panel> {
    let mean = if log { Mean::Geometric } else { Mean::Arithmetic };
    let of_group = |group: &&Group| {
        let rows = sheet.run.rows.iter().filter(|row| in_group(row, group));
        let paths: Vec<Path> = rows.map(|row| path(row, number)).collect();
        Some(Line { look: look(group), curve: curve(&paths, mean)?, dashed: false })
    };
    let lines: Vec<Line> = groups.iter().filter_map(of_group).collect();
    let (x, y) = (Axis { label: "outer step".to_owned(), log: false }, Axis { label: label.to_owned(), log });
    let panel = Panel { x, y, lines, ..Panel::default() };
    (!panel.lines.is_empty()).then_some(panel)
}

/// The curve of several cases, which all take the same steps: as far as each of them got.
fn curve(paths: &[Path], mean: Mean) -> Option<Curve> {
    let paths: Vec<&Path> = paths.iter().filter(|path| !path.is_empty()).collect();
    let length = paths.iter().map(|path| path.len()).min().filter(|length| *length >= 2)?;
    let mut curve = Curve::default();
    for i in 0..length {
        let values: Vec<f64> = paths.iter().map(|path| path[i].1).collect();
        curve.push(paths[0][i].0, mean.of(&values), range(&values));
    }
    Some(curve)
}

/// A number along the steps of a case, which count from 1 here.
fn path(row: &Row, number: fn(&Step) -> Option<f64>) -> Path {
    if !row.status.is_answer() {
        return Vec::new();
    }
    let place = |step: &Step| Some((step.step as f64 + 1.0, number(step)?));
    row.steps.iter().filter_map(place).collect()
}

/// A metric that a logarithmic axis has a place for.
fn positive(step: &Step, name: &str) -> Option<f64> {
    step.metrics.get(name).filter(|value| *value > 0.0)
}

/// Geometric mean of the length scales of all inputs.
fn length_scale(step: &Step) -> Option<f64> {
    let lengths = step.hyperparameters.iter().filter(|(name, _)| name.starts_with("length_scale"));
    let logarithms: Vec<f64> = lengths.map(|(_, length)| length.ln()).collect();
    (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}
