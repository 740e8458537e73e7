//! Chart of performance profiles.

use gpbench_statistics::profile::Staircase;

use super::curve::Curve;
use super::figure::{Drawn, Figure, series, solvers};
use super::panel::{Line, Panel};
use super::scale::Axis;
use crate::papers::DOLAN_2002;
use crate::performance::{PAIRWISE, Performance};
use crate::results::Results;

/// Share of the systems that a solver solves within a factor of the fastest.
pub(crate) fn figure(results: &Results<'_>) -> Drawn {
    let Some(performance) = Performance::of(results) else { return Ok(None) };
    let steps = performance.profiles().flat_map(|(_, profile)| profile.steps());
    let widest = steps.map(|(factor, _)| *factor).fold(1.0, f64::max);
    let end = (1.15 * widest).max(2.0);
    let line = |(solver, profile): (&str, &Staircase)| Line {
        series: series(results, solver),
        curve: staircase(profile, 1.0, end),
        dashed: false,
    };
    let panel = Panel {
        x: Axis { label: format!("factor of the fastest solver's {}", performance.goal.words()), log: true },
        y: Axis { label: "share of systems solved".to_owned(), log: false },
        lines: performance.profiles().map(line).collect(),
        ..Panel::default()
    };
    let title = format!("Performance profile: {}", performance.goal.words());
    let svg = results.form.panels(&title, &solvers(results, |_| true), &[panel], 1, 420)?;
    let caption = format!(
        "For each solver, the share of the systems that it solves within a factor of the fastest solver's {}. At 1: how often it \
         is the fastest. At the right: how often it solves them at all. Higher is better. {} {PAIRWISE}",
        performance.goal.words(),
        performance.systems()
    );
    let figure = Figure::new("performance-profile", "", title, caption, svg);
    Ok(Some(Figure { paper: Some(DOLAN_2002), ..figure }))
}

/// A profile as a curve from one cost to another, with two corners a step.
pub(super) fn staircase(profile: &Staircase, start: f64, end: f64) -> Curve {
    let mut corners = vec![(start, profile.at(start))];
    for &(at, height) in profile.steps().iter().filter(|(at, _)| *at > start) {
        let before = corners[corners.len() - 1].1;
        corners.extend([(at, before), (at, height)]);
    }
    corners.push((end, profile.at(end)));
    let mut curve = Curve::default();
    corners.into_iter().for_each(|(at, share)| curve.push(at, share, (share, share)));
    curve
}

#[cfg(test)]
mod tests {
    use gpbench_statistics::profile::performance_profile;

    use super::*;

    #[test]
    fn a_profile_starts_at_the_wins_and_ends_at_the_share_solved() {
        let times = [[1.0, 2.0], [3.0, 1.0], [f64::INFINITY, 1.0]].map(|times| vec![times.to_vec()]);
        let profile = performance_profile(&times);
        let [a, b] = [0, 1].map(|solver| staircase(&profile.solvers[solver], 1.0, 4.0));
        let is = |found: &[f64], thirds: &[f64]| {
            found.iter().zip(thirds).all(|(found, expected)| (found - expected / 3.0).abs() < 1e-12)
        };
        assert_eq!((a.at, b.at), (vec![1.0, 3.0, 3.0, 4.0], vec![1.0, 2.0, 2.0, 4.0]));
        assert!(is(&a.middle, &[1.0, 1.0, 2.0, 2.0]) && is(&b.middle, &[2.0, 2.0, 3.0, 3.0]));
    }
}
