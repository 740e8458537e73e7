//! Bias of the likelihood's terms against the cost of an estimate (Potapczynski et al. 2021, Figure 1).

use gpbench_record::{FeatureEstimator, metric};

use super::figure::{Drawn, Figure, method, other};
use super::legend::Entry;
use super::panel::{Dot, Panel};
use super::scale::Axis;
use super::series::Series;
use crate::aggregate::Group;
use crate::bias::{TERMS, Term, terms};
use crate::results::once_each;
use crate::results::{Model, Results};

/// Height of a row of panels.
const ROW: u32 = 270;

/// Standard errors that a whisker spans on either side.
const WHISKER: f64 = 2.0;

/// Kind of an estimate: a solver's plugin, or a method of random features.
type Kind = (String, bool);

/// The figure of a model.
pub(crate) fn figure(results: &Results<'_>, model: Model<'_>) -> Drawn {
    let groups = results.of_model(model);
    let kinds: Vec<Kind> = once_each(groups.iter().map(|group| kind(results, group)));
    let series = |kind: &Kind| match kind {
        (plugin, false) => method(results, plugin),
        (features, true) => {
            other(results, kinds.iter().position(|k| k == kind).unwrap_or_default(), features)
        }
    };
    let mut panels = Vec::new();
    for term in TERMS {
        for of_features in [false, true] {
            let of_kind = groups.iter().map(|group| (*group, kind(results, group)));
            let dots = of_kind.filter(|(_, (_, features))| *features == of_features);
            let dots: Vec<Dot> =
                dots.filter_map(|(group, kind)| dot(results, group, term, series(&kind))).collect();
            if !dots.is_empty() {
                panels.push(panel(dots, of_features, term));
            }
        }
    }
    if panels.is_empty() {
        return Ok(None);
    }
    let what = results.model_title(model);
    let title = format!("Bias of the likelihood's terms: {what}");
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns);
    let entries: Vec<Entry> = kinds.iter().map(|kind| Entry::Series(series(kind))).collect();
    let svg = results.form.panels(&title, &entries, &panels, columns, 90 + ROW * rows as u32)?;
    let caption = "Mean of the estimates minus the exact term, in percent of that term, against the mean number of \
                   iterations or of random features of an estimate. Whiskers span two standard errors of the mean on \
                   either side. The whiskers of an estimate without bias meet the dotted line in 19 of 20 cases.";
    Ok(Some(Figure::new("likelihood-bias", &what, title, caption, svg)))
}

fn kind(results: &Results<'_>, group: &Group) -> Kind {
    let case = results.case(group);
    match case.task.features() {
        Some(FeatureEstimator::Rff { .. }) => ("random features".to_owned(), true),
        Some(FeatureEstimator::SsRff { .. }) => ("single-sample random features".to_owned(), true),
        None => (case.solver.plugin.clone(), false),
    }
}

fn dot(results: &Results<'_>, group: &Group, term: Term, series: Series) -> Option<Dot> {
    let bias = term.bias(group)?;
    let percent = |value: f64| 100.0 * value / bias.exact.abs();
    let x = terms(results, group)?;
    let reach = WHISKER * bias.standard_error;
    Some(Dot {
        series,
        at: (x, percent(bias.bias)),
        x_range: (x, x),
        y_range: (percent(bias.bias - reach), percent(bias.bias + reach)),
        hollow: false,
    })
}

fn panel(dots: Vec<Dot>, of_features: bool, term: Term) -> Panel {
    let term = metric::find(term.mean).map_or(term.mean, |metric| metric.axis);
    let x = if of_features { "random features" } else { "iterations" };
    Panel {
        x: Axis { label: x.to_owned(), log: false },
        y: Axis { label: format!("bias of {term} [%]"), log: false },
        dots,
        level: Some(0.0),
        ..Panel::default()
    }
}
