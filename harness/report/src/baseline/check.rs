//! Verdicts on a run, one a case or metric that has something to say.

use gpbench_record::{SCHEMA, Status};
use serde_json::{Value, json};

use super::{Baseline, BaselineCase, Key, Merged, is_bounded_residual, merged, seconds, severity};
use crate::metric::{SECONDS, precise};
use crate::run::Run;
use crate::table::Table;

/// What is said of a case or of one of its metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VerdictKind {
    /// The case ended worse than in the baseline.
    NewlyFailed,
    /// A metric exceeds the baseline by more than its tolerance.
    Regressed,
    /// The case, or one of its metrics, is in the baseline but not in the run.
    Missing,
    /// The run has the case, the baseline does not: nothing was checked.
    NotInBaseline,
    /// A metric is below the baseline by more than its tolerance, or the case ended better.
    Improved,
}

impl VerdictKind {
    /// Whether this fails the check.
    pub fn fails(self) -> bool {
        matches!(self, VerdictKind::NewlyFailed | VerdictKind::Regressed | VerdictKind::Missing)
    }

    /// The word used in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            VerdictKind::NewlyFailed => "newly failed",
            VerdictKind::Regressed => "regressed",
            VerdictKind::Missing => "missing",
            VerdictKind::NotInBaseline => "not in baseline",
            VerdictKind::Improved => "improved",
        }
    }
}

/// One thing to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Which case; the first of them, where the verdict is on several.
    pub key: Key,
    /// Seeds that the verdict is on: 1, but for times, which are judged over all seeds together.
    pub seeds: usize,
    /// What is said of it.
    pub kind: VerdictKind,
    /// The metric, where the verdict is on one.
    pub metric: Option<String>,
    /// The baseline's value.
    pub baseline: Option<f64>,
    /// The run's value.
    pub value: Option<f64>,
    /// The largest value that would have passed.
    pub limit: Option<f64>,
    /// Status and reason, where the verdict is on how the case ended.
    pub detail: String,
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Everything that is not as in the baseline, failures first.
    pub verdicts: Vec<Verdict>,
    /// Number of cases that stand both in the baseline and in the run.
    pub matched: usize,
    /// Number of metrics compared.
    pub compared: usize,
    /// What could not be judged, and why; each a sentence.
    pub remarks: Vec<String>,
}

impl Check {
    /// 3 if anything regressed, newly failed or is missing; 4 if there was nothing to compare; else 0.
    pub fn exit_code(&self) -> u8 {
        match self.failing() {
            _ if self.matched == 0 => 4,
            0 => 0,
            _ => 3,
        }
    }

    /// Number of verdicts that fail the check.
    pub fn failing(&self) -> usize {
        self.verdicts.iter().filter(|v| v.kind.fails()).count()
    }

