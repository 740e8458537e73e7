//! The outcome of a check: differences from the baseline.

use serde_json::{Value, json};

use super::cases::CaseKey;
use crate::number::precise;
use crate::table::TextTable;

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// Outcome of the comparison of a case, or of one of its metrics, with the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckOutcome {
    /// The case ended worse than in the baseline, or failed and is not in the baseline.
    NewlyFailed,
    /// A metric is worse than the baseline by more than its tolerance.
    Regressed,
    /// The case, or one of its metrics, is in the baseline but not in the run.
    Missing,
    /// The baseline has the case with an answer, but no metric of it.
    Unmeasured,
    /// The run has the case, the baseline does not: it was not checked.
    NotInBaseline,
    /// A metric is better than the baseline by more than its tolerance, or the case ended better.
    Improved,
}

impl CheckOutcome {
    /// Whether this fails the check.
    pub fn fails(self) -> bool {
        use CheckOutcome::{Missing, NewlyFailed, Regressed, Unmeasured};
        matches!(self, NewlyFailed | Regressed | Missing | Unmeasured)
    }

    /// The word used in JSON, and in tables of a baseline.
    pub fn as_str(self) -> &'static str {
        match self {
            CheckOutcome::NewlyFailed => "newly failed",
            CheckOutcome::Regressed => "regressed",
            CheckOutcome::Missing => "missing",
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
}

impl Check {
    pub(super) fn sort(&mut self) {
        self.findings.sort_by(|a, b| (a.outcome, &a.key).cmp(&(b.outcome, &b.key)));
    }

    /// 3 if anything regressed, newly failed or is missing; 4 if there was nothing to compare, of one case or of all;
    /// else 0.
    pub fn exit_code(&self) -> u8 {
        let unmeasured = self.findings.iter().filter(|v| v.outcome == CheckOutcome::Unmeasured).count();
        match self.failing() {
            _ if self.matched == 0 => 4,
            failing if failing > unmeasured => 3,
            0 if self.compared > 0 => 0,
            _ => 4,
        }
    }

    /// Number of findings that fail the check.
    pub fn failing(&self) -> usize {
        self.findings.iter().filter(|found| found.outcome.fails()).count()
    }

    /// `{"schema": 1, "matched", "compared", "failing", "verdicts": [...], "remarks": [...]}`; the seed is
    /// null where several seeds are compared together.
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
            "verdicts": self.findings.iter().map(verdict).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }

    /// One line with the numbers of comparisons and findings.
    pub fn count(&self) -> String {
        let nothing = if self.exit_code() == 4 { "nothing to compare: " } else { "" };
        format!(
            "{nothing}{} cases matched, {} metrics compared: {} failing, {} other remarks",
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
        for v in &self.findings {
            table.row([
                self.against.outcome(v.outcome).to_owned(),
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

impl MetricCheck {
    /// The case in words: `pol/matern32/pathwise/cg/seed 0`.
    fn case(&self) -> String {
        match self.seeds {
            1 => self.key.to_string(),
            seeds => format!("{}/{seeds} seeds", self.key.without_seed()),
        }
    }
}
