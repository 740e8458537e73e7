//! The outcome of a check: differences from the baseline.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::cases::CaseKey;
use crate::number::precise;
use crate::table::TextTable;

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// Largest number of findings, undecided for one reason, that tables list one by one.
const FEW_ALIKE: usize = 5;

/// Outcome of the comparison of a case, or of one of its metrics, with the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckOutcome {
    /// The case ended worse than in the baseline, or failed and is not in the baseline.
    NewlyFailed,
    /// A metric is worse than the baseline by more than its tolerance.
    Regressed,
    /// The case, or one of its metrics, is in the baseline but not in the run.
    Missing,
    /// Whether a time is worse cannot be decided.
    Undecided,
    /// The baseline has the case with an answer, but no metric of it.
    Unmeasured,
    /// The run has the case, the baseline does not: it was not checked.
    NotInBaseline,
    /// A metric is better than the baseline by more than its tolerance, or the case ended better.
    Improved,
}

impl CheckOutcome {
    /// Whether this fails a check that allows nothing.
    pub fn fails(self) -> bool {
        use CheckOutcome::{Missing, NewlyFailed, Regressed, Undecided, Unmeasured};
        matches!(self, NewlyFailed | Regressed | Missing | Undecided | Unmeasured)
    }

    /// The word used in JSON, and in tables of a baseline.
    pub fn as_str(self) -> &'static str {
        match self {
            CheckOutcome::NewlyFailed => "newly failed",
            CheckOutcome::Regressed => "regressed",
            CheckOutcome::Missing => "missing",
            CheckOutcome::Undecided => "undecided",
            CheckOutcome::Unmeasured => "nothing to compare",
            CheckOutcome::NotInBaseline => "not in baseline",
            CheckOutcome::Improved => "improved",
        }
    }
}

/// A case, or one of its metrics, that differs from the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricCheck {
    /// The case; the first of several that are compared together.
    pub key: CaseKey,
    /// Number of seeds compared together: 1, but for times, which are compared over all seeds.
    pub seeds: usize,
    /// Outcome of the comparison.
    pub outcome: CheckOutcome,
    /// The metric; absent where the outcome is that of the case.
    pub metric: Option<String>,
    /// The baseline's value.
    pub baseline: Option<f64>,
    /// The run's value.
    pub value: Option<f64>,
    /// The worst value that would have passed.
    pub limit: Option<f64>,
    /// Status and reason of a case, or the evidence about times.
    pub detail: String,
}

/// The other side of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// A baseline file.
    Baseline,
    /// Another run.
    Run,
}

impl Against {
    /// The title of the table, and the heading of the column of old values.
    fn titles(self) -> [&'static str; 2] {
        match self {
            Against::Baseline => ["Against the baseline", "baseline"],
            Against::Run => ["Against the earlier run", "earlier"],
        }
    }

    /// Phrase for the source of the old values.
    pub(super) fn called(self) -> &'static str {
        match self {
            Against::Baseline => "the baseline",
            Against::Run => "the earlier run",
        }
    }

    /// The word used in tables.
    fn outcome(self, outcome: CheckOutcome) -> &'static str {
        match (self, outcome) {
            (Against::Run, CheckOutcome::NotInBaseline) => "not in the earlier run",
            _ => outcome.as_str(),
        }
    }
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The other side of the comparison.
    pub against: Against,
    /// Differences from the baseline, failures first.
    pub findings: Vec<MetricCheck>,
    /// Number of cases that both the baseline and the run have.
    pub matched: usize,
    /// Number of metrics compared.
    pub compared: usize,
    /// Remarks on what could not be compared, each a sentence.
    pub remarks: Vec<String>,
    /// Whether undecided times pass.
    pub allow_undecided: bool,
}

impl Check {
    pub(super) fn sort(&mut self) {
        self.findings.sort_by(|a, b| (a.outcome, &a.key).cmp(&(b.outcome, &b.key)));
    }

    /// 3 if anything regressed, newly failed, is missing, or is undecided and that is not allowed; 4 if there was
    /// nothing to compare, of one case or of all; else 0.
    pub fn exit_code(&self) -> u8 {
        match self.failing() {
            _ if self.matched == 0 => 4,
            failing if failing > self.number_of(CheckOutcome::Unmeasured) => 3,
            0 if self.compared > 0 => 0,
            _ => 4,
        }
    }

