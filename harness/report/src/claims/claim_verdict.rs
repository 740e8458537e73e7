//! Whether a verdict follows from the rules of its evidence.

use std::path::Path;

use super::compute::{Computed, computed};
use super::faults::Faults;
use super::list::{Claim, Evidence, Verdict};
use super::rule::Rule;
use super::summaries::Summaries;
use crate::reference::Reference;

/// A claim with its numbers.
#[derive(Debug)]
pub(super) struct JudgedClaim<'c> {
    pub(super) claim: &'c Claim,
    pub(super) evidence: Vec<JudgedEvidence<'c>>,
}

/// Evidence with its numbers.
#[derive(Debug)]
pub(super) struct JudgedEvidence<'c> {
    pub(super) evidence: &'c Evidence,
    pub(super) numbers: Vec<Computed>,
    /// The rule, with how many of the numbers keep it.
    pub(super) kept: Option<(Rule, usize)>,
}

impl JudgedEvidence<'_> {
    /// Whether it supports the claim; `None` without a rule.
    fn supports(&self) -> Option<bool> {
        let (_, kept) = self.kept?;
        Some(kept > 0 && kept as f64 >= self.evidence.share * self.numbers.len() as f64)
    }
}

impl<'c> JudgedClaim<'c> {
    /// Computes the numbers of a claim. What is wrong with it is added to `faults`; its spec is looked for in the folder `specs`.
    pub(super) fn new(
        claim: &'c Claim,
        specs: &Path,
        summaries: &Summaries,
        faults: &mut Faults,
    ) -> JudgedClaim<'c> {
        if !Reference::names().any(|name| name == claim.paper.get_ref()) {
            let known: Vec<&str> = Reference::names().collect();
            faults.add(&claim.paper, format!("unknown paper; known are {}", known.join(", ")));
        }
        if !specs.join(claim.spec.get_ref()).is_file() {
            faults.add(
                &claim.spec,
                format!("there is no spec `{}` in {}", claim.spec.get_ref(), specs.display()),
            );
        }
        let before = faults.count();
        let evidence = claim.evidence.iter().map(|evidence| judged(evidence, summaries, faults)).collect();
        let judged = JudgedClaim { claim, evidence };
        // Without its numbers, a verdict contradicts nothing.
        if faults.count() == before
            && let Some(reason) = judged.contradiction()
        {
            faults
                .add(&claim.verdict, format!("the verdict `{}` {reason}", claim.verdict.get_ref().as_str()));
        }
        judged
    }

    /// Why the verdict does not follow from the rules.
    fn contradiction(&self) -> Option<String> {
        let verdicts: Vec<(bool, &str)> = self
            .evidence
            .iter()
            .filter_map(|judged| Some((judged.supports()?, judged.evidence.what.as_str())))
            .collect();
        let first =
            |wanted: bool| verdicts.iter().find(|(supports, _)| *supports == wanted).map(|(_, what)| *what);
        let (for_it, against) = (first(true), first(false));
        match (*self.claim.verdict.get_ref(), for_it, against) {
            (Verdict::NotMeasured, None, None)
                if self.claim.missing.is_some() && self.claim.hours.is_some() =>
            {
                None
            }
            (Verdict::NotMeasured, None, None) => Some("needs `missing` and `hours`".to_owned()),
            (Verdict::NotMeasured, Some(what), _) | (Verdict::NotMeasured, _, Some(what)) => {
                Some(format!("has evidence with a rule: \"{what}\""))
            }
            (_, None, None) => Some("needs evidence with a rule (`holds`)".to_owned()),
            (Verdict::Holds, _, Some(what)) => Some(format!("contradicts the rule of \"{what}\"")),
            (Verdict::DoesNotHold, Some(what), _) => Some(format!("contradicts the rule of \"{what}\"")),
            (Verdict::InPart, None, _) => Some("needs evidence that keeps its rule; none does".to_owned()),
            (Verdict::InPart, Some(_), None) if self.claim.missing.is_none() => {
                Some("needs evidence that breaks its rule, or `missing`".to_owned())
            }
            (Verdict::Holds | Verdict::DoesNotHold | Verdict::InPart, _, _) => None,
        }
    }
}

fn judged<'c>(evidence: &'c Evidence, summaries: &Summaries, faults: &mut Faults) -> JudgedEvidence<'c> {
    let numbers = computed(evidence, summaries, faults);
    let kept = evidence.holds.as_ref().and_then(|text| {
        let Some(rule) = Rule::parse(text.get_ref()) else {
            let reason = format!("`{}` is no rule; write `> 1`, `< 0.5` or `0.9 to 1.1`", text.get_ref());
            faults.add(text, reason);
            return None;
        };
        let mut kept = 0;
        for number in &numbers {
            match rule.judge(number.value, number.bound) {
                Some(is_kept) => kept += usize::from(is_kept),
                None => faults.add(
                    text,
                    format!(
                        "the rule cannot be judged on {}: a solve ended at the limit of its budget",
                        number.label
                    ),
                ),
            }
        }
        Some((rule, kept))
    });
    JudgedEvidence { evidence, numbers, kept }
}
