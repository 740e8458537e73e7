//! Paths of training over the plane of length scale and noise, and the exact likelihood along them and under them
//! (Potapczynski et al. 2021, Figures 3 to 5).

use gpbench_record::{Landscape, Row, names};

use super::curve::Curve;
use super::field::Field;
use super::panel::{Line, Panel, panels_sheet};
use super::scale::Axis;
use super::style::{Entry, Look, Sample};
use super::training::{Quantity, panel};
use super::{Drawn, Figure, Sheet, file_name};
use crate::aggregate::Group;
use crate::{likelihood, training};

/// Height of a sheet, and of one with a landscape.
const HEIGHT: u32 = 400;
const HIGH: u32 = 480;

const EXACT: Quantity =
    (|step| step.metrics.get(names::LOG_MARGINAL_LIKELIHOOD), "exact log likelihood", false);

/// One figure for each data set and kernel with a single length scale, which a plane can show.
pub(super) fn figures(sheet: &Sheet<'_>) -> Vec<Drawn> {
    training::models(&sheet.groups).into_iter().map(|model| figure(sheet, model)).collect()
}

fn figure(sheet: &Sheet<'_>, model: (&str, &str)) -> Drawn {
    let groups = training::of(sheet.run, &sheet.groups, model);
    let first = |group: &&Group| likelihood::first(sheet.run, group);
    if !groups.iter().filter_map(first).any(|row| row.hyperparameters.contains_key("length_scale")) {
        return Ok(None);
    }
    let look = |group: &Group| {
        let place =
            groups.iter().position(|other| other.problem == group.problem && other.solver == group.solver);
        Look::nth(place.unwrap_or_default())
    };
    let line = |group: &&Group| {
        let curve = path(first(group)?);
        (curve.at.len() > 1).then(|| Line { look: look(group), curve, dashed: false })
    };
    let axis = |label: &str| Axis { label: label.to_owned(), log: true };
    let field = landscape(sheet, model).and_then(Field::new);
    let has_field = field.is_some();
    let plane = Panel {
        x: axis("length scale"),
        y: axis("noise scale"),
        lines: groups.iter().filter_map(line).collect(),
        field,
        ..Panel::default()
    };
    let panels: Vec<Panel> = [plane].into_iter().chain(panel(sheet, &groups, EXACT, look)).collect();
    let label = |group: &Group| likelihood::label(sheet.run, group);
    let mut entries: Vec<Entry> =
        groups.iter().map(|group| Entry::solver(&label(group), look(group))).collect();
    entries.extend(has_field.then(|| Entry::new("maximum of the likelihood on the grid", Sample::Peak)));
    let what = training::title(model, &sheet.groups);
    let title = format!("Paths of training: {what}");
    let height = if has_field { HIGH } else { HEIGHT };
    let under = if has_field {
        " Under the paths: the exact log marginal likelihood at the signal scale that exact training ended with, in \
         bands of its distance to the maximum; blank where the kernel matrix is not positive definite in double \
         precision."
    } else {
        ""
    };
    Ok(Some(Figure {
        file: file_name("training-paths", &what),
        svg: panels_sheet(&title, &entries, &panels, panels.len(), height)?,
        title,
        caption: format!(
            "Left: length scale and noise scale along the outer steps, of the first seed.{under} Right: the exact \
             log marginal likelihood at each step's hyperparameters, mean over seeds, where there are few enough \
             rows to know it."
        ),
    }))
}

/// The landscape that belongs to the paths: that of the first seed that has one.
fn landscape<'a>(sheet: &Sheet<'a>, (dataset, kernel): (&str, &str)) -> Option<&'a Landscape> {
    let is_of = |row: &&Row| row.labels.dataset == dataset && row.labels.kernel == kernel;
    let rows = sheet.run.rows.iter().filter(is_of);
    rows.filter(|row| row.landscape.is_some()).min_by_key(|row| row.labels.seed)?.landscape.as_deref()
}

/// Length scale and noise scale along the steps of a case.
fn path(row: &Row) -> Curve {
    let scale = |name: &str| -> Vec<f64> {
        row.steps.iter().filter_map(|step| step.hyperparameters.get(name).copied()).collect()
    };
    let (at, middle) = (scale("length_scale"), scale("noise_scale"));
    Curve { low: middle.clone(), high: middle.clone(), at, middle }
}