    /// Number of findings that fail the check.
    pub fn failing(&self) -> usize {
        self.findings.iter().filter(|found| self.is_failing(found)).count()
    }

    /// Number of findings that fail the check because they are undecided.
    pub fn undecided(&self) -> usize {
        if self.allow_undecided { 0 } else { self.number_of(CheckOutcome::Undecided) }
    }

    /// Whether a finding fails the check.
    pub fn is_failing(&self, found: &MetricCheck) -> bool {
        found.outcome.fails() && !(self.allow_undecided && found.outcome == CheckOutcome::Undecided)
    }

    /// The findings that tables list, and the number of findings that each stands for: many that are undecided for one
    /// reason are listed as one.
    pub(crate) fn listed(&self) -> Vec<(&MetricCheck, usize)> {
        let undecided = |found: &&MetricCheck| found.outcome == CheckOutcome::Undecided;
        let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
        self.findings
            .iter()
            .filter(undecided)
            .for_each(|found| *alike.entry(&found.detail).or_default() += 1);
        alike.retain(|_, count| *count > FEW_ALIKE);
        let mut listed = Vec::new();
        for found in &self.findings {
            match alike.get_mut(&*found.detail).filter(|_| undecided(&found)) {
                None => listed.push((found, 1)),
                // The first one stands for all.
                Some(0) => {}
                Some(count) => listed.push((found, std::mem::take(count))),
            }
        }
        listed
    }

    fn number_of(&self, outcome: CheckOutcome) -> usize {
        self.findings.iter().filter(|found| found.outcome == outcome).count()
    }

    /// `{"schema": 1, "matched", "compared", "failing", "undecided", "verdicts": [...], "remarks": [...]}`, where
    /// `failing` includes `undecided`; the seed is null where several seeds are compared together.
    pub fn json(&self) -> Value {
        let verdict = |v: &MetricCheck| {
            let CaseKey { dataset, kernel, estimator, solver, seed } = &v.key;
            let seed = (v.seeds == 1).then_some(seed);
            json!({
                "verdict": v.outcome.as_str(),
                "dataset": dataset, "kernel": kernel, "estimator": estimator, "solver": solver, "seed": seed,
                "metric": v.metric, "baseline": v.baseline, "value": v.value, "limit": v.limit,
                "detail": v.detail,
            })
        };
        json!({
            "schema": SCHEMA,
            "matched": self.matched, "compared": self.compared, "failing": self.failing(),
            "undecided": self.undecided(),
            "verdicts": self.findings.iter().map(verdict).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }

    /// One line with the numbers of comparisons and findings.
    pub fn count(&self) -> String {
        let nothing = if self.exit_code() == 4 { "nothing to compare: " } else { "" };
        let undecided = match self.undecided() {
            0 => String::new(),
            undecided => format!(" ({undecided} undecided)"),
        };
        format!(
            "{nothing}{} cases matched, {} metrics compared: {} failing{undecided}, {} other remarks",
            self.matched,
            self.compared,
            self.failing(),
            self.findings.len() - self.failing()
        )
    }

    /// The findings as a table; its caption counts what was compared.
    pub fn table(&self) -> TextTable {
        let [title, old] = self.against.titles();
        let mut table = TextTable::new(title).words("outcome").words("case").words("metric");
        table = table.numbers(old).numbers("now").numbers("limit").words("detail");
        table = table.major(&["case", "metric"]).minor(&["limit"]);
        let number = |value: Option<f64>| value.map_or_else(String::new, precise);
        for (v, alike) in self.listed() {
            let [case, baseline, value] = match alike {
                1 => [v.case(), number(v.baseline), number(v.value)],
                _ => [format!("{alike} solvers on problems"), String::new(), String::new()],
            };
            table.row([
                self.against.outcome(v.outcome).to_owned(),
                case,
                v.metric.clone().unwrap_or_default(),
                baseline,
                value,
                number(v.limit),
                v.detail.clone(),
            ]);
        }
        table.caption = self.count();
        table
    }
}

impl MetricCheck {
    /// The case in words: `pol/matern32/pathwise/cg/seed 0`.
    fn case(&self) -> String {
        match self.seeds {
            1 => self.key.to_string(),
            seeds => format!("{}/{seeds} seeds", self.key.without_seed()),
        }
    }
}
