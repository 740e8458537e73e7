//! The page: all verdicts at a glance, then the claims of each paper, and the words that a reader may not know.

use std::fmt::Write as _;

use gpbench_record::metric;

use super::claim_verdict::{JudgedClaim, JudgedEvidence, Kept};
use super::compute::{Computed, Spread};
use super::list::{Claim, Compute, Evidence, Term, Verdict};
use super::rule::{Bound, Comparison, Condition};
use super::terms::Terms;
use crate::escape::{markdown, markdown_block};
use crate::number::{range, short, times};
use crate::reading::tolerance;
use crate::reference::Reference;
use crate::table::TextTable;

/// Most numbers that a cell lists one by one.
const LISTED: usize = 6;

/// The claims of a paper.
struct PaperClaims<'a, 'c> {
    /// Name of the reference, with which the anchors of its claims begin.
    name: &'a str,
    reference: &'a Reference,
    claims: Vec<&'a JudgedClaim<'c>>,
}

/// The text of the page.
pub(super) fn page(papers: &[(&str, Reference)], claims: &[JudgedClaim<'_>], terms: &[Term]) -> String {
    let papers: Vec<PaperClaims<'_, '_>> =
        papers.iter().map(|(name, reference)| PaperClaims::new(name, reference, claims)).collect();
    let mut terms = Terms::new(terms);
    let mut out = format!("# Do the papers' claims hold?\n\n{}\n\n{HEAD}\n", verdicts(claims));
    for paper in &papers {
        paper.glance(&mut out, &mut terms);
    }
    let counts = counts(&papers, claims).markdown();
    let _ = write!(out, "\n## Reading the verdicts\n\n{CONVENTIONS}\n{counts}");
    for paper in papers.iter().filter(|paper| !paper.claims.is_empty()) {
        paper.details(&mut out, &mut terms);
    }
    let glossary = terms.glossary();
    if !glossary.is_empty() {
        let _ = write!(out, "\n## Words\n\n{glossary}");
    }
    out
}

/// What the first table is.
const HEAD: &str = "\
Each line is a claim of a paper, in our words, and leads to what was measured here. The last column counts the numbers that \
support the claim. Words with a link are explained at the end.\n\n\
| claim | | verdict | numbers for it |\n| --- | --- | --- | --- |";

const CONVENTIONS: &str = "\
- **holds**: all numbers keep the rules beside them. **holds in part**: some do, or only a part of the claim was measured. **does not hold \
  here**: none does. **not measured**: no number was measured that speaks for the claim or against it. A verdict is about the data, \
  sizes and seeds in its table; the paper has more.\n\
- A number is a mean over seeds, and a ratio their geometric mean. Brackets are 95 % t intervals, from three seeds on. Two sides are compared \
  in pairs of the same seed; where seeds split one file, the interval allows for splits that overlap. One seed has no interval: what it shows \
  may be chance.\n\
- \"unpaired\": a run keeps means alone, or the two runs have different data. What follows ± is then the standard errors of both sides, combined \
  as if they were independent, which is too wide where both had the same data. Other numbers after ± are standard errors of repetitions within one \
  case, or of one side.\n\
- A rule is judged by the number itself; \"intervals\" counts the intervals that keep it from end to end. Two sides are equal where they differ by no more \
  than the tolerance of the metric in `gpbench list metrics` (of two, such as 0.01 or 1 %, the larger counts), and one is more or less where it \
  differs by more.\n\
- Most runs are older than the rules. To keep rules independent of the numbers, each is what the words of the claim say (such as a sign), the \
  tolerance of the metric, or a bound whose reason is in brackets. A number without a rule is of a variant that the claim does not cover, tells \
  neither way, or is there for comparison.\n\
- A ratio of epochs may come from any run: an epoch is n^2 kernel entries, whatever the machine does besides. Seconds count only from \
  runs during which other programs are known to have used little of the processors.\n\
- \"at least\" and \"at most\": solves of one side ended at the limit of their budget before they reached the tolerance.\n\
- \"run 1\", \"run 2\" follow the order of the runs below the table. Hours are estimates for two cores of what is missing.\n\n\
`gpbench claims` writes this page from `benchmarks/reference/claims.toml` and the published runs beside it.\n";

/// The number of claims with each verdict, as a sentence.
fn verdicts(claims: &[JudgedClaim<'_>]) -> String {
    let of = |verdict: Verdict| format!("{} **{}**", with(claims.iter(), verdict), verdict.as_str());
    format!("Of {} claims: {}.", claims.len(), Verdict::ALL.map(of).join(", "))
}

/// How many claims have a verdict.
fn with<'a, 'c: 'a>(claims: impl Iterator<Item = &'a JudgedClaim<'c>>, verdict: Verdict) -> usize {
    claims.filter(|judged| *judged.claim.verdict.get_ref() == verdict).count()
}

impl<'a, 'c> PaperClaims<'a, 'c> {
    fn new(name: &'a str, reference: &'a Reference, claims: &'a [JudgedClaim<'c>]) -> PaperClaims<'a, 'c> {
        let claims = claims.iter().filter(|judged| judged.claim.paper.get_ref() == name).collect();
        PaperClaims { name, reference, claims }
    }

    /// The anchor of the claim at a 0-based place.
    fn anchor(&self, place: usize) -> String {
        format!("{}-{}", self.name, place + 1)
    }

    /// A line for each claim, with its verdict.
    fn glance(&self, out: &mut String, terms: &mut Terms<'_>) {
        for (place, judged) in self.claims.iter().enumerate() {
            let _ = writeln!(
                out,
                "| [{}, {}](#{}) | {} | **{}** | {} |",
                markdown(&self.reference.paper.short),
                place + 1,
                self.anchor(place),
                terms.linked(&markdown(judged.claim.claim.trim())),
                judged.claim.verdict.get_ref().as_str(),
                in_numbers(judged)
            );
        }
    }

    /// The claims with all that was measured.
    fn details(&self, out: &mut String, terms: &mut Terms<'_>) {
        let (title, entry) = (&self.reference.paper.short, &self.reference.paper.entry);
        let _ = write!(out, "\n## {}\n\n{}\n", markdown(title), markdown_block(entry));
        for (place, judged) in self.claims.iter().enumerate() {
            let _ = write!(out, "\n<a id=\"{}\"></a>\n", self.anchor(place));
            claim(out, place + 1, judged, terms);
        }
    }
}

