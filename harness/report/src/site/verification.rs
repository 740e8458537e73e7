//! What `gpbench verify` found of a run, from the file beside the run that has its answer in JSON.

use serde::Deserialize;

use crate::table::TextTable;

/// The latest version of the form of verdicts.
const SCHEMA: u32 = 1;
/// The result of a check that has found differences.
const DIFFERS: &str = "differs";

/// What is known of the verification of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Verification {
    /// There is no verdict.
    #[default]
    None,
    /// The run keeps no journal, without which nothing can be verified.
    Impossible,
    /// The verdict is about other content than the run has.
    OfOtherContent,
    /// The verdict.
    Known(VerdictFile),
}

/// What `gpbench verify --format json` answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct VerdictFile {
    /// Version of this form.
    pub schema: u32,
    /// Version of gpbench that verified the run.
    pub gpbench: String,
    /// UTC time at which the run was verified.
    pub verified: String,
    /// SHA-256 of the bytes of the journal.
    pub journal_sha256: String,
    /// What was checked.
    pub checks: Vec<VerdictCheck>,
}

/// One kind of check.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct VerdictCheck {
    /// What was checked.
    pub check: String,
    /// `agrees`, `differs` or `not checked`.
    pub result: String,
    /// Number of things that were checked.
    pub checked: usize,
    /// Number of things that there are.
    pub of: usize,
    /// How it was checked, and what could not be.
    pub detail: String,
    /// What differs, a sentence each.
    pub differences: Vec<String>,
    /// Whether results of cases were computed again.
    pub recomputes: bool,
}

impl Verification {
    /// What the text of a verdict says of a run whose journal has this SHA-256.
    ///
    /// # Errors
    /// If the text is no verdict, or that of a later version.
    pub fn parse(text: &str, journal_sha256: &str) -> Result<Verification, String> {
        let verdict: VerdictFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if verdict.schema > SCHEMA {
            return Err(format!("it has schema {}, and this gpbench reads {SCHEMA}", verdict.schema));
        }
        Ok(match verdict.journal_sha256 == journal_sha256 {
            true => Verification::Known(verdict),
            false => Verification::OfOtherContent,
        })
    }

    /// Words of a cell.
    pub(super) fn words(&self) -> String {
        match self {
            Verification::None => "not verified".to_owned(),
            Verification::Impossible => "not verifiable".to_owned(),
            Verification::OfOtherContent => "not verified in this form".to_owned(),
            Verification::Known(verdict) => match (verdict.differences(), verdict.recomputed()) {
                (0, 0) => "files agree, nothing recomputed".to_owned(),
                (0, count) => format!("agrees, {count} recomputed"),
                (1, _) => "differs, 1 difference".to_owned(),
                (count, _) => format!("differs, {count} differences"),
            },
        }
    }

    /// Its place among those of several runs of the same cases, the smallest one first: runs whose results were computed
    /// again and agree, then those of which nothing is known, then those that differ.
    pub(super) fn precedence(&self) -> u8 {
        match self {
            Verification::Known(verdict) if verdict.differences() > 0 => 2,
            Verification::Known(verdict) if verdict.recomputed() > 0 => 0,
            _ => 1,
        }
    }

    /// A sentence for the page of the run.
    pub(super) fn sentence(&self) -> String {
        match self {
            Verification::None => "Nobody has verified this run.".to_owned(),
            Verification::Impossible => {
                "This run cannot be verified: it was published before journals were kept.".to_owned()
            }
            Verification::OfOtherContent => {
                "A verdict lies beside this run, but its journal has changed since.".to_owned()
            }
            Verification::Known(VerdictFile { verified, gpbench, .. }) => {
                format!("Verified by gpbench {gpbench}, {verified}: {}.", self.words())
            }
        }
    }

    /// The checks, where there is a verdict.
    pub(super) fn table(&self) -> Option<TextTable> {
        let Verification::Known(verdict) = self else { return None };
        let mut table = TextTable::new("What was verified").words("check").words("result");
        table = table.words("checked").words("what was found");
        for VerdictCheck { check, result, checked, of, detail, differences, .. } in &verdict.checks {
            let found = [detail].into_iter().chain(differences).map(String::as_str);
            let found = found.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
            table.row([check.clone(), result.clone(), format!("{checked} of {of}"), found]);
        }
        Some(table.without_empty_columns())
    }

