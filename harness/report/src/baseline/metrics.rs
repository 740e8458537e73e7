//! Comparison of statuses and metrics with a baseline.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use gpbench_record::metric::{self, Direction};
use gpbench_record::{CaseStatus, Row, names};

use super::cases::{CaseKey, Merged, merged, severity};
use super::check::{Against, Check, CheckOutcome, MetricCheck};
use super::file::{Baseline, BaselineCase};
use super::loose_tolerance::{self, LOOSE_RATIO};
use crate::frame::Cases;

/// Fraction of the tolerance below which a residual is held to its own baseline.
const FAR_BELOW: f64 = 0.01;

/// Residuals that a budget's tolerance bounds. A solver stops on y and on the mean of the probes, not on the largest.
const BOUNDED: [&str; 2] = [names::RESIDUAL_Y, names::RESIDUAL_PROBES];

/// A residual within tolerance may grow by this factor; larger growth is reported. That of another solver may be anywhere
/// within tolerance.
const WITHIN_BAND: f64 = 1.75;

/// Compares a run with a baseline, or with what would be the baseline of another run. `others` are the cases of another
/// solver than that of the baseline.
pub(super) fn compare(
    cases: &Cases<'_>,
    baseline: &Baseline,
    against: Against,
    others: &BTreeSet<CaseKey>,
) -> Check {
    let cases = merged(cases);
    let remarks = loose_tolerance::warnings(baseline);
    let mut check =
        Check { against, findings: Vec::new(), matched: 0, compared: 0, remarks, allow_undecided: false };
    for expected in &baseline.cases {
        let band = if others.contains(&expected.key) { f64::INFINITY } else { WITHIN_BAND };
        match cases.get(&expected.key) {
            Some(found) => check.one(baseline, expected, found, band),
            None => check.add(&expected.key, CheckOutcome::Missing, "the run has no such case".to_owned()),
        }
    }
    for (key, found) in &cases {
        if !baseline.cases.iter().any(|c| c.key == *key) {
            check.new_case(key, found);
        }
    }
    check.sort();
    check
}

impl Check {
    /// Adds a finding about a whole case.
    fn add(&mut self, key: &CaseKey, outcome: CheckOutcome, detail: String) {
        let key = key.clone();
        self.findings.push(MetricCheck {
            key,
            seeds: 1,
            outcome,
            metric: None,
            baseline: None,
            value: None,
            limit: None,
            detail,
        });
    }

    /// Adds a finding about a case that the baseline lacks: a failure is one without a baseline too.
    fn new_case(&mut self, key: &CaseKey, found: &Merged<'_>) {
        let Row { status, reason, .. } = found.worst;
        match status.is_failure() {
            true => {
                let detail = format!("not in {}; it ended {status} {reason}", self.against.called());
                let detail = detail.trim_end().to_owned();
                self.add(key, CheckOutcome::NewlyFailed, detail);
            }
            false => self.add(key, CheckOutcome::NotInBaseline, format!("not checked; it ended {status}")),
        }
    }

    fn one(&mut self, baseline: &Baseline, expected: &BaselineCase, found: &Merged<'_>, band: f64) {
        let row = found.worst;
        if row.status == CaseStatus::Skipped && expected.status != CaseStatus::Skipped {
            return self.add(&expected.key, CheckOutcome::Missing, format!("skipped: {}", row.reason));
        }
        self.matched += 1;
        let change = format!("{} → {} {}", expected.status, row.status, row.reason).trim_end().to_owned();
        match severity(row.status).cmp(&severity(expected.status)) {
            Ordering::Greater => return self.add(&expected.key, CheckOutcome::NewlyFailed, change),
            Ordering::Less => self.add(&expected.key, CheckOutcome::Improved, change),
            Ordering::Equal => {}
        }
        if expected.status.is_answer() && expected.metrics.is_empty() {
            let detail = match self.against {
                Against::Baseline => "the baseline has no metric of this case; `check --update` records them",
                Against::Run => "the earlier run has no metric of this case",
            };
            let detail = detail.to_owned();
            self.add(&expected.key, CheckOutcome::Unmeasured, detail);
        }
        for (name, was) in expected.metrics.iter() {
            self.metric(baseline, &expected.key, found, (name, was), band);
        }
    }

    fn metric(
        &mut self,
        baseline: &Baseline,
        key: &CaseKey,
        found: &Merged<'_>,
        (name, was): (&str, f64),
        band: f64,
    ) {
        let value = found.metrics.get(name);
        let tolerance = baseline.tolerance_of(name);
        // Where below the tolerance a solver stops is chance. A residual far below it has another cause, such as an
        // exact solver.
        let asked = found.worst.case.budget.tolerance;
        let asked = asked.filter(|asked| BOUNDED.contains(&name) && was > FAR_BELOW * asked);
        let margin = |of: f64| tolerance.margin(of);
        let room = asked.map_or(0.0, |asked| (asked + margin(asked)).min(band * was) - was);
        let worse = margin(was).max(room);
        // By how much a value is worse: of metrics that the registry does not know, smaller values are better.
        let direction = metric::find(name).map_or(Direction::Lower, |metric| metric.direction);
        let loss = |now: f64| match direction {
            Direction::Lower => now - was,
            Direction::Higher => was - now,
            Direction::Neither => (now - was).abs(),
        };
        let outcome = match value {
            None => CheckOutcome::Missing,
            Some(now) => {
                self.compared += 1;
                match loss(now) {
                    loss if loss > worse => CheckOutcome::Regressed,
                    // Below the tolerance asked for, an improvement is reported only where the baseline is far too large.
                    loss if loss < -margin(was)
                        && asked.is_none_or(|asked| was > asked || was >= LOOSE_RATIO * now) =>
                    {
                        CheckOutcome::Improved
                    }
                    _ => return,
                }
            }
        };
        let limit = if direction == Direction::Higher { was - worse } else { was + worse };
        let detail = if value.is_none() { "the run has no such metric".to_owned() } else { String::new() };
        self.findings.push(MetricCheck {
            key: key.clone(),
            seeds: 1,
            outcome,
            metric: Some(name.to_owned()),
            baseline: Some(was),
            value,
            limit: Some(limit),
            detail,
        });
    }
}
