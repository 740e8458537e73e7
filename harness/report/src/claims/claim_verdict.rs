//! Whether a verdict follows from the rules of its evidence.

use std::path::Path;

use super::compute::{Computed, Sources, Spread, computed};
use super::faults::Faults;
use super::list::{Claim, Evidence, Verdict};
use super::rule::Condition;
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
    /// How many of the numbers keep the rule; `None` without one.
    pub(super) kept: Option<Kept>,
}

/// How many numbers keep a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kept {
    pub(super) condition: Condition,
    /// Number of those that keep it.
    pub(super) count: usize,
    /// Number of those whose whole interval does, and number of intervals.
    pub(super) intervals: [usize; 2],
}

impl<'c> JudgedClaim<'c> {
    /// Computes the numbers of a claim. What is wrong with it is added to `faults`; its spec is looked for in the folder `specs`.
    pub(super) fn new(
        claim: &'c Claim,
        specs: &Path,
        sources: &Sources<'_>,
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
        let evidence = claim.evidence.iter().map(|evidence| judged(evidence, sources, faults)).collect();
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

    /// How many of the numbers with a rule keep it, and how many there are.
    pub(super) fn counts(&self) -> [usize; 2] {
        let ruled = self.evidence.iter().filter_map(|own| Some([own.kept?.count, own.numbers.len()]));
        ruled.fold([0, 0], |[kept, all], [own, of]| [kept + own, all + of])
    }

    /// Why the verdict does not follow from the rules.
    fn contradiction(&self) -> Option<String> {
        let [kept, all] = self.counts();
        let first = |is_sought: &dyn Fn(usize, usize) -> bool| {
            let is_first = |own: &&JudgedEvidence<'_>| {
                own.kept.is_some_and(|kept| is_sought(kept.count, own.numbers.len()))
            };
            self.evidence.iter().find(is_first).map_or("", |own| own.evidence.what.as_str())
        };
        let against = || format!("contradicts the rule of \"{}\"", first(&|kept, of| kept < of));
        let for_it = || format!("contradicts the rule of \"{}\"", first(&|kept, _| kept > 0));
        let has_missing = self.claim.missing.is_some();
        match *self.claim.verdict.get_ref() {
            Verdict::NotMeasured if all > 0 => {
                Some(format!("has evidence with a rule: \"{}\"", first(&|_, of| of > 0)))
            }
            Verdict::NotMeasured if has_missing && self.claim.hours.is_some() => None,
            Verdict::NotMeasured => Some("needs `missing` and `hours`".to_owned()),
            _ if all == 0 => Some("needs evidence with a rule (`holds`)".to_owned()),
            Verdict::Holds if kept < all => Some(against()),
            Verdict::DoesNotHold if kept > 0 => Some(for_it()),
            Verdict::InPart if kept == 0 => Some("needs a number that keeps its rule; none does".to_owned()),
            Verdict::InPart if kept == all && !has_missing => {
                Some("needs evidence that breaks its rule, or `missing`".to_owned())
            }
            Verdict::Holds | Verdict::DoesNotHold | Verdict::InPart => None,
        }
    }
}

fn judged<'c>(evidence: &'c Evidence, sources: &Sources<'_>, faults: &mut Faults) -> JudgedEvidence<'c> {
    let numbers = computed(evidence, sources, faults);
    let kept = kept(evidence, &numbers, faults);
    JudgedEvidence { evidence, numbers, kept }
}

/// How many of the numbers keep the rule of their evidence; `None` without one, or after a fault.
fn kept(evidence: &Evidence, numbers: &[Computed], faults: &mut Faults) -> Option<Kept> {
    let text = evidence.holds.as_ref()?;
    let Some(condition) = Condition::parse(text.get_ref()) else {
        let known = "write `> 1`, `< 0.5`, `0.9 to 1.1`, `equal`, `more`, `less`, `not more` or `not less`";
        faults.add(text, format!("`{}` is no rule; {known}", text.get_ref()));
        return None;
    };
    let mut kept = Kept { condition, count: 0, intervals: [0, 0] };
    for number in numbers {
        let Some(rule) = condition.range(number.equality) else {
            let reason = "needs a difference or a ratio of a metric that has a tolerance; write a range";
            faults.add(text, format!("`{}` {reason}", text.get_ref()));
            return None;
        };
        match rule.judge(number.value, number.bound) {
            Some(is_kept) => kept.count += usize::from(is_kept),
            None => faults.add(
                text,
                format!(
                    "the rule cannot be judged on {}: a solve ended at the limit of its budget",
                    number.label
                ),
            ),
        }
        if let Spread::Interval(of) = number.spread {
            let is_within = rule.contains(of.low) && rule.contains(of.high);
            kept.intervals = [kept.intervals[0] + usize::from(is_within), kept.intervals[1] + 1];
        }
    }
    Some(kept)
}
