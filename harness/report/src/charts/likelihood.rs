//! Bias of the likelihood's terms against what an estimate takes (Potapczynski et al. 2021, Figure 1).

use gpbench_record::EstimatorMethod;

use super::panel::{Dot, Panel, panels_sheet};
use super::scale::Axis;
use super::style::{Entry, Look};
use super::{Drawn, Figure, Sheet, file_name};
use crate::aggregate::Group;
use crate::likelihood::{self, TERMS};
use crate::training;

/// Height of a row of panels.
const ROW: u32 = 270;

/// Standard errors that a whisker spans on either side.
const WHISKER: f64 = 2.0;

/// What makes the estimates: a solver's plugin, or a method of features.
type Kind = (String, bool);

/// One figure for each data set and kernel.
pub(super) fn figures(sheet_: &Sheet<'_>) -> Vec<Drawn> {
    let models = training::models(&sheet_.groups);
    models.into_iter().map(|model| figure(sheet_, model)).collect()
}

fn figure(sheet_: &Sheet<'_>, model: (&str, &str)) -> Drawn {
    let groups = training::of(sheet_.run, &sheet_.groups, model);
    let mut kinds: Vec<Kind> = Vec::new();
    for kind in groups.iter().filter_map(|group| kind(sheet_, group)) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let look = |kind: &Kind| Look::nth(kinds.iter().position(|k| k == kind).unwrap_or_default());
    let mut panels = Vec::new();
    for term in TERMS {
        for of_features in [false, true] {
            let of_kind =
                |group: &&Group| kind(sheet_, group).filter(|(_, features)| *features == of_features);
            let dots = groups.iter().filter_map(|group| dot(sheet_, group, term, look(&of_kind(group)?)));
            let dots: Vec<Dot> = dots.collect();
            if !dots.is_empty() {
                panels.push(panel(dots, of_features, term.3));
            }
        }
    }
    if panels.is_empty() {
        return Ok(None);
    }
    let what = training::title(model, &sheet_.groups);
    let title = format!("Bias of the likelihood's terms: {what}");
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns);
    let entries: Vec<Entry> = kinds.iter().map(|kind| Entry::solver(&kind.0, look(kind))).collect();
    let svg = panels_sheet(&title, &entries, &panels, columns, 90 + ROW * rows as u32)?;
    Ok(Some(Figure {
        file: file_name("likelihood-bias", &what),
        title,
        caption: "Mean of the estimates minus the exact term, in percent of that term, against the mean number of \
                  iterations or of random features that an estimate takes; whiskers span two standard errors of the \
                  mean on either side. An estimate without bias has whiskers that meet the dotted line, in 19 of 20 \
                  cases."
            .to_owned(),
        svg,
    }))
}

fn kind(sheet: &Sheet<'_>, group: &Group) -> Option<Kind> {
    let case = &likelihood::first(sheet.run, group)?.case;
    Some(match case.estimator.method {
        EstimatorMethod::Rff => ("random features".to_owned(), true),
        EstimatorMethod::SsRff => ("single-sample random features".to_owned(), true),
        _ => (case.solver.plugin.clone(), false),
    })
}

fn dot(
    sheet: &Sheet<'_>,
    group: &Group,
    (mean, error, exact, _): (&str, &str, &str, &str),
    look: Look,
) -> Option<Dot> {
    let bias = likelihood::bias(group, mean, error, exact)?;
    let percent = |value: f64| 100.0 * value / bias.exact.abs();
    let x = likelihood::terms(sheet.run, group)?;
    let reach = WHISKER * bias.standard_error;
    Some(Dot {
        look,
        at: (x, percent(bias.bias)),
        x_range: (x, x),
        y_range: (percent(bias.bias - reach), percent(bias.bias + reach)),
        hollow: false,
    })
}

fn panel(dots: Vec<Dot>, of_features: bool, term: &str) -> Panel {
    let x = if of_features { "random features" } else { "iterations" };
    Panel {
        x: Axis { label: x.to_owned(), log: false },
        y: Axis { label: format!("bias of {term} [%]"), log: false },
        dots,
        level: Some(0.0),
        ..Panel::default()
    }
}
