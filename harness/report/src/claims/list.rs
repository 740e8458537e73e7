//! The list of claims, as its file states them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::error::{Error, Result, at, line_and_column};

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimList {
    /// In the order of the page, paper by paper.
    pub(super) claim: Vec<Claim>,
    /// Words of the field that the page explains, in its order.
    #[serde(default)]
    pub(super) term: Vec<Term>,
}

/// A word of the field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Term {
    /// The word.
    pub(super) name: String,
    /// Other forms of it in which texts have it.
    #[serde(default)]
    pub(super) forms: Vec<String>,
    /// What it means: a sentence or two.
    pub(super) meaning: String,
}

/// A claim of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    /// Name of the reference, such as `lin2024`.
    pub(super) paper: Spanned<String>,
    /// The claim, one sentence.
    pub(super) claim: String,
    /// Sections, tables and figures where the paper makes it.
    pub(super) made_in: String,
    /// The numbers that the paper gives.
    pub(super) published: String,
    /// The spec that tests it, relative to `benchmarks`.
    pub(super) spec: Spanned<String>,
    /// What follows the spec in the command, such as `-d pol -s ap --set seeds=[0]`.
    #[serde(default)]
    pub(super) options: String,
    pub(super) verdict: Spanned<Verdict>,
    /// Why this is the verdict.
    pub(super) why: String,
    /// What was not measured, if something was not.
    pub(super) missing: Option<String>,
    /// Estimated hours of two cores for what is missing.
    pub(super) hours: Option<f64>,
    /// What a reader should take from it.
    pub(super) take: String,
    #[serde(default)]
    pub(super) evidence: Vec<Evidence>,
}

/// What the measured numbers say of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Verdict {
    #[serde(rename = "holds")]
    Holds,
    #[serde(rename = "holds in part")]
    InPart,
    #[serde(rename = "does not hold here")]
    DoesNotHold,
    #[serde(rename = "not measured")]
    NotMeasured,
}

impl Verdict {
    pub(super) const ALL: [Verdict; 4] =
        [Verdict::Holds, Verdict::InPart, Verdict::DoesNotHold, Verdict::NotMeasured];

    /// As in the file.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::InPart => "holds in part",
            Verdict::DoesNotHold => "does not hold here",
            Verdict::NotMeasured => "not measured",
        }
    }
}

/// Numbers computed of published runs: one for each data set and each solver of `of`, in each run that has them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Evidence {
    /// What the numbers are, for the page.
    pub(super) what: String,
    /// Folders of published runs.
    pub(super) runs: Vec<Spanned<String>>,
    /// Data sets, as the specs of the runs name them.
    pub(super) datasets: Vec<Spanned<String>>,
    /// The metric of both sides, unless a side names its own.
    pub(super) metric: Spanned<String>,
    pub(super) compute: Spanned<Compute>,
    /// The first side: numerator, or minuend.
    pub(super) of: Spanned<Side>,
    /// The other side, where two are compared.
    pub(super) to: Option<Spanned<Side>>,
    /// What the paper has in its place.
    pub(super) published: Option<String>,
    /// The rule by which a number supports the claim: a range (`> 1`, `< 0.5`, `0.9 to 1.1`), or how `of` compares with `to` by the
    /// metric's tolerance (`equal`, `more`, `less`, `not more`, `not less`).
    pub(super) holds: Option<Spanned<String>>,
    /// Where the numbers of that range come from.
    pub(super) reason: Option<String>,
}

/// What is computed of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Compute {
    /// The metric of `of` itself.
    Value,
    /// That of `of` over that of `to`.
    Ratio,
    /// That of `of` less that of `to`.
    Difference,
    /// The difference in standard errors of it.
    StandardErrors,
}

/// Cases of runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Side {
    /// Solvers or learners, as the specs name them. One with a grid stands for the value of the grid with the least `nlml`.
    pub(super) solvers: Vec<String>,
    /// Name of the estimator; may be absent where a run has one alone.
    pub(super) estimator: Option<String>,
    /// Name of the kernel; may be absent where a run has one alone.
    pub(super) kernel: Option<String>,
    /// The metric, where it is another than that of the evidence.
    pub(super) metric: Option<Spanned<String>>,
    /// The metric that states the standard error, where repetitions are within a case.
    pub(super) error: Option<Spanned<String>>,
    /// Runs in which this side is looked for instead, in this order.
    #[serde(default)]
    pub(super) runs: Vec<Spanned<String>>,
}

impl ClaimList {
    /// Reads a list. Returns its text as well, in which mistakes have their places.
    ///
    /// # Errors
    /// If the file cannot be read, is not TOML of this form, or has a key that is not known.
    pub(super) fn read(path: &Path) -> Result<(ClaimList, String)> {
        let text = fs::read_to_string(path).map_err(at(path))?;
        let list = toml::from_str(&text).map_err(|error| Error::Format {
            path: path.to_owned(),
            at: error.span().map(|span| line_and_column(&text, span.start)),
            reason: error.message().trim().to_owned(),
        })?;
        Ok((list, text))
    }

    /// Names of all runs.
    pub(super) fn runs(&self) -> BTreeSet<&str> {
        let evidence = || self.claim.iter().flat_map(|claim| &claim.evidence);
        let sides = evidence().flat_map(|evidence| [Some(&evidence.of), evidence.to.as_ref()]).flatten();
        let of_sides = sides.flat_map(|side| &side.get_ref().runs);
        let all = evidence().flat_map(|evidence| &evidence.runs).chain(of_sides);
        all.map(|run| run.get_ref().as_str()).collect()
    }
}
