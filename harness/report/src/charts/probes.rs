//! What more probes bring and what they cost (Lin et al. 2024, Figure 4).

use std::collections::BTreeMap;

use gpbench_record::{Estimator, names};

use super::curve::{Curve, Mean, range};
use super::panel::{Line, Panel, panels_sheet};
use super::scale::Axis;
use super::style::{Entry, Look};
use super::{Drawn, Figure, Sheet, file_name};
use crate::aggregate::Group;
use crate::{likelihood, training};

/// What is drawn: a metric, the title of its axis, and how it is averaged.
const METRICS: [(&str, &str, Mean); 3] = [
    (names::TEST_RMSE, "test RMSE", Mean::Geometric),
    (names::TEST_NLL, "test NLL", Mean::Arithmetic),
    (names::SECONDS_TRAIN, "seconds of training", Mean::Geometric),
];

/// Height of the sheet.
const HEIGHT: u32 = 340;

/// The groups of one solver whose estimators differ in their number of probes alone.
struct Family<'a> {
    solver: &'a str,
    /// The estimator they share, with its name and its probes set aside.
    estimator: Estimator,
    /// By number of probes.
    groups: BTreeMap<usize, &'a Group>,
}

/// One figure for each data set and kernel on which the number of probes varies.
pub(super) fn figures(sheet: &Sheet<'_>) -> Vec<Drawn> {
    training::models(&sheet.groups).into_iter().map(|model| figure(sheet, model)).collect()
}

fn figure(sheet: &Sheet<'_>, model: (&str, &str)) -> Drawn {
    let families = families(sheet, model);
    let several = families.iter().any(|family| family.estimator != families[0].estimator);
    let looks: Vec<Look> = match several {
        true => (0..families.len()).map(Look::nth).collect(),
        false => families.iter().map(|family| sheet.look(family.solver)).collect(),
    };
    let panel = |(metric, label, mean): &(&str, &str, Mean)| {
        let line = |(family, look): (&Family<'_>, &Look)| {
            Some(Line { look: *look, curve: family.curve(sheet, metric, *mean)?, dashed: false })
        };
        let lines: Vec<Line> = families.iter().zip(&looks).filter_map(line).collect();
        let panel = Panel {
            stops: stops(&lines),
            lines,
            x: Axis { label: "probes".to_owned(), log: true },
            y: Axis { label: (*label).to_owned(), log: *mean == Mean::Geometric },
            ..Panel::default()
        };
        (!panel.lines.is_empty()).then_some(panel)
    };
    let panels: Vec<Panel> = METRICS.iter().filter_map(panel).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let entry = |(family, look): (&Family<'_>, &Look)| match several {
        true => Entry::solver(&format!("{} · {}", family.solver, family.name()), *look),
        false => Entry::solver(family.solver, *look),
    };
    let entries: Vec<Entry> = families.iter().zip(&looks).map(entry).collect();
    let what = training::title(model, &sheet.groups);
    let title = format!("Number of probes: {what}");
    Ok(Some(Figure {
        file: file_name("probes", &what),
        svg: panels_sheet(&title, &entries, &panels, panels.len(), HEIGHT)?,
        title,
        caption: "After training, by the number of right-hand sides beside y, which are also the samples of the \
                  prediction: geometric mean over seeds (arithmetic for the NLL), the band from the lowest to the \
                  highest seed. Seconds are those of all outer steps."
            .to_owned(),
    }))
}

/// The families of a model that have more than one number of probes.
fn families<'a>(sheet: &'a Sheet<'_>, model: (&str, &str)) -> Vec<Family<'a>> {
    let mut all: Vec<Family<'_>> = Vec::new();
    for group in training::of(sheet.run, &sheet.groups, model) {
        let Some(row) = likelihood::first(sheet.run, group) else { continue };
        let probes = row.case.estimator.probes;
        let estimator = Estimator { name: String::new(), probes: 0, ..row.case.estimator.clone() };
        let own = |family: &&mut Family<'_>| family.solver == group.solver && family.estimator == estimator;
        match all.iter_mut().find(own) {
            Some(family) => drop(family.groups.entry(probes).or_insert(group)),
            None => all.push(Family {
                solver: &group.solver,
                estimator,
                groups: BTreeMap::from([(probes, group)]),
            }),
        }
    }
    all.retain(|family| family.groups.len() > 1);
    all
}

impl Family<'_> {
    /// What to call it: what the names of its estimators have in common.
    fn name(&self) -> &str {
        common(self.groups.values().map(|group| group.problem.estimator.as_str()))
    }

    /// A metric over the number of probes, as far as it was measured.
    fn curve(&self, sheet: &Sheet<'_>, metric: &str, mean: Mean) -> Option<Curve> {
        let mut curve = Curve::default();
        for (probes, group) in &self.groups {
            let values = sheet.of_seeds(group, metric);
            if !values.is_empty() {
                curve.push(*probes as f64, mean.of(&values), range(&values));
            }
        }
        (curve.at.len() > 1).then_some(curve)
    }
}

/// The start that some names share, without a number that it may have cut short; the first name where there is none.
fn common<'a>(mut names: impl Iterator<Item = &'a str>) -> &'a str {
    let first = names.next().unwrap_or_default();
    let start = names.fold(first, |start, name| {
        let same = start.char_indices().zip(name.chars()).take_while(|((_, a), b)| a == b);
        &start[..same.map(|((i, a), _)| i + a.len_utf8()).last().unwrap_or_default()]
    });
    let word = start.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | ' '));
    if word.is_empty() { first } else { word }
}

/// All numbers of probes of some lines.
fn stops(lines: &[Line]) -> Vec<f64> {
    let mut stops: Vec<f64> = lines.iter().flat_map(|line| line.curve.at.iter().copied()).collect();
    stops.sort_by(f64::total_cmp);
    stops.dedup();
    stops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_share_their_words_and_no_digits() {
        assert_eq!(common(["pathwise-16", "pathwise-128"].into_iter()), "pathwise");
        assert_eq!(common(["warm", "warm-256"].into_iter()), "warm");
        assert_eq!(common(["few", "many"].into_iter()), "few");
    }
}