    /// `{"schema": 1, "matched", "compared", "failing", "verdicts": [...], "remarks": [...]}`; the seed of a
    /// verdict on several is null.
    pub fn json(&self) -> Value {
        let verdict = |v: &Verdict| {
            let Key { dataset, kernel, estimator, solver, seed } = &v.key;
            let seed = (v.seeds == 1).then_some(seed);
            json!({
                "verdict": v.kind.as_str(),
                "dataset": dataset, "kernel": kernel, "estimator": estimator, "solver": solver, "seed": seed,
                "metric": v.metric, "baseline": v.baseline, "value": v.value, "limit": v.limit,
                "detail": v.detail,
            })
        };
        json!({
            "schema": SCHEMA,
            "matched": self.matched, "compared": self.compared, "failing": self.failing(),
            "verdicts": self.verdicts.iter().map(verdict).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }

    /// One line on how much was compared and said.
    pub fn count(&self) -> String {
        format!(
            "{} cases matched, {} metrics compared: {} failing, {} other remarks",
            self.matched,
            self.compared,
            self.failing(),
            self.verdicts.len() - self.failing()
        )
    }

    /// The verdicts as a table, with a count of what was compared as its caption.
    pub fn table(&self) -> Table {
        let mut table = Table::new("Against the baseline").words("verdict").words("case").words("metric");
        table = table.numbers("baseline").numbers("now").numbers("limit").words("detail");
        let number = |value: Option<f64>| value.map_or_else(String::new, precise);
        for v in &self.verdicts {
            table.row([
                v.kind.as_str().to_owned(),
                v.case(),
                v.metric.clone().unwrap_or_default(),
                number(v.baseline),
                number(v.value),
                number(v.limit),
                v.detail.clone(),
            ]);
        }
        table.caption = self.count();
        table
    }
}

impl Verdict {
    /// The case in words: `pol/matern32/pathwise/cg/seed 0`.
    fn case(&self) -> String {
        let Key { dataset, kernel, estimator, solver, .. } = &self.key;
        match self.seeds {
            1 => self.key.to_string(),
            seeds => format!("{dataset}/{kernel}/{estimator}/{solver}/{seeds} seeds"),
        }
    }
}

/// Fraction of the tolerance below which a residual is held to its own baseline.
const FAR_BELOW: f64 = 0.01;

/// By how much a residual within the tolerance may exceed its baseline: where in the band a solver stops
/// hangs on its last step, but another precision of answers does not go unsaid.
const WITHIN_BAND: f64 = 1.75;

/// Compares a run with a baseline.
pub fn check(run: &Run, baseline: &Baseline) -> Check {
    let cases = merged(run);
    let mut check = Check { verdicts: Vec::new(), matched: 0, compared: 0, remarks: Vec::new() };
    for expected in &baseline.cases {
        match cases.get(&expected.key) {
            Some(found) => check.one(baseline, expected, found),
            None => check.say(&expected.key, VerdictKind::Missing, "the run has no such case".to_owned()),
        }
    }
    for (key, found) in &cases {
        if !baseline.cases.iter().any(|c| c.key == *key) {
            let detail = format!("never matched; it ended {}", found.worst.status);
            check.say(key, VerdictKind::NotInBaseline, detail);
        }
    }
    check.sort();
    check
}

/// Compares a run with an earlier one: all that a baseline of the earlier one would hold, and times.
pub fn against(run: &Run, old: &Run) -> Check {
    let baseline = Baseline::of(old);
    let mut check = check(run, &baseline);
    seconds::judge(&mut check, run, old, baseline.tolerance_of(SECONDS));
    check.sort();
    check
}

impl Check {
    fn sort(&mut self) {
        self.verdicts.sort_by(|a, b| (a.kind, &a.key).cmp(&(b.kind, &b.key)));
    }

    fn say(&mut self, key: &Key, kind: VerdictKind, detail: String) {
        let key = key.clone();
        self.verdicts.push(Verdict {
            key,
            seeds: 1,
            kind,
            metric: None,
            baseline: None,
            value: None,
            limit: None,
            detail,
        });
    }

    fn one(&mut self, baseline: &Baseline, expected: &BaselineCase, found: &Merged<'_>) {
        let row = found.worst;
        if row.status == Status::Skipped && expected.status != Status::Skipped {
            return self.say(&expected.key, VerdictKind::Missing, format!("skipped: {}", row.reason));
        }
        self.matched += 1;
        let change = format!("{} → {} {}", expected.status, row.status, row.reason).trim_end().to_owned();
        match severity(row.status).cmp(&severity(expected.status)) {
            std::cmp::Ordering::Greater => return self.say(&expected.key, VerdictKind::NewlyFailed, change),
            std::cmp::Ordering::Less => self.say(&expected.key, VerdictKind::Improved, change),
            std::cmp::Ordering::Equal => {}
        }
        for (name, was) in expected.metrics.iter() {
            self.metric(baseline, &expected.key, found, name, was);
        }
    }

    fn metric(&mut self, baseline: &Baseline, key: &Key, found: &Merged<'_>, name: &str, was: f64) {
        let value = found.metrics.get(name);
        let tolerance = baseline.tolerance_of(name);
        // Where in the tolerated band a solver stops is chance, not quality; an answer far
        // below the band, as an exact solver's, did not stop for the tolerance.
        let asked = found.worst.case.budget.tolerance;
        let asked = asked.filter(|asked| is_bounded_residual(name) && was > FAR_BELOW * asked);
        let margin = |of: f64| tolerance.absolute.max(tolerance.relative * of.abs());
        let own = was + margin(was);
        let limit = asked.map_or(own, |asked| own.max((asked + margin(asked)).min(WITHIN_BAND * was)));
        let kind = match value {
            None => VerdictKind::Missing,
            Some(now) => {
                self.compared += 1;
                match now {
                    _ if now > limit => VerdictKind::Regressed,
                    _ if now < was - margin(was) && asked.is_none_or(|asked| was > asked) => {
                        VerdictKind::Improved
                    }
                    _ => return,
                }
            }
        };
        let detail = if value.is_none() { "the run has no such metric".to_owned() } else { String::new() };
        self.verdicts.push(Verdict {
            key: key.clone(),
            seeds: 1,
            kind,
            metric: Some(name.to_owned()),
            baseline: Some(was),
            value,
            limit: Some(limit),
            detail,
        });
    }
}