/// How many numbers support a claim, and whether something is missing.
fn in_numbers(judged: &JudgedClaim<'_>) -> String {
    let Claim { missing, hours, .. } = judged.claim;
    match (judged.counts(), missing) {
        ([_, 0], _) => hours.map_or_else(String::new, |hours| format!("about {} to run", in_hours(hours))),
        ([kept, all], Some(_)) => format!("{kept} of {all}; a part was not measured"),
        ([kept, all], None) => format!("{kept} of {all}"),
    }
}

/// Hours as words: `1 hour`, `2.5 hours`.
fn in_hours(hours: f64) -> String {
    format!("{hours} hour{}", if hours == 1.0 { "" } else { "s" })
}

/// Numbers of verdicts, paper by paper.
fn counts(papers: &[PaperClaims<'_, '_>], claims: &[JudgedClaim<'_>]) -> TextTable {
    let mut table = TextTable::new("").words("paper").numbers("claims");
    for verdict in Verdict::ALL {
        table = table.numbers(verdict.as_str());
    }
    table = table.numbers("hours for what is missing");
    for paper in papers {
        table.row(counted(&paper.reference.paper.short, &paper.claims));
    }
    table.row(counted("all", &claims.iter().collect::<Vec<_>>()));
    table
}

fn counted(title: &str, claims: &[&JudgedClaim<'_>]) -> Vec<String> {
    let hours: f64 =
        claims.iter().filter_map(|judged| judged.claim.hours).fold(0.0, |sum, hours| sum + hours);
    let mut cells = vec![title.to_owned(), claims.len().to_string()];
    cells.extend(Verdict::ALL.map(|verdict| with(claims.iter().copied(), verdict).to_string()));
    cells.push(format!("{:.0}", hours.ceil()));
    cells
}

fn claim(out: &mut String, number: usize, judged: &JudgedClaim<'_>, terms: &mut Terms<'_>) {
    let claim = judged.claim;
    let _ = write!(
        out,
        "\n### {number}. {}\n\n**{}**. {}\n",
        markdown(claim.claim.trim()),
        claim.verdict.get_ref().as_str(),
        terms.linked(&markdown(claim.why.trim()))
    );
    let table = numbers(&judged.evidence);
    if !table.rows.is_empty() {
        let _ = write!(out, "\n{}", terms.linked(&table.markdown()));
    }
    let _ = write!(
        out,
        "\n- What to take from it: {}\n- Made in {}. The paper has: {}\n",
        terms.linked(&markdown(claim.take.trim())),
        markdown(claim.made_in.trim()),
        markdown(claim.published.trim())
    );
    if let Some(missing) = &claim.missing {
        let hours = claim.hours.map_or_else(String::new, |hours| format!(" About {}.", in_hours(hours)));
        let _ = writeln!(out, "- Not measured: {}{hours}", markdown(missing.trim()));
    }
    let runs = crate::results::once_each(judged.evidence.iter().flat_map(|judged| judged.runs()));
    let links: Vec<String> = runs.iter().map(|run| format!("[{run}](../{run}/report.md)")).collect();
    if !links.is_empty() {
        let _ = writeln!(out, "- Runs: {}", links.join(", "));
    }
    let options = if claim.options.is_empty() { String::new() } else { format!(" {}", claim.options.trim()) };
    let _ = writeln!(out, "- Command: `gpbench run benchmarks/{}{options}`", claim.spec.get_ref());
}

/// The table of what was measured.
fn numbers(evidence: &[JudgedEvidence<'_>]) -> TextTable {
    let mut table = TextTable::new("").words("measured").words("here").words("seeds");
    table = table.words("in the paper").words("rule for the claim");
    for judged in evidence {
        let numbers = &judged.numbers;
        table.row([
            judged.evidence.what.clone(),
            here(*judged.evidence.compute.get_ref(), numbers),
            range(numbers.iter().map(|number| number.seeds as f64)),
            judged.evidence.published.clone().unwrap_or_default(),
            judged.kept.map_or_else(String::new, |kept| rule(judged.evidence, &kept, numbers.len())),
        ]);
    }
    table
}

/// A rule with its reason, how many of `all` numbers keep it, and how many of the intervals.
fn rule(evidence: &Evidence, kept: &Kept, all: usize) -> String {
    let rule = match kept.condition {
        Condition::Range(rule) => rule.to_string(),
        Condition::Compared(comparison) => compared(evidence, comparison),
    };
    let intervals = match kept.intervals {
        [_, 0] => String::new(),
        [within, of] => format!(", {within} of {of} intervals"),
    };
    let reason = evidence.reason.iter().map(|reason| format!(" ({})", reason.trim())).collect::<String>();
    format!("{rule}{reason}: {} of {all}{intervals}", kept.count)
}

/// A comparison, with the tolerance of the metric.
fn compared(evidence: &Evidence, comparison: Comparison) -> String {
    let name = evidence.of.get_ref().metric.as_ref().unwrap_or(&evidence.metric);
    let tolerance = metric::find(name.get_ref()).map(tolerance).unwrap_or_default();
    match comparison {
        Comparison::Equal => format!("equal to {tolerance}"),
        _ => format!("{} by over {tolerance}", comparison.as_str()),
    }
}

/// Some numbers: one by one, or the least and the greatest of many.
fn here(compute: Compute, numbers: &[Computed]) -> String {
    match numbers {
        [] => String::new(),
        [one] => text(compute, one),
        few if few.len() <= LISTED => {
            let each = |number: &Computed| format!("{} {}", number.label, text(compute, number));
            few.iter().map(each).collect::<Vec<String>>().join("; ")
        }
        many => format!("{} numbers, {}", many.len(), range(many.iter().map(|number| number.value))),
    }
}

/// A number with what is known of its error: `8.23×`, `at least 8.23×`, `2.1× [1.8, 2.4]`, `-0.12 ± 0.03, unpaired`.
fn text(compute: Compute, number: &Computed) -> String {
    let value = if compute == Compute::Ratio { times(number.value) } else { short(number.value) };
    let spread = match number.spread {
        Spread::Unknown => String::new(),
        Spread::Interval(of) => format!(" [{}, {}]", short(of.low), short(of.high)),
        Spread::StandardError(error) => format!(" ± {}", short(error)),
        Spread::Unpaired(error) => format!(" ± {}, unpaired", short(error)),
    };
    match number.bound {
        Bound::Exact => format!("{value}{spread}"),
        Bound::AtLeast => format!("at least {value}{spread}"),
        Bound::AtMost => format!("at most {value}{spread}"),
        Bound::Open => format!("{value}{spread} (both ended at their limit)"),
    }
}

impl<'c> JudgedEvidence<'c> {
    /// Names of its runs.
    fn runs(&self) -> impl Iterator<Item = &'c str> {
        let evidence = self.evidence;
        let of_sides = [Some(&evidence.of), evidence.to.as_ref()].into_iter().flatten();
        let runs = evidence.runs.iter().chain(of_sides.flat_map(|side| &side.get_ref().runs));
        runs.map(|run| run.get_ref().as_str())
    }
}