    /// CSS class of the words.
    pub(super) fn tone(&self) -> &'static str {
        match self {
            Verification::Known(verdict) if verdict.differences() > 0 => "differs",
            Verification::Known(verdict) if verdict.recomputed() > 0 => "agrees",
            Verification::Known(_) => "partly",
            Verification::None | Verification::Impossible | Verification::OfOtherContent => "unknown",
        }
    }
}

impl VerdictFile {
    /// Number of things that differ.
    fn differences(&self) -> usize {
        let of_check = |check: &VerdictCheck| {
            let is_named = check.result == DIFFERS;
            check.differences.len().max(usize::from(is_named))
        };
        self.checks.iter().map(of_check).sum()
    }

    /// Number of results that were computed again.
    fn recomputed(&self) -> usize {
        let recomputing = self.checks.iter().filter(|check| check.recomputes);
        recomputing.fold(0, |sum, check| sum.saturating_add(check.checked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(checked: usize, differences: &[&str]) -> Verification {
        let result = if differences.is_empty() { "agrees" } else { "differs" };
        let text = serde_json::json!({
            "schema": 1, "gpbench": "0.1.0", "verified": "2026-11-26T09:00:00Z", "journal_sha256": "aa",
            "checks": [{
                "check": "solutions", "result": result, "checked": checked, "of": 9, "detail": "residuals",
                "differences": differences, "recomputes": true,
            }],
        });
        Verification::parse(&text.to_string(), "aa").unwrap()
    }

    #[test]
    fn a_verdict_says_what_was_recomputed_and_what_differs() {
        let [agrees, differs, nothing] = [verdict(3, &[]), verdict(3, &["a", "b"]), verdict(0, &[])];
        assert_eq!((agrees.words().as_str(), agrees.tone()), ("agrees, 3 recomputed", "agrees"));
        assert_eq!((differs.words().as_str(), differs.tone()), ("differs, 2 differences", "differs"));
        assert_eq!((nothing.words().as_str(), nothing.tone()), ("files agree, nothing recomputed", "partly"));
        let unknown = Verification::None;
        assert_eq!([&agrees, &differs, &nothing, &unknown].map(Verification::precedence), [0, 2, 1, 1]);
        let table = differs.table().unwrap();
        assert_eq!(table.rows[0][3].text, "residuals; a; b");
        assert!(agrees.sentence().starts_with("Verified by gpbench 0.1.0, 2026-11-26T09:00:00Z: agrees"));
    }

    #[test]
    fn a_verdict_counts_for_its_own_journal_alone() {
        let Verification::Known(known) = verdict(3, &[]) else { panic!("a verdict") };
        assert_eq!(known.journal_sha256, "aa");
        let text = r#"{"schema":1,"gpbench":"","verified":"","journal_sha256":"aa","checks":[]}"#;
        assert_eq!(Verification::parse(text, "bb").unwrap(), Verification::OfOtherContent);
        assert!(Verification::parse("{}", "aa").unwrap_err().contains("schema"));
        let later = text.replace("\"schema\":1", "\"schema\":2");
        assert_eq!(
            Verification::parse(&later, "aa").unwrap_err(),
            "it has schema 2, and this gpbench reads 1"
        );
    }

    #[test]
    fn numbers_of_a_strangers_verdict_prove_nothing() {
        let Verification::Known(mut verdict) = verdict(usize::MAX, &[]) else { panic!("a verdict") };
        verdict.checks.push(verdict.checks[0].clone());
        assert_eq!(verdict.recomputed(), usize::MAX);
        verdict.checks[0].result = DIFFERS.to_owned();
        assert_eq!(Verification::Known(verdict).words(), "differs, 1 difference");
    }

    #[test]
    fn runs_without_a_verdict_say_so() {
        assert_eq!(Verification::default().words(), "not verified");
        assert_eq!(Verification::Impossible.words(), "not verifiable");
        assert_eq!(Verification::None.table(), None);
    }
}
