//! Settings of the acquisition of points by Thompson sampling.

use gpbench_record::{Exploit, Frequencies, Objective, ObjectiveDraw, Thompson, WarmStart};

use crate::frame::Cases;
use crate::results::once_each;
use crate::table::TextTable;

/// Warning about samples whose prior functions are kept over the steps.
const BIASED: &str = "\
warm starts of all right-hand sides: prior functions are drawn once, and points were chosen by looking at them, so samples \
are not independent of the data given the model. Results are biased, and not comparable with those of other starts";

/// Warning about samples with the objective's own frequencies.
const SHARED: &str = "\
prior functions have the objective's own frequencies, so the model knows more of the objective than its data tell";

/// Description of an objective.
pub(crate) fn objective(objective: &Objective) -> String {
    let Objective { kernel, length_scale, noise_scale, draw, .. } = objective;
    let drawn = match draw {
        ObjectiveDraw::Exact => "drawn exactly".to_owned(),
        ObjectiveDraw::Features { features, frequencies: Frequencies::MultivariateT } => {
            format!("{features} features")
        }
        ObjectiveDraw::Features { features, frequencies: Frequencies::ProductT } => {
            format!("{features} features of a product kernel")
        }
    };
    format!(
        "objective on the unit cube: a draw from a GP ({kernel}, length scale {length_scale}, noise scale \
         {noise_scale}; {drawn})"
    )
}

/// Warnings about the samples of some cases.
pub(crate) fn warnings(cases: &Cases<'_>) -> impl Iterator<Item = &'static str> {
    let tasks = || cases.rows().filter_map(|row| row.case.task.thompson());
    let is_biased = tasks().any(|task| task.warm_start == WarmStart::All);
    let is_shared = tasks().any(|task| task.share_features);
    is_biased.then_some(BIASED).into_iter().chain(is_shared.then_some(SHARED))
}

/// Table of the acquisition settings, a line for each estimator; none where no case acquires points.
pub(crate) fn table(cases: &Cases<'_>) -> Option<TextTable> {
    let tasks = cases.rows().filter_map(|row| row.case.task.thompson());
    let mut table =
        TextTable::new("Acquisition").words("estimator").numbers("steps").numbers("points a step");
    table = ["candidates", "ascent", "prior functions", "warm start", "acquired"]
        .into_iter()
        .fold(table, TextTable::words);
    for line in once_each(tasks.map(line)) {
        table.row(line);
    }
    (!table.rows.is_empty()).then_some(table)
}

fn line(task: &Thompson) -> [String; 8] {
    let functions = match (task.warm_start, task.share_features) {
        (WarmStart::All, _) => "drawn once (biased)",
        (_, true) => "the objective's frequencies, new weights in each step",
        (_, false) => "drawn afresh in each step",
    };
    let start = match task.warm_start {
        WarmStart::None => "none",
        WarmStart::Mean => "y alone, from its last solution",
        WarmStart::All => "y and samples, from their last solutions",
    };
    let acquired = if task.replay.is_empty() { "the chosen points" } else { "points of another run" };
    [
        task.estimator.clone(),
        task.steps.to_string(),
        task.targets.probes.to_string(),
        candidates(task),
        format!("{} steps of Adam, rate {}", task.ascent.steps, task.ascent.learning_rate),
        functions.to_owned(),
        start.to_owned(),
        acquired.to_owned(),
    ]
}

/// Description of the candidates at which samples are evaluated first.
fn candidates(task: &Thompson) -> String {
    let candidates = task.candidates;
    let law = match candidates.exploit {
        Exploit::Shifted => "y − min y",
        Exploit::Public2023 => "y + min y, as in the public code of 2023",
    };
    format!(
        "{} rounds of {}, {} % uniform, the others near training rows ({} length scales) with weights {law}",
        candidates.rounds,
        candidates.points,
        100.0 * candidates.explore,
        candidates.nearby,
    )
}
