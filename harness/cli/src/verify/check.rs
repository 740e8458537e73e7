//! The table of a verification.

use std::collections::BTreeMap;

use gpbench_record::Labels;
use serde_json::{Value, json};

use crate::args::{Format, FormatArg};
use crate::exit::{Failure, NOTHING, OK, REGRESSION};
use crate::output::{self, Listing};

/// Most differences of a check that are listed below the table.
const MOST_NAMED: usize = 20;

/// Most differences of a case that its sentence has.
const MOST_OF_CASE: usize = 3;

/// One kind of check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Check {
    /// What was checked.
    pub(crate) what: &'static str,
    /// Number of things that were checked.
    pub(crate) checked: usize,
    /// Number of things that there are.
    pub(crate) of: usize,
    /// What was compared, and what could not be.
    pub(crate) detail: String,
    /// What differs, a sentence each.
    pub(crate) differences: Vec<String>,
    /// Whether results of cases were computed again.
    pub(crate) recomputes: bool,
}

impl Check {
    /// The result in words.
    fn result(&self) -> &'static str {
        match (self.differences.is_empty(), self.checked) {
            (false, _) => "differs",
            (true, 0) => "not checked",
            (true, _) => "agrees",
        }
    }

    fn json(&self) -> Value {
        let Check { what, checked, of, detail, differences, recomputes } = self;
        json!({
            "check": what, "result": self.result(), "checked": checked, "of": of, "detail": detail,
            "differences": differences, "recomputes": recomputes,
        })
    }
}

/// A sentence with the first of the differences of a case; none where there are none.
pub(super) fn of_case(labels: &Labels, differences: &[String]) -> Option<String> {
    let more = match differences.len().saturating_sub(MOST_OF_CASE) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let first = differences.iter().take(MOST_OF_CASE).cloned().collect::<Vec<_>>().join("; ");
    (!differences.is_empty()).then(|| format!("{labels}: {first}{more}"))
}

/// Why some cases were not checked.
#[derive(Debug, Default)]
pub(super) struct NotChecked {
    /// The number of cases by reason.
    reasons: BTreeMap<String, usize>,
}

impl NotChecked {
    /// Adds a case.
    pub(super) fn add(&mut self, why: String) {
        *self.reasons.entry(why).or_default() += 1;
    }

    /// A clause for each reason.
    pub(super) fn clauses(&self) -> String {
        let clause = |(why, cases): (&String, &usize)| format!("; not checked: {why} (cases: {cases})");
        self.reasons.iter().map(clause).collect()
    }
}

/// All checks of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Verification {
    /// The checks.
    pub(crate) checks: Vec<Check>,
    /// SHA-256 of the journal that was read; empty where none was.
    pub(crate) journal_sha256: String,
}

impl Verification {
    /// 3 if anything differs; 4 if no result was computed again; else 0.
    pub(crate) fn exit_code(&self) -> u8 {
        let has_recomputed = self.checks.iter().any(|check| check.recomputes && check.checked > 0);
        match self.checks.iter().any(|check| !check.differences.is_empty()) {
            true => REGRESSION,
            false if has_recomputed => OK,
            false => NOTHING,
        }
    }

    /// Prints the table, and below it what differs.
    pub(crate) fn print(&self, wanted: FormatArg) -> Result<(), Failure> {
        // `gpbench site` reads this answer beside a run.
        let json = json!({
            "schema": output::SCHEMA,
            "gpbench": env!("CARGO_PKG_VERSION"),
            "verified": jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "journal_sha256": self.journal_sha256,
            "checks": self.checks.iter().map(Check::json).collect::<Vec<_>>(),
        });
        let header = ["check", "result", "checked", "what was compared"];
        let mut listing = Listing::new(&header, json).major(&["result", "what was compared"]);
        for check in &self.checks {
            let checked = format!("{} of {}", check.checked, check.of);
            listing.row(vec![
                check.what.to_owned(),
                check.result().to_owned(),
                checked,
                check.detail.clone(),
            ]);
        }
        listing.print(wanted)?;
        let differences = self.differences();
        match wanted.format {
            Format::Table if !differences.is_empty() => {
                output::print(&format!("\n{}", differences.join("\n")))
            }
            // A table, which escapes what a stranger wrote into names.
            Format::Md if !differences.is_empty() => {
                let mut listing = Listing::new(&["what differs"], Value::Null);
                differences.into_iter().for_each(|difference| listing.row(vec![difference]));
                output::print("\n")?;
                listing.print(wanted)
            }
            _ => Ok(()),
        }
    }

    /// What differs, a line each.
    fn differences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for Check { what, differences, .. } in &self.checks {
            let named = differences.iter().take(MOST_NAMED);
            lines.extend(named.map(|difference| format!("{what} differs: {difference}")));
            if differences.len() > MOST_NAMED {
                lines.push(format!("{what} differs: and {} more", differences.len() - MOST_NAMED));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_that_were_not_checked_are_counted_by_reason() {
        let mut not_checked = NotChecked::default();
        assert_eq!(not_checked.clauses(), "");
        for why in ["no data", "no solution", "no data"] {
            not_checked.add(why.to_owned());
        }
        assert_eq!(
            not_checked.clauses(),
            "; not checked: no data (cases: 2); not checked: no solution (cases: 1)"
        );
    }

    #[test]
    fn the_exit_code_follows_from_the_checks() {
        let check = |checked, recomputes, differences: &[&str]| Check {
            checked,
            recomputes,
            differences: differences.iter().map(|text| (*text).to_owned()).collect(),
            ..Check::default()
        };
        let code = |checks: &[Check]| {
            Verification { checks: checks.to_vec(), ..Verification::default() }.exit_code()
        };
        assert_eq!(code(&[check(3, false, &[]), check(1, true, &[])]), OK);
        assert_eq!(code(&[check(3, false, &[]), check(0, true, &[])]), NOTHING);
        assert_eq!(code(&[check(3, false, &["it"]), check(1, true, &[])]), REGRESSION);
        assert_eq!(check(0, false, &[]).result(), "not checked");
    }
}
