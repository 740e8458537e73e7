//! Paths of training over the plane of length scale and noise scale, and the exact likelihood along and under them
//! (Potapczynski et al. 2021, Figures 3 to 5).

use gpbench_record::{Landscape, TrainingOutput, metric, names};

use super::curve::Curve;
use super::field::Field;
use super::figure::{Drawn, Figure, other, series};
use super::legend::{Entry, Sample};
use super::panel::{Line, Panel};
use super::scale::Axis;
use super::series::Series;
use super::training::{Quantity, panel};
use crate::aggregate::Group;
use crate::results::{Model, Results};

/// Height of a sheet, and of one with a landscape.
const HEIGHT: u32 = 400;
const HIGH: u32 = 480;

/// The figure of a model with a single length scale, which a plane can show.
pub(crate) fn figure(results: &Results<'_>, model: Model<'_>) -> Drawn {
    let groups = results.of_model(model);
    let first = |group: &Group| results.of(group).find_map(|case| case.output().training());
    let has_one_length = |output: &TrainingOutput| output.hyperparameters.contains_key("length_scale");
    if !groups.iter().filter_map(|group| first(group)).any(has_one_length) {
        return Ok(None);
    }
    // A solver with several estimators has several paths.
    let several = |group: &Group| groups.iter().filter(|other| other.solver == group.solver).count() > 1;
    let own = |group: &Group| -> Series {
        let place = groups.iter().position(|other| *other == group).unwrap_or_default();
        match several(group) {
            true => other(results, place, &results.label(group)),
            false => Series { name: results.label(group), ..series(results, &group.solver) },
        }
    };
    let line = |group: &&Group| {
        let curve = path(first(group)?);
        (curve.at.len() > 1).then(|| Line { series: own(group), curve, dashed: false })
    };
    let axis = |label: &str| Axis { label: label.to_owned(), log: true };
    let field = landscape(results, model).and_then(Field::new);
    let has_field = field.is_some();
    let plane = Panel {
        x: axis("length scale"),
        y: axis("noise scale"),
        lines: groups.iter().filter_map(line).collect(),
        field,
        ..Panel::default()
    };
    let exact = metric::find(names::LOG_MARGINAL_LIKELIHOOD).expect("the likelihood is a metric");
    let along = panel(results, &groups, &Quantity::metric(exact), own);
    let panels: Vec<Panel> = [plane].into_iter().chain(along).collect();
    let entry = |group: &&Group| Entry::Series(own(group));
    let mut entries: Vec<Entry> = groups.iter().map(entry).collect();
    entries.extend(has_field.then(|| Entry::new("maximum of the likelihood on the grid", Sample::Peak)));
    let what = results.model_title(model);
    let title = format!("Paths of training: {what}");
    let height = if has_field { HIGH } else { HEIGHT };
    let under = if has_field {
        " Under the paths: the exact log marginal likelihood at the final signal scale of exact training, in bands of \
         its distance to the maximum; blank where the kernel matrix is not positive definite in double precision."
    } else {
        ""
    };
    let svg = results.form.panels(&title, &entries, &panels, panels.len(), height)?;
    let caption = format!(
        "Left: length scale and noise scale along the outer steps of the first seed.{under} Right: the exact log \
         marginal likelihood at each step's hyperparameters, mean over seeds, where few enough rows permit it."
    );
    Ok(Some(Figure::new("training-paths", &what, title, caption, svg)))
}

/// The landscape that belongs to the paths: that of the first seed that has one.
fn landscape<'a>(results: &Results<'a>, Model { dataset, kernel }: Model<'_>) -> Option<&'a Landscape> {
    let cases = results.cases.iter().filter(|case| (case.dataset(), case.kernel()) == (dataset, kernel));
    let found = cases.filter_map(|case| Some((case.seed(), case.output().training()?.landscape.as_deref()?)));
    found.min_by_key(|(seed, _)| *seed).map(|(_, landscape)| landscape)
}

/// Length scale and noise scale along the steps of a case.
fn path(output: &TrainingOutput) -> Curve {
    let scale = |name: &str| -> Vec<f64> {
        output.steps.iter().filter_map(|step| step.hyperparameters.get(name).copied()).collect()
    };
    let (at, middle) = (scale("length_scale"), scale("noise_scale"));
    Curve { low: middle.clone(), high: middle.clone(), at, middle }
}
