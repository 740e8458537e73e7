//! Runtime profiles: shares of targets reached within a cost, over all problems.

use super::figure::{Drawn, Figure, series, solvers};
use super::legend::{Entry, Sample};
use super::marker::Marker;
use super::panel::{Line, Panel};
use super::profile::staircase;
use super::scale::Axis;
use crate::clock::Clock;
use crate::papers::MORE_2009;
use crate::results::{Results, once_each};
use crate::runtimes::{Measure, Runtimes};

/// Height of a row of panels.
const ROW: u32 = 320;

const CAPTION: &str = "\
Share of targets that a solver reaches within a cost. Left: 51 targets for each seed, from easy to hard, equally spaced in \
logarithms. Right: the hardest alone (a data profile, Moré and Wild 2009). A target is reached at the first evaluation from which \
on all are within it, the verified end included, so a cost is late by at most one evaluation. A cross marks the median budget of \
what was not reached. Higher is better.";

/// Caption of residuals.
const RESIDUAL: &str = " Targets of the residual of y end at the tolerance, at which solvers stop; along a solve it is the solver's \
                        claim, at the end it is verified.";

/// Caption of distances to the exact predictions.
const TO_EXACT: &str =
    " Targets of the RMSE to exact, over the exact test RMSE, end at the run's target or else at 0.001.";

/// Caption of test errors of training and learners.
const TEST_ERROR: &str = " Targets of the test RMSE are its excess over the least final one of these solvers with the same seed, down \
                          to 1 %; leaving a solver out may change it.";

/// Caption of likelihoods of training and learners.
const LIKELIHOOD: &str = " Targets of the likelihood are nats per row below the largest final one of these solvers with the same seed, \
                          down to 0.001; it is the exact log marginal likelihood, where that was evaluated.";

/// Caption of seconds on several data sets.
const OVER_FASTEST: &str = " Seconds are over those of the fastest solver with the same seed and target: the others are needed to read a \
                            curve.";

/// Profiles over a clock, of the errors of a task as far as they are known: residuals and distances to the exact
/// predictions, or test errors and likelihoods.
pub(crate) fn figure(results: &Results<'_>, clock: Clock) -> Drawn {
    let datasets = once_each(results.groups.iter().map(|group| &group.problem.dataset)).len();
    let over_fastest = clock == Clock::Seconds && datasets > 1;
    let of = |measure| Some((measure, Runtimes::of(results, measure, clock)?));
    let Some(task) = results.cases.tasks().first().copied() else { return Ok(None) };
    let measures: Vec<(Measure, Runtimes<'_>)> = Measure::of_task(task).into_iter().filter_map(of).collect();
    let Some((_, first)) = measures.first() else { return Ok(None) };
    let counts = first.counts();
    let mut caption = format!("{CAPTION} {}", over(counts));
    let mut panels = Vec::new();
    for (measure, runtimes) in measures {
        let runtimes = if over_fastest { runtimes.over_fastest() } else { runtimes };
        let (name, words) = match measure {
            Measure::Residual => ("residual y", RESIDUAL),
            Measure::ToExact => ("RMSE to exact", TO_EXACT),
            Measure::TestError => ("test RMSE over the least", TEST_ERROR),
            Measure::Likelihood => ("likelihood below the largest", LIKELIHOOD),
        };
        caption += words;
        let x = if over_fastest { "seconds over the fastest solver's" } else { clock.metric().axis };
        let ends = runtimes.ends().unwrap_or((1.0, 1.0));
        panels.push(panel(results, format!("{name}: 51 targets"), x, ends, &runtimes));
        panels.push(panel(results, format!("{name}: hardest target"), x, ends, &runtimes.to_the_hardest()));
    }
    if over_fastest {
        caption += OVER_FASTEST;
    }
    let word = if clock == Clock::Seconds { "seconds" } else { "epochs" };
    let mut entries = solvers(results, |solver| panels.iter().any(|panel| panel.has(solver)));
    if panels.iter().any(|panel| !panel.crosses.is_empty()) {
        entries.push(Entry::new("median budget of what was not reached", Sample::Marker(Marker::Cross)));
    }
    let title = format!("Runtime profiles: {word}");
    let height = 80 + ROW * panels.len().div_ceil(2) as u32;
    let svg = results.form.panels(&title, &entries, &panels, 2, height)?;
    let figure = Figure::new(&format!("runtime-profile-{word}"), "", title, caption, svg);
    Ok(Some(Figure { paper: Some(MORE_2009), ..figure }))
}

/// What a profile is over, as a sentence.
fn over((problems, systems): (usize, usize)) -> String {
    match problems {
        1 => format!("There is one problem: shares are of its {systems} seeds with their targets."),
        _ => format!(
            "Over {systems} systems (problems with their seeds) of {problems} problems (data set, kernel and estimator), \
             which weigh alike. A problem on which a solver has no run counts as not reached."
        ),
    }
}

fn panel(
    results: &Results<'_>,
    title: String,
    x: &str,
    (start, end): (f64, f64),
    runtimes: &Runtimes<'_>,
) -> Panel {
    // A profile whose steps all coincide still needs an axis.
    let end = end.max(1.15 * start);
    let line = |solver: &&str| Line {
        series: series(results, solver),
        curve: staircase(&runtimes.profile(solver), start, end),
        dashed: false,
    };
    let cross = |solver: &&str| {
        let at = runtimes.spent_in_vain(solver)?.max(start);
        Some((series(results, solver), (at, runtimes.profile(solver).at(at))))
    };
    Panel {
        title: Some(title),
        x: Axis { label: x.to_owned(), log: true },
        y: Axis { label: "share reached".to_owned(), log: false },
        lines: runtimes.solvers.iter().map(line).collect(),
        crosses: runtimes.solvers.iter().filter_map(cross).collect(),
        ..Panel::default()
    }
}
