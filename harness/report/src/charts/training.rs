//! Hyperparameters and metrics along the outer steps of training, one curve an estimator (Lin et al. 2024, Figures 3
//! and 5 to 10).

use gpbench_record::metric::{self, Metric, Shown};
use gpbench_record::{TaskKind, names};

use super::curve::{Curve, Mean, Path, range};
use super::figure::{Drawn, Figure, other};
use super::legend::Entry;
use super::panel::{Line, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::aggregate::Group;
use crate::frame::{CaseView, Cells};
use crate::results::{Model, Results, once_each};

/// Height of a row of panels.
const ROW: u32 = 250;

/// A number of a step, where it has one.
type Value = Box<dyn Fn(&Cells<'_>) -> Option<f64>>;

/// A drawn quantity of a step: its value, the axis of its panel, and the mean over seeds.
pub(super) struct Quantity {
    value: Value,
    axis: Axis,
    mean: Mean,
}

impl Quantity {
    /// A metric of the step.
    pub(super) fn metric(metric: &'static Metric) -> Quantity {
        let axis = Axis::of(metric);
        let (log, name) = (axis.log, metric.name);
        // A logarithmic axis cannot show 0.
        let value = move |step: &Cells<'_>| step.number(name).filter(|value| !log || *value > 0.0);
        Quantity { value: Box::new(value), axis, mean: Mean::of_metric(metric) }
    }

    /// A metric of the step whose values may be negative or 0.
    pub(super) fn linear(metric: &'static Metric) -> Quantity {
        let axis = Axis { label: metric.axis.to_owned(), log: false };
        let value = |step: &Cells<'_>| step.number(metric.name);
        Quantity { value: Box::new(value), axis, mean: Mean::Arithmetic }
    }

    fn hyperparameter(label: &str, value: impl Fn(&Cells<'_>) -> Option<f64> + 'static) -> Quantity {
        let axis = Axis { label: label.to_owned(), log: true };
        Quantity { value: Box::new(value), axis, mean: Mean::Geometric }
    }
}

/// The scales of a step, then its metrics.
fn quantities() -> Vec<Quantity> {
    let scales = [
        Quantity::hyperparameter("noise scale", |step| step.number("noise_scale")),
        Quantity::hyperparameter("signal scale", |step| step.number("signal_scale")),
        Quantity::hyperparameter("length scale, geometric mean", length_scale),
    ];
    // Distances to the optimum have a chart of their own.
    let metrics = metric::shown(TaskKind::Train, Shown::Steps)
        .filter(|metric| metric.name != names::OPTIMUM_DISTANCE)
        .map(Quantity::metric);
    scales.into_iter().chain(metrics).collect()
}

/// One figure for each solver on each data set and kernel.
pub(crate) fn figures(results: &Results<'_>) -> Vec<Drawn> {
    let models = results.models();
    let of_model = |model: Model<'_>| {
        let groups = results.of_model(model);
        let what = results.model_title(model);
        let figure = |solver: &str| {
            let own: Vec<&Group> = groups.iter().copied().filter(|group| group.solver == solver).collect();
            figure(results, &own, &format!("{what} · {solver}"))
        };
        results.cases.solvers().into_iter().map(figure).collect::<Vec<Drawn>>()
    };
    models.into_iter().flat_map(of_model).collect()
}

fn figure(results: &Results<'_>, groups: &[&Group], what: &str) -> Drawn {
    let estimators = once_each(results.groups.iter().map(Group::estimator));
    let own = |group: &Group| {
        let place = estimators.iter().position(|name| *name == group.estimator());
        other(results, place.unwrap_or_default(), group.estimator())
    };
    let panels: Vec<Panel> =
        quantities().iter().filter_map(|quantity| panel(results, groups, quantity, own)).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let entries: Vec<Entry> = groups.iter().map(|group| Entry::Series(own(group))).collect();
    let rows = panels.len().div_ceil(2);
    let title = format!("Training: {what}");
    let svg = results.form.panels(&title, &entries, &panels, 2, 90 + ROW * rows as u32)?;
    let caption = "Along the outer steps, by estimator: geometric mean over seeds (arithmetic for log-likelihoods); the \
                   band spans the lowest to the highest seed. Epochs and iterations are those of each step. The initial \
                   distance is that from the start of a step's solve to its end, in the norm of H, root mean square over \
                   the probes. Residuals are recomputed in double precision from each step's solutions. Predictions use \
                   those solutions; the NLL needs pathwise samples, or the variances of a bound.";
    Ok(Some(Figure::new("training", what, title, caption, svg)))
}

/// A quantity along the steps, one line a group; none where no group has it at two steps.
pub(super) fn panel(
    results: &Results<'_>,
    groups: &[&Group],
    quantity: &Quantity,
    series: impl Fn(&Group) -> Series,
) -> Option<Panel> {
    let of_group = |group: &&Group| {
        let paths: Vec<Path> = results.of(group).map(|case| path(&case, quantity)).collect();
        Some(Line { series: series(group), curve: curve(&paths, quantity.mean)?, dashed: false })
    };
    let lines: Vec<Line> = groups.iter().filter_map(of_group).collect();
    let x = Axis { label: "outer step".to_owned(), log: false };
    let panel = Panel { x, y: quantity.axis.clone(), lines, ..Panel::default() };
    (!panel.lines.is_empty()).then_some(panel)
}

/// The curve of several cases, which all take the same steps, up to the last step that all of them took.
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

/// A quantity along the steps of a case; the first step is 1.
fn path(case: &CaseView<'_>, quantity: &Quantity) -> Path {
    let steps = case.steps().filter(|_| case.is_answer());
    steps.filter_map(|step| Some((step.count("step")? as f64 + 1.0, (quantity.value)(&step)?))).collect()
}

/// Geometric mean of the length scales of all inputs.
fn length_scale(step: &Cells<'_>) -> Option<f64> {
    let logarithms: Vec<f64> = step.beginning_with("length_scale").map(f64::ln).collect();
    (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}
